// Spend: cost and tokens over time and by what they were spent for.

import { h, chip, figure, linked, none } from './dom.js';
import { chart, steps } from './charts.js';
import { filters, select } from './filters.js';
import { spenders } from './now.js';
import { sorted, table } from './past.js';
import { count, dollars, short, percent, when, tail } from './format.js';

export const title = 'Spend';
export const path = () => '/api/spend';
export const choices = true;

const most = 6;

export function render(d, { query, link, choices: c }) {
  const measure = query.show === 'tokens' ? 'tokens' : 'cost';
  const value = measure === 'tokens' ? (s) => s.input_tokens + s.output_tokens + s.cache_read_tokens + s.cache_creation_tokens : (s) => s.cost_usd || 0;
  const name = (key) => key || (d.by === 'model' ? 'no model' : '(none)');
  const order = [...d.groups].sort((a, b) => value(b) - value(a)).filter((g) => value(g) > 0);
  const top = order.slice(0, most).map((g) => g.key), rest = order.length > most;
  const times = steps(d.buckets.map((b) => Date.parse(b.at)), d.step, d.from, d.to || new Date().toISOString());
  const at = new Map(d.buckets.map((b) => [Date.parse(b.at), b.sums]));
  const of = (t, test) => (at.get(t) || []).filter(test).reduce((n, s) => n + value(s), 0);
  const series = top.map((key, i) => ({ name: d.by === 'project' ? tail(key) : name(key), color: 'c' + i, values: times.map((t) => of(t, (s) => s.key === key)) }));
  if (rest) series.push({ name: 'others', color: 'c6', values: times.map((t) => of(t, (s) => !top.includes(s.key))) });
  const t = d.total;
  const runs = (more) => link('past', { ...query, view: '', by: '', show: '', sort: '', since: query.since || '30d', ...more });
  const group = (key) => (d.by.startsWith('tag.') ? { tag: `${d.by.slice(4)}=${key}` } : { [d.by]: key });
  const list = sorted(d.groups, query.sort, { cost: (g) => g.cost_usd || 0, lost: (g) => g.lost_usd, input: (g) => g.input_tokens, output: (g) => g.output_tokens, cache: (g) => g.cache_read_tokens, runs: (g) => g.runs, ...Object.fromEntries(d.columns.map((c) => [c.name, (g) => g[c.name] || 0])) });
  const groups = [['model', 'model'], ['profile', 'profile'], ['name', 'name'], ['project', 'project'], ...(c && c.machines.length ? [['machine', 'machine']] : []), ...(c ? c.tag_keys : []).map((k) => ['tag.' + k, 'tag ' + k])];
  return [
    h('h1', {}, 'Spend'),
    filters(query, c, '30d', null, [select('by', 'By', d.by, groups), select('show', 'Show', measure, [['cost', 'cost'], ['tokens', 'tokens']])]),
    h('dl', { class: 'figures' },
      figure('cost', [(t.unknown_costs > 0 ? '≥ ' : '') + dollars(t.cost_usd || 0, t.estimated_costs > 0)], t.unknown_costs > 0 && `not known of ${count(t.unknown_costs)} attempts`),
      figure('lost to failures', dollars(t.lost_usd), t.cost_usd > 0 ? `${percent(t.lost_usd / t.cost_usd)} of the cost` : '', t.lost_usd > 0 && 'bad'),
      figure('tokens', short(t.input_tokens + t.output_tokens + t.cache_read_tokens + t.cache_creation_tokens), `${short(t.output_tokens)} written by models`),
      figure('runs', count(t.runs), `${count(t.attempts)} attempts`)),
    h('section', { 'data-key': 'chart', class: 'panel' }, chart({ title: `${measure === 'tokens' ? 'Tokens' : 'Cost'} by ${d.by.replace('tag.', 'tag ')}, ${{ hour: 'each hour', day: 'each day', month: 'each month' }[d.step]}`,
      times: order.length ? times : [], step: d.step, runs, series, format: measure === 'tokens' ? short : (v) => dollars(v) })),
    h('section', { 'data-key': 'groups' }, h('h2', {}, `By ${d.by.replace('tag.', 'tag ')}`),
      table(`Spend by ${d.by}`, [[d.by.replace('tag.', ''), 'main'], ['Cost', 'num', 'cost'], ['Lost', 'num', 'lost'], ['Input', 'num', 'input'], ['Output', 'num', 'output'], ['From cache', 'num', 'cache'], ['Runs', 'num', 'runs'], ...d.columns.map((c) => [c.heading, 'num', c.name])],
        list.map((g) => ({ key: g.key || '-', href: g.key ? runs(group(g.key)) : null, cells: [g.key ? linked(runs(group(g.key)), name(g.key)) : name(g.key), g.cost_usd === null ? '–' : dollars(g.cost_usd, g.estimated_costs > 0), g.lost_usd > 0 ? dollars(g.lost_usd) : '',
          short(g.input_tokens), short(g.output_tokens), short(g.cache_read_tokens), count(g.runs), ...d.columns.map((c) => (c.name === 'peak_memory' ? short : count)(g[c.name] || 0))] })), none('Nothing was spent in this period. What agents use is on record when they are started like this:', 'belay run -- claude -p "say hi"'),
        { by: query.sort, sort: (sort) => link('spend', { ...query, view: '', sort }) })),
    d.budgets.length > 0 && h('section', { 'data-key': 'budgets' }, h('h2', {}, 'Budgets'),
      table('Budgets', [['Budget'], ['Of', 'main'], ['Spent', 'num'], ['Limit', 'num'], ['Left', 'num'], ['State'], ['Until']], d.budgets.map((b) => ({ key: b.name, cells: [b.name, h('span', { class: 'facts' }, spenders(b, link)), dollars(b.spent) + (b.unknown ? ' at least' : ''),
        b.limit ? `${dollars(b.limit)} a ${b.window}` : '–', b.left === null ? '–' : dollars(b.left), chip(b.closed ? 'bad' : b.warning ? 'wait' : 'ok', b.closed ? 'closed' : b.warning ? 'nearly spent' : 'open'), b.ends ? when(b.ends) : '–'] })), '')),
    h('p', { class: 'quiet foot' }, 'Costs are as the agents report them; ~ marks estimates. See ', linked(link('past', { class: 'failed', since: query.since || '30d' }), 'what failed'), '.'),
  ];
}
