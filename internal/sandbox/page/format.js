// Texts with entities, as the Bot API shows them, into elements. Offsets count
// UTF-16 units, which is also how JavaScript counts.
import { el } from './dom.js';

/**
 * @param {string} text @param {Array<any>} entities
 * @param {{open?: (url: string) => boolean, command?: (text: string) => void}} acts
 */
export function rich(text, entities = [], acts = {}) {
  const root = document.createDocumentFragment();
  fill(root, text, 0, text.length, [...entities], acts);
  return root;
}

function fill(parent, text, from, to, list, acts) {
  let at = from;
  while (list.length && list[0].offset < to) {
    const e = list.shift();
    if (e.offset < at) continue;
    const end = Math.min(e.offset + e.length, to);
    // A block stands on lines of its own: the breaks around it are not shown twice.
    const block = e.type === 'pre' || e.type.endsWith('blockquote');
    if (e.offset > at) parent.append(block ? text.slice(at, e.offset).replace(/\n$/, '') : text.slice(at, e.offset));
    const inner = [];
    while (list.length && list[0].offset < end) inner.push(list.shift());
    const node = element(e, text.slice(e.offset, end), acts);
    fill(node.inside ?? node, text, e.offset, end, inner, acts);
    parent.append(node);
    at = block && text[end] === '\n' ? end + 1 : end;
  }
  if (at < to) parent.append(text.slice(at, to));
}

function element(e, part, acts) {
  switch (e.type) {
    case 'bold': return el('b');
    case 'italic': return el('i');
    case 'underline': return el('u');
    case 'strikethrough': return el('s');
    case 'code': return el('code');
    case 'pre': {
      const code = el('code', { data: { lang: e.language ?? '' } });
      const pre = el('pre', {}, code);
      pre.inside = code;
      return pre;
    }
    case 'blockquote': return el('blockquote');
    case 'expandable_blockquote': return el('blockquote.folded', { onclick: ev => ev.currentTarget.classList.toggle('folded') });
    case 'spoiler': return el('button.spoiler', { type: 'button', title: 'Show', onclick: ev => ev.currentTarget.classList.add('shown') });
    case 'text_link': return link(e.url, acts);
    case 'url': return link(/^[a-z]+:\/\//i.test(part) ? part : 'https://' + part, acts);
    case 'email': return link('mailto:' + part, acts);
    case 'mention': return link('https://t.me/' + part.slice(1), acts);
    case 'bot_command': return el('button.command', { type: 'button', onclick: () => acts.command?.(part) });
    case 'hashtag': return el('span.tag');
    case 'text_mention': return el('span.tag');
    default: return el('span');
  }
}

function link(url, acts) {
  return el('a', { href: url, target: '_blank', rel: 'noopener noreferrer', onclick: ev => { if (acts.open?.(url)) ev.preventDefault(); } });
}

/** The address that Telegram would show a card for. */
export function previewAddress(m) {
  const o = m.link_preview_options ?? {};
  if (o.is_disabled) return null;
  if (o.url) return o.url;
  for (const e of m.entities ?? []) {
    if (e.type === 'text_link' && /^https?:/.test(e.url)) return e.url;
    if (e.type === 'url') {
      const part = m.text.slice(e.offset, e.offset + e.length);
      return /^[a-z]+:\/\//i.test(part) ? part : 'https://' + part;
    }
  }
  return null;
}
