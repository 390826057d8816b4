// The page: which view the address names, what changes it, and what is told live.

import { h, linked, show } from './dom.js';
import { enter, get, post, stream, Refused } from './api.js';
import { span, shortID } from './format.js';
import { look } from './output.js';
import * as now from './now.js';
import * as batches from './batches.js';
import * as batch from './batch.js';
import * as past from './past.js';
import * as run_ from './run.js';
import * as session from './session.js';
import * as spend from './spend.js';
import * as health from './health.js';

const views = { now, batches, past, spend, health, run: run_, batch, session };
const main = document.getElementById('main');
const state = { now: null, readOnly: false, version: 0, data: null, of: '', choices: null, trouble: '', live: 'connecting' };

const query = () => Object.fromEntries(new URLSearchParams(location.search));
const name = () => (views[query().view] ? query().view : 'now');

/** link is the address of a view. */
export const link = (view, params) => '/?' + new URLSearchParams({ view, ...Object.fromEntries(Object.entries(params || {}).filter(([, v]) => v)) });

function draw() {
  const view = views[name()];
  document.title = `${view.title} · Belay`;
  show(document.getElementById('nav'), Object.entries(views).filter(([, v]) => v.title && !v.inner).map(([key, v]) =>
    linked(link(key), v.title, { 'aria-current': key === (view.inner ? view.inner(query(), state.now) : name()) && 'page' })));
  const ready = !view.path || state.of === address();
  const data = view.path ? (ready ? state.data : null) : state.now;
  show(main, state.trouble && h('p', { class: 'notice bad', role: 'alert' }, state.trouble),
    data ? view.render(data, { query: query(), readOnly: state.readOnly, now: state.now, choices: state.choices, link }) :
      [h('h1', {}, view.title), !state.trouble && h('p', { class: 'quiet', 'data-loading': true }, 'Loading…')]);
  tick();
  look(document.querySelector('[data-output]'));
}

const address = () => location.search;
let loading = null;

/** load asks for what the view shows, if it does not come by itself. */
async function load() {
  const view = views[name()];
  if (!view.path) return draw();
  const asked = address();
  if (loading) loading.abort();
  const mine = loading = new AbortController();
  if (state.of !== asked) draw();
  try {
    const { view: _, ...params } = query();
    if (view.choices && !state.choices) get('/api/choices').then((c) => { state.choices = c; draw(); }, () => {});
    const data = await get(view.path(query()), params, mine.signal);
    if (asked !== address()) return;
    Object.assign(state, { data, of: asked, trouble: '' });
  } catch (err) {
    if (err.name === 'AbortError') return;
    if (err instanceof Refused) return refused(err);
    Object.assign(state, { trouble: err.message });
  }
  draw();
}

/** go shows another address. */
export function go(to, replace) {
  history[replace || to === location.pathname + location.search ? 'replaceState' : 'pushState'](null, '', to);
  load();
}

document.addEventListener('click', (e) => {
  const a = e.target.closest('a[data-link]');
  const row = !a && !e.target.closest('a, button, input, select, summary, label, pre') && getSelection().isCollapsed && e.target.closest('[data-href]');
  if (row && e.button === 0) { // the link in it is for all others
    go(row.dataset.href);
    window.scrollTo(0, 0);
  }
  if (a && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) {
    e.preventDefault();
    go(a.getAttribute('href'));
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
});
window.addEventListener('popstate', load);

// Filters are a form whose fields are in the address.
document.addEventListener('change', (e) => {
  const form = e.target.closest('form[data-filters]');
  if (!form) return;
  const { until, ...fields } = Object.fromEntries(new FormData(form));
  go(link(name(), e.target.name === 'since' ? fields : { until, ...fields }));
});
document.addEventListener('submit', (e) => {
  if (e.target.matches('form[data-filters]')) {
    e.preventDefault();
    go(link(name(), Object.fromEntries(new FormData(e.target))));
  }
});

// What can be done.
const actions = {
  cancel: ({ id, what }) => ask(`Cancel ${what}?`, `Belay stops run ${shortID(id)} with everything it has started.`, 'Cancel the run', () => post('/api/cancel', { id }), 'Keep it running'),
  reset: ({ id }) => ask(`Reset gate ${id}?`, 'Runs that wait there start at once.', 'Reset', () => post('/api/gate/reset', { key: id })),
  retry: ({ id, what, failed, dir }) => ask(`Run ${failed} of ${what} again?`, `They run in ${dir}, with the command of the batch and the environment of this belay ui. They may cost money, and go on when the page is closed.`, 'Run again', () => post('/api/batch/retry', { results: id })),
  hold: ({ id }) => hold(id || ''),
  copy: async ({ id }) => { await navigator.clipboard.writeText(id); toast('Copied'); },
};
document.addEventListener('click', (e) => {
  const b = e.target.closest('[data-act]');
  if (b) actions[b.dataset.act](b.dataset);
});

async function run(work) {
  try { toast(await work()); } catch (err) { err instanceof Refused ? refused(err) : toast(err.message, true); }
}

const dialog = document.getElementById('dialog');
dialog.addEventListener('click', (e) => { if (e.target === dialog || e.target.closest('[data-close]')) dialog.close(); });

function ask(title, text, yes, work, no = 'Not now') {
  dialog.replaceChildren(h('form', { method: 'dialog' }, h('h2', { id: 'dialog-title' }, title), h('p', {}, text),
    h('p', { class: 'buttons' }, h('button', { type: 'button', 'data-close': true }, no), h('button', { class: 'primary', value: 'yes' }, yes))));
  dialog.firstChild.addEventListener('submit', () => run(work), { once: true });
  dialog.showModal();
}

function hold(gate) {
  dialog.replaceChildren(h('form', { method: 'dialog' }, h('h2', { id: 'dialog-title' }, gate ? `Hold gate ${gate}` : 'Hold a gate'),
    h('p', {}, 'Nothing starts through it before the time is over.'),
    !gate && h('label', {}, 'Gate', h('input', { name: 'key', required: true, autocomplete: 'off', placeholder: 'api' })),
    h('label', {}, 'Minutes', h('input', { name: 'minutes', type: 'number', min: 1, max: 44640, value: 30, required: true })),
    h('label', {}, 'Reason', h('input', { name: 'reason', maxlength: 200, autocomplete: 'off', placeholder: 'maintenance' })),
    h('p', { class: 'buttons' }, h('button', { type: 'button', 'data-close': true }, 'Not now'), h('button', { class: 'primary' }, 'Hold'))));
  dialog.firstChild.addEventListener('submit', (e) => {
    const f = new FormData(e.target);
    run(() => post('/api/gate/hold', { key: gate || f.get('key'), minutes: Number(f.get('minutes')), reason: f.get('reason') }));
  }, { once: true });
  dialog.showModal();
}

let toasted;
function toast(text, bad) {
  const el = document.getElementById('toast');
  el.replaceChildren(h('p', { class: bad ? 'bad' : '' }, text));
  clearTimeout(toasted);
  toasted = setTimeout(() => el.replaceChildren(), 6000);
}

// Times that count up or down.
function tick() {
  const at = Date.now();
  for (const el of document.querySelectorAll('[data-until]')) {
    const left = Date.parse(el.dataset.until) - at;
    el.textContent = left > 0 ? `${span(Math.ceil(left / 1000) * 1000)} left` : 'now';
  }
  for (const el of document.querySelectorAll('[data-since]')) el.textContent = span(Math.max(0, Math.floor((at - Date.parse(el.dataset.since)) / 1000) * 1000));
}
setInterval(() => { if (!document.hidden) tick(); }, 1000);

// Live. A page that is not seen lets go of its stream: browsers have few of them.
let streaming = null;
let renew = null;
async function live() {
  if (streaming || document.hidden) return;
  const mine = streaming = new AbortController();
  try {
    await stream('/api/changes', {}, (event, data) => {
      setLive('live');
      if (event === 'hello') {
        if (state.version && data.version !== state.version) changed();
        Object.assign(state, { readOnly: data.read_only, version: data.version });
        draw();
      } else if (event === 'now') {
        state.now = data;
        if (!views[name()].path || views[name()].inner) draw();
      } else if (event === 'record' || event === 'batches') {
        state.version = data.version;
        if (event === 'record' || views[name()] === batches || views[name()] === batch) changed();
      } else if (event === 'fold') {
        folding(data);
      }
    }, mine.signal);
  } catch (err) {
    if (err instanceof Refused) { streaming = null; return refused(err); }
  }
  if (streaming === mine) streaming = null;
  if (!document.hidden) {
    setLive('lost');
    setTimeout(live, 2000);
  }
}

// changed asks again for what is shown: at once if it has not been asked for lately, and seldom if that takes long.
let next = 0;
let stale = false;
function changed() {
  stale = true;
  renew ||= setTimeout(reload, Math.max(0, next - Date.now()));
}

async function reload() {
  const begun = Date.now();
  stale = false;
  try {
    if (views[name()].path) await load();
  } finally {
    next = Date.now() + Math.min(5000, Math.max(400, 4 * (Date.now() - begun)));
    renew = null;
    if (stale) changed();
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) { if (streaming) { streaming.abort(); streaming = null; } } else live();
});

function setLive(to) {
  if (state.live === to) return;
  state.live = to;
  show(document.getElementById('live'), h('span', { class: 'dot ' + to, 'aria-hidden': 'true' }), h('span', {}, { live: 'live', lost: 'reconnecting…', connecting: '' }[to]));
}

let foldSeen = 0;
function folding({ done, total, error }) {
  const el = document.getElementById('fold');
  const going = total > 0 && done < total;
  el.hidden = !going && !error;
  if (el.hidden) return;
  const share = Math.floor(100 * done / total);
  show(el, error ? h('p', { class: 'bad' }, `The record is not up to date: ${error}`) :
    [h('p', {}, `Reading the log: ${share} %. What is there already is shown.`), h('progress', { max: 100, value: share, 'aria-label': 'Reading the log' })]);
  if (going && Date.now() - foldSeen > 3000) { foldSeen = Date.now(); changed(); }
}

function refused(err) {
  sessionStorage.removeItem('belay-session');
  document.getElementById('nav').replaceChildren();
  setLive('connecting');
  main.replaceChildren(h('h1', {}, 'This page is closed'), h('p', {}, err.message || 'Run belay ui again.'), h('p', {}, h('code', {}, 'belay ui')));
}

try {
  await enter();
  setLive('connecting');
  load();
  live();
} catch (err) {
  refused(err);
}
