// belay report: the views of belay ui in one file, with their data in it.

import { h } from './dom.js';
import { full } from './format.js';
import * as spend from './spend.js';
import * as health from './health.js';
import * as past from './past.js';

const data = JSON.parse(document.getElementById('data').textContent);
const link = () => null; // what a link leads to is not in it
const part = (id, ...children) => h('div', { id, class: 'part' }, children);
const since = data.spend.from ? `since ${full(data.spend.from)}` : 'all that is on record';

document.getElementById('nav').replaceChildren(...[['spend', 'Spend'], ['health', 'Health'], ['failed', 'Failures'], ['past', 'Runs'], ['alerts', 'Alerts']].map(([id, text]) => h('a', { href: '#' + id }, text)));
document.getElementById('live').replaceChildren(`made ${full(data.made)}, ${since}${data.spend.to ? ` until ${full(data.spend.to)}` : ''}`);
document.getElementById('main').replaceChildren(
  part('spend', spend.render(data.spend, { query: {}, link })),
  part('health', health.render(data.health, { query: {}, link })),
  part('failed', h('h1', {}, 'Failures'), past.runTable(data.failed.runs, link, 'No run has failed.', 'Runs that failed'), data.failed.more && h('p', { class: 'quiet' }, 'Older ones are not in this report.')),
  part('past', h('h1', {}, 'Runs'), past.runTable(data.runs.runs, link, 'No run is on record.'), data.runs.more && h('p', { class: 'quiet' }, 'Older ones are not in this report.')),
  part('alerts', past.render(data.alerts, { query: { tab: 'alerts' }, link })));
document.querySelector('#alerts h1').textContent = 'Alerts';
for (const el of document.querySelectorAll('.filters, .tabs, .pages')) el.remove(); // there is nothing to choose
for (const a of document.querySelectorAll('a[data-link]')) a.replaceWith(h('span', { class: a.className || null }, ...a.childNodes));
