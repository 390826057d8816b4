// One batch: its tasks, what they have answered, and what has failed.

import { h, chip, linked, none, trouble } from './dom.js';
import { panel, taskName } from './batches.js';
import { filters } from './filters.js';
import { table } from './past.js';
import { count, dollars, span, when, full, words } from './format.js';

export const title = 'Batch';
export const path = () => '/api/batch';
export const inner = () => 'batches';

export function render(d, { query, readOnly, link, now }) {
  const here = (more) => link('batch', { ...query, view: '', from: '', ...more });
  const states = [['', 'All that have ended', d.done + d.failed + d.skipped], ['failed', 'Failed', d.failed], ['skipped', 'Skipped', d.skipped], ['done', 'Done', d.done]];
  return [
    h('p', { class: 'crumbs' }, linked(link('batches'), 'Batches'), ' / ', d.name),
    h('h1', {}, d.name),
    panel(d, { readOnly, link, now, alone: true }),
    h('dl', { class: 'facts-grid' }, h('div', {}, h('dt', {}, 'Results'), h('dd', {}, h('code', {}, d.results))), h('div', {}, h('dt', {}, 'Tasks'), h('dd', {}, d.tasks)), h('div', {}, h('dt', {}, 'Directory'), h('dd', {}, d.dir)),
      h('div', {}, h('dt', {}, 'On record'), h('dd', {}, linked(link('past', { batch: d.results }), 'Its runs')))),
    h('section', { 'data-key': 'tasks' }, h('h2', {}, 'Tasks'),
      h('div', { class: 'tabs', role: 'navigation', 'aria-label': 'Which tasks' }, states.filter(([key, , n]) => !key || n > 0).map(([key, text, n]) =>
        linked(here({ state: key }), `${text} ${count(n)}`, { 'aria-current': key === (query.state || '') && 'true' }))),
      filters(query, null, '', [], null, 'id, line, error'),
      table('Tasks', [['Task'], ['Result'], ['Answer', 'main'], ['Took', 'num'], ['Attempts', 'num'], ['Cost', 'num'], ['Ended']],
        d.tasks_ended.map((t) => ({ key: t.task, href: t.run && link('run', { id: t.run }), cells: [
          t.run ? linked(link('run', { id: t.run }), taskName(t)) : taskName(t), chip({ done: 'ok', failed: 'bad' }[t.state] || '', t.state === 'failed' && t.error_type ? words(t.error_type, t.exit_code) : t.state),
          [trouble(t.error), t.result && h('details', { 'data-key': 'answer' }, h('summary', {}, /^.{0,100}/u.exec(t.result.trim())[0] || 'Answer'), h('pre', { tabindex: 0 }, t.result)), t.cut && h('p', { class: 'quiet' }, 'There is more in the results.'), t.output_file && h('code', {}, t.output_file)],
          t.duration_ms > 0 ? span(t.duration_ms) : '', t.attempts ? String(t.attempts) : '', t.cost_usd > 0 ? dollars(t.cost_usd) : '', h('span', { title: full(t.ended) }, when(t.ended))] })),
        none(query.q || query.state ? 'No task matches.' : 'No task has ended yet.')),
      h('p', { class: 'pages' }, d.from > 0 && linked(here({}), '← First'), d.from + d.tasks_ended.length < d.found && linked(here({ from: String(d.from + d.tasks_ended.length) }), `Next of ${count(d.found)} →`))),
  ];
}
