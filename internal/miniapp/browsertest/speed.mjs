// How soon the page can be used on a slow phone: Chromium with 4 × CPU throttling.
// Nothing is intercepted (that would turn the cache off): names that are not
// ours are not resolved, as on a network that Telegram's script does not pass.
import { chromium } from 'playwright-core';

const { BASE, ANN, ROUNDS = '15', RATE = '4', LIMIT_MS } = process.env;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
});
const address = (page = 'app') => `${BASE}/${page}/#tgWebAppData=${encodeURIComponent(ANN)}&tgWebAppVersion=8.0`;
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

/** Runs in the page: interactive is when the week's slots stand there, were painted, and the thread is free to hear a tap. */
function watchStart() {
  const at = window.at = {};
  new MutationObserver((_, o) => {
    if (!document.querySelector('.slot')) return;
    o.disconnect();
    at.slots = performance.now();
    requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => { at.interactive = performance.now(); }; c.port2.postMessage(0); });
  }).observe(document, { childList: true, subtree: true });
}

async function load(page, rate, what = 'app') {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: Number(rate) });
  await page.goto(address(what), { waitUntil: 'commit' });
  await page.waitForFunction(() => window.at?.interactive);
  const seen = await page.evaluate(() => {
    const r = n => performance.getEntriesByType('resource').filter(e => e.name.includes(n)).map(e => [e.startTime, e.responseEnd])[0] ?? [0, 0];
    const nav = performance.getEntriesByType('navigation')[0];
    return { html: nav.responseEnd, script: r('page.js')[1], asked: r('session')[0], session: r('session')[1], plan: r('/plan')[1], paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, slots: window.at.slots, interactive: window.at.interactive };
  });
  await cdp.detach();
  return seen;
}

const median = list => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const runs = { bare: [], first: [], again: [] };
for (let i = -2; i < Number(ROUNDS); i++) {
  const ctx = await browser.newContext(phone);
  await ctx.addInitScript(watchStart);
  const page = await ctx.newPage();
  await page.goto(BASE + '/api/v1/openapi.json'); // the process of the site is there
  const bare = await load(page, RATE, 'bare');
  await page.goto(BASE + '/api/v1/openapi.json');
  const first = await load(page, RATE);
  for (let n = 0; n < 2; n++) { await page.waitForTimeout(700); await page.goto('about:blank'); await page.goto(BASE + '/api/v1/openapi.json'); if (n == 0) await load(page, 1); }
  const again = await load(page, RATE);
  if (i >= 0) { runs.bare.push(bare); runs.first.push(first); runs.again.push(again); }
  await ctx.close();
}
await browser.close();
for (const [name, list] of Object.entries(runs)) {
  const sorted = list.map(l => Math.round(l.interactive)).toSorted((a, b) => a - b);
  console.log(`${name}: interactive ${Math.round(median(list.map(l => l.interactive)))} ms in the median of ${list.length} (${sorted[0]} to ${sorted.at(-1)}): ` + Object.keys(list[0]).map(k => `${k} ${Math.round(median(list.map(l => l[k])))}`).join(', '));
}
if (LIMIT_MS && median(runs.first.map(l => l.interactive)) > Number(LIMIT_MS)) process.exit(1);
