// The control face of the stand-in, as this page uses it.

/** @param {string} path @returns {Promise<any>} */
export async function get(path, signal) {
  const res = await fetch('/sandbox/api/' + path, { signal });
  return read(res);
}

/** @param {string} path @param {object} body @returns {Promise<any>} */
export async function post(path, body = {}) {
  const res = await fetch('/sandbox/api/' + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return read(res);
}

async function read(res) {
  const text = await res.text();
  let data = null;
  try { data = JSON.parse(text); } catch { /* an error page */ }
  if (!res.ok) throw new Error(data?.error ?? `The stand-in answered ${res.status}`);
  return data;
}

/**
 * Calls back with the ids of changed chats, for ever. A lost connection is
 * retried; the callback then hears of everything.
 * @param {(chats: Set<number>|null) => void} onChange
 * @param {(online: boolean) => void} onLine
 */
export async function watch(since, onChange, onLine) {
  for (;;) {
    try {
      const c = await get(`changes?since=${since}&wait=25`);
      onLine(true);
      if (c.version !== since) {
        since = c.version;
        onChange(new Set(c.chats));
      }
    } catch {
      onLine(false);
      await new Promise(r => setTimeout(r, 1500));
      onChange(null);
    }
  }
}
