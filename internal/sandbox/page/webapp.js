// The Mini App in a frame, with what Telegram's web client tells it: theme and
// viewport by postMessage, and the events that it sends back.
import { el } from './dom.js';

const light = { bg_color: '#ffffff', text_color: '#000000', hint_color: '#707579', link_color: '#2481cc', button_color: '#2481cc', button_text_color: '#ffffff', secondary_bg_color: '#f1f1f4', header_bg_color: '#ffffff', section_bg_color: '#ffffff', accent_text_color: '#2481cc', section_header_text_color: '#2481cc', subtitle_text_color: '#707579', destructive_text_color: '#e53935' };
const dark = { bg_color: '#17212b', text_color: '#f5f5f5', hint_color: '#8596a8', link_color: '#6ab3f3', button_color: '#5288c1', button_text_color: '#ffffff', secondary_bg_color: '#0e1621', header_bg_color: '#17212b', section_bg_color: '#17212b', accent_text_color: '#6ab2f2', section_header_text_color: '#6ab3f3', subtitle_text_color: '#8596a8', destructive_text_color: '#ec3942' };

/**
 * @param {string} url with initial data in its fragment @param {(url: string) => boolean} openLink
 * @param {(slug: string) => Promise<string>} payLink opens an invoice and answers how it was closed
 */
export function openWebApp(url, title, openLink, payLink) {
  const box = /** @type {HTMLDialogElement} */ (document.getElementById('webapp'));
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? dark : light;
  const frame = el('iframe', { src: url + '&tgWebAppThemeParams=' + encodeURIComponent(JSON.stringify(theme)), title, allow: 'clipboard-write' });
  const back = el('button.back.shown', { type: 'button', hidden: true, aria: { label: 'Back' }, onclick: () => tell('back_button_pressed') }, '‹');
  const main = el('button.wide.primary.main', { type: 'button', hidden: true, onclick: () => tell('main_button_pressed') });
  const origin = new URL(url, location.href).origin;
  const tell = (eventType, eventData = {}) => frame.contentWindow?.postMessage(JSON.stringify({ eventType, eventData }), origin);
  const view = () => tell('viewport_changed', { height: frame.clientHeight, width: frame.clientWidth, is_state_stable: true, is_expanded: true });
  const hear = e => {
    if (e.source !== frame.contentWindow) return;
    let m;
    try { m = typeof e.data === 'string' ? JSON.parse(e.data) : e.data; } catch { return; }
    const d = typeof m?.eventData === 'string' ? JSON.parse(m.eventData || '{}') : m?.eventData ?? {};
    switch (m?.eventType) {
      case 'web_app_close': box.close(); break;
      case 'web_app_ready': case 'iframe_ready': tell('theme_changed', { theme_params: theme }); view(); break;
      case 'web_app_request_theme': tell('theme_changed', { theme_params: theme }); break;
      case 'web_app_request_viewport': view(); break;
      case 'web_app_setup_back_button': back.hidden = !d.is_visible; break;
      case 'web_app_setup_main_button': main.hidden = !d.is_visible; main.disabled = d.is_active === false; main.textContent = d.text ?? ''; break;
      case 'web_app_open_invoice': payLink(d.slug).catch(() => 'failed').then(status => tell('invoice_closed', { slug: d.slug, status })); break;
      case 'web_app_open_link': window.open(d.url, '_blank', 'noopener'); break;
      case 'web_app_open_tg_link': box.close(); openLink('https://t.me' + d.path_full); break;
    }
  };
  addEventListener('message', hear);
  frame.addEventListener('load', () => lend(frame, url, box, openLink, payLink));
  box.replaceChildren(el('header.bar', {}, back, el('strong', {}, title), el('button.close', { type: 'button', aria: { label: 'Close' }, onclick: () => box.close() }, '✕')), frame, main);
  box.onclose = () => { removeEventListener('message', hear); box.replaceChildren(); };
  box.showModal();
}

/** Where Telegram's script cannot be loaded (no network), a page of this address gets the part of it that pays and opens links. */
function lend(frame, url, box, openLink, payLink) {
  let inside;
  try { inside = frame.contentWindow; void inside.document; } catch { return; } // a page of another address
  if (inside.Telegram?.WebApp) return;
  const nothing = () => {};
  inside.Telegram = { WebApp: {
    initData: new URLSearchParams(new URL(url, location.href).hash.slice(1)).get('tgWebAppData') ?? '', version: '8.0', themeParams: {},
    isVersionAtLeast: v => parseFloat(v) <= 8, ready: nothing, expand: nothing, onEvent: nothing, setHeaderColor: nothing, disableVerticalSwipes: nothing,
    BackButton: { show: nothing, hide: nothing, onClick: nothing },
    HapticFeedback: { selectionChanged: nothing, impactOccurred: nothing, notificationOccurred: nothing },
    openTelegramLink: link => { box.close(); openLink(link); },
    openInvoice: (link, done = nothing) => payLink(link.slice(link.lastIndexOf('$') + 1)).catch(() => 'failed').then(done),
  } };
}
