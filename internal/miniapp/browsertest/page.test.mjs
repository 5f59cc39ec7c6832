// Whole flows of the page in Debian's Chromium. The Go test starts the server and runs this.
import { test, before, after, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sign } from '@telegram-apps/init-data-node';
import { chromium } from 'playwright-core';

const { BASE, ANN, VIC, EVE, OLD, TOKEN, SHOTS } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tabs = ['plan', 'drafts', 'sources', 'channel', 'activity', 'billing'];
if (SHOTS) mkdirSync(SHOTS, { recursive: true });
let browser;
before(async () => { browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] }); });
after(() => browser?.close());
beforeEach(() => fetch(BASE + '/reset', { method: 'POST' }));

/** A page as a person has it; errors of scripts and of the policy are collected. */
async function open(data, { query = '', desktop = false, dark = false, width = 360 } = {}) {
  const ctx = await browser.newContext({ viewport: desktop ? { width: 1280, height: 800 } : { width, height: 740 }, isMobile: !desktop, hasTouch: !desktop, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: SHOTS ? 2 : 1 });
  await ctx.route(u => u.hostname !== '127.0.0.1', r => r.abort());
  const page = await ctx.newPage();
  page.setDefaultTimeout(20000);
  page.errors = [];
  page.on('pageerror', e => page.errors.push(e.message));
  page.on('console', m => { if (m.type() === 'error' && !/ERR_FAILED|40[0-9]|412|422/.test(m.text())) page.errors.push(m.text()); });
  await page.goto(`${BASE}/app/?${query}${data ? '#tgWebAppData=' + encodeURIComponent(data) + '&tgWebAppVersion=8.0' : ''}`);
  return page;
}
const ready = async p => { await p.waitForSelector('html[data-ready]'); return p; };
const shot = (p, name) => SHOTS && p.screenshot({ path: `${SHOTS}/${name}.png` });
const close = async p => { assert.deepEqual(p.errors, []); await p.context().close(); };
const act = (p, draft, key) => p.click(`[data-key="${draft}"] [data-act="${key}"]`);

// All four looks are seen over the real product, in flows.test.mjs.
for (const look of [{ name: 'phone-dark', dark: true }, { name: 'desktop-light', desktop: true }]) {
  test(`every tab is whole, fits and is accessible: ${look.name}`, async () => {
    const p = await ready(await open(ANN, look));
    await p.evaluate(axe);
    for (const tab of tabs) {
      await p.click(`[data-view=${tab}]`);
      await p.waitForSelector(`[data-view=${tab}][aria-current]`);
      await p.waitForFunction(() => !document.querySelector('.view .skeleton, .view .spinner'));
      await p.waitForTimeout(250);
      await shot(p, `${look.name}-${tab}`);
      assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.getElementById('view').scrollWidth <= document.getElementById('view').clientWidth + 1), `${tab} overflows`);
      const bad = await p.evaluate(async () => (await window.axe.run({ resultTypes: ['violations'] })).violations.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => `${v.id}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).slice(0, 3).join(' | ')}`));
      assert.deepEqual(bad, [], tab);
    }
    await close(p);
  });
}

test('a session is opened by what another program signed, and by nothing else', async () => {
  const opened = async data => (await fetch(BASE + '/api/v1/session', { method: 'POST', headers: { authorization: 'tma ' + data } })).status;
  const user = { id: 101, first_name: 'Ann & Ко', language_code: 'ru', is_premium: true, photo_url: 'https://example.org/a.svg' };
  const by = (token, at) => sign({ user, query_id: 'AAE', chat_type: 'private' }, token, at);
  const now = Date.now(), good = by(TOKEN, new Date(now));
  assert.equal(await opened(good), 200);
  assert.equal(await opened(good.replace('101', '666')), 401, 'somebody else put in');
  assert.equal(await opened(good + '&user=%7B%22id%22%3A666%7D'), 401, 'a key twice');
  assert.equal(await opened(by(TOKEN.replace('1', '2'), new Date(now))), 401, 'another bot');
  assert.equal(await opened(by(TOKEN, new Date(now - 2 * 36e5))), 401, 'too old');
  assert.equal(await opened(by(TOKEN, new Date(now + 36e5))), 401, 'from the future');
});

test('a new owner is told in each tab what is missing and where to begin', async () => {
  await fetch(BASE + '/reset?new', { method: 'POST' });
  const p = await ready(await open(ANN));
  const says = { plan: 'The queue is empty', drafts: 'Nothing waits for you', sources: 'No sources yet', channel: 'Posts go out at their slots', activity: 'Nothing to show yet', billing: 'Your plan' };
  for (const [tab, words] of Object.entries(says)) {
    await p.click(`[data-view=${tab}]`);
    await p.waitForSelector(`.view >> text=${words}`);
    await shot(p, `new-${tab}`);
  }
  for (const tab of ['plan', 'drafts']) {
    await p.click(`[data-view=${tab}]`);
    await p.click('.view >> text=Add a source');
    await p.waitForSelector('[data-view=sources][aria-current]');
  }
  await p.click('.empty .primary');
  await p.waitForSelector('dialog >> text=OPML');
  await p.keyboard.press('Escape');
  await p.route(/\/probe$/, r => r.fulfill({ status: 422, contentType: 'application/problem+json', body: '{"code":"error.source.no_such_host"}' }));
  await p.fill('.add input', 'no-such-host.invalid');
  await p.click('.add button');
  await p.waitForSelector('dialog >> text=No such site. This address cannot be read.');
  await close(p);
});

test('a draft is approved, taken back and skipped', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  await act(p, 1, 'approve');
  await p.waitForSelector('.toast >> text=Scheduled for');
  await p.waitForSelector('[data-key="1"]', { state: 'detached' });
  await p.click('.toast button');
  await p.waitForSelector('[data-key="1"] [data-act="skip"]');
  await act(p, 1, 'skip');
  await shot(p, 'skip-sheet');
  await p.click('dialog >> text=Off topic');
  await p.waitForSelector('[data-key="1"]', { state: 'detached' });
  await p.click('.filter >> text=Skipped');
  await p.waitForSelector('[data-key="1"] >> text=Skipped: Off topic');
  await close(p);
});

test('a late decision is told what already happened', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  await p.waitForSelector('[data-key="2"] [data-act="approve"]');
  const s = await (await fetch(BASE + '/api/v1/session', { method: 'POST', headers: { authorization: 'tma ' + ANN } })).json();
  const res = await fetch(BASE + '/api/v1/drafts/2/skip', { method: 'POST', headers: { authorization: 'Bearer ' + s.token, 'content-type': 'application/json' }, body: '{"transition":1,"reason":"old"}' });
  assert.equal(res.status, 200);
  await act(p, 2, 'approve');
  await p.waitForSelector('.toast >> text=Decided before: Skipped');
  await close(p);
});

test('an edit shows what it will look like and keeps to the limit', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  await act(p, 3, 'edit');
  await p.fill('.post-edit', 'Short <b>bold</b> & plain');
  assert.equal(await p.textContent('.preview b'), 'bold');
  await shot(p, 'edit');
  await p.fill('.post-edit', 'x'.repeat(4097));
  assert.ok(await p.isDisabled('.editing .primary'));
  await p.fill('.post-edit', 'Short <b>bold</b><script>alert(1)</script><img src=x onerror=alert(1)>');
  assert.equal(await p.locator('.preview script, .preview img').count(), 0);
  assert.match(await p.textContent('.preview'), /<img src=x onerror=alert\(1\)>/, 'what a post cannot carry stands there as text');
  await p.fill('.post-edit', 'Short <b>bold</b>');
  await p.click('.editing .primary');
  await p.waitForSelector('[data-key="3"] .bubble b >> text=bold');
  await close(p);
});

test('a rewrite is pending until it is there', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  await act(p, 3, 'rewrite');
  await p.click('dialog >> text=Shorter');
  await p.waitForSelector('[data-key="3"] .waiting >> text=4711');
  await close(p);
});

test('a draft moves by tap, by keyboard and by drag', async () => {
  const p = await ready(await open(ANN, { query: 'view=plan' }));
  await p.waitForSelector('[data-focus=d4]');
  const slotOf = id => p.evaluate(i => document.querySelector(`[data-focus=d${i}]`)?.closest('.slot')?.dataset.at, id);
  const free = n => p.evaluate(i => document.querySelectorAll('.slot.free[data-at]')[i].dataset.at, n);
  let target = await free(2);
  await p.tap('[data-focus=g4]');
  await p.waitForSelector('.banner >> text=Where to?');
  await shot(p, 'moving');
  await p.tap(`.slot[data-at="${target}"] button`);
  await p.waitForSelector('.toast >> text=Moved to');
  await p.waitForFunction(() => !document.querySelector('.slot.pending'));
  assert.equal(await slotOf(4), target);
  // By a finger on the grip; resting at the lower edge scrolls the week.
  const finger = await p.context().newCDPSession(p);
  const touch = (type, x, y) => finger.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  await p.locator('[data-focus=g5]').scrollIntoViewIfNeeded();
  const grip = await p.locator('[data-focus=g5]').boundingBox();
  const [x, y] = [grip.x + 20, grip.y + 20], before = await p.evaluate(() => document.getElementById('view').scrollTop);
  await touch('touchStart', x, y);
  await touch('touchMove', x - 40, y + 20);
  await p.waitForSelector('.ghost');
  await touch('touchMove', 180, 660);
  await p.waitForFunction(n => document.getElementById('view').scrollTop > n + 100, before);
  await touch('touchMove', 180, 400);
  await p.waitForFunction(() => document.querySelector('.ghost').style.transform.includes('356px'));
  for (let at = 400; !target || target === await slotOf(4); at -= 20) {
    await touch('touchMove', 180, at);
    target = await p.evaluate(() => document.querySelector('.slot.over')?.dataset.at);
  }
  await shot(p, 'dragging-phone');
  await touch('touchEnd');
  await p.waitForFunction(at => document.querySelector('[data-focus=d5]').closest('.slot').dataset.at === at && !document.querySelector('.slot.pending'), target);
  await close(p);

  const q = await ready(await open(ANN, { query: 'view=plan', desktop: true }));
  await q.focus('[data-focus=d4]');
  await q.keyboard.press('m');
  await q.waitForSelector('.banner');
  const day = () => q.evaluate(() => document.activeElement.closest('.day')?.ariaLabel), first = await day();
  await q.keyboard.press('ArrowRight');
  assert.notEqual(await day(), first);
  await q.keyboard.press('ArrowDown');
  await q.keyboard.press('Enter');
  await q.waitForSelector('.toast >> text=Moved to');
  await q.waitForFunction(() => !document.querySelector('.slot.pending'));
  const now = await q.evaluate(() => document.querySelector('[data-focus=d4]').closest('.slot').dataset.at);
  assert.notEqual(now, target);
  target = await q.evaluate(() => document.querySelectorAll('.slot.free[data-at]')[6].dataset.at);
  const from = await q.locator('[data-focus=d5]').boundingBox(), to = await q.locator(`.slot[data-at="${target}"]`).boundingBox();
  await q.mouse.move(from.x + 20, from.y + 14);
  await q.mouse.down();
  await q.mouse.move(from.x + 40, from.y + 30, { steps: 3 });
  await q.mouse.move(to.x + 20, to.y + 14, { steps: 6 });
  await shot(q, 'dragging');
  await q.mouse.up();
  await q.waitForFunction(at => document.querySelector('[data-focus=d5]').closest('.slot').dataset.at === at && !document.querySelector('.slot.pending'), target);
  await close(q);
});

test('what is in doubt asks, and settles', async () => {
  const p = await ready(await open(ANN, { query: 'view=activity' }));
  await p.waitForSelector('[data-key="6"] >> text=It may have been posted');
  await p.waitForSelector('.life >> text=Post number 4');
  await p.click('.life button >> text=Life');
  await p.waitForSelector('dialog >> text=Ferry line');
  await p.keyboard.press('Escape');
  await p.click('[data-key="6"] [data-act="settle.there"]');
  await p.click('dialog .primary');
  await p.waitForSelector('[data-key="6"]', { state: 'detached' });
  await close(p);
});

test('settings are saved together, and not over those of somebody else', async () => {
  const p = await ready(await open(ANN, { query: 'view=channel' }));
  const look = p.locator('textarea').first();
  await look.fill('lighthouses');
  await p.click('.savebar [data-act=save]');
  await p.waitForSelector('.toast >> text=Saved');
  const s = await (await fetch(BASE + '/api/v1/session', { method: 'POST', headers: { authorization: 'tma ' + ANN } })).json();
  await p.locator('textarea').first().fill('mine');
  await fetch(BASE + '/api/v1/channels/1', { method: 'PATCH', headers: { authorization: 'Bearer ' + s.token, 'content-type': 'application/json' }, body: '{"look_for":"theirs"}' });
  await p.click('.savebar [data-act=save]');
  await p.waitForSelector('.toast >> text=meanwhile');
  await close(p);
});

test('a viewer sees and decides nothing, in Russian', async () => {
  const p = await ready(await open(VIC, { query: 'view=drafts' }));
  await p.waitForSelector('[data-key="1"]');
  assert.equal(await p.locator('[data-act=approve]').count(), 0);
  assert.equal(await p.getAttribute('html', 'lang'), 'ru');
  await shot(p, 'russian');
  await close(p);
});

test('posts from right to left are shown right', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  const [text, first] = await p.evaluate(() => {
    const t = document.querySelector('[data-key="2"] .post-text'), r = document.createRange();
    r.selectNodeContents(t.querySelector('b'));
    return [t.getBoundingClientRect().right, r.getBoundingClientRect().right];
  });
  assert.ok(text - first < 20, 'a Hebrew headline begins at the right');
  await close(p);
});

test('strangers, expired and missing data, and a lost line are told what to do', async () => {
  for (const [data, text] of [[EVE, 'No channel yet'], [OLD, 'Please open it again'], ['', 'Open it from the bot'], [ANN.replace('Ann', 'Bob'), 'Please open it again']]) {
    const p = await open(data);
    await p.waitForSelector(`text=${text}`);
    await close(p);
  }
  const p = await ready(await open(ANN, { query: 'view=drafts' }));
  await p.waitForSelector('[data-key="1"]');
  await p.context().setOffline(true);
  await act(p, 1, 'approve');
  await p.waitForSelector('.toast.bad >> text=No connection');
  await p.waitForSelector('.chip >> text=Offline');
  await shot(p, 'offline');
  await p.context().setOffline(false);
  await p.waitForSelector('.chip >> text=Offline', { state: 'detached' }); // by itself: the stream is back
  await act(p, 1, 'approve');
  await p.waitForSelector('.toast >> text=Scheduled for');
  await p.context().close();
});

test('news come although a proxy holds the stream back; a page that nobody sees hangs up', async () => {
  const p = await open(ANN);
  let asked = 0;
  await p.route(/\/api\/v1\/events/, () => { asked++; }); // no answer, ever
  await p.route(/\/changes$/, async r => r.fulfill({ json: { drafts: `${++asked}`, plan: '', sources: '', settings: '' } }));
  await p.reload(); // the stream may have been there before its proxy
  await ready(p);
  await p.click('[data-view=drafts]');
  // Each answer differs from the one before, so each brings the drafts anew.
  await p.waitForRequest(/\/drafts\?/);
  await p.waitForRequest(/\/drafts\?/);
  await p.unroute(/\/api\/v1\/events/);
  const seen = hidden => p.evaluate(h => { Object.defineProperty(document, 'hidden', { get: () => h, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }, hidden);
  let line = p.waitForResponse(/\/events/);
  await seen(false); // as the network does that is back
  await line;
  const ended = p.waitForEvent('requestfailed', r => r.url().includes('/events'));
  await seen(true);
  await ended;
  line = p.waitForRequest(/\/events/);
  await seen(false);
  await line;
  await close(p);
});

test('by keyboard alone: decide, go on with the next card, take it back', async () => {
  const p = await ready(await open(ANN, { query: 'view=drafts', desktop: true }));
  await p.focus('[data-key="3"] [data-act=approve]');
  await p.keyboard.press('Enter');
  await p.waitForSelector('[data-key="3"]', { state: 'detached' });
  assert.equal(await p.evaluate(() => document.activeElement?.dataset.key), '2', 'the next card has the focus');
  await p.keyboard.press('Control+z');
  await p.waitForSelector('[data-key="3"]');
  assert.equal(await p.evaluate(() => document.activeElement?.dataset.key), '2', 'and keeps it');
  await close(p);
});

test('every tab says that it waits, that it failed, and comes back', async () => {
  const p = await ready(await open(ANN, { query: 'view=life' }));
  let how = 'fail';
  const held = [];
  await p.route(/\/api\/v1\/(channels\/1|billing)/, async r => {
    if (how === 'fail') await r.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"type":"about:blank","title":"Something went wrong on our side.","status":500,"code":"internal"}' });
    else if (how === 'hold') held.push(r);
    else await r.continue();
  });
  for (const tab of tabs.filter(x => x !== 'plan')) {
    how = 'hold';
    await p.click(`[data-view=${tab}]`);
    await p.waitForSelector('.view .skeleton, .view .spinner', { state: 'attached' });
    if (tab === 'drafts') await shot(p, 'waiting');
    how = 'fail';
    for (const r of held.splice(0)) await r.abort().catch(() => {});
    await p.waitForSelector('.view >> text=This could not be loaded');
    if (tab === 'drafts') await shot(p, 'failed');
    how = 'pass';
    await p.waitForTimeout(150); // a tab in two parts fails in both
    // All at once: a refresh may be as quick, and then nothing is left to tap.
    await p.evaluate(() => { for (const again of document.querySelectorAll('.view [role=alert] button')) again.click(); });
    await p.waitForFunction(() => !document.querySelector('.view .skeleton, .view .spinner') && !document.querySelector('.view')?.textContent?.includes('could not be loaded'), null, { timeout: 8000 }).catch(async () => assert.fail(`${tab}: ${await p.textContent('.view')}`));
  }
  await p.context().close();
});

test('it is there at once on a slow phone, and nothing jumps', async () => {
  const times = [], works = [];
  for (let i = 0; i < 3; i++) {
    const ctx = await browser.newContext({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    await ctx.route(u => u.hostname !== '127.0.0.1', r => r.abort());
    const p = await ctx.newPage();
    const cdp = await ctx.newCDPSession(p);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await p.addInitScript(() => {
      window.shift = 0;
      window.shifted = [];
      const name = s => `${s.node?.nodeName} ${s.node?.className ?? s.node?.textContent} ${JSON.stringify(s.previousRect)} ${JSON.stringify(s.currentRect)}`;
      new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) { window.shift += e.value; window.shifted.push(...e.sources.map(name)); } }).observe({ type: 'layout-shift', buffered: true });
      const wait = () => (document.querySelector('.slot') ? (window.there = performance.now()) : requestAnimationFrame(wait));
      wait();
    });
    await p.goto(`${BASE}/app/#tgWebAppData=${encodeURIComponent(ANN)}`);
    await p.waitForFunction(() => window.there);
    // What the page itself makes the processor do, without waiting for it.
    const { metrics } = await cdp.send('Performance.getMetrics');
    works.push(Math.round(1000 * metrics.filter(m => ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'].includes(m.name)).reduce((n, m) => n + m.value, 0)));
    await p.waitForTimeout(300);
    const [there, shift, shifted] = await p.evaluate(() => [window.there, window.shift, window.shifted.join('; ')]);
    times.push(Math.round(there));
    assert.equal(shift, 0, `layout shift ${shift}: ${shifted}`);
    await ctx.close();
  }
  console.log(`the week is there after ${times.join(', ')} ms, scripts, style and layout took ${works.join(', ')} ms of CPU (4 x CPU throttling)`);
  // The goal is 300 ms on a quiet machine (LIMIT_MS=300). One shared with other
  // tests says nothing by the clock; there the page's own work counts, with room.
  if (process.env.LIMIT_MS) assert.ok(Math.min(...times) < Number(process.env.LIMIT_MS), times.join());
  assert.ok(Math.min(...works) < 900, works.join());
});
