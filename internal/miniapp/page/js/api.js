// Talking to the server: the session, conditional reads, writes that are safe
// to repeat, and news of changes (a stream, with asking as the fallback).

import { initData } from './telegram.js';

/** @typedef {import('../types').Session} Session */
/** @typedef {import('../types').Changes} Changes */

const base = new URL('../api/v1/', location.origin + location.pathname.replace(/[^/]*$/, ''));

/** A refusal by the server (its code is a key of the texts), or `offline`, or `expired`. */
export class ApiError extends Error {
  /** @param {string} code @param {number} status @param {Record<string, unknown>} [args] @param {string} [title] */
  constructor(code, status, args = {}, title = '') {
    super(title || code);
    this.code = code;
    this.status = status;
    this.args = args;
  }
}

let token = sessionStorage.getItem('session') ?? '';
/** @type {(s: Session) => void} */
let onSession = () => {};
/** @type {(online: boolean) => void} */
let onReach = () => {};
/** @type {() => void} */
let onExpired = () => {};

/** @param {{ session: (s: Session) => void, reach: (online: boolean) => void, expired: () => void }} hooks */
export function hooks({ session, reach, expired }) { onSession = session; onReach = reach; onExpired = expired; }

/** The first request for a session: index.html sent it while this script was on its way. @type {Promise<Response> | undefined} */
let early = /** @type {any} */ (window).early;

/**
 * Opens a session with Telegram's signed data, or renews the one at hand.
 * @returns {Promise<Session>}
 */
export async function signIn() {
  const data = initData();
  /** @type {ApiError | null} */
  let refused = null;
  for (const authorization of [token && `Bearer ${token}`, data && `tma ${data}`]) {
    if (!authorization) continue;
    try {
      const s = /** @type {Session} */ (await request('POST', 'session', undefined, { authorization }).then(r => r.body));
      token = s.token;
      sessionStorage.setItem('session', token);
      if (s.first) seen.set(`channels/${s.first.channel_id}/plan?days=7`, { etag: '', body: s.first.plan, fresh: true });
      onSession(s);
      return s;
    } catch (err) {
      if (!(err instanceof ApiError) || err.status !== 401) throw err;
      refused = err;
    }
  }
  token = '';
  sessionStorage.removeItem('session');
  throw refused ?? new ApiError(data ? 'session.expired' : 'session.missing', 401);
}

/** @type {Promise<Session> | null} */
let renewing = null;

/**
 * One request. A lost session is renewed once and the request repeated.
 * @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<{ body: any, etag: string, status: number }>}
 */
async function authorised(method, path, body, headers = {}) {
  try {
    return await request(method, path, body, { authorization: `Bearer ${token}`, ...headers });
  } catch (err) {
    if (!(err instanceof ApiError) || err.status !== 401) throw err;
  }
  try {
    await (renewing ??= signIn().finally(() => { renewing = null; }));
  } catch (err) {
    if (err instanceof ApiError && err.status === 401) onExpired();
    throw err;
  }
  return request(method, path, body, { authorization: `Bearer ${token}`, ...headers });
}

/** @param {string} method @param {string} path @param {unknown} body @param {Record<string, string>} headers @returns {Promise<{ body: any, etag: string, status: number }>} */
async function request(method, path, body, headers) {
  let res;
  const plain = typeof body === 'string';
  try {
    const sent = path === 'session' && early;
    early = undefined;
    res = await (sent || fetch(new URL(path, base), {
      method, headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': plain ? 'text/x-opml' : 'application/json' }), ...headers },
      body: body === undefined ? undefined : plain ? body : JSON.stringify(body), cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(20000),
    }));
  } catch {
    onReach(false);
    throw new ApiError('offline', 0);
  }
  if (res.status === 502 || res.status === 503 || res.status === 504) { onReach(false); throw new ApiError('offline', res.status); }
  onReach(true);
  const etag = res.headers.get('etag') ?? '';
  if (res.status === 304) return { body: undefined, etag, status: 304 };
  const type = res.headers.get('content-type') ?? '';
  const data = type.includes('json') ? await res.json() : await res.text();
  if (!res.ok) throw new ApiError(data.code ?? 'internal', res.status, data.args, data.detail);
  return { body: data, etag, status: res.status };
}

/** What was read last, by path: shown at once, then confirmed. @type {Map<string, { etag: string, body: any, fresh?: boolean }>} */
const seen = new Map();

/** What is known without asking. @param {string} path */
export const peek = path => seen.get(path)?.body;

/** @param {string} path @returns {Promise<any>} */
export async function get(path) {
  const known = seen.get(path);
  if (known?.fresh) { known.fresh = false; return known.body; }
  const res = await authorised('GET', path, undefined, known?.etag ? { 'if-none-match': known.etag } : {});
  if (res.status === 304) return known?.body;
  if (seen.size > 60) seen.clear();
  seen.set(path, { etag: res.etag, body: res.body });
  return res.body;
}

/**
 * A write. Each names what it wants (a draft's transition, a setting's version),
 * so after a lost answer it is simply asked again: a repeated one changes nothing.
 * @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers] @returns {Promise<any>}
 */
export async function send(method, path, body, headers) {
  try {
    return (await authorised(method, path, body, headers)).body;
  } catch (err) {
    if (!(err instanceof ApiError) || err.code !== 'offline') throw err;
    await new Promise(r => setTimeout(r, 1200));
    return (await authorised(method, path, body, headers)).body;
  }
}

/**
 * Watches one channel and calls back with the names of what changed, until stopped.
 * @param {number} channel @param {(changed: (keyof Changes)[]) => void} changed @param {(how: 'live' | 'asking' | 'off') => void} mode
 * @param {Changes | null} last what is known already
 * @returns {() => void}
 */
export function watch(channel, changed, mode, last) {
  const stop = new AbortController(), { signal } = stop;
  let live = false, failures = 0;
  /** Ends the stream, or the pause before the next one. */
  let wake = () => {};
  /** @param {Changes} now */
  const take = now => {
    const before = last;
    last = now;
    if (!before) return;
    const names = /** @type {(keyof Changes)[]} */ (Object.keys(now)).filter(k => now[k] !== before[k]);
    if (names.length) changed(names);
  };
  const pause = (/** @type {number} */ ms) => new Promise(r => setTimeout(r, ms));
  // A page that nobody sees hangs up (a browser has six lines for all its tabs), and listens anew when it is seen again.
  document.addEventListener('visibilitychange', () => wake(), { signal });
  addEventListener('online', () => wake(), { signal });
  (async () => {
    while (!signal.aborted) {
      const line = new AbortController();
      let woken = false;
      const call = new Promise(r => { wake = () => { woken = true; line.abort(); r(0); }; });
      if (!document.hidden) await stream(channel, line, now => { live = true; failures = 0; mode('live'); take(now); }).catch(() => { if (!woken) failures = Math.min(failures + 1, 6); });
      live = false;
      await Promise.race(document.hidden ? [call] : [call, pause(500 << failures)]);
    }
  })();
  // While no stream gets through (a proxy, a lost network) the page asks.
  (async () => {
    for (let was = Date.now(); !signal.aborted; was = Date.now()) {
      await pause(1400);
      if (Date.now() - was > 9000) wake(); // the machine slept
      if (live || document.hidden || signal.aborted) continue;
      try {
        take(await get(`channels/${channel}/changes`));
        if (failures && !live) mode('asking');
      } catch (err) {
        if (/** @type {ApiError} */ (err).status === 404) changed(['settings']); // taken out of the channel
        else mode('off');
      }
    }
  })();
  return () => { stop.abort(); wake(); };
}

/** @param {number} channel @param {AbortController} line @param {(c: Changes) => void} take */
async function stream(channel, line, take) {
  // A proxy may hold back what it is sent; and silence longer than two heartbeats means that the line is dead.
  let timer = setTimeout(() => line.abort(), 4000);
  const res = await fetch(new URL(`events?channel=${channel}`, base), { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' }, cache: 'no-store', credentials: 'omit', signal: line.signal });
  if (res.status === 401) await (renewing ??= signIn().finally(() => { renewing = null; }));
  if (!res.ok || !res.body) throw new ApiError('offline', res.status);
  onReach(true);
  const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { value, done } = await reader.read();
    clearTimeout(timer);
    if (done) return;
    timer = setTimeout(() => line.abort(), 40000);
    buffer += value;
    const events = buffer.split('\n\n');
    buffer = events.pop() ?? '';
    for (const e of events) {
      const data = e.split('\n').filter(l => l.startsWith('data:')).map(l => l.slice(5)).join('\n');
      if (data) take(JSON.parse(data));
    }
  }
}
