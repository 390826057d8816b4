// Filters, which are in the address.

import { h } from './dom.js';
import { tail, when, words } from './format.js';

const periods = [['1h', 'last hour'], ['24h', 'last 24 hours'], ['7d', 'last 7 days'], ['30d', 'last 30 days'], ['90d', 'last 90 days'], ['all', 'all time']];

/** filters is the form. usual is the period that is shown without one; more are further fields, and search says what a text is looked for in. */
export function filters(query, choices, usual, only, more, search) {
  const c = choices || { profiles: [], classes: [], names: [], projects: [], machines: [], tags: [] };
  const on = (name) => !only || only.includes(name);
  return h('form', { class: 'filters', 'data-filters': true, role: 'search', 'aria-label': 'Filters' },
    search && h('label', { 'data-key': 'q', class: 'search' + (query.q ? ' set' : '') }, h('span', {}, 'Search'), h('input', { type: 'search', name: 'q', value: query.q || '', placeholder: search, autocomplete: 'off', spellcheck: 'false' })),
    more,
    on('since') && select('since', 'Period', query.since || usual, known(periods, query.since)),
    on('profile') && select('profile', 'Profile', query.profile, any(c.profiles, query.profile)),
    on('class') && select('class', 'Result', query.class, any(c.classes, query.class, words)),
    [['name', 'Name', c.names], ['tag', 'Tag', c.tags], ['project', 'Project', c.projects, tail], ['machine', 'Machine', c.machines]]
      .map(([key, label, list, text]) => on(key) && (list.length > 0 || query[key]) && select(key, label, query[key], any(list, query[key], text))),
    ['until', 'tab', 'session', 'batch', 'model', 'gate', 'results', 'state', 'sort'].map((key) => query[key] && h('input', { type: 'hidden', name: key, value: query[key], 'data-key': 'hidden-' + key })));
}

const known = (list, value) => (value && !list.some(([v]) => v === value) ? [[value, `since ${Number.isNaN(Date.parse(value)) ? value : when(value)}`], ...list] : list);
const any = (list, value, text) => [['', 'any'], ...(value && !list.includes(value) ? [value, ...list] : list).map((v) => [v, text ? text(v) : v])];

/** select is a field of a form. */
export function select(name, label, value, options) {
  const s = h('select', { name }, options.map(([v, text]) => h('option', { value: v, selected: v === (value || '') }, text)));
  s.value = value || '';
  return h('label', { 'data-key': name, class: value && !['since', 'by', 'show'].includes(name) ? 'set' : '' }, h('span', {}, label), s);
}
