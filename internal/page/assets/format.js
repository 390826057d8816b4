// How values are written.

import { nouns } from './classes.js';

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (n) => number.format(n || 0);
export const short = (n) => compact.format(n || 0);
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
export const shortID = (id) => (id || '').slice(-8);

/** dollars writes an amount with as many digits as it needs. */
export function dollars(n, approx) {
  if (n == null) return '–';
  const digits = n !== 0 && Math.abs(n) < 0.01 ? 4 : 2;
  return (approx ? '~' : '') + (n < 0 ? '-' : '') + '$' + Math.abs(n).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** span writes milliseconds in two units at most. */
export function span(ms) {
  if (ms == null) return '–';
  if (ms === 0) return '0s';
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.floor(s)}s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m}m ${String(Math.floor(s % 60)).padStart(2, '0')}s`;
  const hours = Math.floor(m / 60);
  if (hours < 48) return `${hours}h ${String(m % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** mark writes a round number of milliseconds, as the lines of an axis have it: without parts that are zero. */
export const mark = (ms) => span(ms).replace(/\.0s$/, 's').replace(/(\w) 0+[hms]$/, '$1');

const pad = (n) => String(n).padStart(2, '0');
export const day = (t) => { const d = new Date(t); return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`; };
export const clock = (t) => { const d = new Date(t); return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`; };

/** when writes a time; today's without the day. */
export function when(t) {
  if (!t) return '–';
  return day(t) === day(Date.now()) ? clock(t) : `${day(t)} ${clock(t).slice(0, 5)}`;
}
export const full = (t) => (t ? `${day(t)} ${clock(t)}` : '');
export const percent = (x) => (x == null || Number.isNaN(x) ? '–' : `${(100 * x).toFixed(x > 0.995 && x < 1 ? 2 : 1).replace(/\.0$/, '')} %`);
/** words says what a class means, as commands do; of a plain command that has failed its exit code is all that is known. */
export const words = (cls, code) => nouns.get(cls) || (cls !== 'unknown' ? cls : code > 0 ? `exit ${code}` : 'exit code');
export const tail = (path) => (path || '').replace(/\/+$/, '').split('/').pop() || path || '';
