// Batches: how far they are, what their tasks do, and what has failed.

import { h, chip, copied, linked, none, trouble } from './dom.js';
import { table } from './past.js';
import { count, dollars, full, plural, span, tail, when, words } from './format.js';

export const title = 'Batches';
export const path = () => '/api/batches';

const states = [['done', 'good'], ['failed', 'fail'], ['skipped', 'c6'], ['running', 'c0'], ['paused', 'c2'], ['waiting', 'grid']];

export function render(d, { readOnly, link, now }) {
  return [h('h1', {}, 'Batches'), d.batches.length ? d.batches.map((b) => panel(b, { readOnly, link, now })) :
    none('No batch is known. One that is started like this appears here, for as long as its results are there:', 'belay batch tasks.txt -- claude -p')];
}

/** taskName is what a person finds a task by. */
export const taskName = (t) => (t.line ? `line ${t.line}` : t.task);

/** panel is how a batch stands; alone on its own page. */
export function panel(b, { readOnly, link, now, alone }) {
  const to = (more) => link('batch', { results: b.results, ...more });
  const runOf = (t) => ((now && now.runs) || []).find((r) => r.batch === b.results && r.task === t.task);
  const failed = plural(b.failed, 'failed task', 'failed tasks');
  const parts = states.map(([name, color]) => ({ name, color, n: b[name] || 0 })).filter((p) => p.n > 0);
  return h('section', { 'data-key': b.results, 'data-batch': b.name, class: 'panel batch' },
    h('div', { class: 'line' }, badge(b),
      alone ? h('h2', {}, 'State') : h('h2', { title: b.results }, linked(to(), b.name)), h('span', { class: 'push quiet', title: full(b.started) }, `started ${when(b.started)}`)),
    b.error && h('p', { class: 'bad' }, b.error),
    b.total > 0 && h('div', { class: 'stack', role: 'img', 'aria-label': parts.map((p) => `${count(p.n)} ${p.name}`).join(', ') }, parts.map((p) => h('div', { color: p.color, 'width%': 100 * p.n / b.total }))),
    b.total > 0 && h('p', { class: 'facts' }, h('strong', {}, `${count(b.done)} of ${count(b.total)} done`), parts.filter((p) => p.name !== 'done').map((p) => (['failed', 'skipped'].includes(p.name) ? linked(to({ state: p.name }), `${count(p.n)} ${p.name}`) : h('span', {}, `${count(p.n)} ${p.name}`))),
      b.cost_usd > 0 && h('span', {}, dollars(b.cost_usd) + (b.expected_usd > 0 ? ` of about ${dollars(b.expected_usd)}` : '')), b.left_s > 0 && h('span', {}, `about ${span(1000 * b.left_s)} left`),
      b.until && h('span', {}, 'a limit lifts: ', h('span', { 'data-until': b.until, title: full(b.until) })), h('span', { title: b.dir }, `tasks from ${tail(b.tasks)}`)),
    (b.tasks_now || []).length > 0 && table(`Running tasks of ${b.name}`, [['Task'], ['Does', 'main'], ['For', 'num']], b.tasks_now.map((t) => ({ key: t.task, href: runOf(t) && link('run', { id: runOf(t).id }), cells: [runOf(t) ? linked(link('run', { id: runOf(t).id }), taskName(t)) : taskName(t), t.until ? 'waits for a limit' : t.doing || 'working', h('span', { 'data-since': t.since })] })), ''),
    (b.failures || []).length > 0 && [
      table(`Failures of ${b.name}`, [['Result'], ['Tasks', 'num'], ['First'], ['Error', 'main']], b.failures.map((f) => ({ key: f.error_type, href: to({ state: 'failed', q: f.error_type }), cells: [linked(to({ state: 'failed', q: f.error_type }), words(f.error_type), { class: 'badge bad' }), count(f.tasks), taskName({ task: f.first, line: f.line }), trouble(f.error)] })), ''),
      h('div', { class: 'again' },
        b.can_retry && !readOnly && h('p', {}, h('button', { type: 'button', 'data-act': 'retry', 'data-id': b.results, 'data-what': b.name, 'data-failed': failed, 'data-dir': b.dir, 'aria-label': `Run ${failed} of ${b.name} again` }, `Run ${failed} again…`)),
        h('p', {}, b.retry ? `In a terminal, ${failed} can be run again with:` : `To run ${failed} again, use the same command with --retry-failed. It is not kept, because a secret is in it.`), b.retry && copied(`cd ${quoted(b.dir)} && ${b.retry}`))]);
}

// badge says how it stands, in a word.
function badge(b) {
  const [kind, text] = b.error ? ['bad', 'unreadable'] : b.holder ? ['ok', 'running'] : b.done === b.total ? ['ok', 'done'] :
    b.done + b.failed + b.skipped === b.total ? ['bad', 'some failed'] : ['wait', 'unfinished'];
  return chip(kind, text);
}

// quoted is a path as a shell reads it back.
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
