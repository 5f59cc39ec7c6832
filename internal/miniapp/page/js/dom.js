// Building the page: elements, keyed lists, sheets and short notices.

import { haptic } from './telegram.js';
import { explain, t } from './texts.js';

/** @typedef {string | number | Node | null | undefined | false | any[]} Child */

/**
 * Makes an element. `on…` properties are listeners, `style` sets custom
 * properties through the object model (the policy forbids style attributes);
 * false, null and undefined leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith('on')) el.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const [k, v] of Object.entries(value)) el.style.setProperty(k, String(v));
    else if (key === 'value' || key === 'checked' || key === 'selected') Reflect.set(el, key, value);
    else el.setAttribute(key, value === true ? '' : String(value));
  }
  append(el, children);
  return el;
}

/** @param {Node} parent @param {Child[]} children */
function append(parent, children) {
  for (const c of children) {
    if (Array.isArray(c)) append(parent, c);
    else if (c !== null && c !== undefined && c !== false) parent.appendChild(c instanceof Node ? c : document.createTextNode(String(c)));
  }
}

/** Paths on a 24 × 24 grid, drawn as strokes. @type {Record<string, string>} */
const paths = {
  plan: 'M7 3v3M17 3v3M4 9h16M5 5h14a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM8 13h3M8 16h6',
  drafts: 'M6 3h9l4 4v13a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM14 3v5h5M8 13h8M8 17h5',
  sources: 'M5 19a1 1 0 1 0 .01 0M5 12a7 7 0 0 1 7 7M5 5a14 14 0 0 1 14 14',
  channel: 'M4 10v4h3l7 4V6L7 10H4zM17 9a4 4 0 0 1 0 6M8 14l1 6h2',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  billing: 'M12 3l2.7 5.8 6.3.8-4.6 4.3 1.2 6.3L12 17.1l-5.6 3.1 1.2-6.3L3 9.6l6.3-.8z',
  grip: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
  left: 'M15 5l-7 7 7 7', right: 'M9 5l7 7-7 7', close: 'M6 6l12 12M18 6L6 18',
};

/** @param {string} name @returns {SVGElement} */
export function icon(name) {
  return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', focusable: 'false' }, [svg('path', { d: paths[name] ?? '' })]);
}

/** @param {string} tag @param {Record<string, string | number>} attrs @param {Node[]} [children] @returns {SVGElement} */
export function svg(tag, attrs, children = []) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attrs)) el.setAttribute(k, String(v));
  el.append(...children);
  return /** @type {SVGElement} */ (el);
}

/**
 * A button. @param {string} label @param {(e: MouseEvent) => void} onclick @param {Record<string, any>} [props]
 * @param {...Child} inside shown in place of the label, which then is read out only
 */
export function button(label, onclick, props, ...inside) {
  return h('button', { type: 'button', onclick, ...(inside.length ? { 'aria-label': label, title: label } : {}), ...props }, ...(inside.length ? inside : [label]));
}

/**
 * Brings a list up to date: an element is kept while its signature is the same,
 * so focus, open editors and scroll positions survive a refresh.
 * @template T
 * @param {HTMLElement} parent @param {T[]} items
 * @param {(item: T) => string} key @param {(item: T) => HTMLElement} make
 * @param {(item: T) => string} [signature]
 */
export function list(parent, items, key, make, signature = JSON.stringify) {
  /** @type {Map<string, HTMLElement>} */
  const old = new Map(), keys = new Set(items.map(key));
  for (const c of /** @type {HTMLElement[]} */ (Array.from(parent.children))) {
    const k = c.dataset.key ?? '';
    if (keys.has(k)) { old.set(k, c); continue; }
    // Who works by keyboard goes on with the next one.
    const next = /** @type {HTMLElement | null | false} */ (c.contains(document.activeElement) && (c.nextElementSibling ?? c.previousElementSibling ?? document.getElementById('view')));
    c.remove();
    if (next) next.focus({ preventScroll: true });
  }
  /** @type {Element | null} */
  let at = parent.firstElementChild;
  for (const item of items) {
    const k = key(item), sig = signature(item);
    let el = old.get(k);
    const held = el && (el.dataset.held !== undefined || el.querySelector('input[type=text]:focus')); // somebody writes in it
    if (!el || (el.dataset.sig !== sig && !held)) {
      const next = make(item);
      next.dataset.key = k;
      next.dataset.sig = sig;
      if (el) {
        const focused = el.contains(document.activeElement) && (el.querySelector(':focus')?.closest('[data-focus]')?.getAttribute('data-focus') ?? '-');
        if (at === el) at = next; // moved, it would lose the focus
        el.replaceWith(next);
        if (focused) /** @type {HTMLElement | null} */ (next.querySelector(`[data-focus="${focused}"]`) ?? next)?.focus({ preventScroll: true });
      }
      el = next;
    }
    if (el === at) at = at.nextElementSibling;
    else parent.insertBefore(el, at);
  }
}

/** Replaces what an element holds. @param {Element} el @param {...Child} children */
export function fill(el, ...children) {
  el.replaceChildren();
  append(el, children);
}

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap();
/** Fills an element unless it shows the same already: nothing is replaced under a finger. @param {Element} el @param {unknown} data @param {() => Child} make */
export function refill(el, data, make) {
  const sig = JSON.stringify(data);
  if (shown.get(el) === sig) return;
  shown.set(el, sig);
  fill(el, make());
}

/** @type {((open: boolean) => void) | null} */
let sheetListener = null;
/** @param {(open: boolean) => void} fn */
export const onSheet = fn => { sheetListener = fn; };

/** Closes the open sheet, if any; true when there was one. */
export function closeSheet() {
  const open = /** @type {HTMLDialogElement | null} */ (document.querySelector('dialog[open]'));
  open?.close();
  return open !== null;
}

/**
 * Opens a sheet: from below on a phone, in the middle on a desktop. The native
 * dialog keeps the focus inside, closes on Escape and gives the focus back.
 * @param {string} title @param {(close: () => void) => Child} build
 */
export function sheet(title, build) {
  closeSheet();
  const id = 'sheet-title';
  const close = () => dialog.close();
  const dialog = h('dialog', { class: 'sheet', 'aria-labelledby': id });
  append(dialog, [
    h('header', null, h('h2', { id }, title), button(t('close'), close, { class: 'plain round' }, icon('close'))),
    h('div', { class: 'sheet-body' }, build(close)),
  ]);
  dialog.addEventListener('close', () => { dialog.remove(); sheetListener?.(false); });
  dialog.addEventListener('click', e => { if (e.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  sheetListener?.(true);
  return close;
}

/**
 * A short notice above the tabs, read out by screen readers, with at most one action.
 * @param {string} text @param {{ tone?: 'ok' | 'bad', action?: string, run?: () => void }} [options]
 */
export function toast(text, { tone = 'ok', action, run } = {}) {
  const host = /** @type {HTMLElement} */ (document.getElementById('toasts'));
  const el = h('div', { class: `toast ${tone}` }, h('span', null, text),
    action && run && button(action, () => { el.remove(); run(); }, { class: 'plain', 'aria-keyshortcuts': 'Control+Z' }));
  host.replaceChildren(el);
  setTimeout(() => el.remove(), action ? 8000 : 4500);
}

/** Tells why something failed, and what to do. @param {unknown} err */
export function fail(err) {
  haptic('error');
  toast(explain(err), { tone: 'bad' });
}

/** Tells that what was asked for is a job now; false: why not. @param {Promise<{ job_id: number }>} asked */
export async function accepted(asked) {
  try {
    toast(t('accepted', { job: (await asked).job_id }));
    return true;
  } catch (err) {
    fail(err);
    return false;
  }
}

/**
 * A place for what is still on its way, which shows it then, or why it does not come.
 * @template T
 * @param {Promise<T>} asked @param {(res: T) => Child} make @param {string} [cls] @param {Child} [meanwhile]
 */
export function coming(asked, make, cls = 'stack', meanwhile) {
  const body = h('div', { class: cls }, h('p', { class: 'waiting', role: 'status' }, h('span', { class: 'spinner' }), meanwhile));
  asked.then(make).catch(err => h('p', { class: 'bad-text', role: 'alert' }, explain(err))).then(child => fill(body, child));
  return body;
}

/** @param {string} question @param {string} yes @param {() => void} run @param {string} [more] */
export function confirmSheet(question, yes, run, more) {
  sheet(question, close => [
    more && h('p', { class: 'hint' }, more),
    h('div', { class: 'stack' }, button(yes, () => { close(); run(); }, { class: 'danger wide' }), button(t('cancel'), close, { class: 'wide' })),
  ]);
}
