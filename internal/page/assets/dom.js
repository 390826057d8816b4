// What the page is made of: elements are built here, and only here. Text is text: nothing is ever read as HTML.

const svgTags = new Set(['svg', 'g', 'path', 'rect', 'line', 'circle', 'text', 'title', 'polyline']);

/** h makes an element. Children are elements, texts, or lists of them; null, false and undefined are left out. */
export function h(tag, props, ...children) {
  const el = svgTags.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value == null || value === false) continue;
    if (name === 'width%') el.style.width = value + '%';
    else if (name === 'color') el.dataset.color = value;
    else el.setAttribute(name, value === true ? '' : String(value));
  }
  add(el, children);
  return el;
}

function add(el, children) {
  for (const c of children) {
    if (c == null || c === false) continue;
    if (Array.isArray(c)) add(el, c);
    else el.append(c);
  }
}

/** morph makes an element what another one is, and leaves alone what is the same already: focus, scrolling and what is being typed stay. */
export function morph(from, to) {
  for (const { name } of [...from.attributes]) {
    if (name !== 'style' && !to.hasAttribute(name) && !keep(from, name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (name === 'style') continue;
    if (from.getAttribute(name) !== value && !keep(from, name)) from.setAttribute(name, value);
  }
  if (to.style && from.style && from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText;
  if (to.dataset && to.dataset.output) return; // which is filled elsewhere
  const old = [...from.childNodes];
  const next = [...to.childNodes];
  const byKey = new Map(old.filter((n) => n.dataset && n.dataset.key).map((n) => [n.dataset.key, n]));
  next.forEach((n, i) => {
    const key = n.dataset && n.dataset.key;
    const here = from.childNodes[i];
    let match = key ? byKey.get(key) : here;
    if (key && match && match !== here) from.insertBefore(match, here || null);
    if (match && !key && match.dataset && match.dataset.key) match = null;
    if (!match || match.nodeType !== n.nodeType || match.nodeName !== n.nodeName) {
      if (match && !key && here) here.replaceWith(n);
      else from.insertBefore(n, from.childNodes[i] || null);
    } else if (n.nodeType === Node.TEXT_NODE) {
      if (match.data !== n.data) match.data = n.data;
    } else {
      morph(match, n);
    }
  });
  while (from.childNodes.length > next.length) from.lastChild.remove();
  if ((from.tagName === 'SELECT' || from.tagName === 'INPUT') && from !== document.activeElement) from.value = to.value;
}

// keep says that an attribute belongs to who uses the page.
function keep(el, name) { return el.tagName === 'DETAILS' && name === 'open'; }

/** show puts a view in its place. */
export function show(el, ...children) {
  const next = el.cloneNode(false);
  add(next, children);
  morph(el, next);
}

// Pieces that several views have.
export const chip = (kind, text) => h('span', { class: `badge ${kind}${text.length > 24 ? ' long' : ''}` }, text);
export const linked = (href, text, more) => h('a', { href, 'data-link': true, ...more }, text);
/** tag is a label; href leads to all that have it. */
export const tag = (text, title, href) => (href ? linked(href, text, { class: 'tag', title }) : h('span', { class: 'tag', title }, text));
/** trouble is an error; of a long one it is the begin, and href leads to the rest. */
export const trouble = (text, href) => text && h('div', { class: 'trouble' }, text.length > 400 && href ? [/^[^]{0,360}/u.exec(text)[0], '… ', linked(href, 'all of it')] : text);
/** copied is a command with a button that copies it. */
export const copied = (command) => h('span', { class: 'copy' }, h('code', {}, command), h('button', { type: 'button', 'data-act': 'copy', 'data-id': command, 'aria-label': `Copy: ${command}` }, 'Copy'));
/** none says why there is nothing, and what to type. */
export const none = (text, command) => h('div', { class: 'quiet empty' }, h('p', {}, text), command && h('p', {}, copied(command)));
export const figure = (name, value, more, kind) =>
  h('div', { class: kind || '' }, h('dt', {}, name), h('dd', {}, value, more && h('small', {}, more)));
