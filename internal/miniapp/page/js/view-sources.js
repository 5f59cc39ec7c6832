// Sources: what is followed, how it fares, and following more.

import { get, peek, send } from './api.js';
import { spark } from './chart.js';
import { accepted, button, coming, confirmSheet, fail, fill, h, list, sheet, toast } from './dom.js';
import { channel, mayEdit } from './state.js';
import { has, t, words } from './texts.js';
import { addDays, ago } from './time.js';
import { trouble } from './trouble.js';

/** @typedef {import('../types').Source} Source */
/** @typedef {import('../types').Rhythm} Rhythm */

/** @returns {import('./state.js').View} */
export function sourcesView() {
  const base = `channels/${channel().id}`;
  /** @type {Source[] | null} */ let sources = null;
  /** @type {Rhythm | null} */ let rhythm = null;
  let open = 0, mine = 0, find = '';
  const rows = h('div', { class: 'list' }), foot = h('div'), sum = h('p', { class: 'hint', role: 'status' });
  const input = h('input', { type: 'text', inputmode: 'url', autocapitalize: 'off', autocomplete: 'off', placeholder: t('sources.placeholder'), 'aria-label': t('sources.add') });
  const search = h('input', { type: 'search', placeholder: t('sources.find'), 'aria-label': t('sources.find'), hidden: true, oninput: () => { find = search.value.toLowerCase(); draw(); } });
  const el = h('section', { class: 'sources' }, h('h1', { class: 'sr' }, t('tab.sources')),
    mayEdit() && h('form', { class: 'add', onsubmit: (/** @type {Event} */ e) => { e.preventDefault(); if (input.value.trim()) probe(input.value.trim()); else input.focus(); } }, input, h('button', { type: 'submit', class: 'primary' }, t('look'))),
    h('div', { class: 'bar' }, sum, mayEdit() && button(t('sources.more'), openMore, { class: 'plain' })), search, rows, foot);

  async function load() {
    const turn = ++mine;
    if (!sources && peek(`${base}/sources`)) { sources = peek(`${base}/sources`).sources; draw(); }
    try {
      const res = await get(`${base}/sources`);
      if (turn !== mine) return;
      sources = res.sources;
      draw();
      rhythm = await get(`${base}/sources/rhythm`);
      if (turn === mine) draw();
    } catch (err) {
      if (turn !== mine) return;
      if (sources) fail(err);
      else fill(rows, trouble(err, load));
    }
  }

  function draw() {
    if (!sources) return;
    const sick = sources.filter(s => s.health === 'failing' || s.health === 'gone').length;
    sum.textContent = t('sources.count', { n: sources.length }) + (sick ? ` · ${t('sources.sick', { n: sick })}` : '');
    search.hidden = sources.length < 12;
    const order = { failing: 0, gone: 1, new: 2, ok: 3, resting: 4, paused: 5 };
    const shown = sources.filter(s => !find || (s.title + s.address).toLowerCase().includes(find)).sort((a, b) => order[a.health] - order[b.health] || a.title.localeCompare(b.title));
    list(rows, shown, s => String(s.id), row, s => JSON.stringify([s, s.id === open, rhythm?.sources[s.id]]));
    fill(foot, sources.length === 0 && h('div', { class: 'empty' }, h('h2', null, t('sources.none')), h('p', null, t('sources.none.hint')), mayEdit() && button(t('packs'), openMore, { class: 'primary' })));
  }

  /** @param {Source} s */
  function row(s) {
    const el = h('div', { class: `source ${s.health}` });
    el.append(h('button', { type: 'button', class: 'source-head', 'aria-expanded': String(open === s.id), 'data-focus': 'head', onclick: () => { open = open === s.id ? 0 : s.id; draw(); } },
      h('span', { class: `dot ${s.health}`, 'aria-hidden': 'true' }), h('span', { class: 'source-name' }, h('b', { dir: 'auto' }, s.title || s.address), h('small', { class: s.error ? 'bad-text' : 'hint' }, health(s))), chart(s)));
    if (open === s.id) el.append(details(s));
    return el;
  }

  /** @param {Source} s */
  function health(s) {
    if (s.health === 'failing') return has(`source.${s.error}`) ? t(`source.${s.error}`) : t('source.failing', { code: (s.error ?? '').replace(/_/g, ' ') });
    if (s.health === 'ok') return s.last_new_at ? t('source.lastnew', { ago: ago(s.last_new_at) }) : t('source.nothing');
    return t(`health.${s.health}`);
  }

  /** @param {Source} s */
  function chart(s) {
    if (!rhythm) return null;
    const { today, days: span, sources: all } = rhythm, by = new Map((all[s.id] ?? []).map(d => [d.day, d]));
    const days = Array.from({ length: span }, (_, i) => by.get(addDays(today, i - span + 1)));
    const fresh = days.reduce((n, d) => n + (d?.fresh ?? 0), 0), proposed = days.reduce((n, d) => n + (d?.proposed ?? 0), 0);
    return spark(days.map(d => ({ back: Math.max(d?.fresh ?? 0, d?.proposed ?? 0), front: d?.proposed ?? 0 })), t('spark', { fresh, proposed }));
  }

  /** @param {Source} s */
  function details(s) {
    const can = mayEdit();
    const weight = h('input', { type: 'range', min: '0', max: '300', step: '10', value: String(s.weight), disabled: !can, 'aria-label': t('weight') });
    const shown = h('output', null, `${s.weight} %`);
    weight.addEventListener('input', () => { shown.textContent = `${weight.value} %`; });
    weight.addEventListener('change', () => change({ weight: Number(weight.value) }));
    const must = h('input', { type: 'text', value: s.must_words.join(', '), disabled: !can }), never = h('input', { type: 'text', value: s.never_words.join(', '), disabled: !can }), pattern = h('input', { type: 'text', value: s.pattern, spellcheck: 'false', disabled: !can });
    const split = (/** @type {string} */ v) => v.split(',').map(w => w.trim()).filter(Boolean);
    must.addEventListener('change', () => change({ must_words: split(must.value) }));
    never.addEventListener('change', () => change({ never_words: split(never.value) }));
    pattern.addEventListener('change', () => change({ pattern: pattern.value.trim() }));
    /** @param {Record<string, unknown>} body */
    const change = body => run('PATCH', '', body, t('saved'));
    /** @param {string} method @param {string} tail @param {unknown} body @param {string} said */
    const run = async (method, tail, body, said) => {
      try {
        const res = await send(method, `${base}/sources/${s.id}${tail}`, body);
        toast(res.job_id ? t('accepted', { job: res.job_id }) : said);
      } catch (err) { fail(err); }
      load();
    };
    return h('div', { class: 'source-body' },
      h('p', { class: 'hint small' }, h('a', { href: s.url || s.address, target: '_blank', rel: 'noopener noreferrer' }, s.address), ` · ${words('srckind', s.kind)}`),
      s.error_text && h('p', { class: 'bad-text small' }, s.error_text, s.failing_since && ` (${ago(s.failing_since)})`),
      h('p', { class: 'hint small' }, t('source.week', { items: s.items, drafts: s.drafts }), s.next_poll_at && ` · ${t('source.next', { ago: ago(s.next_poll_at) })}`),
      h('label', { class: 'field' }, h('span', null, t('weight'), ' ', shown), weight),
      h('label', { class: 'field' }, h('span', null, t('must')), must), h('label', { class: 'field' }, h('span', null, t('never')), never), h('label', { class: 'field' }, h('span', null, t('pattern')), pattern),
      h('div', { class: 'actions' }, button(t('test'), () => openTest(s)),
        can && (s.paused ? button(t('resume'), () => run('POST', '/resume', {}, t('resumed'))) : button(t('pause'), () => run('POST', '/pause', {}, t('channel.paused')))),
        can && button(t('check.now'), () => run('POST', '/retry', {}, '')),
        can && button(t('remove'), () => confirmSheet(t('remove.sure', { title: s.title || s.address }), t('remove'), () => run('DELETE', '', undefined, t('removed')), t('remove.more')), { class: 'danger-text' })));
  }

  /** @param {Source} s */
  function openTest(s) {
    sheet(t('test.title', { title: s.title }), () => coming(get(`${base}/sources/${s.id}/test`), r => [r.items.length === 0 && h('p', { class: 'hint' }, t('source.nothing')), h('ul', { class: 'plainlist' }, r.items.map((/** @type {import('../types').Dropped} */ i) =>
        h('li', null, h('span', { class: 'score' }, i.score), h('span', { dir: 'auto' }, i.title), h('small', { class: 'hint' }, words('verdict', i.verdict)))))]));
  }

  /** What an address is, before anything is done. @param {string} address */
  function probe(address) {
    sheet(t('probe'), close => coming(send('POST', 'probe', { address }), (/** @type {import('../types').Probe} */ p) => [
        h('p', { class: 'strong', dir: 'auto' }, p.title || p.address), h('p', { class: 'hint' }, words('srckind', p.kind), ' · ', p.address),
        p.choices.length > 0 && h('div', { class: 'stack' }, h('p', null, t('probe.choices')), p.choices.map(c => button(c.title || c.url, () => follow(c.url, close), { class: 'wide' }))),
        h('ul', { class: 'plainlist' }, p.latest.slice(0, 3).map(i => h('li', { dir: 'auto' }, i.title, i.at && h('small', { class: 'hint' }, ' ' + ago(i.at))))),
        p.known ? h('p', { class: 'hint' }, t('probe.known')) : p.is_feed && button(t('follow'), () => follow(p.address || address, close), { class: 'primary wide' }),
        !p.is_feed && p.choices.length === 0 && button(t('own.make'), () => {
          close();
          accepted(send('POST', `${base}/drafts`, { url: p.url || address }));
        }, { class: 'primary wide' })], 'stack', t('probe.looking')));
  }

  /** @param {string} address @param {() => void} close */
  async function follow(address, close) {
    close();
    try {
      const s = await send('POST', `${base}/sources`, { address });
      toast(t(s.already ? 'probe.known' : 'followed', { title: s.title || s.address }));
      input.value = '';
      open = s.id;
    } catch (err) { fail(err); }
    load();
  }

  function openMore() {
    sheet(t('sources.more'), close => {
      const packs = coming(get(`packs?language=${channel().language}`), r => r.packs.map((/** @type {import('../types').Pack} */ p) => button(p.title, async () => {
        close();
        await accepted(send('POST', `${base}/packs/${p.id}`, {}));
        load();
      }, { class: 'wide pick' }, h('span', null, p.title), h('small', { class: 'hint' }, t('sources.count', { n: p.sources.length })))));
      const file = h('input', { type: 'file', accept: '.opml,.xml,text/x-opml', 'aria-label': t('import') });
      file.addEventListener('change', async () => {
        const f = file.files?.[0];
        if (!f) return;
        close();
        await accepted(send('POST', `${base}/sources.opml`, await f.text()));
        load();
      });
      return h('div', { class: 'stack' }, h('h3', null, t('packs')), packs, h('h3', null, 'OPML'), h('label', { class: 'field' }, h('span', null, t('import')), file), button(t('export'), async () => {
        try {
          const text = await get(`${base}/sources.opml`);
          const url = URL.createObjectURL(new Blob([text], { type: 'text/x-opml' }));
          h('a', { href: url, download: 'postonce.opml' }).click();
          setTimeout(() => URL.revokeObjectURL(url), 1000);
        } catch (err) { fail(err); }
      }, { class: 'wide' }));
    });
  }

  fill(rows, h('div', { class: 'skeleton' }));
  load();
  return { el, changed: topics => { if (topics.includes('sources')) load(); }, gone: () => { mine++; } };
}
