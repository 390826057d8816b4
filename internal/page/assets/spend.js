// Spend: cost and tokens over time and by what they were spent for.

import { h, chip, figure, linked } from './dom.js';
import { chart, steps } from './charts.js';
import { filters, select } from './filters.js';
import { table } from './past.js';
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
      times: order.length ? times : [], step: d.step, series, format: measure === 'tokens' ? short : (v) => dollars(v) })),
    h('section', { 'data-key': 'groups' }, h('h2', {}, `By ${d.by.replace('tag.', 'tag ')}`),
      table(`Spend by ${d.by}`, [[d.by.replace('tag.', '')], ['Cost', 'num'], ['Lost', 'num'], ['Input', 'num wide'], ['Output', 'num wide'], ['From cache', 'num wide'], ['Runs', 'num'], ...d.columns.map((c) => [c.heading, 'num wide'])],
        d.groups.map((g) => ({ key: g.key || '-', cells: [h('span', { title: g.key }, name(g.key)), g.cost_usd === null ? '–' : dollars(g.cost_usd, g.estimated_costs > 0), g.lost_usd > 0 ? dollars(g.lost_usd) : '',
          short(g.input_tokens), short(g.output_tokens), short(g.cache_read_tokens), count(g.runs), ...d.columns.map((c) => (c.name === 'peak_memory' ? short : count)(g[c.name] || 0))] })), 'Nothing was spent in this period.')),
    d.budgets.length > 0 && h('section', { 'data-key': 'budgets' }, h('h2', {}, 'Budgets'),
      table('Budgets', [['Budget'], ['Spent', 'num'], ['Limit', 'num'], ['Left', 'num'], ['State'], ['Until']], d.budgets.map((b) => ({ key: b.name, cells: [b.name, dollars(b.spent) + (b.unknown ? ' at least' : ''),
        b.limit ? `${dollars(b.limit)} a ${b.window}` : '–', b.left === null ? '–' : dollars(b.left), chip(b.closed ? 'bad' : b.warning ? 'wait' : 'ok', b.closed ? 'closed' : b.warning ? 'nearly spent' : 'open'), b.ends ? when(b.ends) : '–'] })), '')),
    h('p', { class: 'quiet foot' }, 'Costs are as the agents report them; ~ marks estimates. See ', linked(link('past', { class: 'failed', since: query.since || '30d' }), 'what failed'), '.'),
  ];
}
