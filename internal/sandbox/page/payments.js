// What a person paid, and what may happen to it: in Telegram's settings, by
// Telegram itself, or by whoever gives money back.
import { get, post } from './api.js';
import { el, ask, toast, day, clock } from './dom.js';

export async function payments(me) {
  const list = await get(`people/${me.id}/payments`);
  const act = (p, what, body) => async () => {
    try { await post(`payments/${p.charge_id}/${what}`, body); close(); await payments(me); } catch (e) { toast(e.message, 'bad'); }
  };
  let close = () => {};
  await ask(done => {
    close = done;
    return el('div.sheet.payments', {}, el('h2', {}, 'Payments'), el('p', {}, `You have ⭐️ ${me.stars}`), list.length ? null : el('p.muted', {}, 'You have paid nothing yet.'),
      ...list.map(p => line(p, act)), el('button.wide', { type: 'button', onclick: () => done(null) }, 'Close'));
  });
}

function line(p, act) {
  const state = p.refunded ? 'given back' : !p.subscription ? 'paid' : p.failed ? 'renewal failed' : p.canceled ? 'does not renew' : 'renews';
  const until = p.subscription && !p.refunded ? `, paid until ${day(p.until)}` : '';
  const button = (text, what, body = {}) => el('button.wide', { type: 'button', onclick: act(p, what, body) }, text);
  return el('section', { data: { charge: p.charge_id } },
    el('h3', {}, `${p.title}: ${p.price}`), el('p', {}, `${day(p.date)} ${clock(p.date)}${p.renewal ? ', a renewal' : ''}: ${state}${until}`),
    ...(p.subscription && !p.renewal && !p.failed
      ? [p.canceled ? button('Renew again', 'resume') : button('End the renewal', 'cancel'),
        ...(p.canceled ? [] : [button('A month passes: renew', 'renew'), button('…and the bot is not told', 'renew', { silent: true }), button('The renewal fails', 'fail')])] : []),
    ...(p.refunded ? [] : [button('Telegram gives it back', 'refund'), button('…and the bot is not told', 'refund', { silent: true })]));
}
