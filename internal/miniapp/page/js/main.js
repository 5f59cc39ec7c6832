// Start, sign-in, the frame around the views, and the way between them.

import { ApiError, get, hooks, signIn, watch } from './api.js';
import { button, closeSheet, fail, fill, h, icon, onSheet, toast } from './dom.js';
import { state } from './state.js';
import { applyTheme, attach, backButton, haptic, keptHash, launchLanguage } from './telegram.js';
import { language, setLanguage, t } from './texts.js';
import { setZone } from './time.js';
import { trouble } from './trouble.js';
import { activityView } from './view-activity.js';
import { billingView } from './view-billing.js';
import { channelView } from './view-channel.js';
import { draftsView } from './view-drafts.js';
import { planView } from './view-plan.js';
import { sourcesView } from './view-sources.js';

/** @typedef {import('./state.js').View} View */
/** @typedef {import('../types').Session} Session */

const views = { plan: planView, drafts: draftsView, sources: sourcesView, channel: channelView, activity: activityView, billing: billingView };
/** @typedef {keyof typeof views} Name */

const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {View | null} */
let view = null;
/** @type {Name} */
let current = 'plan';
let turn = 0; // grows with every navigation; a view that arrives late is dropped
let stopWatching = () => {};
let mode = 'live', reachable = true;

/** @param {string | null} s @returns {Name} */
const known = s => (s !== null && s in views ? /** @type {Name} */ (s) : 'plan');

function drawTabs() {
  fill($('tabs'), Object.keys(views).map(name => h('a', {
    href: `?view=${name}`, 'aria-current': name === current ? 'page' : null, 'data-view': name,
    onclick: (/** @type {MouseEvent} */ e) => {
      if (e.metaKey || e.ctrlKey) return;
      e.preventDefault();
      haptic('select');
      state.go(name);
    },
  }, icon(name), h('span', { class: 'tab-name' }, t(`tab.${name}`)), name === 'drafts' && state.channel && state.channel.waiting > 0 && h('span', { class: 'count', 'aria-label': t('drafts.waiting', { n: state.channel.waiting }) }, state.channel.waiting))));
  $('tabs').setAttribute('aria-label', t('tabs'));
  $('skip').textContent = t('to.content');
}

function drawTop() {
  const c = state.channel;
  const states = [];
  if (c?.rests) states.push(h('button', { type: 'button', class: 'chip warn', onclick: () => state.go('billing') }, t('error.channel_rests')));
  else if (c?.paused) states.push(h('span', { class: 'chip warn' }, t('channel.paused')));
  if (c && c.state !== 'active') states.push(h('span', { class: 'chip bad' }, t(`channel.state.${c.state}`)));
  if (!reachable || mode === 'off') states.push(h('span', { class: 'chip bad', role: 'status' }, t('offline')));
  else if (mode === 'asking') states.push(h('span', { class: 'chip' }, t('asking')));
  const name = state.channels.length > 1
    ? h('select', { 'aria-label': t('channel.choose'), onchange: (/** @type {Event} */ e) => choose(Number(/** @type {HTMLSelectElement} */ (e.target).value)) },
      state.channels.map(o => h('option', { value: String(o.id), selected: o.id === c?.id }, o.title)))
    : h('strong', { class: 'top-name' }, c?.title ?? 'postonce');
  fill($('top'), h('div', { class: 'top-line' }, h('span', { class: 'avatar', 'aria-hidden': 'true' }, Array.from(c?.title ?? 'p')[0]), name), h('div', { class: 'chips' }, states));
}

/** @param {number} id */
function choose(id) {
  if (view?.leave && !view.leave()) { drawTop(); return; }
  state.channel = state.channels.find(c => c.id === id) ?? null;
  enter();
}

function enter() {
  if (state.channel) sessionStorage.setItem('channel', String(state.channel.id));
  setZone(state.channel?.time_zone ?? 'UTC');
  listen();
  show(current, state.params, true);
}

/** @param {Name} name @param {URLSearchParams} params @param {boolean} [force] */
function show(name, params, force) {
  if (!force && view?.leave && !view.leave()) return;
  const mine = ++turn;
  current = name;
  state.params = params;
  closeSheet();
  drawTop();
  drawTabs();
  backButton(name !== 'plan');
  document.title = `${t(`tab.${name}`)} · ${state.channel?.title ?? 'postonce'}`;
  if (!state.channel && name !== 'billing') { swap({ el: noChannel() }); return; }
  try {
    swap(views[name]());
  } catch (err) {
    if (mine === turn) swap({ el: trouble(err, () => location.reload()) });
  }
}

/** @param {View} next */
function swap(next) {
  if (view) $('view').scrollTop = 0;
  view?.gone?.();
  view = next;
  $('view').replaceChildren(next.el);
  $('app').removeAttribute('aria-busy');
}

const noChannel = () => h('section', { class: 'empty' }, h('h1', null, t('nochannel.title')), h('p', null, t('nochannel.text')));

/** @param {string} code */
function locked(code) {
  stopWatching();
  view?.gone?.();
  view = null;
  turn++;
  fill($('tabs'));
  fill($('top'), h('div', { class: 'top-line' }, h('strong', null, 'postonce')));
  $('app').removeAttribute('aria-busy');
  $('view').replaceChildren(h('section', { class: 'empty', role: 'alert' }, h('h1', null, t(`${code}.title`)), h('p', null, t(`${code}.text`)),
    code !== 'session.missing' && button(t('retry'), () => location.reload(), { class: 'primary' })));
}

/** @param {Session} [s] the session that was just opened */
function listen(s) {
  stopWatching();
  if (!state.channel) return;
  const first = s?.first;
  stopWatching = watch(state.channel.id, async topics => {
    if (topics.includes('settings') || topics.includes('drafts')) await state.refresh().catch(() => {});
    view?.changed?.(topics);
  }, m => { if (m !== mode) { mode = m; drawTop(); } }, first?.channel_id === state.channel.id ? first.changes : null);
}

/** @param {Session} s */
function took(s) {
  state.person = s.person;
  state.channels = s.channels;
  const wanted = Number(state.params.get('channel') ?? sessionStorage.getItem('channel')) || s.person.channel_id;
  state.channel = s.channels.find(c => c.id === (state.channel?.id ?? wanted)) ?? s.channels[0] ?? null;
  setZone(state.channel?.time_zone ?? 'UTC');
}

state.go = (name, params = {}) => {
  if (view?.leave && !view.leave()) return;
  const query = new URLSearchParams({ view: name, ...params });
  history.pushState(null, '', `?${query}${keptHash()}`);
  show(known(name), query, true);
};

state.refresh = async () => {
  const me = await get('me'), was = state.channel;
  took({ token: '', expires_at: '', ...me });
  // Somebody took the channel away, or gave another role in it.
  if (state.channel?.id !== was?.id || state.channel?.role !== was?.role) {
    enter();
    toast(state.channel && state.channel.id === was?.id ? `${t('me')}: ${t(`role.${state.channel.role}`)}` : t('error.not_yours'));
  } else { drawTop(); drawTabs(); }
};

async function start() {
  applyTheme();
  const query = new URLSearchParams(location.search);
  state.params = query;
  hooks({
    session: took,
    reach: now => { if (now !== reachable) { reachable = now; drawTop(); if (now) view?.changed?.(['drafts', 'plan', 'sources', 'settings']); } },
    expired: () => locked('session.expired'),
  });
  onSheet(open => backButton(open || current !== 'plan'));
  attach({ onBack: () => { if (!closeSheet()) { if (history.length > 1 && current !== 'plan') history.back(); else state.go('plan'); } } });
  addEventListener('popstate', () => { const q = new URLSearchParams(location.search); show(known(q.get('view')), q); });
  addEventListener('keydown', e => { if ((e.ctrlKey || e.metaKey) && e.code === 'KeyZ' && !/** @type {Element} */ (e.target).closest('input, textarea')) /** @type {HTMLElement | null} */ (document.querySelector('#toasts button'))?.click(); });
  addEventListener('unhandledrejection', e => { if (e.reason instanceof ApiError) { e.preventDefault(); fail(e.reason); } });
  current = known(query.get('view'));
  setLanguage(launchLanguage() ?? 'en');
  // The answer is mostly here already and draws everything at once.
  const late = setTimeout(drawTabs, 120);
  /** @type {Session} */ let s;
  try {
    s = await signIn();
    if (s.person.language !== language()) setLanguage(s.person.language);
  } catch (err) {
    if (err instanceof ApiError && err.status === 401) locked(err.code === 'session.missing' ? 'session.missing' : 'session.expired');
    else if (err instanceof ApiError && err.status === 403) locked('session.refused');
    else { drawTabs(); $('app').removeAttribute('aria-busy'); $('view').replaceChildren(trouble(err, () => location.reload())); }
    return;
  } finally { clearTimeout(late); }
  show(current, state.params, true);
  // What there is to see comes first, the stream of news after it was painted.
  requestAnimationFrame(() => setTimeout(() => listen(s)));
  document.documentElement.dataset.ready = 'true';
}

start();
