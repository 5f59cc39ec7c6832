// The channel's settings: changed together, saved by one button, refused when
// somebody else changed them meanwhile.

import { ApiError, get, send } from './api.js';
import { button, confirmSheet, fail, fill, h, sheet, toast } from './dom.js';
import { channel, mayEdit, mayOwn, state } from './state.js';
import { haptic } from './telegram.js';
import { language, languages, setLanguage, t } from './texts.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Channel} Channel */
/** @typedef {import('../types').Weekday} Weekday */

const days = /** @type {Weekday[]} */ (['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

/** @returns {import('./state.js').View} */
export function channelView() {
  const id = channel().id;
  /** @type {Channel | null} */ let was = null;
  /** What the person changed and did not save. @type {Record<string, any>} */ let change = {};
  let mine = 0, version = 0;
  const form = h('div', { class: 'settings' }), people = h('section', { class: 'group' });
  const bar = h('div', { class: 'savebar', hidden: true }, button(t('save'), save, { class: 'primary', 'data-act': 'save' }), button(t('discard'), () => { change = {}; draw(); }));
  const el = h('section', null, h('h1', { class: 'sr' }, t('tab.channel')), form, people, bar);
  const can = mayOwn();

  async function load() {
    const turn = ++mine;
    try {
      const c = /** @type {Channel} */ (await get(`channels/${id}`));
      if (turn !== mine) return;
      if (was && Object.keys(change).length) { if (c.version !== version) clash(); return; }
      was = c;
      version = c.version;
      draw();
      drawPeople();
    } catch (err) { if (turn === mine && !was) fill(form, trouble(err, load)); }
  }

  const clash = () => toast(t('error.changed'), { tone: 'bad', action: t('reload'), run: () => { change = {}; load(); } });

  /** @param {string} key @param {unknown} value */
  function set(key, value) {
    change[key] = value;
    if (was && JSON.stringify(Reflect.get(was, key)) === JSON.stringify(value)) delete change[key];
    bar.hidden = Object.keys(change).length === 0;
  }
  const now = (/** @type {string} */ key) => (key in change ? change[key] : was && Reflect.get(was, key));

  /** @param {string} key @param {HTMLElement} control @param {string} [hint] */
  const field = (key, control, hint) => h('label', { class: 'field' }, h('span', null, t(`set.${key}`)), control, hint && h('small', { class: 'hint' }, hint));
  /** @param {string} key @param {number} rows */
  const area = (key, rows) => field(key, h('textarea', { rows: String(rows), value: now(key), disabled: !can, dir: 'auto', oninput: (/** @type {any} */ e) => set(key, e.target.value) }), t(`set.${key}.hint`));
  /** @param {string} key @param {string[]} options */
  const choice = (key, options) => field(key, h('select', { disabled: !can, onchange: (/** @type {any} */ e) => { set(key, e.target.value); draw(); } }, options.map(o => h('option', { value: o, selected: o === now(key) }, t(`set.${key}.${o}`)))));
  /** @param {string} key @param {number} min @param {number} max */
  const number = (key, min, max) => field(key, h('input', { type: 'number', inputmode: 'numeric', min: String(min), max: String(max), value: String(now(key)), disabled: !can, oninput: (/** @type {any} */ e) => set(key, Math.min(max, Math.max(min, Number(e.target.value) || 0))) }));
  /** @param {string} key */
  const slider = key => {
    const out = h('output', null, String(now(key)));
    return h('label', { class: 'field' }, h('span', null, t(`set.${key}`), ' ', out), h('input', { type: 'range', min: '0', max: '100', value: String(now(key)), disabled: !can, oninput: (/** @type {any} */ e) => { out.textContent = e.target.value; set(key, Number(e.target.value)); } }), h('small', { class: 'hint' }, t(`set.${key}.hint`)));
  };
  /** @param {string} key @param {(s: string) => string[]} split @param {string} join */
  const words = (key, split, join) => field(key, h('textarea', { rows: key === 'tone' ? '4' : '2', value: now(key).join(join), disabled: !can, dir: 'auto', oninput: (/** @type {any} */ e) => set(key, split(e.target.value)) }), t(`set.${key}.hint`));
  const lines = (/** @type {string} */ s) => s.split('\n').map(l => l.trim()).filter(Boolean);
  const tags = (/** @type {string} */ s) => s.split(/[\s,]+/).map(w => w && (w.startsWith('#') ? w : '#' + w)).filter(Boolean);
  /** @param {string} title @param {...any} inside */
  const group = (title, ...inside) => h('section', { class: 'group' }, h('h2', null, title), ...inside);

  function draw() {
    const c = was;
    if (!c) return;
    bar.hidden = Object.keys(change).length === 0;
    const zones = /** @type {any} */ (Intl).supportedValuesOf?.('timeZone') ?? [];
    fill(form,
      c.state !== 'active' && h('div', { class: 'notice bad', role: 'alert' }, t(`channel.state.${c.state}.text`, { right: c.missing.join(', ') })),
      !can && h('p', { class: 'hint' }, t('owners.only')),
      group(t('publishing'), h('div', { class: 'switchline' }, h('p', null, c.paused ? t('paused.now') : t('running.now')), mayEdit() && button(t(c.paused ? 'resume' : 'pause'), async () => {
        try { await send('POST', `channels/${id}/${c.paused ? 'resume' : 'pause'}`, {}); haptic('success'); await state.refresh(); } catch (err) { fail(err); }
        load();
      }, { class: c.paused ? 'primary' : '' }))),
      group(t('topics'), area('look_for', 3), area('avoid', 2), slider('threshold')),
      group(t('voice'), field('language', h('select', { disabled: !can, onchange: (/** @type {any} */ e) => set('language', e.target.value) }, Array.from(new Set([c.language, 'en', 'ru', 'uk', 'de', 'fr', 'es', 'it', 'pt', 'pl', 'tr', 'fa', 'ar', 'he'])).map(l => h('option', { value: l, selected: l === now('language') }, languageName(l))))),
        words('tone', lines, '\n'), area('footer', 2), choice('link_style', ['title', 'bottom', 'none']), choice('image_style', ['preview', 'photo', 'none']), words('hashtags', tags, ' ')),
      group(t('slots'), field('time_zone', h('select', { disabled: !can, onchange: (/** @type {any} */ e) => set('time_zone', e.target.value) }, Array.from(new Set([now('time_zone'), 'UTC', ...zones])).map(z => h('option', { value: z, selected: z === now('time_zone') }, z)))), weekEditor(),
        h('div', { class: 'two' }, time('quiet_from'), time('quiet_to')), number('daily_cap', 0, 100), choice('missed', ['move', 'skip'])),
      group(t('autopilot'), choice('autopilot', ['off', 'delay', 'score']), now('autopilot') === 'delay' && number('autopilot_minutes', 5, 1440), now('autopilot') === 'score' && slider('autopilot_score'), now('autopilot') === 'score' && sourcesPicker(), h('p', { class: 'hint small' }, t('autopilot.hint'))),
      group(t('digest'), choice('digest', ['off', 'daily', 'weekly']), now('digest') !== 'off' && time('digest_at')),
      group(t('me'), h('label', { class: 'field' }, h('span', null, t('me.language')), h('select', { onchange: (/** @type {any} */ e) => tongue(e.target.value) }, languages.map(l => h('option', { value: l, selected: l === language() }, languageName(l))))),
        h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: c.notify, onchange: (/** @type {any} */ e) => send('PATCH', `channels/${id}/members/${state.person?.id}`, { notify: e.target.checked }).then(() => toast(t('saved')), err => fail(err)) }), t('me.notify'))));
  }

  /** @param {string} key */
  const time = key => field(key, h('input', { type: 'time', value: now(key), disabled: !can, onchange: (/** @type {any} */ e) => { set(key, e.target.value); if (key.startsWith('quiet') && key in change) { change.quiet_from = now('quiet_from'); change.quiet_to = now('quiet_to'); } } }));

  function sourcesPicker() {
    const box = h('div', { class: 'field' }, h('span', null, t('set.autopilot_sources')));
    get(`channels/${id}/sources`).then(r => box.append(...r.sources.map((/** @type {import('../types').Source} */ s) => h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: now('autopilot_sources').includes(s.id), disabled: !can, onchange: (/** @type {any} */ e) => {
      const set0 = new Set(now('autopilot_sources'));
      if (e.target.checked) set0.add(s.id); else set0.delete(s.id);
      set('autopilot_sources', Array.from(set0));
    } }), s.title || s.address))), () => {});
    return box;
  }

  function weekEditor() {
    const week = /** @type {Record<Weekday, string[]>} */ (now('week'));
    /** @param {Weekday} d @param {string[]} times */
    const put = (d, times) => { set('week', { ...now('week'), [d]: Array.from(new Set(times)).sort() }); draw(); };
    return h('div', { class: 'weekedit', role: 'group', 'aria-label': t('set.week') }, days.map(d => h('div', { class: 'weekday' }, h('b', null, t(`day.${d}`)),
      h('div', { class: 'times' }, week[d].map(at => h('span', { class: 'chip' }, at, can && button(t('time.remove', { at, day: t(`day.${d}`) }), () => put(d, week[d].filter(x => x !== at)), { class: 'plain tiny' }, '×'))),
        can && button(t('time.add', { day: t(`day.${d}`) }), () => addTime(d, at => put(d, [...week[d], at])), { class: 'plain tiny add-time' }, '+')))),
    can && button(t('week.copy'), () => { set('week', { ...week, ...Object.fromEntries(days.slice(1, 5).map(d => [d, week.mon])) }); draw(); }, { class: 'plain small' }));
  }

  /** @param {Weekday} d @param {(at: string) => void} add */
  function addTime(d, add) {
    sheet(t('time.add', { day: t(`day.${d}`) }), close => {
      const input = h('input', { type: 'time', value: '12:00', 'aria-label': t('time') });
      return h('div', { class: 'stack' }, input, button(t('add'), () => { if (input.value) { close(); add(input.value.slice(0, 5)); } }, { class: 'primary wide' }));
    });
  }

  async function save() {
    bar.setAttribute('aria-busy', 'true');
    try {
      was = /** @type {Channel} */ (await send('PATCH', `channels/${id}`, change, { 'if-match': `"v${version}."` }));
      version = was.version;
      change = {};
      haptic('success');
      toast(t('saved'));
      await state.refresh();
    } catch (err) {
      if (err instanceof ApiError && err.status === 412) clash();
      else fail(err);
    }
    bar.removeAttribute('aria-busy');
    draw();
  }

  /** @param {string} l */
  async function tongue(l) {
    try { await send('PATCH', 'me', { language: l }); setLanguage(l); await state.refresh(); state.go('channel'); } catch (err) { fail(err); }
  }

  async function drawPeople() {
    try {
      const r = await get(`channels/${id}/members`);
      fill(people, h('h2', null, t('people')), h('ul', { class: 'plainlist' }, r.members.map((/** @type {import('../types').Member} */ m) => h('li', null, h('span', null, m.first_name || m.username || String(m.person_id)), h('span', { class: 'chip' }, t(`role.${m.role}`)),
        (can || m.person_id === state.person?.id) && r.members.length > 1 && button(t('remove'), () => confirmSheet(t('member.sure', { name: m.first_name }), t('remove'), async () => {
          try { await send('DELETE', `channels/${id}/members/${m.person_id}`); } catch (err) { fail(err); }
          drawPeople();
        }), { class: 'plain small' })))), can && h('div', { class: 'actions' }, ['editor', 'viewer', 'owner'].map(role => button(t(`invite.${role}`), () => invite(role)))));
    } catch { /* the rest of the page says what is wrong */ }
  }

  /** @param {string} role */
  async function invite(role) {
    try {
      const { link } = await send('POST', `channels/${id}/invitations`, { role }, crypto.randomUUID ? { 'idempotency-key': crypto.randomUUID() } : {});
      sheet(t(`invite.${role}`), () => {
        const box = h('input', { type: 'text', readonly: true, value: link, 'aria-label': t('invite.link'), onfocus: (/** @type {any} */ e) => e.target.select() });
        return h('div', { class: 'stack' }, h('p', { class: 'hint' }, t('invite.hint')), box, button(t('copy'), () => { box.select(); navigator.clipboard?.writeText(link).then(() => toast(t('copied')), () => {}); }, { class: 'primary wide' }));
      });
    } catch (err) { fail(err); }
  }

  fill(form, h('div', { class: 'skeleton' }));
  load();
  return { el, changed: topics => { if (topics.includes('settings')) load(); }, gone: () => { mine++; }, leave: () => Object.keys(change).length === 0 || confirm(t('leave.sure')) };
}

/** @param {string} code */
function languageName(code) {
  try { return new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code; } catch { return code; }
}
