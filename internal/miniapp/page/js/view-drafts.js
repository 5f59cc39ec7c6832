// Drafts, card by card.

import { get, peek, send } from './api.js';
import { card, cardSignature } from './card.js';
import { button, fail, fill, h, list, sheet, toast } from './dom.js';
import { channel, mayEdit, state } from './state.js';
import { t } from './texts.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Draft} Draft */

const filters = { waiting: 'proposed', planned: 'scheduled,publishing', attention: 'failed,unconfirmed', published: 'published', skipped: 'skipped' };

/** @returns {import('./state.js').View} */
export function draftsView() {
  const wanted = state.params.get('show') ?? 'waiting';
  let show = /** @type {keyof typeof filters} */ (wanted in filters ? wanted : 'waiting');
  const one = Number(state.params.get('draft')) || 0;
  /** @type {Draft[]} */ let drafts = [];
  /** @type {number | undefined} */ let next;
  let loaded = false, mine = 0;
  const cards = h('div', { class: 'cards' });
  const foot = h('div', { class: 'foot' });
  const chips = h('div', { class: 'filters', role: 'group', 'aria-label': t('drafts.show') });
  const el = h('section', { class: 'drafts' }, h('h1', { class: 'sr' }, t('tab.drafts')),
    h('div', { class: 'bar' }, chips, mayEdit() && button(t('own.new'), openOwn, { class: 'plain' }, h('span', null, '+ ' + t('own.new')))), cards, foot);

  const path = (/** @type {number} */ before) => `channels/${channel().id}/drafts?state=${filters[show]}&limit=20${before ? `&before=${before}` : ''}`;
  const drawChips = () => fill(chips, Object.keys(filters).map(f => button(t(`drafts.${f}`), () => {
    show = /** @type {keyof typeof filters} */ (f);
    drafts = []; next = undefined; loaded = false;
    drawChips();
    load();
  }, { class: 'filter', 'aria-pressed': String(f === show) })));

  function draw() {
    list(cards, drafts, d => String(d.id), d => card(d, load), cardSignature);
    if (loaded && drafts.length === 0) fill(foot, h('div', { class: 'empty' }, h('h2', null, t(`drafts.${show}.none`)), h('p', null, t(`drafts.${show}.hint`)),
      show === 'waiting' && channel().sources === 0 && button(t('sources.add'), () => state.go('sources'), { class: 'primary' })));
    else fill(foot, next && button(t('more'), more, { class: 'wide' }));
  }

  async function load() {
    const turn = ++mine, p = one ? `drafts/${one}` : path(0);
    const known = peek(p);
    if (!loaded && known) take(known);
    else if (!loaded) fill(cards, h('div', { class: 'skeleton' }));
    try {
      const res = await pages(p, turn);
      if (turn === mine) take(res);
    } catch (err) {
      if (turn !== mine) return;
      if (loaded) fail(err);
      else { fill(foot); fill(cards, trouble(err, load)); }
    }
  }

  /** The first page, and as many below it as are shown: a decided card is gone from all. @param {string} first @param {number} turn */
  async function pages(first, turn) {
    const res = await get(first);
    if (one) return res;
    const all = { ...res };
    while (all.next && all.drafts.length < drafts.length && turn === mine) {
      const page = await get(path(all.next));
      all.drafts = [...all.drafts, ...page.drafts];
      all.next = page.next;
    }
    return all;
  }

  /** @param {any} res */
  function take(res) {
    drafts = /** @type {Draft[]} */ (one ? [res] : res.drafts);
    next = res.next;
    loaded = true;
    draw();
  }

  async function more() {
    const turn = mine;
    try {
      const res = await get(path(next ?? 0));
      if (turn !== mine) return;
      drafts = [...drafts, ...res.drafts];
      next = res.next;
      draw();
    } catch (err) { fail(err); }
  }

  function openOwn() {
    sheet(t('own.new'), close => {
      const text = h('textarea', { rows: '4', dir: 'auto', placeholder: t('own.hint'), 'aria-label': t('own.hint') });
      return h('div', { class: 'stack' }, text, button(t('own.make'), async () => {
        const value = text.value.trim();
        if (!value) { text.focus(); return; }
        close();
        try {
          const res = await send('POST', `channels/${channel().id}/drafts`, /^https?:\/\/\S+$/.test(value) ? { url: value } : { text: value });
          toast(t(res.fresh ? 'accepted' : 'own.known', { job: res.job_id }));
        } catch (err) { fail(err); }
        load();
      }, { class: 'primary wide' }));
    });
  }

  drawChips();
  if (one) chips.hidden = true;
  load();
  return { el, changed: topics => { if (topics.includes('drafts') || topics.includes('plan')) load(); }, gone: () => { mine++; }, leave: () => !el.querySelector('[data-held]') || confirm(t('leave.sure')) };
}
