// Activity: what goes on, what failed, what is in doubt, what fell through, and how it went.

import { get, send } from './api.js';
import { card, cardSignature, eventText, openLife } from './card.js';
import { line, stack } from './chart.js';
import { accepted, button, fill, h, list, refill } from './dom.js';
import { channel, mayEdit } from './state.js';
import { t, words } from './texts.js';
import { addDays, ago, dayClock } from './time.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Status} Status */
/** @typedef {import('../types').Event} Event */

/** @returns {import('./state.js').View} */
export function activityView() {
  const base = `channels/${channel().id}`;
  let mine = 0;
  /** @type {Event[]} */ let events = [];
  /** @type {string | undefined} */ let next;
  const doubts = h('div', { class: 'cards' }), jobs = h('section', { class: 'group' }), charts = h('section', { class: 'group' }), fell = h('section', { class: 'group' }), log = h('div');
  const ref = h('input', { type: 'text', placeholder: t('why.hint'), 'aria-label': t('why.hint') });
  const ask = h('form', { class: 'add', onsubmit: (/** @type {SubmitEvent} */ e) => { e.preventDefault(); if (ref.value.trim()) openLife(ref.value.trim()); } }, ref, h('button', { type: 'submit' }, t('why')));
  // Shown together: a part that came later would push down what is being read.
  const parts = h('div', { hidden: true }, doubts, jobs, charts, fell, h('section', { class: 'group' }, h('h2', null, t('log')), ask, log)), wait = h('div', { class: 'skeleton' });
  const el = h('section', { class: 'activity' }, h('h1', { class: 'sr' }, t('tab.activity')), wait, parts);

  async function loadStatus() {
    const turn = mine;
    try {
      const s = /** @type {Status} */ (await get(`${base}/status`));
      if (turn !== mine) return;
      list(doubts, [...s.unconfirmed, ...s.failed], d => String(d.id), d => card(d, load), cardSignature);
      const rows = [['running', s.running], ['pending', s.pending], ['failing', s.failing], ['archived', s.archived]];
      // "3 minutes ago" grows old by itself.
      refill(jobs, [s, Math.floor(Date.now() / 6e4)], () => [h('h2', null, t('now')), h('p', { class: 'facts' }, s.next ? t('next.post', { at: dayClock(s.next) }) : t('next.none'), ' · ', t('drafts.waiting', { n: s.proposed }), ' · ', t('status.scheduled', { n: s.scheduled })),
        rows.every(([, l]) => l.length === 0) && h('p', { class: 'hint' }, t('status.quiet')),
        rows.map(([name, l]) => l.length > 0 && h('details', { open: name !== 'pending' || l.length < 4 }, h('summary', null, `${t(`status.${name}`)} · ${l.length}`), h('ul', { class: 'plainlist' }, /** @type {import('../types').Job[]} */ (l).map(j =>
          h('li', null, h('span', null, words('jobkind', j.kind), j.draft_id && ` · ${t('draft.number', { id: j.draft_id })}`), h('small', { class: 'hint' }, t('job', { id: j.id }), ' · ', j.run_at && name === 'pending' ? ago(j.run_at) : ago(j.since)), j.error && h('small', { class: 'bad-text' }, j.error), j.draft_id && button(t('life'), () => openLife(String(j.draft_id)), { class: 'plain small' }))))))]);
    } catch (err) { if (turn === mine && jobs.childElementCount === 0) fill(jobs, trouble(err, load)); }
  }

  async function loadCharts() {
    try {
      const s = /** @type {import('../types').Stats} */ (await get(`${base}/stats`));
      const by = new Map(s.days.map(d => [d.day, d])), all = Array.from({ length: s.span }, (_, i) => by.get(addDays(s.today, i - s.span + 1)));
      const sum = (/** @type {'approved' | 'skipped' | 'published' | 'proposed'} */ k) => s.days.reduce((n, d) => n + d[k], 0);
      const approved = sum('approved'), judged = approved + sum('skipped');
      refill(charts, s, () => [h('h2', null, t('month')), s.days.length === 0 ? h('p', { class: 'hint' }, t('month.none')) : h('div', { class: 'charts' },
        h('figure', null, h('figcaption', null, t('chart.score')), line(all.map(d => (d && d.score >= 0 ? d.score : null)), 100, t('chart.score'))),
        h('figure', null, h('figcaption', null, judged ? t('chart.approved', { rate: Math.round(100 * approved / judged), n: judged }) : t('chart.undecided')), stack(all.map(d => ({ parts: [{ value: d?.approved ?? 0, cls: 'front' }, { value: d?.skipped ?? 0, cls: 'back' }] })), t('chart.approved.words', { approved, skipped: judged - approved }))),
        h('figure', null, h('figcaption', null, t('chart.published', { n: sum('published') })), stack(all.map(d => ({ parts: [{ value: d?.published ?? 0, cls: 'front' }] })), t('chart.published', { n: sum('published') }))))]);
    } catch { /* what was shown stays */ }
  }

  async function loadDropped() {
    try {
      const r = await get(`${base}/dropped`);
      refill(fell, r.stories, () => [h('h2', null, t('dropped')), r.stories.length === 0 ? h('p', { class: 'hint' }, t('dropped.none')) : h('ul', { class: 'plainlist' }, r.stories.slice(0, 30).map((/** @type {import('../types').Dropped} */ d) =>
        h('li', null, h('span', { class: 'score' }, d.score), h('span', { dir: 'auto' }, d.url ? h('a', { href: d.url, target: '_blank', rel: 'noopener noreferrer' }, d.title) : d.title), h('small', { class: 'hint' }, `${d.source} · ${words('verdict', d.verdict)}`, d.reasons.slice(0, 2).map(x => ` · ${words('reason', x.code)}${x.words?.length ? ': ' + x.words.join(', ') : ''}`)),
          mayEdit() && (d.draft_id ? h('span', { class: 'chip good' }, t('rescued')) : button(t('rescue'), async e => {
            const b = /** @type {HTMLButtonElement} */ (e.target);
            b.disabled = true;
            b.disabled = await accepted(send('POST', `${base}/dropped/${d.story_id}/rescue`, {}));
          }, { class: 'small' })))))]);
    } catch { /* what was shown stays */ }
  }

  async function loadLog(more = false) {
    const turn = mine;
    try {
      const r = /** @type {import('../types').Activity} */ (await get(`${base}/activity?limit=20${more && next ? `&before=${encodeURIComponent(next)}` : ''}`));
      if (turn !== mine) return;
      events = more ? [...events, ...r.events] : r.events;
      next = r.next;
      refill(log, [events, next], () => [
        events.length === 0 ? h('p', { class: 'hint' }, t('log.none')) : h('ol', { class: 'life' }, events.map(e => h('li', null, h('time', { datetime: e.at }, dayClock(e.at)), h('span', null, eventText(e), e.args?.Title && h('small', { class: 'block hint', dir: 'auto' }, e.args.Title)), e.args?.Draft && button(t('life'), () => openLife(String(e.args?.Draft)), { class: 'plain small' })))),
        next && button(t('more'), () => loadLog(true), { class: 'wide' })]);
    } catch (err) { if (turn === mine && log.childElementCount === 0) fill(log, trouble(err, () => loadLog())); }
  }

  async function load() {
    await Promise.all([loadStatus(), loadCharts(), loadDropped(), loadLog()]);
    wait.remove();
    parts.hidden = false;
  }
  load();
  // Jobs come and go without a trace in what the server announces.
  const timer = setInterval(() => { if (!document.hidden) loadStatus(); }, 5000);
  return { el, changed: load, gone: () => { mine++; clearInterval(timer); } };
}
