// Health: how reliable runs were, and why not.

import { h, cut, figure, linked } from './dom.js';
import { chart, steps } from './charts.js';
import { filters } from './filters.js';
import { table } from './past.js';
import { count, percent, span, when } from './format.js';

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
  const failures = top.map((cls, i) => ({ name: cls.replaceAll('_', ' '), color: 'c' + i, values: each((s) => n(s, cls)) }));
  if (d.classes.length > 6) failures.push({ name: 'others', color: 'c6', values: each((s) => s.failed.filter((x) => !top.includes(x.class)).reduce((a, x) => a + x.n, 0)) });
  const first = new Map(d.first_tokens.map((f) => [Date.parse(f.at), f]));
  const took = (k) => times.map((t) => (first.has(t) ? first.get(t)[k] : null));
  const t = d.total;
  const unit = { hour: 'each hour', day: 'each day', month: 'each month' }[d.step];
  const filtered = (cls) => link('past', { ...query, view: '', class: cls, since: query.since || '7d' });
  return [
    h('h1', {}, 'Health'),
    filters(query, c, '7d', ['since', 'profile', 'name', 'tag', 'project', 'machine']),
    h('dl', { class: 'figures' },
      figure('success', percent(rate(t)), `${count(t.succeeded)} of ${count(t.runs)} runs`, t.runs === 0 ? '' : rate(t) >= 0.95 ? 'ok' : rate(t) >= 0.8 ? 'wait' : 'bad'),
      figure('attempts a run', t.runs ? (t.attempts / t.runs).toFixed(2) : '–', `${count(t.attempts)} attempts`),
      figure('waited', span(t.wait_ms), t.runs ? `${span(t.wait_ms / t.runs)} a run` : ''),
      figure('refused', count(t.refused), 'not started at all', t.refused > 0 && 'wait')),
    h('div', { class: 'two' },
      h('section', { 'data-key': 'rate', class: 'panel' }, chart({ title: `Success rate, ${unit}`, times, step: d.step, kind: 'lines', max: 1, series: [{ name: 'success', color: 'good', values: each(rate) }], format: percent })),
      h('section', { 'data-key': 'classes', class: 'panel' }, chart({ title: `Failed attempts by class, ${unit}`, times, step: d.step, series: failures.length ? failures : [{ name: 'failed', color: 'fail', values: each(() => 0) }], format: count, whole: true })),
      h('section', { 'data-key': 'waits', class: 'panel' }, chart({ title: `Time spent waiting, ${unit}`, times, step: d.step, series: [{ name: 'waited', color: 'c2', values: each((s) => s.wait_ms) }], format: span })),
      h('section', { 'data-key': 'first', class: 'panel' }, chart({ title: `Time to the first token, ${unit}${query.name || query.tag || query.project ? ', of all names, tags and projects' : ''}`, times: d.first_tokens.length ? times : [], step: d.step, kind: 'lines',
        series: [{ name: 'median', color: 'c0', values: took('p50_ms') }, { name: '90th percentile', color: 'c3', values: took('p90_ms') }], format: span }))),
    h('section', { 'data-key': 'profiles' }, h('h2', {}, 'Profiles'),
      table('Profiles', [['Profile'], ['Runs', 'num'], ['Success', 'num'], ['Attempts a run', 'num wide'], ['Waited a run', 'num wide'], ['Took an attempt', 'num wide'], ['Refused', 'num']], d.profiles.map((r) => ({ key: r.key, cells: [
        linked(link('past', { profile: r.key, since: query.since || '7d' }), r.key), count(r.runs), percent(rate(r)), r.runs ? (r.attempts / r.runs).toFixed(2) : '–',
        r.runs ? span(r.wait_ms / r.runs) : '–', r.attempts ? span(r.response_ms / r.attempts) : '–', count(r.refused)] })), 'Nothing on record for this period.')),
    h('section', { 'data-key': 'why' }, h('h2', {}, 'Why attempts failed'),
      table('Classes', [['Class'], ['Attempts', 'num']], d.classes.map((x) => ({ key: x.class, cells: [linked(filtered(x.class), x.class.replaceAll('_', ' ')), count(x.n)] })), 'No attempt failed.')),
    h('section', { 'data-key': 'integrations' }, h('h2', {}, 'MCP servers and hooks'),
      table('MCP servers and hooks', [['Name'], ['Failures', 'num'], ['Last'], ['Class', 'wide'], ['Last error', 'long']], d.integrations.map((x) => ({ key: x.name, cells: [
        x.name, count(x.faults), x.last ? when(x.last) : '–', x.class || '', cut(x.error)] })), 'No MCP server and no hook has failed.')),
  ];
}
