// The plan, what it allows, and paying.

import { get, send } from './api.js';
import { button, confirmSheet, fail, fill, h, toast } from './dom.js';
import { openInvoice } from './telegram.js';
import { t, words } from './texts.js';
import { dayClock, localDate, shortDay } from './time.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Billing} Billing */

/** @returns {import('./state.js').View} */
export function billingView() {
  let mine = 0;
  const body = h('div', null, h('div', { class: 'skeleton' }));
  const el = h('section', { class: 'billing' }, h('h1', { class: 'sr' }, t('tab.billing')), body);

  async function load() {
    const turn = ++mine;
    try {
      const b = /** @type {Billing} */ (await get('billing'));
      if (turn === mine) draw(b);
    } catch (err) { if (turn === mine) fill(body, trouble(err, load)); }
  }

  /** @param {Billing} b */
  function draw(b) {
    fill(body, h('section', { class: 'group plan-now' }, h('h2', null, t('plan.yours')), b.title && h('p', { class: 'big' }, b.title),
      h('p', { class: 'hint' }, !b.enabled ? t('billing.off') : b.until ? t(b.renews ? 'plan.renews' : b.trial ? 'plan.trial' : 'plan.until', { at: shortDay(localDate(b.until)) }) : t('plan.free.text')),
      b.enabled && b.renews && button(t('plan.cancel'), () => confirmSheet(t('plan.cancel.sure'), t('plan.cancel'), async () => {
        try { await send('POST', 'billing/cancel', {}); toast(t('plan.cancelled')); } catch (err) { fail(err); }
        load();
      }), { class: 'danger-text' })),
    b.quotas.length > 0 && h('section', { class: 'group' }, h('h2', null, t('quotas')), b.quotas.map(q => h('div', { class: 'quota' }, h('span', null, words('quota', q.code)), h('span', null, q.limit ? t('quota.use', { used: q.used, limit: q.limit }) : `${q.used}`),
      q.limit > 0 && h('progress', { max: String(q.limit), value: q.used, 'aria-label': words('quota', q.code) })))),
    b.enabled && b.plans.length > 0 && h('section', { class: 'group' }, h('h2', null, t('plans')), h('div', { class: 'plans' }, b.plans.map(p => h('div', { class: `offer${p.id === b.plan ? ' current' : ''}` }, h('h3', null, p.title), h('p', { class: 'big' }, p.price, h('small', { class: 'hint' }, ' / ', t('days', { n: p.days }))),
      h('ul', null, Object.entries(p.limits).map(([k, n]) => h('li', null, `${words('quota', k)}: ${n || '∞'}`))), (p.id !== b.plan || !b.renews) && button(t('plan.take'), () => pay(p.id), { class: 'primary wide' }))))),
    b.payments.length > 0 && h('section', { class: 'group' }, h('h2', null, t('payments')), h('ul', { class: 'plainlist' }, b.payments.map(p => h('li', null, h('time', { datetime: p.at }, dayClock(p.at)), h('span', null, p.plan), h('span', null, p.price), h('span', { class: 'chip' }, t(`payment.${p.state}`)))))),
    b.enabled && h('p', { class: 'hint small' }, t('billing.help')));
  }

  /** @param {string} plan */
  async function pay(plan) {
    try {
      const { link } = await send('POST', 'billing/checkout', { plan });
      // Paid is what the server was told by Telegram, never what the window says.
      openInvoice(link, status => { toast(t(status === 'paid' ? 'pay.wait' : status === 'opened' ? 'pay.opened' : 'pay.not')); for (const s of [0, 1, 3, 9]) setTimeout(load, s * 1000); });
    } catch (err) { fail(err); }
  }

  load();
  return { el, changed: load, gone: () => { mine++; } };
}
