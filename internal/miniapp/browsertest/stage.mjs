// A person of the demo, driven from outside: what he writes to the bot, what he
// taps there, and the Mini App's API as him. All by the demo's public face.

/** @param {string} base the demo's address */
export async function enter(base) {
  const call = async (method, path, body) => {
    const res = await fetch(base + path, { method, headers: { 'content-type': 'application/json' }, body: body === undefined ? undefined : JSON.stringify(body) });
    const out = await res.json().catch(() => ({}));
    if (!res.ok) throw new Error(`${method} ${path}: ${res.status} ${JSON.stringify(out)}`);
    return out;
  };
  const people = await call('GET', '/sandbox/api/people');
  return { call, people: people.map(p => person(base, call, p)) };
}

/** Waits until `look` finds something. @param {() => Promise<any>} look @param {string} what @param {number} [seconds] */
export async function until(look, what, seconds = 40) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
    await new Promise(r => setTimeout(r, 100));
  }
}

/** @param {string} base @param {any} call @param {any} p */
function person(base, call, p) {
  let token = '';
  const me = {
    ...p,
    send: text => call('POST', `/sandbox/api/people/${p.id}/send`, { text }),
    messages: async (chat = p.id, after = 0) => call('GET', `/sandbox/api/chats/${chat}/messages?after=${after}`),
    tap: (message, button) => call('POST', `/sandbox/api/people/${p.id}/tap`, { message_id: message, button, wait_ms: 20000 }),
    /** Signed launch data, as Telegram hands them to the page. */
    launch: async () => (await call('POST', `/sandbox/api/people/${p.id}/webapp`, {})).init_data,
    /** The card of a draft in the chat: the newest message with a button whose data name it. */
    async card(words, button) {
      const { messages } = await me.messages();
      return messages.reverse().find(m => (m.text ?? m.caption ?? '').includes(words) && m.reply_markup?.inline_keyboard?.flat().some(b => b.text.endsWith(button)));
    },
    /** One call of the API as this person. */
    async api(method, path, body, headers = {}) {
      if (!token) {
        const res = await fetch(`${base}/api/v1/session`, { method: 'POST', headers: { authorization: 'tma ' + await me.launch() } });
        token = (await res.json()).token;
      }
      const res = await fetch(`${base}/api/v1/${path}`, { method, headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json', ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
      const out = await res.json().catch(() => ({}));
      if (!res.ok) throw new Error(`${method} ${path}: ${res.status} ${JSON.stringify(out)}`);
      return out;
    },
    /** Starts the bot and links the channel that the person runs; answers its number. */
    async link() {
      await me.send('/start');
      const state = await call('GET', `/sandbox/api/state?person=${p.id}`);
      const mine = state.chats.find(c => c.mine && c.type === 'channel');
      const pick = await until(async () => (await me.messages()).keyboard?.keyboard?.flat().find(b => b.request_chat), 'the channel picker');
      await call('POST', `/sandbox/api/people/${p.id}/pick`, { request_id: pick.request_chat.request_id, chat_id: mine.id });
      const channel = await until(async () => (await me.api('GET', 'me')).channels[0], 'the linked channel');
      return { id: channel.id, chat: mine.id, title: mine.title };
    },
  };
  return me;
}
