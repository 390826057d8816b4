// One run's story, as a timeline.

import { h, chip, copied, linked, tag, trouble } from './dom.js';
import { badge, cost, labels, place, runTable } from './past.js';
import { count, dollars, short, shortID, span, mark, full, clock, when } from './format.js';
import { spans } from './charts.js';
import { watched } from './output.js';

export const title = 'Run';
export const path = () => '/api/run';
export const inner = ({ id }, now) => (liveRun(id, now) ? 'now' : 'past');

const liveRun = (id, now) => now && now.runs.find((r) => r.id === id);

export function render(d, { link, readOnly, now }) {
  const live = liveRun(d.id, now);
  const u = d.usage || {};
  const found = labels(d, link).flat().filter(Boolean);
  return [
    h('p', { class: 'crumbs' }, live ? linked(link('now'), 'Now') : linked(link('past'), 'Past'), ' / ', h('code', {}, shortID(d.id))),
    h('div', { class: 'head' }, h('h1', {}, d.command, ' ', live ? chip(live.state === 'waiting' ? 'wait' : 'ok', live.state) : badge(d)),
      live && !readOnly && h('span', {}, h('button', { type: 'button', 'data-act': 'cancel', 'data-id': d.id, 'data-what': d.name || d.command }, 'Cancel'))),
    live && h('p', { class: 'notice', role: 'status' }, h('strong', {}, live.state === 'waiting' ? live.reason || 'waiting' : live.activity || 'working'), live.until && [' · ', h('span', { 'data-until': live.until })],
      ' · for ', h('span', { 'data-since': live.started }), live.attempt > 1 && ` · attempt ${live.attempt}`, live.tokens > 0 && ` · ${short(live.tokens)} tokens`, live.cost_usd > 0 && ` · ${dollars(live.cost_usd)}`),
    h('dl', { class: 'facts-grid' },
      fact('Run', h('code', {}, d.id)), fact('Started', full(d.started)), !live && d.timestamp && !d.timestamp.startsWith('0001') && fact('Ended', full(d.timestamp)),
      fact('Profile', d.profile && linked(link('past', { profile: d.profile }), d.profile)), fact('Model', d.model && linked(link('past', { model: d.model }), d.model)), fact('Answered by', d.fallback), fact('Machine', d.machine || (live && live.machine)), fact('Labels', found.length > 0 && h('span', { class: 'tags' }, found)),
      fact('Project', place(d, link)), fact('Gate', d.gate && linked(link('past', { gate: d.gate }), d.gate)),
      fact('Exit code', d.attempts > 0 || d.belay_exit_code ? `${d.exit_code}${d.belay_exit_code !== undefined && d.belay_exit_code !== d.exit_code ? ` (belay: ${d.belay_exit_code})` : ''}` : ''),
      fact('Waited', d.wait_ms > 0 && span(d.wait_ms)), fact('Requests', d.requests > 0 && `${count(d.requests)}${d.inner_retries ? `, ${count(d.inner_retries)} retried by the command` : ''}`),
      fact('Tokens', u.input_tokens + u.output_tokens > 0 && `${count(u.input_tokens)} in, ${count(u.output_tokens)} out, ${count(u.cache_read_input_tokens)} from cache`),
      fact('Cost', cost(u)), fact('Retry at', d.retry_at && full(d.retry_at)),
      d.parent && fact('Started in', linked(link('run', { id: d.parent }), shortID(d.parent))),
      d.session_id && fact('Session', [linked(link('past', { session: d.session_id }), shortID(d.session_id)), d.readable && [' · ', linked(link('session', { id: d.session_id }), 'Read')]])),
    d.resume && h('p', { class: 'resume' }, `Continue its session${d.machine ? ` on ${d.machine}` : ''}: `, copied(d.resume)),
    !live && d.again && h('p', { class: 'resume' }, `Run it again${d.batch ? ', with the other failed tasks of its batch' : ''}: `, copied(d.again)),
    !live && d.again && !d.batch && h('p', { class: 'quiet' }, 'Its arguments are not on record, as a prompt or a secret may be among them: add them at the end.'),
    h('section', { 'data-key': 'timeline' }, h('h2', {}, 'Timeline'), d.attempt_list.length ? timeline(d) : h('p', { class: 'quiet' }, 'Its first attempt is still running.')),
    (live && live.tail || watched(d.id)) && h('section', { 'data-key': 'output-' + d.id, 'data-output': d.id }),
    d.inside.length > 0 && h('section', { 'data-key': 'inside' }, h('h2', {}, 'Started in this run'), runTable(d.inside, link, '')),
  ];
}

const fact = (name, value) => value && h('div', {}, h('dt', {}, name), h('dd', {}, value));

function timeline(d) {
  const parts = d.attempt_list.map((a) => {
    const end = Date.parse(a.timestamp), done = end - (a.check ? 1000 * a.check.time : 0), begin = done - a.response_ms, after = Math.max(0, a.wait_ms - a.inner_wait_ms);
    return { a, from: begin - a.gate_wait_ms, begin, done, end, after, to: end + (a.status === 'retry' ? after || a.planned_wait_ms || 0 : 0) };
  });
  const first = Math.min(...parts.map((p) => p.from)), last = Math.max(...parts.map((p) => p.to), first + 1);
  const pos = (t) => 100 * (t - first) / (last - first);
  return [
    h('div', { class: 'ruler', 'aria-hidden': 'true' }, spans(last - first).filter((ms) => ms <= last - first).map((ms) => left(h('span', { class: ms > 0.95 * (last - first) ? 'end' : '' }, mark(ms)), 100 * ms / (last - first || 1)))),
    h('ol', { class: 'attempts' }, parts.map(({ a, from, begin, done, end, after, to }) => h('li', { 'data-key': a.attempt + a.timestamp },
      h('div', { class: 'lane', 'aria-hidden': 'true' },
        a.gate_wait_ms > 0 && piece('gate', pos(from), pos(begin), `waited ${span(a.gate_wait_ms)} to start`),
        piece(a.class === 'ok' ? 'good' : 'fail', pos(begin), pos(done), `attempt ${a.attempt}: ${span(a.response_ms)}`),
        a.check && piece('check', pos(done), pos(end), `check: ${span(end - done)}`),
        a.first_token_ms && left(h('i', { class: 'first', 'data-tip': `first token after ${span(a.first_token_ms)}` }), pos(begin + a.first_token_ms)),
        (a.tool_calls || []).slice(0, 200).map((c) => piece('tool', pos(begin + 1000 * c.start), pos(begin + 1000 * (c.start + c.time)), `${c.name}: ${span(1000 * c.time)}`)),
        to > end && piece('gap', pos(end), pos(to), `then waited ${span(to - end)}`)),
      h('div', { class: 'line' }, h('strong', {}, a.attempt ? `Attempt ${a.attempt}` : a.check ? 'Nothing to do' : 'Not started'), badge({ ...a, status: '' }), a.command !== d.command && tag(a.command),
        h('span', { class: 'quiet' }, `${clock(begin)} – ${clock(done)} · ${span(a.response_ms)}${a.first_token_ms ? ` · first token after ${span(a.first_token_ms)}` : ''} · exit ${a.exit_code}${a.signal ? ` by ${a.signal}` : ''}`)),
      h('ul', { class: 'notes' },
        a.gate_wait_ms > 0 && h('li', {}, `Waited ${span(a.gate_wait_ms)} to start.`),
        a.error && h('li', {}, trouble(a.error)),
        a.worktree && h('li', {}, `Worktree: ${a.worktree}.`),
        a.check && h('li', {}, a.check.passed ? checked(a.check) : trouble(checked(a.check))),
        a.rule && h('li', {}, 'Rule: ', h('code', {}, a.rule)),
        a.inner_retries > 0 && h('li', {}, `The command retried ${count(a.inner_retries)} of ${count(a.requests)} requests by itself${a.inner_wait_ms ? `, and waited ${span(a.inner_wait_ms)} for that` : ''}.`),
        (a.tools || []).length > 0 && h('li', {}, 'Tools: ', a.tools.map((t) => tag(`${t.name} × ${t.count}${t.time ? `, ${span(1000 * t.time)}` : ''}`)), a.tools_cut > 0 && ` and ${count(a.tools_cut)} more calls`),
        a.model && h('li', {}, `${a.model}${a.model_asked ? ` instead of ${a.model_asked}` : ''}: ${count(a.usage.input_tokens)} tokens in, ${count(a.usage.output_tokens)} out${a.usage.total_cost_usd ? `, ${dollars(a.usage.total_cost_usd, a.usage.estimated)}` : ''}${a.usage.unknown ? ', and more that is not known' : ''}.`),
        a.session_id && a.session_id !== d.session_id && h('li', {}, `Session ${a.session_id}`),
        a.peak_memory_bytes > 0 && h('li', {}, `Used up to ${short(a.peak_memory_bytes)}B of memory.`),
        a.left_running > 0 && h('li', {}, `${count(a.left_running)} processes were left running.`), a.orphans_killed > 0 && h('li', {}, `${count(a.orphans_killed)} processes that it had left were ended.`),
        a.status === 'retry' && after > 0 && h('li', {}, `Then waited ${span(after)}${a.retry_at ? `, until ${when(a.retry_at)}` : ''}.`),
        a.status === 'retry' && !after && a.planned_wait_ms > 0 && h('li', {}, `Then to wait ${span(a.planned_wait_ms)}.`),
        a.why_ended && h('li', {}, a.why_ended))))),
    h('p', { class: 'key' }, [['good', 'worked'], ['fail', 'failed'], ['tool', 'in a tool'], ['check', 'checked'], ['gate', 'waited to start'], ['gap', 'waited to retry'], ['idle', 'not running']].filter(([c]) => c !== 'check' || parts.some((p) => p.a.check)).map(([c, text]) => h('span', {}, h('i', { class: c }), text))),
  ];
}

/** checked is how a check has ended, and in which round of feedback. */
function checked(c) {
  return `${c.round > 0 ? `Round ${c.round}: the` : 'The'} check ${c.passed ? 'passed' : c.exit_code < 0 ? 'failed without an exit code' : `failed with exit code ${c.exit_code}`} after ${span(1000 * c.time)}.`;
}

function left(el, percent) { el.style.left = percent.toFixed(3) + '%'; return el; }
function piece(kind, from, to, text) {
  const el = left(h('i', { class: kind, 'data-tip': text }), from);
  el.style.width = Math.max(0.3, to - from).toFixed(3) + '%';
  return el;
}
