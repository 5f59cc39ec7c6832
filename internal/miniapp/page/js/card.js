// The draft card: the post as it will look, why it is proposed, and the
// decisions, the same as in the chat.

import { get, send } from './api.js';
import { bubble, plain } from './post.js';
import { button, coming, confirmSheet, fail, h, icon, sheet, toast } from './dom.js';
import { editor } from './editor.js';
import { channel, mayEdit, state } from './state.js';
import { haptic, openLink } from './telegram.js';
import { has, t, words } from './texts.js';
import { ago, clock, dayClock } from './time.js';

/** @typedef {import('../types').Draft} Draft */
/** @typedef {import('../types').Decision} Decision */
/** @typedef {import('../types').Accepted} Accepted */

/** Accepted and not done yet, by draft: the job, and the revision that it will replace. @type {Map<number, { job: number, revision: number, what: string }>} */
const pending = new Map();

/** Whether something asked for is still to come, and drops what has arrived. @param {Draft} d */
export function pendingOf(d) {
  const p = pending.get(d.id);
  if (p && (d.revision > p.revision || d.publication?.deleted_at || (d.publication?.edited_at ?? '') > p.what.slice(2))) { pending.delete(d.id); return undefined; }
  return p;
}

/** What the list compares to see whether a card changed. @param {Draft} d */
export const cardSignature = d => JSON.stringify([d.id, d.state, d.transition, d.revision, d.next_slot, d.publication, d.checks, pendingOf(d)?.job]);

/**
 * Asks for one decision and tells what came of it; a late one is told what had happened.
 * @param {Draft} d @param {string} action @param {Record<string, unknown>} body
 * @param {{ el?: HTMLElement | null, done: () => void }} options
 */
export async function decide(d, action, body, { el, done }) {
  if (el?.getAttribute('aria-busy')) return; // not disabled: the focus would be lost
  el?.classList.add('pending');
  el?.setAttribute('aria-busy', 'true');
  try {
    /** @type {Decision} */
    const res = await send('POST', `drafts/${d.id}/${action}`, { transition: d.transition, ...body });
    haptic(res.already ? 'warning' : 'success');
    const undo = !res.already && ['scheduled', 'skipped'].includes(res.state) && action !== 'undo';
    toast(outcome(res), undo ? {
      action: t('undo'), run: () => decide({ ...d, transition: res.transition, state: res.state }, 'undo', {}, { done }),
    } : {});
  } catch (err) {
    fail(err);
  } finally {
    el?.classList.remove('pending');
    el?.removeAttribute('aria-busy');
    done();
  }
}

/** What a decision led to, in a sentence; a late one is told who was faster. @param {Decision} r @param {string} [moved] @returns {string} */
export function outcome(r, moved = 'state.scheduled.at') {
  if (r.already) return t('already', { what: outcome({ ...r, already: false }) }) + (r.by && r.by !== state.person?.id ? ` (${r.by_name})` : '');
  if (r.state === 'scheduled' && r.slot_at) return t(moved, { at: dayClock(r.slot_at) });
  return t(`${has(`did.${r.state}`) ? 'did' : 'state'}.${r.state}`);
}

/** Something that a job will do: accepted is not done. @param {Draft} d @param {string} action @param {Record<string, unknown>} body @param {() => void} done */
async function submit(d, action, body, done) {
  try {
    /** @type {Accepted} */
    const res = await send('POST', `drafts/${d.id}/${action}`, { transition: d.transition, ...body });
    pending.set(d.id, { job: res.job_id, revision: d.revision, what: `${action === 'rewrite' ? 'r' : 'p'}:${new Date().toISOString()}` });
    toast(t('accepted', { job: res.job_id }));
  } catch (err) {
    fail(err);
  }
  done();
}

/**
 * A card. `done` is called after each decision. @param {Draft} d @param {() => void} done
 * @returns {HTMLElement}
 */
export function card(d, done) {
  const wait = pendingOf(d);
  const el = h('article', { class: `card draft ${d.state}`, tabindex: '-1', 'aria-label': t('draft.label', { id: d.id, title: plain(d.html).split('\n', 1)[0].slice(0, 80) }) });
  /** @param {string} action @param {Record<string, unknown>} [body] */
  const act = (action, body = {}) => decide(d, action, body, { el, done });
  el.append(
    h('div', { class: 'card-state' }, h('span', { class: `chip ${tone(d.state)}` }, stateText(d)), d.explore && h('span', { class: 'chip', title: t('explore.why') }, t('explore')),
      h('span', { class: 'score', title: t('score') }, h('span', { class: 'sr' }, t('score') + ' '), d.kind === 'own' || d.kind === 'digest' ? t(`kind.${d.kind}`) : String(d.score))),
    bubble(d, channel(), d.publication?.published_at ? clock(d.publication.published_at) : d.slot_at ? clock(d.slot_at) : ''),
    about(d),
  );
  if (wait) el.append(h('p', { class: 'waiting', role: 'status' }, h('span', { class: 'spinner' }), t('pending', { job: wait.job })));
  else if (mayEdit()) el.append(actions(d, act, el, done));
  return el;
}

/** @param {string} state */
const tone = state => ({ proposed: '', scheduled: 'info', publishing: 'info', published: 'good', skipped: '', failed: 'bad', unconfirmed: 'warn' })[state] ?? '';

/** @param {Draft} d */
function stateText(d) {
  if (d.state === 'scheduled' && d.slot_at) return t('state.scheduled.at', { at: dayClock(d.slot_at) });
  if (d.publication?.deleted_at) return t('state.deleted');
  if (d.state === 'skipped' && d.skip_reason) return t('state.skipped.why', { why: words('skip', d.skip_reason) });
  return t(`state.${d.state}`);
}

/** Where it comes from and why it is here. @param {Draft} d */
function about(d) {
  const length = plain(d.html).length;
  const lines = [
    d.source_title && h('p', { class: 'source-line' }, icon('sources'), d.item_url ? h('a', { href: d.item_url, target: '_blank', rel: 'noopener noreferrer' }, d.source_title) : d.source_title,
      d.item_at && h('span', { class: 'hint' }, ' · ' + ago(d.item_at))),
    d.also.length > 0 && h('p', { class: 'hint' }, t('also', { names: d.also.map(a => a.title).join(', ') })),
    d.reasons.length > 0 && h('ul', { class: 'reasons', 'aria-label': t('reasons') }, d.reasons.slice(0, 5).map(r => h('li', { class: (r.points ?? 0) < 0 ? 'down' : (r.points ?? 0) > 0 ? 'up' : '' },
      words('reason', r.code), r.words?.length ? `: ${r.words.join(', ')}` : '', r.points ? h('b', null, ` ${r.points > 0 ? '+' : '−'}${Math.abs(r.points)}`) : null))),
    d.state === 'failed' && h('p', { class: 'bad-text' }, has(`failure.${d.failure}`) ? t(`failure.${d.failure}`) : t('failure.other', { code: d.failure })),
    d.state === 'unconfirmed' && h('p', { class: 'warn-text' }, t('unconfirmed.why', { n: d.publication?.looked ?? 0 })),
    d.autopilot_at && d.state === 'proposed' && h('p', { class: 'warn-text' }, t('autopilot.at', { at: dayClock(d.autopilot_at) })),
    d.checks.length > 0 && h('p', { class: 'warn-text' }, d.checks.map(c => words('check', c.code) + (c.detail ? `: ${c.detail}` : '')).join(' · ')),
    h('p', { class: 'hint small' }, t('units', { n: length, max: d.image && channel().image_style === 'photo' ? 1024 : 4096 }), ' · ', words('composer', d.composer), d.fallback && ` (${words('fallback', d.fallback)})`, d.tokens ? ` · ${t('tokens', { n: d.tokens })}` : ''),
    d.evidence.length > 0 && h('details', { class: 'evidence' }, h('summary', null, t('evidence')), h('dl', null, d.evidence.map(e => [h('dt', null, e.claim), h('dd', null, `“${e.quote}”`)]))),
  ];
  return h('div', { class: 'about' }, lines);
}

/** @param {Draft} d @param {(action: string, body?: Record<string, unknown>) => void} act @param {HTMLElement} el @param {() => void} done */
function actions(d, act, el, done) {
  const edit = () => openEditor(d, el, html => (d.state === 'published' ? submit(d, 'edit-post', { html }, done) : act('edit', { html })));
  const row = h('div', { class: 'actions' });
  const add = (/** @type {string} */ key, /** @type {() => void} */ run, cls = '', /** @type {string} */ note = '') =>
    row.append(button(t(key), run, { class: cls, 'data-act': key, 'data-focus': key }, h('span', null, t(key)), note && h('small', null, note)));
  if (d.state === 'proposed') {
    add('approve', () => act('approve'), 'primary', d.next_slot ? dayClock(d.next_slot) : t('noslot'));
    add('postnow', () => confirmSheet(t('postnow.sure', { channel: channel().title }), t('postnow'), () => act('post-now')));
    add('edit', edit);
    add('rewrite', () => openRewrite(d, text => submit(d, 'rewrite', { instruction: text }, done)));
    add('time', () => openTimes(d, body => act('schedule', body)));
    add('skip', () => openSkip(reason => act('skip', { reason })));
  } else if (d.state === 'scheduled') {
    add('time', () => openTimes(d, body => act('move', body)), 'primary');
    add('postnow', () => confirmSheet(t('postnow.sure', { channel: channel().title }), t('postnow'), () => act('post-now')));
    add('edit', edit);
    add('undo', () => act('undo'));
  } else if (d.state === 'skipped') {
    add('undo', () => act('undo'));
    add('skip.because', () => openSkip(reason => act('skip-reason', { reason })));
  } else if (d.state === 'failed') {
    add('retry', () => act('retry'), 'primary');
    add('undo', () => act('undo'));
  } else if (d.state === 'unconfirmed') {
    add('settle.there', () => openSettle(d, act), 'primary');
    add('settle.not_there', () => confirmSheet(t('settle.not_there.sure'), t('settle.not_there'), () => act('settle', { finding: 'not_there' }), t('settle.not_there.more')));
    add('settle.leave', () => act('settle', { finding: 'leave' }));
  } else if (d.state === 'published' && !d.publication?.deleted_at) {
    if (d.publication?.link) add('post.open', () => openLink(d.publication?.link ?? ''), 'primary');
    add('post.edit', edit);
    add('post.delete', () => confirmSheet(t('post.delete.sure'), t('post.delete'), () => submit(d, 'delete-post', {}, done)), 'danger-text');
  }
  add('life', () => openLife(String(d.id)));
  return row;
}

/** @param {Draft} d @param {HTMLElement} el @param {(html: string) => void} save */
function openEditor(d, el, save) {
  el.dataset.held = 'true'; // a refresh must not take the text away
  const old = el.querySelector('.bubble'), row = el.querySelector('.actions');
  const box = editor(d.html, d.image && channel().image_style === 'photo' ? 1024 : 4096, html => { close(); if (html !== null && html !== d.html) save(html); });
  const close = () => { delete el.dataset.held; box.replaceWith(...(old ? [old] : [])); if (row instanceof HTMLElement) row.hidden = false; };
  old?.replaceWith(box);
  if (row instanceof HTMLElement) row.hidden = true;
  box.querySelector('textarea')?.focus();
}

/** @param {Draft} d @param {(instruction: string) => void} ask */
function openRewrite(d, ask) {
  sheet(t('rewrite'), close => {
    const own = h('textarea', { rows: '2', maxlength: '300', 'aria-label': t('rewrite.own'), placeholder: t('rewrite.own') });
    return h('div', { class: 'stack' },
      ['shorter', 'simpler', 'angle'].map(k => button(t(`rewrite.${k}`), () => { close(); ask(t(`rewrite.${k}`)); }, { class: 'wide' })), own,
      button(t('rewrite'), () => { if (own.value.trim()) { close(); ask(own.value.trim()); } else own.focus(); }, { class: 'primary wide' }));
  });
}

/** @param {(reason: string) => void} skip */
function openSkip(skip) {
  sheet(t('skip.why'), close => h('div', { class: 'stack' }, ['off_topic', 'old', 'duplicate', 'bad_source', 'badly_written', 'other'].map(r =>
    button(t(`skip.${r}`), () => { close(); skip(r); }, { class: 'wide' })), h('p', { class: 'hint' }, t('skip.teach'))));
}

/** @param {Draft} d @param {(body: Record<string, unknown>) => void} choose */
export function openTimes(d, choose) {
  sheet(t('time.choose'), close => {
    const slots = coming(get(`channels/${channel().id}/free-slots?n=18`), r => (r.slots.length
      ? r.slots.map((/** @type {string} */ at) => button(dayClock(at), () => { close(); choose({ at }); }))
      : h('p', { class: 'hint' }, t('noslot'))), 'slot-grid');
    const own = h('input', { type: 'datetime-local', 'aria-label': t('time.own') });
    return h('div', { class: 'stack' }, slots, h('label', { class: 'field' }, h('span', null, t('time.own.zone', { zone: channel().time_zone })), own),
      button(t('time.set'), () => { if (own.value) { close(); choose({ local: own.value.slice(0, 16) }); } else own.focus(); }, { class: 'primary wide' }));
  });
}

/** @param {Draft} d @param {(action: string, body?: Record<string, unknown>) => void} act */
function openSettle(d, act) {
  sheet(t('settle.there'), close => {
    const link = h('input', { type: 'url', placeholder: 'https://t.me/…', 'aria-label': t('settle.link') });
    return h('div', { class: 'stack' }, h('label', { class: 'field' }, h('span', null, t('settle.link')), link),
      button(t('settle.there'), () => { close(); act('settle', { finding: 'there', link: link.value.trim() }); }, { class: 'primary wide' }));
  });
}

/** The life of one item, from the poll to the post. @param {string} ref a draft's number or a link */
export function openLife(ref) {
  sheet(t('life'), () => coming(get(`life?ref=${encodeURIComponent(ref)}`), (/** @type {import('../types').Life} */ l) => [
      h('p', { class: 'strong', dir: 'auto' }, l.url ? h('a', { href: l.url, target: '_blank', rel: 'noopener noreferrer' }, l.title || l.url) : l.title),
      h('ol', { class: 'life' }, l.events.map(e => h('li', null, h('time', { datetime: e.at }, dayClock(e.at)), h('span', null, eventText(e))))),
      l.waiting.map(j => h('p', { class: 'waiting' }, h('span', { class: 'spinner' }), words('jobkind', j.kind), ' · ', t('job', { id: j.id }))),
    ]));
}

/** A line of a life: what happened, how, and by whom. @param {import('../types').Event} e */
export function eventText(e) {
  const a = /** @type {Record<string, string>} */ (e.args ?? {}), code = e.code.replace(/^life\./, '');
  const more = [['verdict', a.Verdict], ['how', a.How], ['finding', a.Finding], ['skip', a.Reason], ['failure', a.Why]].filter(m => m[1]).map(([area, word]) => words(area, word));
  if (e.by_name) more.push(e.by_name);
  else if (code === 'approved') more.push(t('autopilot'));
  return [words('life', code, a), ...more].join(' · ');
}
