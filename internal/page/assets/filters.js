// Filters, which are in the address.

import { h } from './dom.js';
import { tail } from './format.js';

const periods = [['1h', 'last hour'], ['24h', 'last 24 hours'], ['7d', 'last 7 days'], ['30d', 'last 30 days'], ['90d', 'last 90 days'], ['all', 'all time']];

/** filters is the form. usual is the period that is shown without one; more are further fields. */
export function filters(query, choices, usual, only, more) {
  const c = choices || { profiles: [], classes: [], names: [], projects: [], machines: [], tags: [] };
  const on = (name) => !only || only.includes(name);
  return h('form', { class: 'filters', 'data-filters': true, role: 'search', 'aria-label': 'Filters' },
    more,
    on('since') && select('since', 'Period', query.since || usual, known(periods, query.since)),
    on('profile') && select('profile', 'Profile', query.profile, any(c.profiles, query.profile)),
    on('class') && select('class', 'Result', query.class, any(c.classes, query.class)),
    [['name', 'Name', c.names], ['tag', 'Tag', c.tags], ['project', 'Project', c.projects, tail], ['machine', 'Machine', c.machines]]
      .map(([key, label, list, text]) => on(key) && (list.length > 0 || query[key]) && select(key, label, query[key], any(list, query[key], text))),
    query.until && h('input', { type: 'hidden', name: 'until', value: query.until }),
    query.tab && h('input', { type: 'hidden', name: 'tab', value: query.tab }));
}

const known = (list, value) => (value && !list.some(([v]) => v === value) ? [[value, `since ${value}`], ...list] : list);
const any = (list, value, text) => [['', 'any'], ...(value && !list.includes(value) ? [value, ...list] : list).map((v) => [v, text ? text(v) : v])];

/** select is a field of a form. */
export function select(name, label, value, options) {
  const s = h('select', { name }, options.map(([v, text]) => h('option', { value: v, selected: v === (value || '') }, text)));
  s.value = value || '';
  return h('label', { 'data-key': name, class: value && !['since', 'by', 'show'].includes(name) ? 'set' : '' }, h('span', {}, label), s);
}
