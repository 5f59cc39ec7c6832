// What is shown in place of something that could not be read.

import { button, h } from './dom.js';
import { explain, t } from './texts.js';

/** @param {unknown} err @param {() => void} again */
export function trouble(err, again) {
  return h('section', { class: 'empty', role: 'alert' }, h('h2', null, t('trouble')), h('p', null, explain(err)), button(t('retry'), again, { class: 'primary' }));
}
