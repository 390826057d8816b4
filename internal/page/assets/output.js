// The output of a run that is under way, while someone looks.

import { h } from './dom.js';
import { stream } from './api.js';

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
  box.append(h('span', { class: 'quiet' }, 'Waiting for the agent to print something…'));
  let first = true;
  stream('/api/tail', { id }, (event, data) => {
    if (event !== 'line') return;
    if (first) { box.replaceChildren(); first = false; }
    const down = box.scrollTop + box.clientHeight >= box.scrollHeight - 20;
    box.append(h('span', {}, text(data) + '\n'));
    while (box.childNodes.length > most) box.firstChild.remove();
    if (down) box.scrollTop = box.scrollHeight;
  }, mine.abort.signal).catch(() => {}).finally(() => { if (looking === mine && box.isConnected) box.append(h('span', { class: 'quiet' }, 'The run has ended.')); });
}

document.addEventListener('visibilitychange', () => { if (document.hidden && looking) { looking.abort.abort(); looking = null; } });

// text is what a line says: the words of an agent where they are known, else the line itself.
function text(line) {
  if (line.missed) return `… ${line.missed} lines came too fast`;
  if (line.bytes) return `… a line of ${line.bytes} bytes`;
  if (line.text !== undefined) return line.text;
  const e = line.event;
  if (e === null || typeof e !== 'object') return String(e);
  const parts = e.message && Array.isArray(e.message.content) ? e.message.content : e.item ? [e.item] : [];
  const words = parts.map((p) => p.text || p.thinking || (p.name ? `[${p.name}] ${JSON.stringify(p.input || {})}` : p.command ? `$ ${p.command}` : typeof p.content === 'string' ? p.content : '')).filter(Boolean).join('\n');
  return words || (e.type ? `· ${e.type}${e.subtype ? ` ${e.subtype}` : ''}` : JSON.stringify(e));
}
