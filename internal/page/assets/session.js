// What was said and done in a session, from the record of its CLI.

import { h, copied, linked } from './dom.js';
import { clock, count, dollars, short, shortID } from './format.js';

export const title = 'Session';
export const path = () => '/api/session/parts';
export const inner = () => 'past';

export function render(d, { link }) {
  return [
    h('p', { class: 'crumbs' }, linked(link('past', { tab: 'sessions' }), 'Past'), ' / ', linked(link('past', { session: d.session }), shortID(d.session))),
    h('h1', {}, `Session of ${d.profile}`),
    d.before > 0 && h('p', { class: 'quiet' }, `${count(d.before)} parts before these. To see all: `, copied(`belay sessions show -n 0 ${d.session}`)),
    h('ol', { class: 'attempts' }, d.parts.map((e, i) => h('li', { 'data-key': d.before + i },
      h('div', { class: 'line' }, h('strong', {}, [e.who, e.kind !== 'text' && e.kind, e.tool].filter(Boolean).join(' ')),
        h('span', { class: 'quiet' }, [e.time && clock(Date.parse(e.time)), e.input_tokens && `${short(e.input_tokens)} tokens in, ${short(e.output_tokens || 0)} out`,
          e.total_cost_usd != null && dollars(e.total_cost_usd, true)].filter(Boolean).join(' · '))),
      e.text && h('pre', { class: 'output' }, e.text)))),
  ];
}
