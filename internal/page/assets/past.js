// Past: runs, sessions, alerts and what is in the audit.

import { h, chip, copied, linked, none, tag, trouble } from './dom.js';
import { filters } from './filters.js';
import { count, dollars, short, shortID, span, when, full, tail, words } from './format.js';

export const title = 'Past';
export const path = ({ tab }) => ({ sessions: '/api/sessions', alerts: '/api/alerts', audit: '/api/audit' }[tab] || '/api/runs');
export const choices = true;

const tabs = [['', 'Runs'], ['sessions', 'Sessions'], ['alerts', 'Alerts'], ['audit', 'Audit']];

export function render(d, { query, link, choices: c }) {
  const tab = query.tab || '';
  const shown = { '': null, sessions: ['since', 'profile', 'name', 'tag', 'project', 'machine'], alerts: ['since', 'profile', 'machine'], audit: ['since', 'profile', 'class', 'machine'] }[tab];
  return [
    h('h1', {}, 'Past'),
    h('div', { class: 'tabs', role: 'navigation', 'aria-label': 'What to show' }, tabs.map(([key, text]) =>
      linked(link('past', { ...query, view: '', before: '', tab: key }), text, { 'aria-current': key === tab && 'true' }))),
    filters(query, c, 'all', shown, null, tab === '' && 'id, label, error, task'),
    { sessions, alerts, audit }[tab] ? { sessions, alerts, audit }[tab](d, link, query) : runs(d, query, link),
  ];
}

/** badge is how a run has ended. */
export function badge(r) {
  if (r.status === 'retry') return chip('wait', 'no end');
  return chip(r.class === 'ok' ? 'ok' : 'bad', words(r.class, r.exit_code));
}

/** cost is that of a run, as far as it is known. */
export const cost = (u) => (u.total_cost_usd == null ? '' : u.total_cost_usd === 0 && !u.input_tokens && !u.output_tokens ? '' : dollars(u.total_cost_usd, u.estimated));

/**
 * table is rows under headings. columns: [heading, class, what it is sorted by]; a row leads to its href wherever it is clicked, as the link in it does. sort makes the
 * address that sorts by a column, where the address now says by.
 */
export function table(name, columns, rows, empty, { by = '', sort } = {}) {
  if (!rows.length) return typeof empty === 'string' ? none(empty) : empty;
  return h('div', { class: 'panel' },
    h('table', {}, h('caption', { class: 'unseen' }, name),
      h('thead', {}, h('tr', {}, columns.map(([text, kind, key]) => h('th', { scope: 'col', class: kind || '', 'aria-sort': key && { [key]: 'descending', ['-' + key]: 'ascending' }[by] },
        key && sort ? linked(sort(by === key ? '-' + key : key), text) : text)))),
      h('tbody', {}, rows.map(({ key, href, cells }) => h('tr', { 'data-key': key, 'data-href': href }, cells.map((c, i) => h('td', { class: columns[i][1] || '', 'data-label': columns[i][0] }, c)))))));
}

/** sorted is a list in the order that the address asks for; of has what each column is sorted by. */
export function sorted(list, by, of) {
  const value = of[(by || '').replace('-', '')], up = by && by.startsWith('-') ? 1 : -1;
  return value ? [...list].sort((a, b) => up * (value(a) > value(b) ? 1 : value(a) < value(b) ? -1 : 0)) : list;
}

/** task is what a batch calls a run; empty for a run of its own. */
export const task = (r) => r.batch && `${tail(r.batch)} ${r.line && (!r.task || /^[0-9a-f]{12}(-|$)/.test(r.task)) ? 'line ' + r.line : r.task}`;

/** labels are what a run is labelled with: each leads to all that have it. */
export const labels = (r, link) => [task(r) && tag(task(r), r.batch, link('batch', { results: r.batch, q: r.line && task(r).endsWith('line ' + r.line) ? 'line ' + r.line : r.task })),
  r.machine && tag(r.machine, '', link('past', { machine: r.machine })), r.name && tag(r.name, '', link('past', { name: r.name })),
  Object.entries(r.tags || {}).map(([k, v]) => tag(`${k}=${v}`, '', link('past', { tag: `${k}=${v}` })))];

/** place is the project of a run. */
export const place = (r, link) => r.project && linked(link('past', { project: r.project }), tail(r.project), { title: r.project });

/** runTable are runs as a table has them. */
export function runTable(list, link, empty, name = 'Runs', order) {
  return table(name, [['Ended', '', 'ended'], ['Result'], ['Run', 'main'], ['Took', 'num', 'took'], ['Waited', 'num', 'waited'], ['Attempts', 'num', 'attempts'], ['Tokens', 'num', 'tokens'], ['Cost', 'num', 'cost'], ['Project', 'path']],
    list.map((r) => ({ key: r.id, href: link('run', { id: r.id }), cells: [
      linked(link('run', { id: r.id }), when(r.timestamp), { title: `${full(r.timestamp)}, run ${r.id}` }), badge(r), [r.command, ' ', r.fallback && tag('→ ' + r.fallback), labels(r, link), trouble(r.error, link('run', { id: r.id })), r.why_ended && h('div', { class: 'quiet' }, r.why_ended)],
      span(r.response_ms), r.wait_ms > 0 ? span(r.wait_ms) : '', String(r.attempts), r.usage.input_tokens + r.usage.output_tokens > 0 ? short(r.usage.input_tokens + r.usage.output_tokens) : '',
      cost(r.usage), place(r, link),
    ] })), empty, order);
}

function runs(d, query, link) {
  const here = (more) => link('past', { ...query, view: '', before: '', ...more });
  const narrowed = Object.keys(query).some((k) => !['view', 'tab', 'sort'].includes(k));
  return [query.until && h('p', { class: 'quiet' }, `Ended between ${full(d.from)} and ${full(d.to)}. `, linked(here({ until: '', since: '' }), 'All times')),
    ['session', 'batch', 'model', 'gate'].map((k) => query[k] && h('p', { class: 'quiet', 'data-key': k }, `Only of the ${k} `, h('code', {}, query[k]), '. ', linked(here({ [k]: '' }), 'All'))),
    runTable(d.runs, link, narrowed ? none('No run matches these filters.') : none('No run is on record yet. Each command that is started like this is:', 'belay run -- claude -p "say hi"'), 'Runs', { by: query.sort, sort: (sort) => here({ sort }) }),
    h('p', { class: 'pages' }, d.cut && h('span', { class: 'quiet' }, `The first ${count(d.runs.length)} in this order.`), query.before && linked(here({}), '← Newest'), d.more && linked(here({ before: d.more }), 'Older →'))];
}

function sessions(d, link, query) {
  const state = { done: 'ok', running: 'wait', failed: 'bad', interrupted: 'wait', abandoned: '' };
  const list = sorted(d.sessions, query.sort, { runs: (s) => s.invocations, tokens: (s) => s.usage.input_tokens + s.usage.output_tokens, cost: (s) => s.usage.total_cost_usd || 0, used: (s) => s.timestamp });
  return table('Sessions', [['Last used', '', 'used'], ['Status'], ['Agent, and how to continue', 'main'], ['Session'], ['Runs', 'num', 'runs'], ['Tokens', 'num', 'tokens'], ['Cost', 'num', 'cost'], ['Directory', 'path']],
    list.map((s) => ({ key: s.profile + s.id, href: link('past', { session: s.id }), cells: [
      h('span', { title: full(s.timestamp) }, when(s.timestamp)), chip(state[s.status] || '', s.status), [s.profile, ' ', labels(s, link), s.resume && h('div', {}, copied(s.resume))],
      [linked(link('past', { session: s.id }), shortID(s.id), { title: s.id }), s.readable && [' · ', linked(link('session', { id: s.id }), 'Read')]], count(s.invocations), short(s.usage.input_tokens + s.usage.output_tokens), cost(s.usage),
      h('span', { title: s.dir || s.project }, tail(s.dir || s.project)),
    ] })), none('No session is on record yet. An agent begins one when it is started like this:', 'belay run -- claude -p "say hi"'),
    { by: query.sort, sort: (sort) => link('past', { ...query, view: '', sort }) });
}

function alerts(d, link) {
  return table('Alerts', [['Raised'], ['Integration and last error', 'main'], ['Failures'], ['Delivered']],
    d.alerts.map((a) => ({ key: String(a.id), href: a.invocation && link('run', { id: a.invocation }), cells: [
      a.invocation ? linked(link('run', { id: a.invocation }), when(a.timestamp), { title: full(a.timestamp) }) : when(a.timestamp), [a.integration, ' ', labels(a, link), trouble(a.message, a.invocation && link('run', { id: a.invocation }))],
      a.failures ? `${count(a.failures)} in ${span(a.within_ms)}` : 'forecast', a.delivered ? when(a.delivered) : a.trouble || '–',
    ] })), 'No alert was raised.');
}

function audit(d, link) {
  return table('Audit', [['Time'], ['Action'], ['Subject and message', 'main'], ['By'], ['Severity']],
    d.rows.map((a, i) => ({ key: a.timestamp + i, href: a.invocation && link('run', { id: a.invocation }), cells: [
      a.invocation ? linked(link('run', { id: a.invocation }), when(a.timestamp), { title: full(a.timestamp) }) : h('span', { title: full(a.timestamp) }, when(a.timestamp)),
      chip(a.action === 'failure' ? 'bad' : 'wait', a.action.replaceAll('_', ' ')), [a.subject, trouble(a.message, a.invocation && link('run', { id: a.invocation }))], a.machine ? `${a.actor} on ${a.machine}` : a.actor, a.severity || '',
    ] })), 'Nothing has failed, and nothing was changed by hand.');
}
