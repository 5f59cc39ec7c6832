// The chat page: who you are, your chats, one open chat. The address keeps both
// (#person/chat), so a reload comes back.
import { get, post, watch } from './api.js';
import { el, avatar, clock, day, toast, ask } from './dom.js';
import { bubble, glance, price } from './message.js';
import { openWebApp } from './webapp.js';
import { channelInfo, newChannel, newPerson, pickChat } from './dialogs.js';
import { payments } from './payments.js';

const $ = id => document.getElementById(id);
const app = $('app'), log = $('log'), scroll = $('scroll'), dock = $('dock');

/** @type {{state: any, person: number, chat: number, shown: Map<number, {json: string, node: HTMLElement}>, keyboard: string, jump: number}} */
const now = { state: null, person: 0, chat: 0, shown: new Map(), keyboard: '', jump: 0 };

const me = () => now.state.me;
const chatOf = id => now.state?.chats.find(c => c.id === id);
const open = () => chatOf(now.chat);

function readAddress() {
  const [p, c] = location.hash.slice(1).split('/').map(Number);
  return { person: p || 0, chat: c || 0 };
}

function go(person, chat) {
  const next = '#' + person + (chat ? '/' + chat : '');
  if (location.hash !== next) location.hash = next;
  else route();
}

async function route() {
  const { person, chat } = readAddress();
  const switched = person !== now.person;
  now.person = person;
  if (switched || !now.state) await loadState();
  now.person = me().id;
  const wide = matchMedia('(min-width: 760px)').matches;
  const id = chat && chatOf(chat) ? chat : wide ? now.state.chats[0].id : 0;
  app.dataset.view = id ? 'chat' : 'list';
  if (id !== now.chat || switched) {
    now.chat = id;
    now.shown.clear();
    log.replaceChildren();
    now.keyboard = '?';
    dock.replaceChildren();
  }
  draw();
  if (id) await loadMessages(true);
}

async function loadState() {
  now.state = await get('state' + (now.person ? '?person=' + now.person : ''));
}

function draw() {
  drawPeople();
  drawChats();
  drawBar();
}

function drawPeople() {
  $('people').replaceChildren(...now.state.people.map(p => el('button.person' + (p.id === me().id ? '.on' : ''), {
    type: 'button', title: p.name, aria: { pressed: String(p.id === me().id) }, onclick: () => go(p.id, 0),
  }, avatar(p.name, p.id), el('span', {}, p.first_name, el('small', {}, p.lang ?? '')))));
}

const seenKey = id => `seen:${now.person}:${id}`;
const seen = id => Number(localStorage.getItem(seenKey(id)) ?? 0);

function drawChats() {
  const groups = [['', now.state.chats.filter(c => c.type === 'private')], ['Your channels', now.state.chats.filter(c => c.type !== 'private' && c.mine)],
    ['Other channels', now.state.chats.filter(c => c.type !== 'private' && !c.mine)]];
  $('chats').replaceChildren(...groups.flatMap(([name, list]) => list.length ? [name ? el('h2', {}, name) : null, ...list.map(chatLine)].filter(Boolean) : []));
}

function chatLine(c) {
  const unread = c.id === now.chat ? 0 : Math.max(0, c.last_id - seen(c.id));
  return el('button.chat' + (c.id === now.chat ? '.on' : ''), { type: 'button', aria: { current: String(c.id === now.chat) }, onclick: () => go(me().id, c.id) },
    avatar(c.title, c.id, c.type === 'private' ? 'bot' : ''),
    el('span.chat-text', {},
      el('span.chat-top', {}, el('strong', {}, c.title), el('time', {}, c.last ? clock(c.last.date) : '')),
      el('span.chat-last', {}, el('span', {}, glance(c.last, { bot: now.state.bot }) || (c.type === 'private' ? 'Say /start to begin' : c.about)),
        unread ? el('span.badge', { title: unread + ' new' }, unread > 99 ? '99+' : String(unread)) : null)));
}

function drawBar() {
  const c = open();
  if (!c) return $('room-bar').replaceChildren();
  const sub = c.type === 'private' ? (me().blocked ? 'you blocked the bot' : 'bot · @' + c.username) : `${c.followers} subscribers · ` + standing(c);
  $('room-bar').replaceChildren(...[
    el('button.back', { type: 'button', aria: { label: 'Back to the chats' }, onclick: () => go(me().id, 0) }, '‹'),
    el('button.title', { type: 'button', onclick: () => info(c) }, avatar(c.title, c.id, c.type === 'private' ? 'bot' : ''), el('span', {}, el('strong', {}, c.title), el('small', {}, sub))),
    c.type === 'private' ? el('button.icon', { type: 'button', title: 'Payments', aria: { label: 'Payments' }, onclick: () => payments(me()).catch(e => toast(e.message, 'bad')) }, '⭐') : null,
    c.type === 'channel' && c.username && !c.no_preview ? el('a.icon', { href: '/s/' + c.username, target: '_blank', title: 'Public page' }, '↗') : null,
  ].filter(Boolean));
}

function standing(c) {
  if (c.bot_status === 'administrator') return c.bot_rights?.can_post_messages ? 'the bot may post' : 'the bot may not post';
  return { kicked: 'the bot was removed', member: 'the bot is a member' }[c.bot_status] ?? 'the bot is not here';
}

async function info(c) {
  if (c.type === 'private') return me().blocked ? post(`people/${me().id}/block`, { blocked: false }) : blockDialog();
  await channelInfo(c, now.state.bot);
}

async function blockDialog() {
  const yes = await ask(close => el('div.sheet', {}, el('h2', {}, now.state.bot.first_name), el('p', {}, now.state.description || 'A bot that finds, scores and drafts posts for your channel.'),
    el('button.wide.danger', { type: 'button', onclick: () => close(true) }, 'Block the bot'), el('button.wide', { type: 'button', onclick: () => close(null) }, 'Close')));
  if (yes) await post(`people/${me().id}/block`, { blocked: true });
}

// ---- messages

async function loadMessages(first = false) {
  const id = now.chat;
  const data = await get(`chats/${id}/messages?limit=200`);
  if (id !== now.chat) return;
  const near = first || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 140;
  render(data.messages);
  drawDock(data.keyboard);
  localStorage.setItem(seenKey(id), String(data.chat.last_id));
  if (now.jump) { jumpTo(now.jump); now.jump = 0; } else if (near) toEnd(first);
}

function render(list) {
  const ctx = { me: me(), bot: now.state.bot, chat: open(), acts };
  const keep = new Set();
  let before = null, lastDay = '', lastFrom = null;
  const nodes = [];
  for (const m of list) {
    const d = day(m.date);
    if (d !== lastDay) { nodes.push(dayNode(d)); lastDay = d; lastFrom = null; }
    const json = JSON.stringify(m);
    let known = now.shown.get(m.message_id);
    if (!known || known.json !== json) {
      known = { json, node: bubble(m, ctx) };
      now.shown.set(m.message_id, known);
    }
    const from = m.from?.id ?? m.chat.id;
    known.node.classList.toggle('joined', from === lastFrom);
    lastFrom = known.node.classList.contains('service') || m.reply_markup?.inline_keyboard ? null : from;
    keep.add(m.message_id);
    nodes.push(known.node);
    before = m;
  }
  for (const id of now.shown.keys()) if (!keep.has(id)) now.shown.delete(id);
  if (!before) nodes.push(empty(ctx.chat));
  sync(nodes);
}

const days = new Map();
function dayNode(d) {
  if (!days.has(now.chat + d)) days.set(now.chat + d, el('li.day', {}, el('span', {}, d)));
  return days.get(now.chat + d);
}

/** Puts the nodes in place and touches only what moved. */
function sync(nodes) {
  const wanted = new Set(nodes);
  for (const child of [...log.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((n, i) => { if (log.children[i] !== n) log.insertBefore(n, log.children[i] ?? null); });
}

function empty(c) {
  return el('li.empty', {}, el('div', {}, avatar(c.title, c.id, 'bot'), el('strong', {}, c.title), el('p', {}, now.state.description || (c.type === 'private' ? 'This bot finds news for your channel and posts what you approve.' : 'No posts yet.'))));
}

function toEnd(instant) {
  scroll.scrollTo({ top: scroll.scrollHeight, behavior: instant ? 'instant' : 'smooth' });
}

function jumpTo(id) {
  const node = now.shown.get(id)?.node;
  if (!node) return toast('That post is not there');
  node.scrollIntoView({ block: 'center' });
  node.classList.add('flash');
  setTimeout(() => node.classList.remove('flash'), 1600);
}

// ---- what a person does

const acts = {
  command: text => say(text),
  open: url => openLink(url),
  press: (b, m, node) => press(b, m, node).catch(e => toast(e.message, 'bad')),
  menu: (m, node) => menu(m, node),
};

/** Links inside of this little world stay in it. */
function openLink(url) {
  const slug = /^https?:\/\/t\.me\/\$(\w+)$/.exec(url)?.[1];
  if (slug) { payLink(slug).catch(e => toast(e.message, 'bad')); return true; }
  const m = /^https?:\/\/t\.me\/(?:c\/(\d+)|([A-Za-z]\w{3,}))(?:\/(\d+))?(?:\?start=([\w-]*))?$/.exec(url);
  if (!m) return false;
  if (m[2] && m[2].toLowerCase() === now.state.bot.username.toLowerCase()) {
    say('/start' + (m[4] ? ' ' + m[4] : ''));
    return true;
  }
  const c = now.state.chats.find(c => c.type !== 'private' && (m[1] ? String(c.id) === '-100' + m[1] : c.username?.toLowerCase() === m[2].toLowerCase()));
  if (!c) return false;
  now.jump = Number(m[3] ?? 0);
  go(me().id, c.id);
  return true;
}

async function press(b, m, node) {
  if (b.url) { if (!openLink(b.url)) window.open(b.url, '_blank', 'noopener'); return; }
  if (b.copy_text) { await navigator.clipboard?.writeText(b.copy_text.text); return toast('Copied'); }
  if (b.web_app) return showApp(b.web_app.url);
  if (b.pay) return pay(m, node);
  if (!b.callback_data) return toast('This button does nothing here');
  node.classList.add('busy');
  try {
    const a = await post(`people/${me().id}/tap`, { chat_id: m.chat.id, message_id: m.message_id, data: b.callback_data, wait_ms: 15000 });
    if (a.url) openLink(a.url) || window.open(a.url, '_blank', 'noopener');
    else if (a.text && a.alert) await ask(close => el('div.sheet', {}, el('p', {}, a.text), el('button.wide', { type: 'button', onclick: () => close(true) }, 'OK')));
    else if (a.text) toast(a.text);
    else if (!a.answered) toast('The bot did not answer', 'bad');
  } finally { node.classList.remove('busy'); }
}

async function pay(m, node) {
  node.classList.add('busy');
  try { await paySheet(m.invoice, { message_id: m.message_id }); } finally { node.classList.remove('busy'); }
}

/** An invoice link, from the chat or from the Mini App; answers as Telegram does: paid, cancelled or failed. */
async function payLink(slug) {
  return paySheet(await get('invoices/' + slug), { url: 'https://t.me/$' + slug });
}

async function paySheet(inv, what) {
  const stars = inv.currency === 'XTR';
  const yes = await ask(close => el('div.sheet.pay-sheet', {}, el('h2', {}, inv.title), el('p', {}, inv.description), el('p.price', {}, price(inv) + (stars ? ` of your ${me().stars}` : ' by card')),
    el('button.wide.primary', { type: 'button', onclick: () => close(true) }, 'Pay'), el('button.wide', { type: 'button', onclick: () => close(null) }, 'Cancel')));
  if (!yes) return 'cancelled';
  const r = await post(`people/${me().id}/pay`, { ...what, wait_ms: 11000 });
  toast(r.ok ? 'Paid' : r.error || 'The bot did not answer in time; nothing was paid', r.ok ? '' : 'bad');
  return r.ok ? 'paid' : 'failed';
}

function menu(m, node) {
  const c = open(), mineHere = c.type === 'private' ? m.from?.id === me().id : c.mine;
  const item = (text, f) => el('button', { type: 'button', onclick: () => { pop.remove(); f().catch(e => toast(e.message, 'bad')); } }, text);
  document.querySelector('.pop')?.remove();
  const link = c.username && c.type !== 'private' ? `https://t.me/${c.username}/${m.message_id}` : null;
  const pop = el('div.pop', { role: 'menu' },
    item('Forward to the bot', async () => { await post(`people/${me().id}/forward`, { chat_id: c.id, message_id: m.message_id }); go(me().id, me().id); }),
    item('Copy text', async () => { await navigator.clipboard?.writeText(m.text ?? m.caption ?? ''); toast('Copied'); }),
    link ? item('Copy link', async () => { await navigator.clipboard?.writeText(link); toast('Copied'); }) : null,
    mineHere && m.text ? item('Edit', async () => editDialog(c, m)) : null,
    c.type === 'private' || c.mine ? item('Delete', async () => post(`people/${me().id}/delete`, { chat_id: c.id, message_id: m.message_id })) : null);
  node.parentElement.append(pop);
  setTimeout(() => addEventListener('click', () => pop.remove(), { once: true }));
}

async function editDialog(c, m) {
  const area = el('textarea', { value: m.text, rows: 6 });
  const text = await ask(close => el('div.sheet', {}, el('h2', {}, 'Edit'), area, el('button.wide.primary', { type: 'button', onclick: () => close(area.value) }, 'Save')));
  if (text) await post(`people/${me().id}/edit`, { chat_id: c.id, message_id: m.message_id, text });
}

async function say(text) {
  if (!text.trim()) return;
  const c = open()?.mine && open().type === 'channel' ? open() : now.state.chats[0];
  await post(`people/${me().id}/send`, { chat_id: c.id, text }).catch(e => toast(e.message, 'bad'));
  if (c.id !== now.chat) go(me().id, c.id);
}

async function showApp(url) {
  const r = await post(`people/${me().id}/webapp`, { url: url ?? '' });
  openWebApp(r.url, now.state.bot.first_name, openLink, payLink);
}

// ---- the input field and the keyboards under it

function drawDock(keyboard) {
  const c = open(), key = JSON.stringify([c.id, keyboard, now.state.menu, now.state.commands, me().blocked, c.mine]);
  if (key === now.keyboard) return;
  now.keyboard = key;
  const draft = dock.querySelector('textarea')?.value ?? '';
  if (c.type !== 'private' && !c.mine) return dock.replaceChildren(el('p.muted', {}, 'You read this channel. Open a post’s ⋯ to forward it to the bot.'));
  if (me().blocked && c.type === 'private') return dock.replaceChildren(el('button.wide', { type: 'button', onclick: () => post(`people/${me().id}/block`, { blocked: false }) }, 'Unblock the bot'));
  if (c.type === 'private' && !me().started) return dock.replaceChildren(el('button.start', { type: 'button', onclick: () => say('/start') }, 'START'));
  dock.replaceChildren(composer(c, draft, keyboard), ...(keyboard && c.type === 'private' ? [replyKeys(keyboard)] : []));
}

function composer(c, draft, keyboard) {
  const area = el('textarea', { rows: 1, value: draft, placeholder: c.type === 'private' ? (keyboard?.input_field_placeholder ?? 'Message') : 'Post to ' + c.title, aria: { label: 'Message' } });
  const grow = () => { area.style.height = 'auto'; area.style.height = Math.min(area.scrollHeight, 180) + 'px'; send.disabled = !area.value.trim(); };
  const submit = () => { const t = area.value; area.value = ''; grow(); say(t); };
  const send = el('button.send', { type: 'submit', disabled: !draft.trim(), aria: { label: 'Send' } }, '➤');
  area.addEventListener('input', grow);
  area.addEventListener('keydown', e => { if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); submit(); } });
  const left = c.type === 'private' ? menuButton(area, grow) : null;
  return el('form.composer', { onsubmit: e => { e.preventDefault(); submit(); } }, left, area, c.type === 'private' ? attachButton(c) : null, send);
}

/** Sends a file to the bot, such as a list of sources. */
function attachButton(c) {
  const input = el('input', { type: 'file', hidden: true });
  input.addEventListener('change', async () => {
    const file = input.files[0];
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = '';
    for (const b of bytes) text += String.fromCharCode(b);
    input.value = '';
    await post(`people/${me().id}/send`, { chat_id: c.id, document: { name: file.name, data: btoa(text) } }).catch(e => toast(e.message, 'bad'));
  });
  return el('span', {}, input, el('button.menu', { type: 'button', title: 'Send a file', aria: { label: 'Send a file' }, onclick: () => input.click() }, '📎'));
}

function menuButton(area, grow) {
  const m = now.state.menu;
  const commands = now.state.commands ?? [];
  const list = commands.length ? el('button.menu', { type: 'button', title: 'Commands', aria: { label: 'Commands' }, onclick: e => commandList(e.currentTarget, commands, area, grow) }, '/') : null;
  if (m?.type === 'web_app') {
    const app = el('button.menu.app', { type: 'button', onclick: () => showApp(m.web_app.url).catch(e => toast(e.message, 'bad')) }, m.text);
    return el('span.menus', {}, app, list);
  }
  return list;
}

function commandList(node, commands, area, grow) {
  document.querySelector('.pop')?.remove();
  const pop = el('div.pop.commands', { role: 'menu' }, ...commands.map(c => el('button', { type: 'button', onclick: () => { pop.remove(); say('/' + c.command.replace(/^\//, '')); } }, el('b', {}, '/' + c.command.replace(/^\//, '')), el('span', {}, c.description))));
  node.closest('form').append(pop);
  setTimeout(() => addEventListener('click', () => pop.remove(), { once: true }));
}

function replyKeys(k) {
  return el('div.reply-keys' + (k.resize_keyboard ? '' : '.tall'), { role: 'group', aria: { label: 'Keyboard' } }, ...k.keyboard.map(row => el('div.row', {}, ...row.map(b => {
    const text = typeof b === 'string' ? b : b.text;
    return el('button.key', { type: 'button', onclick: () => pressKey(b, text).catch(e => toast(e.message, 'bad')) }, text);
  }))));
}

async function pressKey(b, text) {
  if (b.request_chat) return pickChat(b.request_chat, now.state, me());
  if (b.web_app) return showApp(b.web_app.url);
  await say(text);
}

// ---- life

async function changed(chats) {
  await loadState();
  if (!chatOf(now.chat) && now.chat) return go(me().id, 0);
  draw();
  if (now.chat && (!chats || chats.has(now.chat) || chats.has(0))) await loadMessages();
}

scroll.addEventListener('scroll', () => { $('down').hidden = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 300; });
scroll.addEventListener('grown', () => { if (scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 420) toEnd(true); });
scroll.addEventListener('load', e => e.target.dispatchEvent(new CustomEvent('grown', { bubbles: true })), true);
$('down').addEventListener('click', () => toEnd(false));
$('add-channel').addEventListener('click', () => newChannel(me()).catch(e => toast(e.message, 'bad')));
$('add-person').addEventListener('click', () => newPerson().then(p => p && go(p.id, 0)).catch(e => toast(e.message, 'bad')));
addEventListener('hashchange', () => route().catch(e => toast(e.message, 'bad')));

await route();
if (!readAddress().person) history.replaceState(null, '', '#' + me().id + (now.chat ? '/' + now.chat : ''));
watch(now.state.version, c => changed(c).catch(e => toast(e.message, 'bad')), online => document.body.classList.toggle('offline', !online));
