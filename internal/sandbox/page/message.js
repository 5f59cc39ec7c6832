// One message as an element.
import { el, clock, avatar } from './dom.js';
import { rich, previewAddress } from './format.js';
import { get } from './api.js';

const previews = new Map();

/**
 * @param {any} m a message of the Bot API
 * @param {{me: any, bot: any, chat: any, acts: any}} ctx
 */
export function bubble(m, ctx) {
  const service = serviceText(m, ctx);
  if (service) return el('li.service', { data: { id: m.message_id } }, el('span', {}, service));
  const mine = m.from?.id === ctx.me.id;
  const channel = ctx.chat.type === 'channel';
  const box = el('div.bubble' + (channel ? '.post' : mine ? '.mine' : ''));
  if (m.forward_origin) box.append(forwarded(m.forward_origin, ctx));
  if (m.reply_to_message) box.append(el('div.reply', {}, m.reply_to_message.text ?? m.reply_to_message.caption ?? 'Message'));
  content(box, m, ctx);
  if (box.lastChild?.classList?.contains('text')) box.lastChild.classList.add('flow');
  box.append(meta(m, channel));
  const li = el('li.message' + (mine ? '.out' : '') + (channel ? '.wide' : ''), { data: { id: m.message_id } });
  const stack = el('div.stack', {}, box);
  const keys = keyboard(m, ctx);
  if (keys) stack.append(keys);
  li.append(stack, el('button.more', { type: 'button', title: 'More', aria: { label: 'More about this message' }, onclick: e => ctx.acts.menu(m, e.currentTarget) }, '⋯'));
  return li;
}

function content(box, m, ctx) {
  const text = m.text ?? m.caption;
  const words = text ? el('div.text', { dir: 'auto' }, rich(text, m.entities ?? m.caption_entities, ctx.acts)) : null;
  const photo = m.photo ? el('a.photo', { href: '/file/page/' + m.photo.at(-1).file_id, target: '_blank' },
    el('img', { src: '/file/page/' + m.photo.at(-1).file_id, alt: '', loading: 'lazy', width: m.photo.at(-1).width, height: m.photo.at(-1).height })) : null;
  if (m.invoice) box.append(invoice(m.invoice));
  if (m.document) box.append(el('a.document', { href: '/file/page/' + m.document.file_id }, el('span.doc-icon', {}, '↓'), el('span', {}, m.document.file_name, el('small', {}, size(m.document.file_size)))));
  const card = m.text ? preview(m) : null;
  const above = m.link_preview_options?.show_above_text || m.show_caption_above_media;
  if (photo && !m.show_caption_above_media) box.append(photo);
  if (card && above) box.append(card);
  if (words) box.append(words);
  if (photo && m.show_caption_above_media) box.append(photo);
  if (card && !above) box.append(card);
  if (photo && !words) box.classList.add('bare');
}

/** A sum as Telegram's clients write it. */
export const price = i => i.currency === 'XTR' ? `⭐️ ${i.total_amount}` : `${(i.total_amount / 100).toFixed(2)} ${i.currency}`;

function invoice(i) {
  return el('div.invoice', {}, el('strong', {}, i.title), el('p', {}, i.description), el('span.price', {}, price(i)));
}

function meta(m, channel) {
  return el('div.meta', {},
    channel ? el('span', {}, (40 + m.message_id * 7 % 90) + ' views') : null,
    m.edit_date ? el('span', {}, 'edited') : null,
    el('time', { dateTime: new Date(m.date * 1000).toISOString() }, clock(m.date)));
}

function forwarded(o, ctx) {
  const from = o.type === 'channel' ? o.chat.title : o.sender_user?.first_name ?? 'somebody';
  const node = el('div.forwarded', {}, 'Forwarded from ', el('b', {}, from));
  if (o.type === 'channel' && o.chat.username) {
    node.tabIndex = 0;
    node.onclick = () => ctx.acts.open(`https://t.me/${o.chat.username}/${o.message_id}`);
  }
  return node;
}

/** The card of a link; filled when the stand-in has answered. */
function preview(m) {
  const address = previewAddress(m);
  if (!address || !/^https?:/.test(address)) return null;
  const o = m.link_preview_options ?? {};
  const card = el('a.card' + (o.prefer_large_media ? '.large' : ''), { href: address, target: '_blank', rel: 'noopener noreferrer', hidden: true });
  if (!previews.has(address)) previews.set(address, get('preview?url=' + encodeURIComponent(address)).catch(() => null));
  previews.get(address).then(p => {
    if (!p || (!p.title && !p.image)) return;
    card.append(el('span.site', {}, p.site));
    if (p.title) card.append(el('strong', {}, p.title));
    if (p.description) card.append(el('span.about', {}, p.description));
    if (p.image) card.append(el('img', { src: p.image, alt: '', loading: 'lazy' }));
    if (p.image && !o.prefer_small_media) card.classList.add('large');
    card.hidden = false;
    card.dispatchEvent(new CustomEvent('grown', { bubbles: true }));
  });
  return card;
}

function keyboard(m, ctx) {
  const rows = m.reply_markup?.inline_keyboard;
  if (!rows) return null;
  return el('div.keys', { role: 'group', aria: { label: 'Buttons' } }, ...rows.map(row => el('div.row', {}, ...row.map(b => button(b, m, ctx)))));
}

function button(b, m, ctx) {
  const kind = b.url ? 'url' : b.web_app ? 'app' : b.pay ? 'pay' : b.copy_text ? 'copy' : 'call';
  return el('button.key.' + kind + (b.style ? '.' + b.style : ''), { type: 'button', onclick: e => ctx.acts.press(b, m, e.currentTarget) }, el('span', {}, b.text));
}

function size(n) {
  return n < 1024 ? ` ${n} B` : n < 1 << 20 ? ` ${Math.round(n / 1024)} kB` : ` ${(n / (1 << 20)).toFixed(1)} MB`;
}

function serviceText(m, ctx) {
  if (m.channel_chat_created) return 'Channel created';
  if (m.chat_shared) return `You shared ${m.chat_shared.title ?? 'a chat'} with ${ctx.bot.first_name}`;
  if (m.users_shared) return `You shared a person with ${ctx.bot.first_name}`;
  if (m.successful_payment) return `You paid ${price(m.successful_payment)} to ${ctx.bot.first_name}` + (m.successful_payment.is_recurring && !m.successful_payment.is_first_recurring ? ' (renewal)' : '');
  if (m.refunded_payment) return `${ctx.bot.first_name} refunded ${price(m.refunded_payment)}`;
  return null;
}

/** A line in the list of chats. */
export function glance(m, ctx) {
  if (!m) return '';
  const service = serviceText(m, ctx);
  if (service) return service;
  const text = m.text ?? m.caption ?? '';
  const what = m.photo ? '🖼 ' : m.document ? '📎 ' : m.invoice ? '🧾 ' + m.invoice.title : '';
  return what + text.replace(/\s+/g, ' ').slice(0, 90);
}

export { avatar };
