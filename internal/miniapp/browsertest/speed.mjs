// How soon the page can be used on a slow phone: Chromium with 4 × CPU throttling.
// Chromium is driven over its pipe and by nothing else: a driver's own scripts
// (300 kB of them, in each page) took 200 ms of every start. Names that are not
// ours are not resolved, as on a network that Telegram's script does not pass.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { BASE, ANN, ROUNDS = '15', RATE = '4', LIMIT_MS, CHROMIUM = '/usr/bin/chromium' } = process.env;
const dir = mkdtempSync(join(tmpdir(), 'speed-'));
const chromium = spawn(CHROMIUM, ['--headless', '--remote-debugging-pipe', `--user-data-dir=${dir}`, '--no-sandbox', '--disable-gpu', '--no-first-run',
  '--disable-background-networking', '--disable-extensions', '--disable-component-update', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', 'about:blank'],
{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

/** Answers that are waited for, by number, and what is told of without being asked. */
const asked = new Map(), heard = new Set();
let last = 0, rest = '';
chromium.stdio[4].setEncoding('utf8').on('data', d => {
  const parts = (rest + d).split('\0');
  rest = parts.pop();
  for (const m of parts.map(p => JSON.parse(p))) {
    if (!m.id) for (const f of heard) f(m);
    else { const [done, failed] = asked.get(m.id); asked.delete(m.id); m.error ? failed(new Error(m.error.message)) : done(m.result); }
  }
});
const send = (method, params = {}, sessionId) => new Promise((done, failed) => {
  asked.set(++last, [done, failed]);
  chromium.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + '\0');
});
const told = (sessionId, method) => new Promise(done => {
  const f = m => { if (m.sessionId === sessionId && m.method === method) { heard.delete(f); done(m.params); } };
  heard.add(f);
});
const pause = ms => new Promise(done => setTimeout(done, ms));

/** Runs in the page: interactive is when the week's slots stand there, were painted, and the thread is free to hear a tap. */
function watchStart() {
  const at = window.at = {};
  new MutationObserver((_, o) => {
    if (!document.querySelector('.slot')) return;
    o.disconnect();
    at.slots = performance.now();
    requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => { at.interactive = performance.now(); setTimeout(() => window.there?.(''), 100); }; c.port2.postMessage(0); });
  }).observe(document, { childList: true, subtree: true });
}

/** Runs in the page: when what was there. */
function seen() {
  const r = n => performance.getEntriesByType('resource').filter(e => e.name.includes(n)).map(e => [e.startTime, e.responseEnd])[0] ?? [0, 0];
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
  return { html: performance.getEntriesByType('navigation')[0].responseEnd, script: r('page.js')[1], asked: r('session')[0], session: r('session')[1], paint, ...window.at };
}

/** A tab of a phone with an empty cache of its own. */
async function open() {
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId: s } = await send('Target.attachToTarget', { targetId, flatten: true });
  for (const [method, params] of [['Page.enable'], ['Runtime.enable'], ['Runtime.addBinding', { name: 'there' }], ['Page.addScriptToEvaluateOnNewDocument', { source: `(${watchStart})()` }],
    ['Emulation.setDeviceMetricsOverride', { width: 360, height: 740, deviceScaleFactor: 1, mobile: true }], ['Emulation.setTouchEmulationEnabled', { enabled: true }]]) await send(method, params, s);
  return {
    /** Another page of the site: its process and its connection are there. */
    async rest() {
      const loaded = told(s, 'Page.loadEventFired');
      await send('Page.navigate', { url: BASE + '/api/v1/openapi.json' }, s);
      await loaded;
      await pause(400);
    },
    async load(page, rate) {
      await send('Emulation.setCPUThrottlingRate', { rate: Number(rate) }, s);
      const there = told(s, 'Runtime.bindingCalled');
      await send('Page.navigate', { url: `${BASE}/${page}/#tgWebAppData=${encodeURIComponent(ANN)}&tgWebAppVersion=8.0` }, s);
      await there;
      const { result } = await send('Runtime.evaluate', { expression: `(${seen})()`, returnByValue: true }, s);
      await send('Emulation.setCPUThrottlingRate', { rate: 1 }, s);
      return result.value;
    },
    close: () => send('Target.disposeBrowserContext', { browserContextId }),
  };
}

const median = list => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const runs = { bare: [], first: [], again: [] };
for (let i = -1; i < Number(ROUNDS); i++) {
  const one = {};
  for (const [name, page] of [['bare', 'bare'], ['first', 'app']]) { // each in a process of its own
    const tab = await open();
    await tab.rest();
    one[name] = await tab.load(page, RATE);
    if (name === 'first') {
      for (let n = 0; n < 2; n++) { await pause(500); await tab.rest(); if (n === 0) await tab.load(page, 1); } // the compiled script is kept from the second time on
      one.again = await tab.load(page, RATE);
    }
    await tab.close();
  }
  if (i >= 0) for (const name of Object.keys(runs)) runs[name].push(one[name]);
}
chromium.kill();
await new Promise(done => chromium.on('exit', done));
rmSync(dir, { recursive: true, force: true, maxRetries: 9, retryDelay: 100 });
for (const [name, list] of Object.entries(runs)) {
  const sorted = list.map(l => Math.round(l.interactive)).toSorted((a, b) => a - b);
  console.log(`${name}: interactive ${Math.round(median(list.map(l => l.interactive)))} ms in the median of ${list.length} (${sorted[0]} to ${sorted.at(-1)}): ` + Object.keys(list[0]).map(k => `${k} ${Math.round(median(list.map(l => l[k])))}`).join(', '));
}
if (LIMIT_MS && median(runs.first.map(l => l.interactive)) > Number(LIMIT_MS)) process.exit(1);
