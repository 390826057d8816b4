// The output of a run that is under way, while someone looks.

import { h } from './dom.js';
import { stream } from './api.js';
import { span } from './format.js';

const most = 500;
let looking = null; // {id, abort, box}

/** watched tells whether the output of a run is on the page: it stays there when the run has ended. */
export const watched = (id) => looking !== null && looking.id === id && looking.box.isConnected;

/** look shows the output of a run in an element, or stops. It is called whenever the page is drawn. */
export function look(el) {
  const id = el && el.dataset.output;
  if (id && watched(id)) return;
  if (looking) { looking.abort.abort(); looking = null; }
  if (!id || document.hidden) return;
  const box = h('pre', { class: 'output', tabindex: 0, role: 'log', 'aria-label': 'Output of the run' });
  el.replaceChildren(h('h2', {}, 'Output'), box);
  const mine = looking = { id, abort: new AbortController(), box };
  box.append(h('span', { class: 'quiet' }, 'Waiting for the agent to say something…'));
  let first = true;
  stream('/api/tail', { id }, (event, data) => {
    if (event !== 'line') return;
    const pieces = told(data);
    if (first && pieces.length > 0) { box.replaceChildren(); first = false; }
    const down = box.scrollTop + box.clientHeight >= box.scrollHeight - 20;
    for (const [kind, text] of pieces) {
      if (kind === 'piece' && box.lastChild && box.lastChild.className === 'piece') box.lastChild.append(text);
      else box.append(h('div', { class: kind }, text));
    }
    while (box.childNodes.length > most) box.firstChild.remove();
    if (down) box.scrollTop = box.scrollHeight;
  }, mine.abort.signal).catch(() => {}).finally(() => { if (looking === mine && box.isConnected) box.append(h('span', { class: 'quiet' }, 'The run has ended.')); });
}

document.addEventListener('visibilitychange', () => { if (document.hidden && looking) { looking.abort.abort(); looking = null; } });

// told is what a line of an agent tells a person: [kind, text] for each piece; none for what only programs read.
function told(line) {
  if (line.missed) return [['note', `… ${line.missed} lines came too fast`]];
  if (line.bytes) return [['note', `… a line of ${line.bytes} bytes`]];
  const e = line.event;
  if (e === null || typeof e !== 'object') return [['say', line.text ?? String(e)]];
  if (e.type === 'stream_event') return []; // the whole message comes too
  if (e.subtype === 'api_retry') return [['note', `${e.error || 'error'} ${e.error_status || ''}: retrying in ${span(e.retry_delay_ms)}`]];
  if (e.type === 'error') return [['note', words(e.message ?? (e.error && (e.error.message || e.error)))]];
  const list = e.message && Array.isArray(e.message.content) ? e.message.content : [e.item || e.part || e];
  return list.flatMap((p) => {
    const name = p.name || p.tool_name || (p.type === 'command_execution' ? '$' : p.tool), state = p.state || {};
    const used = name && !(p.type === 'command_execution' && e.type === 'item.completed') && p.type !== 'tool_result';
    const said = p.text || p.thinking || (p.role === 'assistant' && p.content);
    return [
      used && ['use', `${name} ${argument(p.input || p.parameters || p.arguments || state.input || p)}`.trim()],
      said && [p.delta ? 'piece' : 'say', words(said)],
      ['got', words(p.type === 'tool_result' ? p.content ?? p.output : p.aggregated_output || state.output).split('\n').slice(0, 12).join('\n')],
    ].filter((x) => x && x[1]);
  });
}

const words = (x) => (typeof x === 'string' ? x : Array.isArray(x) ? x.map((b) => (b && b.text) || '').join('\n') : '');

// argument is what tells most about the use of a tool.
const argument = (input) => ['command', 'file_path', 'filePath', 'path', 'pattern', 'url', 'query', 'description'].map((k) => input[k]).find((v) => typeof v === 'string') || '';
