// A post exactly as Telegram will show it, from Telegram HTML, by an allow-list:
// what is not on it becomes text.

import { h, button } from './dom.js';
import { t } from './texts.js';

/** @type {Record<string, string>} */
const tags = { B: 'b', STRONG: 'b', I: 'i', EM: 'i', U: 'u', INS: 'u', S: 's', STRIKE: 's', DEL: 's', CODE: 'code', PRE: 'pre', BLOCKQUOTE: 'blockquote' };

/** @param {string} html @returns {DocumentFragment} */
export function render(html) {
  const out = document.createDocumentFragment();
  // The parser runs no script and loads nothing: its document has no window. The
  // wrapper keeps leading line breaks, which a bare body or pre would swallow.
  const doc = new DOMParser().parseFromString(`<div>${html.replace(/<pre>(\r?\n)/g, '<pre>$1$1')}</div>`, 'text/html');
  copy(doc.body.firstChild ?? doc.body, out);
  return out;
}

/** @param {Node} from @param {Node} to */
function copy(from, to) {
  for (const n of Array.from(from.childNodes)) {
    if (n.nodeType === Node.TEXT_NODE) { to.appendChild(document.createTextNode(n.textContent ?? '')); continue; }
    if (!(n instanceof Element)) continue;
    const el = element(n);
    copy(n, el ?? to);
    if (el) to.appendChild(el);
  }
}

/** @param {Element} n @returns {HTMLElement | null} */
function element(n) {
  const tag = tags[n.tagName];
  if (tag === 'blockquote') return h('blockquote', { class: n.hasAttribute('expandable') ? 'expandable' : null });
  if (tag) return h(/** @type {keyof HTMLElementTagNameMap} */ (tag));
  if (n.tagName === 'A') {
    const href = n.getAttribute('href') ?? '';
    return /^(https?|tg|mailto|tel):/i.test(href) ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }) : null;
  }
  if (n.tagName === 'TG-SPOILER' || (n.tagName === 'SPAN' && n.className === 'tg-spoiler')) {
    const el = h('span', { class: 'spoiler', tabindex: '0', role: 'button', 'aria-label': t('post.spoiler'), 'aria-pressed': 'false' });
    const show = () => { el.classList.add('shown'); el.removeAttribute('aria-label'); el.setAttribute('aria-pressed', 'true'); };
    el.addEventListener('click', show);
    el.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); show(); } });
    return el;
  }
  return null;
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
  if (img) img.addEventListener('error', () => img.remove());
  const text = h('div', { class: 'post-text', dir: 'auto' });
  text.append(render(post.html));
  // A long post is folded, so that its buttons stay within reach of the thumb.
  const long = plain(post.html).length > 900;
  const more = long && button(t('post.more'), () => { text.classList.remove('folded'); if (more) more.remove(); }, { class: 'plain small' });
  if (long) text.classList.add('folded');
  return h('div', { class: 'bubble' }, img, h('div', { class: 'post-channel' }, channel.title), text, more, h('div', { class: 'post-meta' }, when));
}
