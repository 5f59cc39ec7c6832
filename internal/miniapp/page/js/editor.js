// Writing a post: Telegram HTML on the left of the mind, the post as it will look below.

import { button, h } from './dom.js';
import { plain, render } from './post.js';
import { t } from './texts.js';

/**
 * An editor in place of the bubble. @param {string} html @param {number} max in UTF-16 units
 * @param {(html: string | null) => void} close with the text, or null when nothing is to be changed
 */
export function editor(html, max, close) {
  const area = h('textarea', { class: 'post-edit', rows: '9', dir: 'auto', spellcheck: 'true', 'aria-label': t('edit'), value: html });
  const view = h('div', { class: 'bubble preview' }), text = h('div', { class: 'post-text', dir: 'auto' });
  view.append(text);
  const count = h('output', { class: 'hint small' });
  const save = button(t('save'), () => close(area.value.trim()), { class: 'primary' });
  const show = () => {
    text.replaceChildren(render(area.value));
    const n = plain(area.value).length;
    count.textContent = t('units', { n, max });
    count.classList.toggle('bad-text', n > max);
    save.disabled = n === 0 || n > max;
  };
  /** @param {string} open @param {string} shut */
  const wrap = (open, shut) => {
    const { selectionStart: a, selectionEnd: b, value } = area;
    area.setRangeText(open + value.slice(a, b) + shut, a, b, 'select');
    area.setSelectionRange(a + open.length, b + open.length);
    area.focus();
    show();
  };
  area.addEventListener('input', show);
  area.addEventListener('keydown', e => {
    if (e.key === 'Escape') { e.stopPropagation(); close(null); }
    if (!(e.ctrlKey || e.metaKey)) return;
    const tag = { b: 'b', i: 'i', u: 'u' }[e.key];
    if (tag) { e.preventDefault(); wrap(`<${tag}>`, `</${tag}>`); }
    if (e.key === 'Enter' && !save.disabled) close(area.value.trim());
  });
  const tools = h('div', { class: 'tools', role: 'toolbar', 'aria-label': t('format') },
    ['b', 'i', 'u', 's', 'code', 'blockquote', 'tg-spoiler'].map(tag => button(t(`format.${tag}`), () => wrap(`<${tag}>`, `</${tag}>`), { class: 'plain tool' },
      h('span', { class: `tool-${tag}` }, { b: 'B', i: 'I', u: 'U', s: 'S', code: '<>', blockquote: '❝', 'tg-spoiler': '▒' }[tag]))));
  show();
  return h('div', { class: 'editing' }, tools, area, count, h('p', { class: 'label' }, t('preview')), view,
    h('div', { class: 'actions' }, save, button(t('cancel'), () => close(null))));
}
