// Past: runs, sessions, alerts and what is in the audit.

import { h, chip, cut, linked, tag } from './dom.js';
import { filters } from './filters.js';
import { count, dollars, short, shortID, span, when, full, tail } from './format.js';

export const title = 'Past';
export const path = ({ tab }) => ({ sessions: '/api/sessions', alerts: '/api/alerts', audit: '/api/audit' }[tab] || '/api/runs');
export const choices = true;

const tabs = [['', 'Runs'], ['sessions', 'Sessions'], ['alerts', 'Alerts'], ['audit', 'Audit']];

export function render(d, { query, link, choices: c }) {
  const tab = query.tab || '';
  const shown = { sessions: ['since', 'profile', 'name', 'tag', 'project', 'machine'], alerts: ['since', 'profile', 'machine'], audit: ['since', 'profile', 'class', 'machine'] }[tab];
  return [
    h('h1', {}, 'Past'),
    h('div', { class: 'tabs', role: 'navigation', 'aria-label': 'What to show' }, tabs.map(([key, text]) =>
      linked(link('past', { ...query, view: '', before: '', tab: key }), text, { 'aria-current': key === tab && 'true' }))),
    filters(query, c, 'all', shown),
    { sessions, alerts, audit }[tab] ? { sessions, alerts, audit }[tab](d, link) : runs(d, query, link),
  ];
}

/** badge is how a run has ended. */
export function badge(r) {
  if (r.status === 'retry') return chip('wait', 'no end');
  return chip(r.class === 'ok' ? 'ok' : 'bad', r.class.replaceAll('_', ' '));
}

/** cost is that of a run, as far as it is known. */
export const cost = (u) => (u.total_cost_usd == null ? '' : u.total_cost_usd === 0 && !u.input_tokens && !u.output_tokens ? '' : dollars(u.total_cost_usd, u.estimated));

export function table(name, columns, rows, none) {
  if (!rows.length) return h('p', { class: 'quiet empty' }, none);
  return h('div', { class: 'scroll panel', tabindex: 0, role: 'region', 'aria-label': name },
    h('table', {}, h('caption', { class: 'unseen' }, name),
      h('thead', {}, h('tr', {}, columns.map(([text, kind]) => h('th', { scope: 'col', class: kind || '' }, text)))),
      h('tbody', {}, rows.map(({ key, cells }) => h('tr', { 'data-key': key }, cells.map((c, i) => h('td', { class: columns[i][1] || '' }, c)))))));
}

/** task is what a batch calls a run; empty for a run of its own. */
export const task = (r) => r.batch && `${tail(r.batch)} ${r.line && (!r.task || /^[0-9a-f]{12}(-|$)/.test(r.task)) ? 'line ' + r.line : r.task}`;

const labels = (r) => [task(r) && tag(task(r), r.batch), r.machine && tag(r.machine), r.name && tag(r.name), Object.entries(r.tags || {}).map(([k, v]) => tag(`${k}=${v}`))];

/** runRows are runs as a table has them. */
export function runTable(list, link, none, name = 'Runs') {
  return table(name, [['Ended'], ['Result'], ['Command'], ['Took', 'num wide'], ['Waited', 'num wide'], ['Attempts', 'num wide'], ['Tokens', 'num wide'], ['Cost', 'num'], ['Project', 'wide'], ['Error', 'long wide']],
    list.map((r) => ({ key: r.id, cells: [
      linked(link('run', { id: r.id }), when(r.timestamp), { title: `${full(r.timestamp)}, run ${r.id}` }), badge(r), [r.command, ' ', r.fallback && tag('→ ' + r.fallback), labels(r)],
      span(r.response_ms), r.wait_ms > 0 ? span(r.wait_ms) : '', String(r.attempts), r.usage.input_tokens + r.usage.output_tokens > 0 ? short(r.usage.input_tokens + r.usage.output_tokens) : '',
      cost(r.usage), h('span', { title: r.project }, tail(r.project)), r.error ? cut(r.error) : '',
    ] })), none);
}

function runs(d, query, link) {
  return [runTable(d.runs, link, 'No run matches these filters.'),
    h('p', { class: 'pages' }, query.before && linked(link('past', { ...query, view: '', before: '' }), '← Newest'),
      d.more && linked(link('past', { ...query, view: '', before: d.more }), 'Older →'))];
}

function sessions(d, link) {
  const state = { done: 'ok', running: 'wait', failed: 'bad', interrupted: 'wait', abandoned: '' };
  return table('Sessions', [['Last used'], ['Status'], ['Agent'], ['Session'], ['Runs', 'num'], ['Tokens', 'num wide'], ['Cost', 'num'], ['Directory', 'wide'], ['Continue with']],
    d.sessions.map((s) => ({ key: s.profile + s.id, cells: [
      h('span', { title: full(s.timestamp) }, when(s.timestamp)), chip(state[s.status] || '', s.status), [s.profile, ' ', labels(s)],
      linked(link('past', { session: s.id }), shortID(s.id), { title: s.id }), count(s.invocations), short(s.usage.input_tokens + s.usage.output_tokens), cost(s.usage),
      h('span', { title: s.dir || s.project }, tail(s.dir || s.project)), s.resume ? resume(s.resume) : '',
    ] })), 'No session is on record.');
}

/** resume is a command with a button that copies it. */
export const resume = (command) => h('span', { class: 'copy' }, h('code', { class: 'cut', title: command }, command), h('button', { type: 'button', 'data-act': 'copy', 'data-id': command, 'aria-label': `Copy: ${command}` }, 'Copy'));

function alerts(d, link) {
  return table('Alerts', [['Raised'], ['Integration'], ['Failures', 'num'], ['Delivered'], ['Last error', 'long']],
    d.alerts.map((a) => ({ key: String(a.id), cells: [
      a.invocation ? linked(link('run', { id: a.invocation }), when(a.timestamp), { title: full(a.timestamp) }) : when(a.timestamp), [a.integration, ' ', labels(a)],
      a.failures ? `${count(a.failures)} in ${span(a.within_ms)}` : 'forecast', a.delivered ? when(a.delivered) : a.trouble || '–', cut(a.message),
    ] })), 'No alert was raised.');
}

function audit(d, link) {
  return table('Audit', [['Time'], ['Action'], ['Subject'], ['By'], ['Severity', 'wide'], ['Message', 'long']],
    d.rows.map((a, i) => ({ key: a.timestamp + i, cells: [
      a.invocation ? linked(link('run', { id: a.invocation }), when(a.timestamp), { title: full(a.timestamp) }) : h('span', { title: full(a.timestamp) }, when(a.timestamp)),
      chip(a.action === 'failure' ? 'bad' : 'wait', a.action.replaceAll('_', ' ')), a.subject, a.machine ? `${a.actor} on ${a.machine}` : a.actor, a.severity || '',
      cut(a.message),
    ] })), 'Nothing has failed, and nothing was changed by hand.');
}
