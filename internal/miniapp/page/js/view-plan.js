// The week by slots. A draft moves by drag, by tap (choose it, then its new
// slot) or by keyboard; gaps and the end of the queue are in view.

import { get, peek, send } from './api.js';
import { card, cardSignature, decide, openTimes, outcome } from './card.js';
import { button, coming, fail, fill, h, icon, refill, sheet, toast } from './dom.js';
import { headline } from './post.js';
import { channel, mayEdit, state } from './state.js';
import { haptic } from './telegram.js';
import { explain, t } from './texts.js';
import { addDays, dayClock, dayName, shortDay } from './time.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Plan} Plan */
/** @typedef {import('../types').Slot} Slot */
/** @typedef {import('../types').SlotDraft} SlotDraft */

/** @returns {import('./state.js').View} */
export function planView() {
  /** @type {Plan | null} */ let plan = null;
  let from = '', mine = 0;
  /** The draft that is being moved, by tap or keyboard. @type {SlotDraft | null} */
  let moving = null;
  /** Where a draft was put, before the server said so. @type {Map<number, string>} */
  const optimistic = new Map();
  /** While a finger or a button is down nothing is drawn anew under it; missed: something was to be. */
  let down = false, missed = false;

  const head = h('div', { class: 'plan-head' }), week = h('div', { class: 'week' }), banner = h('div', { class: 'banner', role: 'status', hidden: true });
  const el = h('section', { class: 'plan' }, h('h1', { class: 'sr' }, t('tab.plan')), head, banner, week);
  const path = () => `channels/${channel().id}/plan?days=7${from ? `&from=${from}` : ''}`;

  /** Whether what was read is what is shown: a later call may have come before. */
  async function load() {
    const turn = ++mine, p = path();
    const known = peek(p);
    if (known && (!plan || plan.days[0]?.date !== known.days[0]?.date)) { plan = known; draw(); }
    try {
      const res = await get(p);
      if (turn !== mine) return false;
      if (plan !== res) { plan = res; draw(); }
    } catch (err) {
      if (turn !== mine) return false;
      if (plan) fail(err);
      else fill(week, trouble(err, load));
    }
    return true;
  }

  /** The slots with what was moved but not yet confirmed. @param {Plan} p @returns {Plan} */
  function shown(p) {
    if (optimistic.size === 0) return p;
    /** @type {Map<number, SlotDraft>} */ const taken = new Map();
    const days = p.days.map(d => ({ ...d, slots: d.slots.map(s => {
      if (!s.draft || !optimistic.has(s.draft.id)) return s;
      taken.set(s.draft.id, s.draft);
      return /** @type {Slot} */ ({ ...s, kind: 'free', draft: undefined });
    }) }));
    for (const [id, at] of optimistic) for (const d of days) d.slots = d.slots.map(s => (taken.has(id) && Date.parse(s.at) === Date.parse(at) ? { ...s, kind: 'taken', gap: false, draft: taken.get(id) } : s));
    return { ...p, days };
  }

  function draw() {
    missed = down;
    if (!plan || down) return;
    const p = shown(plan);
    const focus = document.activeElement instanceof HTMLElement && week.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    fill(head, h('div', { class: 'week-nav' },
      button(t('week.before'), () => { from = addDays(p.days[0].date, -7); load(); }, { class: 'plain round' }, icon('left')),
      h('button', { type: 'button', class: 'plain strong', onclick: () => { from = ''; load(); } }, `${shortDay(p.days[0].date)} – ${shortDay(p.days[6].date)}`),
      button(t('week.after'), () => { from = addDays(p.days[0].date, 7); load(); }, { class: 'plain round' }, icon('right'))),
    h('div', { class: 'plan-sum' },
      h('p', { class: `lasts${p.lasts_until ? '' : ' warn-text'}` }, p.lasts_until ? t('plan.lasts', { at: dayClock(p.lasts_until, p.lasts_until) }) : t(p.ends_at ? 'plan.late' : 'plan.empty')),
      p.gaps > 0 && h('span', { class: 'chip warn' }, t('plan.gaps', { n: p.gaps })),
      !p.lasts_until && (p.waiting > 0 ? button(t('drafts.waiting', { n: p.waiting }), () => state.go('drafts'), { class: 'plain small' }) : channel().sources === 0 && button(t('sources.add'), () => state.go('sources'), { class: 'plain small' }))));
    const last = p.ends_at;
    let ended = false;
    fill(week, p.days.map(d => h('section', { class: `day${d.date === p.today ? ' today' : ''}`, 'aria-label': dayName(d.date) },
      h('h2', null, d.date === p.today ? `${t('today')}, ${shortDay(d.date)}` : dayName(d.date)),
      h('ul', { class: 'slots' }, d.slots.length === 0 && h('li', { class: 'noslots hint' }, t('day.none')), d.slots.map(s => {
        const row = slot(s);
        const end = !ended && last && s.kind === 'free' && Date.parse(s.at) > Date.parse(last);
        if (end) ended = true;
        return [end && h('li', { class: 'queue-end' }, t('plan.end')), row];
      })))));
    week.classList.toggle('choosing', moving !== null);
    banner.hidden = moving === null;
    if (moving) fill(banner, h('span', null, t('moving', { title: moving.title })), button(t('time.own'), () => { const m = moving; stop(); if (m) openTimes(/** @type {any} */ (m), b => move(m, b)); }, { class: 'plain' }), button(t('cancel'), stop, { class: 'plain' }));
    if (focus) /** @type {HTMLElement | null} */ (week.querySelector(`[data-focus="${focus}"]`))?.focus({ preventScroll: true });
  }

  /** @param {Slot} s */
  function slot(s) {
    const time = h('time', { datetime: s.at }, s.at.slice(11, 16));
    const d = s.draft;
    if (d) {
      const can = s.kind === 'taken' && d.state === 'scheduled' && mayEdit();
      const row = h('li', { class: `slot taken ${d.state}${optimistic.has(d.id) ? ' pending' : ''}${moving?.id === d.id ? ' lifted' : ''}`, 'data-at': s.at });
      const open = h('button', {
        type: 'button', class: 'slot-main', 'data-focus': `d${d.id}`, 'aria-keyshortcuts': can ? 'M' : null,
        onclick: () => { if (moving) { if (moving.id === d.id) stop(); } else show(d.id); },
        onkeydown: (/** @type {KeyboardEvent} */ e) => keys(e, can ? d : null),
      }, time, h('span', { class: 'slot-title', dir: 'auto' }, d.title), h('span', { class: `dot ${d.state}`, title: t(`state.${d.state}`) }));
      row.append(open);
      if (can) {
        const grip = button(t('move.grip', { title: d.title }), () => lift(d), { class: 'grip plain', 'data-focus': `g${d.id}` }, icon('grip'));
        grip.addEventListener('pointerdown', e => drag(e, d, row, true));
        open.addEventListener('pointerdown', e => { if (e.pointerType === 'mouse') drag(e, d, row, false); });
        row.append(grip);
      }
      return row;
    }
    const free = s.kind === 'free';
    const label = free ? t(moving ? 'slot.here' : s.gap ? 'slot.gap' : 'slot.free') : t('slot.capped');
    return h('li', { class: `slot ${s.kind}${s.gap ? ' gap' : ''}`, 'data-at': free ? s.at : null }, free && mayEdit()
      ? h('button', { type: 'button', class: 'slot-main', 'data-focus': s.at, onclick: () => (moving ? move(moving, { at: s.at }) : fillSlot(s)), onkeydown: (/** @type {KeyboardEvent} */ e) => keys(e, null) }, time, h('span', { class: 'slot-title' }, label))
      : h('div', { class: 'slot-main' }, time, h('span', { class: 'slot-title' }, label)));
  }

  /** Arrows go from slot to slot and from day to day, M takes a draft up, Escape puts it back. @param {KeyboardEvent} e @param {SlotDraft | null} d */
  function keys(e, d) {
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (step) {
      const at = /** @type {HTMLElement} */ (e.currentTarget), inDay = /p|n$/.test(e.key);
      const all = /** @type {HTMLElement[]} */ (Array.from(inDay ? week.querySelectorAll('button.slot-main') : week.children));
      const to = all[all.indexOf(inDay ? at : /** @type {HTMLElement} */ (at.closest('.day'))) + step];
      (inDay ? to : /** @type {HTMLElement | null} */ (to?.querySelector('button.slot-main')))?.focus();
      e.preventDefault();
    } else if (e.key === 'Escape' && moving) stop();
    else if (e.code === 'KeyM' && d) lift(d);
  }

  /** @param {SlotDraft} d */
  function lift(d) { moving = d; haptic('select'); draw(); }
  function stop() { moving = null; draw(); }

  /** @param {SlotDraft} d @param {{ at?: string, local?: string }} body */
  async function move(d, body) {
    moving = null;
    if (body.at) optimistic.set(d.id, body.at);
    draw();
    if (body.at) /** @type {HTMLElement | null} */ (week.querySelector(`[data-focus="d${d.id}"]`))?.focus({ preventScroll: true });
    try {
      const res = await send('POST', `drafts/${d.id}/move`, { transition: d.transition, ...body });
      haptic(res.already ? 'warning' : 'success');
      toast(outcome(res, 'did.moved'));
    } catch (err) {
      fail(err);
    }
    // It stays where it was put until the server's own plan shows it there.
    for (let i = 0; i < 5 && !(await load()); i++);
    optimistic.delete(d.id);
    draw();
  }

  /** @param {PointerEvent} e @param {SlotDraft} d @param {HTMLElement} row @param {boolean} atOnce */
  function drag(e, d, row, atOnce) {
    if (e.button !== 0) return;
    const start = { x: e.clientX, y: e.clientY };
    let y = 0, timer = 0;
    /** @type {HTMLElement | null} */ let over = null;
    /** @type {HTMLElement | null} */ let ghost = null;
    const scroller = /** @type {HTMLElement} */ (document.getElementById('view'));
    const onMove = (/** @type {PointerEvent} */ m) => {
      const far = Math.hypot(m.clientX - start.x, m.clientY - start.y) > 6;
      if (!ghost) {
        if (!far) return;
        row.classList.add('lifted');
        week.classList.add('choosing');
        ghost = h('div', { class: 'ghost', 'aria-hidden': 'true' }, d.title);
        document.body.append(ghost);
        const box = scroller.getBoundingClientRect();
        // A finger that rests near an edge scrolls too.
        timer = setInterval(() => scroller.scrollBy(0, y < box.top + 50 ? -6 : y > box.bottom - 70 ? 6 : 0), 16);
        haptic('tap');
      }
      m.preventDefault();
      ghost.style.transform = `translate(${m.clientX + 8}px, ${m.clientY - 44}px)`;
      y = m.clientY;
      const hit = document.elementFromPoint(m.clientX, m.clientY)?.closest('.slot.free[data-at]');
      if (hit !== over) { over?.classList.remove('over'); over = hit instanceof HTMLElement ? hit : null; over?.classList.add('over'); if (over) haptic('select'); }
    };
    const end = (/** @type {PointerEvent} */ m) => {
      removeEventListener('pointermove', onMove);
      removeEventListener('pointerup', end);
      removeEventListener('pointercancel', end);
      down = false;
      clearInterval(timer);
      if (!ghost) { if (missed) setTimeout(draw, 0); return; } // first the click
      ghost.remove();
      row.classList.remove('lifted');
      week.classList.toggle('choosing', moving !== null);
      // The click that follows a drag must not open the draft.
      addEventListener('click', c => { c.stopPropagation(); c.preventDefault(); }, { capture: true, once: true });
      setTimeout(() => dispatchEvent(new MouseEvent('click')), 0);
      if (m.type === 'pointerup' && over?.dataset.at) move(d, { at: over.dataset.at });
      else draw();
    };
    down = true;
    if (atOnce) e.preventDefault();
    addEventListener('pointermove', onMove, { passive: false });
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
  }

  /** Brings the open sheet up to date. */
  let redo = () => {};
  /** The whole draft in a sheet, with its decisions. @param {number} id */
  function show(id) {
    sheet(t('draft.number', { id }), close => {
      const body = h('div', null, h('span', { class: 'spinner' }));
      redo = () => get(`drafts/${id}`).then((/** @type {import('../types').Draft} */ d) => body.querySelector('[data-held]') || refill(body, cardSignature(d), () => [
        d.state === 'scheduled' && mayEdit() && button(t('move'), () => { close(); lift({ ...d, title: headline(d.html) }); }, { class: 'wide' }),
        card(d, () => { close(); load(); })]), err => fill(body, h('p', { class: 'bad-text' }, explain(err))));
      redo();
      return body;
    });
  }

  /** Puts a waiting draft into a free slot. @param {Slot} s */
  function fillSlot(s) {
    sheet(t('slot.fill', { at: dayClock(s.at) }), close => coming(get(`channels/${channel().id}/drafts?state=proposed&limit=20`), (/** @type {import('../types').Drafts} */ r) => [r.drafts.length === 0 && h('p', { class: 'hint' }, t('drafts.waiting.none')),
        r.drafts.map(d => button(d.html, () => { close(); decide(d, 'schedule', { at: s.at }, { done: load }); }, { class: 'wide pick', 'aria-label': null, title: null }, h('span', { dir: 'auto' }, headline(d.html)), h('span', { class: 'score' }, d.score)))]));
  }

  load();
  if (!plan) fill(week, h('div', { class: 'skeleton' }));
  return { el, changed: topics => { if (topics.includes('plan') || topics.includes('drafts') || topics.includes('settings')) { load(); if (document.querySelector('dialog')) redo(); } }, gone: () => { mine++; } };
}
