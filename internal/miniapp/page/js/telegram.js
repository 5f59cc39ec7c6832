// Where the page runs: inside Telegram, or in a browser that was given the same
// launch parameters. Works without Telegram's own script too, which only adds
// to it (haptics, the back button, a theme that changes while the page is open).

/** @returns {any} */
const app = () => /** @type {any} */ (window).Telegram?.WebApp;

const launch = new URLSearchParams(location.hash.slice(1));

/** The signed launch data, as Telegram hands it over; empty: not opened from a bot. */
export function initData() {
  const data = app()?.initData || launch.get('tgWebAppData') || sessionStorage.getItem('init-data') || '';
  if (data) sessionStorage.setItem('init-data', data);
  return data;
}

/** The language of the person's Telegram, before the server said better. */
export function launchLanguage() {
  try {
    return JSON.parse(new URLSearchParams(initData()).get('user') ?? '{}').language_code ?? navigator.language;
  } catch { return navigator.language; }
}

/** @param {string} hex @returns {number[]} */
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) || 0);
/** @param {number[]} c */
const toHex = c => '#' + c.map(v => Math.round(v).toString(16).padStart(2, '0')).join('');
/** @param {number[]} c relative luminance, WCAG 2.2 */
const luminance = c => c.map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
/** Moves a colour towards another until it can be read on all of `on`. @param {string} colour @param {string[]} on @param {string} towards */
export function readable(colour, on, towards) {
  const from = rgb(colour), to = rgb(towards), grounds = on.map(g => luminance(rgb(g)) + 0.05);
  for (let step = 0; step <= 20; step++) {
    const c = from.map((v, i) => v + (to[i] - v) * step / 20), l = luminance(c) + 0.05;
    if (grounds.every(g => Math.max(l / g, g / l) >= 5.4)) return toHex(c);
  }
  return towards;
}

const light = { bg_color: '#ffffff', text_color: '#000000', hint_color: '#707579', link_color: '#2481cc', button_color: '#2481cc', button_text_color: '#ffffff', secondary_bg_color: '#f0f2f5', destructive_text_color: '#d32f2f' };
const dark = { bg_color: '#17212b', text_color: '#f5f5f5', hint_color: '#8a9bab', link_color: '#6ab3f3', button_color: '#3f7ab8', button_text_color: '#ffffff', secondary_bg_color: '#0e1621', destructive_text_color: '#ff6b6b' };

/** Telegram's colours as custom properties, each made readable where a theme's own are not. */
export function applyTheme() {
  /** @type {Record<string, string>} */
  let given = {};
  try { given = { ...JSON.parse(launch.get('tgWebAppThemeParams') ?? sessionStorage.getItem('theme') ?? '{}'), ...app()?.themeParams }; } catch { /* a theme that cannot be read is no theme */ }
  if (given.bg_color) sessionStorage.setItem('theme', JSON.stringify(given));
  const fallback = (given.bg_color ? luminance(rgb(given.bg_color)) < 0.2 : matchMedia('(prefers-color-scheme: dark)').matches) ? dark : light;
  /** @type {Record<string, string>} */
  const p = { ...fallback, ...given };
  const isDark = luminance(rgb(p.bg_color)) < 0.2;
  const card = p.section_bg_color ?? p.bg_color, page = p.secondary_bg_color === card ? (isDark ? '#0e1621' : '#f0f2f5') : p.secondary_bg_color;
  const both = [card, page], ink = isDark ? '#ffffff' : '#000000';
  const style = document.documentElement.style;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  for (const [name, value] of Object.entries({
    page, card, text: readable(p.text_color, both, ink), hint: readable(p.hint_color, both, p.text_color),
    link: readable(p.accent_text_color ?? p.link_color, both, ink), accent: readable(p.button_color, [p.button_text_color], luminance(rgb(p.button_text_color)) > 0.4 ? '#000000' : '#ffffff'),
    'accent-text': p.button_text_color, danger: readable(p.destructive_text_color, both, ink),
    good: readable(isDark ? '#4fae6b' : '#1f8a43', both, ink), warn: readable(isDark ? '#e0a63d' : '#a35f00', both, ink),
  })) style.setProperty('--' + name, value);
}

/** Attaches what Telegram's script offers, once it is there. @param {{ onBack: () => void }} hooks */
export function attach({ onBack }) {
  const script = document.getElementById('telegram-script');
  const ready = () => {
    const w = app();
    loaded = true;
    if (!w) return;
    applyTheme();
    w.onEvent?.('themeChanged', applyTheme);
    w.BackButton?.onClick?.(onBack);
    try { w.ready(); w.expand(); if (w.isVersionAtLeast?.('7.7')) w.disableVerticalSwipes(); if (w.isVersionAtLeast?.('6.1')) w.setHeaderColor('secondary_bg_color'); } catch { /* an old client */ }
  };
  if (app()) ready();
  else { script?.addEventListener('load', ready); script?.addEventListener('error', () => { loaded = true; }); }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
}

let loaded = false;
/** The part after # has to stay until Telegram's script has read it. */
export const keptHash = () => (loaded ? '' : location.hash);

/** @param {boolean} on */
export function backButton(on) {
  const w = app();
  if (!w?.isVersionAtLeast?.('6.1')) return;
  if (on) w.BackButton.show(); else w.BackButton.hide();
}

/** @param {'success' | 'error' | 'warning' | 'select' | 'tap'} kind */
export function haptic(kind) {
  const w = app();
  if (!w?.isVersionAtLeast?.('6.1')) return;
  if (kind === 'select') w.HapticFeedback.selectionChanged();
  else if (kind === 'tap') w.HapticFeedback.impactOccurred('light');
  else w.HapticFeedback.notificationOccurred(kind);
}

/** Opens an invoice in Telegram; in a browser, as a link. @param {string} link @param {(status: string) => void} done */
export function openInvoice(link, done) {
  const w = app();
  if (w?.initData && w.isVersionAtLeast?.('6.1')) w.openInvoice(link, done);
  else { window.open(link, '_blank', 'noopener'); done('opened'); }
}

/** @param {string} link */
export function openLink(link) {
  const w = app();
  if (w?.initData && /^https:\/\/t\.me\//.test(link)) w.openTelegramLink(link);
  else window.open(link, '_blank', 'noopener');
}
