// Now: what runs and waits, and what keeps it waiting.

import { h, chip, copied, figure, linked, none, tag } from './dom.js';
import { labels, place } from './past.js';
import { dollars, percent, short, plural, shortID, when, full, clock, tail } from './format.js';

export const title = 'Now';

export function render(d, { readOnly, link }) {
  const running = d.runs.filter((r) => r.state === 'running').length;
  const waiting = d.runs.filter((r) => r.state === 'waiting').length;
  const closed = d.gates.filter((g) => g.closed).length;
  return [
    h('h1', {}, 'Now'),
    d.trouble && h('p', { class: 'notice bad', role: 'alert' }, d.trouble),
    h('dl', { class: 'figures' },
      figure('running', running, '', running && 'ok'), figure('waiting', waiting, '', waiting && 'wait'),
      figure(closed === 1 ? 'gate closed' : 'gates closed', closed, '', closed && 'bad')),
    section('Runs', d.runs.length ? h('ul', { class: 'cards' }, d.runs.map((r) => run(r, readOnly, link))) :
      none(`Nothing is running. A run that is started anywhere ${d.fleet ? 'in the fleet' : 'on this machine'} appears here at once:`, 'belay run -- claude -p "say hi"')),
    section('Gates', [
      d.gates.length ? h('ul', { class: 'cards' }, d.gates.map((g) => gate(g, readOnly, link))) : none('All gates are healthy.'),
    ], !readOnly && h('button', { type: 'button', 'data-act': 'hold' }, 'Hold a gate…')),
    d.limits.length > 0 && section('Limits', h('ul', { class: 'cards' }, d.limits.map((l) => limit(l, link)))),
    d.budgets.length > 0 && section('Budgets', h('ul', { class: 'cards' }, d.budgets.map((b) => budget(b, link)))),
    d.ended.length > 0 && section('Ended, output not read yet', h('ul', { class: 'cards' }, d.ended.map((r) => ended(r, link)))),
  ];
}

const section = (name, content, more) => h('section', { 'data-key': name }, h('div', { class: 'head' }, h('h2', {}, name), more), content);

function run(r, readOnly, link) {
  const id = r.id;
  const story = r.kind === 'run' && id && (r.command === 'batch' ? link('batches') : link('run', { id }));
  return h('li', { class: 'card', 'data-key': id || r.command, 'data-run': id, 'data-href': story },
    h('div', { class: 'line' },
      chip({ running: 'ok', waiting: 'wait', killed: 'bad' }[r.state] || '', r.state),
      h('strong', {}, r.command), labels(r, link), r.detached && tag('detached'), r.kind !== 'run' && tag(r.kind),
      h('span', { class: 'push' }, story && linked(story, r.command === 'batch' ? 'Tasks' : r.tail ? 'Output' : 'Story', { 'aria-label': `${r.command === 'batch' ? 'Tasks' : r.tail ? 'Output and story' : 'Story'} of ${r.name || r.command} ${shortID(id)}` }),
        !readOnly && r.state !== 'killed' && h('button', { type: 'button', 'data-act': 'cancel', 'data-id': id, 'data-what': r.name || r.command, 'aria-label': `Cancel ${r.name || r.command} ${shortID(id)}` }, 'Cancel'))),
    h('p', { class: 'what' },
      r.state === 'waiting' ? [r.reason || 'waiting', r.until && [' · ', h('span', { 'data-until': r.until, title: full(r.until) }), ` (${clock(r.until)})`]] :
        r.state === 'killed' ? `belay was killed; still there: ${(r.left_running || []).join(', ')}` : r.activity || 'working'),
    h('p', { class: 'facts' },
      h('code', {}, shortID(id)), r.started && h('span', { title: full(r.started) }, 'for ', h('span', { 'data-since': r.started })),
      r.attempt > 1 && h('span', {}, `attempt ${r.attempt}`), r.tokens > 0 && h('span', {}, `${short(r.tokens)} tokens`),
      r.cost_usd > 0 && h('span', {}, dollars(r.cost_usd)), r.project && h('span', {}, 'in ', place(r, link)),
      r.parent && h('span', {}, 'started in ', linked(link('run', { id: r.parent }), shortID(r.parent)))));
}

function gate(g, readOnly, link) {
  return h('li', { class: 'card', 'data-key': g.key, 'data-gate': g.key },
    h('div', { class: 'line' },
      chip(g.closed ? 'bad' : 'wait', g.state), h('strong', {}, linked(link('past', { gate: g.key }), g.key, { title: 'runs that went through it' })),
      h('span', { class: 'push' }, !readOnly && [
        !g.full && h('button', { type: 'button', 'data-act': 'reset', 'data-id': g.key, 'aria-label': `Reset gate ${g.key}` }, 'Reset'),
        h('button', { type: 'button', 'data-act': 'hold', 'data-id': g.key, 'aria-label': `Hold gate ${g.key}` }, 'Hold…')])),
    h('p', { class: 'what' }, g.reason || '', g.until && [g.reason ? ' · ' : '', h('span', { 'data-until': g.until, title: full(g.until) }), ` (${when(g.until)})`]),
    g.waiting.length > 0 && h('p', { class: 'facts' }, `${plural(g.waiting.length, 'run waits', 'runs wait')}: `, g.waiting.slice(0, 8).map((w) => h('span', {}, `${w.machine ? w.machine + ': ' : ''}${w.command} `, linked(link('run', { id: w.id }), shortID(w.id))))));
}

function limit(l, link) {
  const used = percent(l.used), f = l.used < 1 && l.forecast;
  return h('li', { class: 'card', 'data-key': `${l.account} ${l.window}` },
    h('div', { class: 'line' }, h('strong', {}, l.window), tag(l.account, 'runs that went through its gate', link('past', { gate: l.account })), l.used >= 1 ? chip('bad', 'full') : l.warning && chip('wait', l.used < 0.8 ? 'fills up' : 'nearly full'), h('span', { class: 'push' }, `${used} used`)),
    h('div', { class: 'meter', role: 'img', 'aria-label': `${used} of ${l.window} is used` }, h('div', { class: l.used >= 1 ? 'bad' : l.warning ? 'wait' : '', 'width%': Math.min(100, 100 * l.used) })),
    h('p', { class: 'facts' }, h('span', {}, `resets ${when(l.resets_at)}`),
      f && h('span', { title: 'if it goes on as in the last hour' }, f.full_at ? `forecast: full at about ${when(f.full_at)}` : `forecast: ${percent(f.used)} at the reset`)));
}

function budget(b, link) {
  const share = b.limit ? Math.min(100, 100 * b.spent / b.limit) : 0;
  return h('li', { class: 'card', 'data-key': b.name },
    h('div', { class: 'line' }, h('strong', {}, b.name), b.closed && chip('bad', 'closed'), b.warning && !b.closed && chip('wait', 'nearly spent'),
      h('span', { class: 'push' }, `${dollars(b.spent)}${b.unknown ? ' at least' : ''}${b.limit ? ` of ${dollars(b.limit)} a ${b.window}` : ''}`)),
    b.limit && h('div', { class: 'meter', role: 'img', 'aria-label': `${Math.round(share)} % of the budget is spent` }, h('div', { class: b.closed ? 'bad' : b.warning ? 'wait' : '', 'width%': share })),
    h('p', { class: 'facts' }, b.ends && h('span', {}, `until ${when(b.ends)}`), spenders(b, link)));
}

/** spenders are those who have spent most of a budget: each leads to its runs. */
export const spenders = (b, link) => (b.by || []).slice(0, 5).map((s) => h('span', {},
  linked(link('past', { profile: s.profile === 'others' ? '' : s.profile, project: s.project, name: s.name, since: { day: '24h', week: '7d', month: '30d' }[b.window] }), [s.name, s.profile, s.project && tail(s.project)].filter(Boolean).join(' · ') || 'others'), ` ${dollars(s.spent)}`));

function ended(r, link) {
  return h('li', { class: 'card', 'data-key': r.id, 'data-href': link('run', { id: r.id }) },
    h('div', { class: 'line' }, chip(r.exit_code ? 'bad' : 'ok', `exit ${r.exit_code}`), h('strong', {}, r.command), labels(r, link),
      linked(link('run', { id: r.id }), 'Story', { class: 'push', 'aria-label': `Story of ${r.name || r.command} ${shortID(r.id)}` })),
    h('p', { class: 'facts' }, copied(`belay attach ${shortID(r.id)}`), h('span', {}, `ended ${when(r.ended)}`)));
}
