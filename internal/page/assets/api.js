// Talks to belay ui. The session is kept for this tab only, and sent in a header.

const key = 'belay-session';

/** Refused says that the page must be opened anew. */
export class Refused extends Error {}

/** enter makes a session of the ticket in the address, which is taken out of it. */
export async function enter() {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!ticket) return;
  history.replaceState(null, '', location.pathname + location.search);
  const res = await fetch('/api/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: ticket }) });
  if (!res.ok) throw new Refused((await res.text()).trim());
  sessionStorage.setItem(key, (await res.json()).session);
}

const headers = (more) => ({ Authorization: 'Bearer ' + (sessionStorage.getItem(key) || ''), ...more });

async function checked(res) {
  if (res.ok) return res;
  const text = (await res.text()).trim();
  throw res.status === 401 ? new Refused(text) : new Error(text || `HTTP ${res.status}`);
}

async function ask(path, query, signal) {
  const q = new URLSearchParams(query || {}).toString();
  return checked(await fetch(path + (q ? '?' + q : ''), { headers: headers(), signal }));
}

export const get = async (path, query, signal) => (await ask(path, query, signal)).json();

export async function post(path, body) {
  const res = await checked(await fetch(path, { method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body: JSON.stringify(body) }));
  return (await res.json()).message;
}

/** stream calls on(name, data) for each event, until the stream ends or the signal stops it. EventSource could not send the header. */
export async function stream(path, query, on, signal) {
  const res = await ask(path, query, signal);
  const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split('\n');
      const name = (lines.find((l) => l.startsWith('event: ')) || '').slice(7);
      const data = (lines.find((l) => l.startsWith('data: ')) || '').slice(6);
      if (name) on(name, JSON.parse(data));
    }
  }
}
