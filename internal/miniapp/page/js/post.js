// A post exactly as Telegram will show it, read by its rules and by an allow-list.
// What a post cannot carry (a script, an image, a handler) never becomes an
// element, not even for a moment: it stands there as the text that it is.

import { h, button } from './dom.js';
import { t } from './texts.js';

/** Telegram's spellings and ours. @type {Record<string, string>} */
const tags = { b: 'b', strong: 'b', i: 'i', em: 'i', u: 'u', ins: 'u', s: 's', strike: 's', del: 's', code: 'code', pre: 'pre', blockquote: 'blockquote', a: 'a', 'tg-spoiler': 'spoiler', span: 'spoiler' };
/** @type {Record<string, string>} */
const signs = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** The references that Telegram decodes; any other & stays. @param {string} s */
const unescaped = s => s.replace(/&(?:(lt|gt|amp|quot)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (all, name, dec, hex) => {
  const n = dec ? Number(dec) : parseInt(hex, 16);
  return name ? signs[name.toLowerCase()] : n > 0 && n <= 0x10ffff ? String.fromCodePoint(n) : all;
});

/** @param {string} html @returns {DocumentFragment} */
export function render(html) {
  const out = document.createDocumentFragment();
  /** What is open, the innermost last. @type {{ tag: string, el: Node }[]} */
  const open = [{ tag: '', el: out }];
  for (const part of html.match(/<[^<>]*>|<?[^<]*/g) ?? []) {
    const { tag, el } = open[open.length - 1];
    const [, end, name, more] = /^<(\/?)([a-z-]+) *([^>]*)>$/i.exec(part) ?? [];
    const known = name && tags[name.toLowerCase()];
    const made = known && !end ? element(known, name.toLowerCase(), more.trim()) : null;
    if (made) { el.appendChild(made); open.push({ tag: known ?? '', el: made }); }
    else if (known && end && known === tag) open.pop();
    else el.appendChild(document.createTextNode(/^br\/?$/i.test(name ?? '') && !end ? '\n' : unescaped(part)));
  }
  return out;
}

/** @param {string} tag ours @param {string} name as it was written @param {string} more @returns {HTMLElement | null} null: a post cannot carry it */
function element(tag, name, more) {
  if (tag === 'blockquote') return h('blockquote', { class: /^expandable\b/.test(more) ? 'expandable' : null });
  if (tag === 'a') {
    const [, , raw] = /^href=(["'])(.*)\1$/.exec(more) ?? [], href = unescaped(raw ?? '');
    return /^(https?:\/\/|tg:|mailto:|tel:)/.test(href) ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }) : null;
  }
  if (tag !== 'spoiler') return h(/** @type {keyof HTMLElementTagNameMap} */ (tag));
  if (name === 'span' && !/^class=(["'])tg-spoiler\1$/.test(more)) return null;
  const el = h('span', { class: 'spoiler', tabindex: '0', role: 'button', 'aria-label': t('post.spoiler'), 'aria-pressed': 'false' });
  const show = () => { el.classList.add('shown'); el.removeAttribute('aria-label'); el.setAttribute('aria-pressed', 'true'); };
  el.addEventListener('click', show);
  el.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); show(); } });
  return el;
}

/** The text of a post, as it is counted: in UTF-16 units, after parsing and trimming. @param {string} html */
export function plain(html) {
  const box = document.createElement('div');
  box.append(render(html));
  return (box.textContent ?? '').trim();
}

/** The first line, for lists. @param {string} html */
export const headline = html => plain(html).split('\n', 1)[0].slice(0, 160);

/**
 * The post in its bubble. @param {{ html: string, image: string, link: string }} post
 * @param {{ title: string, image_style?: string }} channel @param {string} when shown where Telegram shows the time
 */
export function bubble(post, channel, when) {
  const img = post.image && channel.image_style !== 'none' && h('img', { src: post.image, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer', width: 640, height: 336 });
  // Its place stays: nothing jumps.
  if (img) img.addEventListener('error', () => img.replaceWith(h('div', { class: 'noimage' }, t('post.noimage'))));
  const text = h('div', { class: 'post-text', dir: 'auto' });
  text.append(render(post.html));
  // A long post is folded, so that its buttons stay within reach of the thumb.
  const long = plain(post.html).length > 900;
  const more = long && button(t('post.more'), () => { text.classList.remove('folded'); if (more) more.remove(); }, { class: 'plain small' });
  if (long) text.classList.add('folded');
  return h('div', { class: 'bubble' }, img, h('div', { class: 'post-channel' }, channel.title), text, more, h('div', { class: 'post-meta' }, when));
}
