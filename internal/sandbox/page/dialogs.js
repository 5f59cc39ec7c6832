// Dialogs about channels and people.
import { post } from './api.js';
import { el, ask, avatar, toast } from './dom.js';

/** What Telegram's chat picker does: choose, confirm the bot's rights, share. */
export async function pickChat(req, state, me) {
  const fit = state.chats.filter(c => c.type !== 'private' && c.mine && (c.type === 'channel') === req.chat_is_channel &&
    (req.chat_has_username === undefined || Boolean(c.username) === req.chat_has_username));
  const chosen = await ask(close => el('div.sheet', {},
    el('h2', {}, 'Choose a channel'),
    ...fit.map(c => el('button.option', { type: 'button', onclick: () => close(c) }, avatar(c.title, c.id), el('span', {}, el('strong', {}, c.title), el('small', {}, c.username ? '@' + c.username : 'private')))),
    fit.length ? null : el('p.muted', {}, 'You have no channel that fits.'),
    el('button.wide', { type: 'button', onclick: () => close('new') }, '+ New channel')));
  if (!chosen) return;
  const c = chosen === 'new' ? await newChannel(me) : chosen;
  if (!c) return;
  let withhold = false;
  const rights = Object.entries(req.bot_administrator_rights ?? {}).filter(([k, on]) => on && k !== 'can_manage_chat').map(([k]) => rightName(k));
  if (req.bot_administrator_rights) {
    const how = await ask(close => el('div.sheet', {},
      el('h2', {}, `Add ${state.bot.first_name} to ${c.title}?`),
      el('p', {}, 'The bot becomes an administrator' + (rights.length ? ' and may: ' + rights.join(', ') + '.' : '.')),
      el('button.wide.primary', { type: 'button', onclick: () => close('yes') }, 'Add as administrator'),
      el('button.wide', { type: 'button', onclick: () => close('no') }, 'Share without the rights'),
      el('button.wide', { type: 'button', onclick: () => close(null) }, 'Cancel')));
    if (!how) return;
    withhold = how === 'no';
  }
  await post(`people/${me.id}/pick`, { request_id: req.request_id, chat_id: c.id, without_rights: withhold });
}

const names = {
  can_post_messages: 'post messages', can_edit_messages: 'edit messages of others', can_delete_messages: 'delete messages of others',
  can_invite_users: 'add subscribers', can_change_info: 'change the channel', can_promote_members: 'add administrators',
};
const rightName = k => names[k] ?? k.replace(/^can_/, '').replaceAll('_', ' ');

/** A new channel of the person; answers with it, or null. */
export async function newChannel(me) {
  const title = el('input', { placeholder: 'Name', maxLength: 64, aria: { label: 'Name' } });
  const username = el('input', { placeholder: 'public_link (or empty: private)', maxLength: 32, aria: { label: 'Public link' } });
  const form = await ask(close => el('form.sheet', { onsubmit: e => { e.preventDefault(); close(true); } }, el('h2', {}, 'New channel'), title, username,
    el('button.wide.primary', { type: 'submit' }, 'Create')));
  if (!form || !title.value.trim()) return null;
  return post('channels', { title: title.value.trim(), username: username.value.trim().replace(/^@/, ''), owner: me.id });
}

/** A new person; answers with them, or null. */
export async function newPerson() {
  const name = el('input', { placeholder: 'First name', maxLength: 64, aria: { label: 'First name' } });
  const lang = el('select', { aria: { label: 'Language of their Telegram' } }, el('option', { value: 'en' }, 'English'), el('option', { value: 'ru' }, 'Русский'));
  const form = await ask(close => el('form.sheet', { onsubmit: e => { e.preventDefault(); close(true); } }, el('h2', {}, 'New person'), name, lang,
    el('button.wide.primary', { type: 'submit' }, 'Create')));
  if (!form || !name.value.trim()) return null;
  return post('people', { first_name: name.value.trim(), lang: lang.value });
}

/** The channel's settings that matter to the bot; changes take effect at once. */
export async function channelInfo(c, bot) {
  const set = async patch => { try { Object.assign(c, await post('channels/' + c.id, patch)); } catch (e) { toast(e.message, 'bad'); } };
  const right = k => {
    const box = el('input', { type: 'checkbox', checked: Boolean(c.bot_rights?.[k]), onchange: () => set({ bot_status: 'administrator', bot_rights: { ...c.bot_rights, [k]: box.checked } }) });
    return el('label.check', {}, box, rightName(k));
  };
  const here = c.bot_status === 'administrator';
  await ask(close => el('div.sheet', {},
    el('div.who', {}, avatar(c.title, c.id, 'big'), el('h2', {}, c.title), el('p.muted', {}, c.username ? '@' + c.username : 'private channel'), el('p', {}, c.about ?? '')),
    c.mine ? el('section', {}, el('h3', {}, bot.first_name), ...(here
      ? [...['can_post_messages', 'can_edit_messages', 'can_delete_messages'].map(right), el('button.wide.danger', { type: 'button', onclick: () => set({ bot_status: 'kicked' }).then(() => close()) }, 'Remove the bot')]
      : [el('button.wide.primary', { type: 'button', onclick: () => set({ bot_status: 'administrator', bot_rights: { can_post_messages: true } }).then(() => close()) }, 'Add the bot as administrator')])) : null,
    c.mine && c.username ? el('label.check', {}, el('input', { type: 'checkbox', checked: !c.no_preview, onchange: e => set({ no_preview: !e.target.checked }) }), 'Public preview page') : null,
    el('button.wide', { type: 'button', onclick: () => close() }, 'Close')));
}
