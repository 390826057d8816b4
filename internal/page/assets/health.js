// Health: how reliable runs were, and why not.

import { h, figure, linked, none, trouble } from './dom.js';
import { chart, steps } from './charts.js';
import { filters } from './filters.js';
import { sorted, table } from './past.js';
import { count, percent, span, when, words } from './format.js';

export const title = 'Health';
export const path = () => '/api/health';
export const choices = true;

export function render(d, { query, link, choices: c }) {
  const times = steps(d.steps.map((s) => Date.parse(s.at)), d.step, d.from, d.to || new Date().toISOString());
  const at = new Map(d.steps.map((s) => [Date.parse(s.at), s]));
  const each = (f) => times.map((t) => (at.has(t) ? f(at.get(t)) : null));
  const rate = (r) => (r.runs > 0 ? r.succeeded / r.runs : null);
  const top = d.classes.slice(0, 6).map((x) => x.class);
  const n = (s, cls) => (s.failed.find((x) => x.class === cls) || { n: 0 }).n;
  const failures = top.map((cls, i) => ({ name: words(cls), color: 'c' + i, values: each((s) => n(s, cls)) }));
  if (d.classes.length > 6) failures.push({ name: 'others', color: 'c6', values: each((s) => s.failed.filter((x) => !top.includes(x.class)).reduce((a, x) => a + x.n, 0)) });
  const first = new Map(d.first_tokens.map((f) => [Date.parse(f.at), f]));
  const took = (k) => times.map((t) => (first.has(t) ? first.get(t)[k] : null));
  const t = d.total;
  const unit = { hour: 'each hour', day: 'each day', month: 'each month' }[d.step];
  const runs = (more) => link('past', { ...query, view: '', sort: '', since: query.since || '7d', ...more });
  const failed = (more) => runs({ class: 'failed', ...more });
  const list = sorted(d.profiles, query.sort, { runs: (r) => r.runs, success: (r) => rate(r) || 0, attempts: (r) => r.attempts / (r.runs || 1), waited: (r) => r.wait_ms / (r.runs || 1), took: (r) => r.response_ms / (r.attempts || 1), refused: (r) => r.refused });
  return [
    h('h1', {}, 'Health'),
    filters(query, c, '7d', ['since', 'profile', 'name', 'tag', 'project', 'machine']),
    h('dl', { class: 'figures' },
      figure('success', percent(rate(t)), `${count(t.succeeded)} of ${count(t.runs)} runs`, t.runs === 0 ? '' : rate(t) >= 0.95 ? 'ok' : rate(t) >= 0.8 ? 'wait' : 'bad'),
      figure('attempts a run', t.runs ? (t.attempts / t.runs).toFixed(2) : '–', `${count(t.attempts)} attempts`),
      figure('waited', span(t.wait_ms), t.runs ? `${span(t.wait_ms / t.runs)} a run` : ''),
      figure('refused', count(t.refused), 'not started at all', t.refused > 0 && 'wait')),
    h('div', { class: 'two' },
      h('section', { 'data-key': 'rate', class: 'panel' }, chart({ title: `Success rate, ${unit}`, runs, times, step: d.step, kind: 'lines', max: 1, series: [{ name: 'success', color: 'good', values: each(rate) }], format: percent })),
      h('section', { 'data-key': 'classes', class: 'panel' }, chart({ title: `Failed attempts by class, ${unit}`, runs: failed, times, step: d.step, series: failures.length ? failures : [{ name: 'failed', color: 'fail', values: each(() => 0) }], format: count, whole: true })),
      h('section', { 'data-key': 'waits', class: 'panel' }, chart({ title: `Time spent waiting, ${unit}`, runs, times, step: d.step, series: [{ name: 'waited', color: 'c2', values: each((s) => s.wait_ms) }], format: span })),
      h('section', { 'data-key': 'first', class: 'panel' }, chart({ title: `Time to the first token, ${unit}${query.name || query.tag || query.project ? ', of all names, tags and projects' : ''}`, times: d.first_tokens.length ? times : [], step: d.step, kind: 'lines',
        series: [{ name: 'median', color: 'c0', values: took('p50_ms') }, { name: '90th percentile', color: 'c3', values: took('p90_ms') }], format: span }))),
    h('section', { 'data-key': 'profiles' }, h('h2', {}, 'Profiles'),
      table('Profiles', [['Profile', 'main'], ['Runs', 'num', 'runs'], ['Success', 'num', 'success'], ['Attempts a run', 'num', 'attempts'], ['Waited a run', 'num', 'waited'], ['Took an attempt', 'num', 'took'], ['Refused', 'num', 'refused']], list.map((r) => ({ key: r.key, href: runs({ profile: r.key }), cells: [
        linked(runs({ profile: r.key }), r.key), count(r.runs), percent(rate(r)), r.runs ? (r.attempts / r.runs).toFixed(2) : '–',
        r.runs ? span(r.wait_ms / r.runs) : '–', r.attempts ? span(r.response_ms / r.attempts) : '–', count(r.refused)] })), none('No run is on record for this period. Each command that is started like this is:', 'belay run -- claude -p "say hi"'), { by: query.sort, sort: (sort) => link('health', { ...query, view: '', sort }) })),
    h('section', { 'data-key': 'why' }, h('h2', {}, 'Why attempts failed'),
      table('Classes', [['Class', 'main'], ['Attempts', 'num']], d.classes.map((x) => ({ key: x.class, href: runs({ class: x.class }), cells: [linked(runs({ class: x.class }), words(x.class)), count(x.n)] })), 'No attempt failed.')),
    h('section', { 'data-key': 'integrations' }, h('h2', {}, 'MCP servers and hooks'),
      table('MCP servers and hooks', [['Name and last error', 'main'], ['Failures', 'num'], ['Last'], ['Class']], d.integrations.map((x) => ({ key: x.name, href: link('past', { tab: 'audit', profile: x.name }), cells: [
        [linked(link('past', { tab: 'audit', profile: x.name }), x.name), trouble(x.error)], count(x.faults), x.last ? when(x.last) : '–', x.class ? words(x.class) : ''] })), 'No MCP server and no hook has failed.')),
  ];
}
