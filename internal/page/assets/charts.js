// Charts: bars over time, and lines. Each has axes that can be read, exact values where one points or tabs to, and a table with the same.

import { h, linked } from './dom.js';
import { day, clock, mark, span } from './format.js';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** label is a step of time as an axis has it, or in full. */
export function label(at, step, full) {
  const d = new Date(at);
  if (step === 'hour') return full ? `${day(at)} ${clock(at).slice(0, 5)}` : clock(at).slice(0, 5);
  if (step === 'month') return `${months[d.getMonth()]} ${d.getFullYear()}`;
  return full ? day(at) : `${d.getDate()} ${months[d.getMonth()]}`;
}

/** steps are all steps from the first to the last one, those with nothing too. */
export function steps(times, step, from, to) {
  if (!times.length) return [];
  const all = [];
  const d = new Date(from && Date.parse(from) < times[0] ? start(from, step) : times[0]);
  const last = Math.max(times[times.length - 1], to ? Date.parse(to) : 0);
  while (d.getTime() <= last && all.length < 1000) {
    all.push(d.getTime());
    d.setTime(after(d.getTime(), step));
  }
  return all;
}

/** after is when the next step begins. */
function after(t, step) {
  const d = new Date(t);
  if (step === 'hour') d.setTime(t + 3600e3);
  else if (step === 'month') d.setMonth(d.getMonth() + 1);
  else d.setDate(d.getDate() + 1);
  return d.getTime();
}

function start(t, step) {
  const d = new Date(t);
  if (step === 'hour') d.setMinutes(0, 0, 0);
  else { d.setHours(0, 0, 0, 0); if (step === 'month') d.setDate(1); }
  return d.getTime();
}

/** scale is a round number that is not below the largest value, and the lines below it. */
export function scale(most, whole) {
  if (!(most > 0)) return { top: 1, lines: [0, 1] };
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = Math.max(whole ? 1 : 0, [0.2, 0.25, 0.5, 1, 2, 2.5].map((n) => n * unit).find((n) => most / n <= 5 && (!whole || Number.isInteger(n) || n < 1)));
  const lines = [];
  for (let v = 0; v < most + step - 1e-9 * step; v += step) lines.push(v);
  if (lines[lines.length - 1] < most) lines.push(lines[lines.length - 1] + step);
  return { top: lines[lines.length - 1], lines };
}

const sec = 1000, min = 60 * sec, hour = 60 * min;
const rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, sec, 2 * sec, 5 * sec, 10 * sec, 15 * sec, 30 * sec, min, 2 * min, 5 * min, 10 * min, 15 * min, 30 * min, hour, 2 * hour, 6 * hour, 12 * hour];

/** spans is scale for milliseconds: people count them by sixties. */
export function spans(most) {
  const days = 24 * hour;
  const step = rounds.find((n) => most / n <= 5) || days * Math.ceil(most / days / 5);
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, i) => i * step);
}

const W = 1000, L = 62, R = 8, T = 10, B = 26;

/** axis is what the values of a chart are measured by. */
function axis(most, { format, max, whole }) {
  if (max) return { top: max, lines: [0, 0.25, 0.5, 0.75, 1].map((n) => n * max) };
  if (format !== span) return scale(most, whole);
  const lines = spans(most || sec);
  return { top: lines[lines.length - 1], lines };
}

/**
 * chart draws series over times. series: [{name, color, values}], values in the order of times, null for none. kind: bars (one on another) or lines. runs is the address of
 * what ended within a time: a bar leads there, and for all who do not point, the row of the table does.
 */
export function chart({ title, times, step, series, format, kind = 'bars', height = 230, max, whole, runs }) {
  const sum = (i) => series.reduce((n, s) => n + (s.values[i] || 0), 0);
  const most = kind === 'bars' ? Math.max(0, ...times.map((_, i) => sum(i))) : Math.max(0, ...series.flatMap((s) => s.values.map((v) => v || 0)));
  const { top, lines } = axis(most, { format, max, whole });
  const onAxis = format === span ? mark : format;
  const H = height, plot = H - T - B, width = (W - L - R) / Math.max(1, times.length);
  const x = (i) => L + i * width, y = (v) => T + plot * (1 - v / top);
  const every = Math.max(1, Math.ceil(times.length / (step === 'hour' ? 12 : 10)));
  const to = (at) => runs && runs({ since: new Date(at).toISOString(), until: new Date(after(at, step)).toISOString() });
  const marks = [];
  times.forEach((at, i) => {
    const text = [label(at, step, true), ...series.filter((s) => s.values[i] != null && (kind === 'lines' || s.values[i] > 0)).map((s) => `${s.name}: ${format(s.values[i])}`)];
    if (kind === 'bars' && series.length > 1 && text.length > 2) text.push(`together: ${format(sum(i))}`);
    let up = 0;
    marks.push(h('g', { class: 'step', 'data-tip': text.join('\n'), 'data-href': to(at) },
      h('rect', { class: 'hit', x: x(i), y: T, width, height: plot }),
      kind === 'bars' && series.map((s) => {
        const v = s.values[i] || 0;
        if (v <= 0) return null;
        up += v;
        const high = Math.max(0.8, plot * v / top);
        return h('rect', { class: 'bar', color: s.color, x: x(i) + Math.min(3, width * 0.12), y: y(up), width: Math.max(1, width - 2 * Math.min(3, width * 0.12)), height: high });
      })));
  });
  const paths = kind === 'lines' ? series.map((s) => {
    const parts = [];
    let open = false;
    s.values.forEach((v, i) => {
      if (v == null) { open = false; return; }
      parts.push(`${open ? 'L' : 'M'}${(x(i) + width / 2).toFixed(1)} ${y(v).toFixed(1)}`);
      open = true;
    });
    return [h('path', { class: 'curve', color: s.color, d: parts.join('') }),
      times.length <= 62 && s.values.map((v, i) => v != null && h('path', { class: 'knot', color: s.color, d: `M${(x(i) + width / 2).toFixed(1)} ${y(v).toFixed(1)}h.01` }))];
  }) : null;
  return h('figure', { class: 'chart', 'data-key': 'chart-' + title },
    h('figcaption', {}, h('h2', {}, title), series.length > 1 && h('ul', { class: 'legend' }, series.map((s) => h('li', {}, h('span', { class: 'swatch', color: s.color, 'aria-hidden': 'true' }), s.name)))),
    times.length === 0 ? h('p', { class: 'quiet' }, 'Nothing on record for this period.') : [
      h('div', { class: 'plot' },
        h('svg', { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'h' + H },
          lines.map((v) => h('line', { class: 'grid', x1: L, x2: W - R, y1: y(v), y2: y(v) })), marks, paths),
        h('div', { class: 'ys', 'aria-hidden': 'true' }, lines.map((v) => place(h('span', {}, onAxis(v)), 'top', 100 * y(v) / H))),
        h('div', { class: 'xs', 'aria-hidden': 'true' }, times.map((at, i) => i % every === 0 && place(h('span', {}, label(at, step)), 'left', 100 * (x(i) + width / 2) / W)))),
      h('details', { class: 'asTable' }, h('summary', {}, 'As a table'),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${title}, as a table` }, h('table', { class: 'plain' }, h('caption', { class: 'unseen' }, title),
          h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, step), series.map((s) => h('th', { scope: 'col', class: 'num' }, s.name)))),
          h('tbody', {}, times.map((at, i) => h('tr', {}, h('th', { scope: 'row' }, to(at) ? linked(to(at), label(at, step, true)) : label(at, step, true)), series.map((s) => h('td', { class: 'num' }, s.values[i] == null ? '–' : format(s.values[i]))))))))),
    ]);
}

// Text is not a part of the picture, which is stretched; it is put over it.
function place(el, side, percent) { el.style[side] = percent.toFixed(3) + '%'; return el; }

// What one points to.
const tip = h('div', { class: 'tip', 'aria-hidden': 'true' });
tip.hidden = true;
document.body.append(tip);
document.addEventListener('pointermove', (e) => {
  const g = e.target.closest && e.target.closest('[data-tip]');
  if (!g) { tip.hidden = true; return; }
  tip.textContent = g.dataset.tip;
  tip.hidden = false;
  const wide = tip.offsetWidth;
  tip.style.left = Math.max(8, Math.min(e.clientX + 14, innerWidth - wide - 8)) + 'px';
  tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
});
document.addEventListener('pointerleave', () => { tip.hidden = true; });
