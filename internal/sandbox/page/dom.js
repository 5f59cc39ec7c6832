// Small tools for building elements; text is always text.

/**
 * @param {string} tag with classes: "div.bubble.mine"
 * @param {Record<string, any>} [props] properties, `on…` listeners, `data` and `aria`
 * @param {...(Node|string|null|undefined|false)} children
 */
export function el(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(name || 'div');
  if (classes.length) node.className = classes.join(' ');
  for (const [k, v] of Object.entries(props ?? {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith('on')) node.addEventListener(k.slice(2), v);
    else if (k === 'data') Object.assign(node.dataset, v);
    else if (k === 'aria') for (const [a, x] of Object.entries(v)) node.setAttribute('aria-' + a, x);
    else if (k in node && k !== 'list') node[k] = v;
    else node.setAttribute(k, v);
  }
  node.append(...children.filter(c => c !== null && c !== undefined && c !== false));
  return node;
}

/** A round picture with initials, coloured by the id. */
export function avatar(title, id, cls = '') {
  const letters = [...title.replace(/[^\p{L}\p{N} ]/gu, '').trim()];
  const words = title.trim().split(/\s+/);
  const initials = (letters[0] ?? '?') + (words.length > 1 ? [...words[1]][0] ?? '' : '');
  return el('span.avatar.c' + (Math.abs(Number(id)) % 7) + (cls ? '.' + cls : ''), { aria: { hidden: 'true' } }, initials.toUpperCase());
}

export function clock(unix) {
  return new Date(unix * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
}

export function day(unix) {
  const d = new Date(unix * 1000), today = new Date();
  if (d.toDateString() === today.toDateString()) return 'Today';
  return d.toLocaleDateString([], { day: 'numeric', month: 'long', ...(d.getFullYear() !== today.getFullYear() && { year: 'numeric' }) });
}

/** A short notice that goes by itself. */
export function toast(text, kind = '') {
  const t = el('div.toast' + (kind ? '.' + kind : ''), {}, text);
  document.getElementById('toasts').append(t);
  setTimeout(() => t.classList.add('gone'), 3600);
  setTimeout(() => t.remove(), 4000);
}

/**
 * Shows a dialog and answers with what was chosen, or null.
 * @param {(close: (v: any) => void) => Node} build
 */
export function ask(build) {
  const d = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));
  return new Promise(resolve => {
    let answer = null;
    const close = v => { answer = v; d.close(); };
    d.replaceChildren(build(close));
    d.onclick = e => { if (e.target === d) d.close(); };
    d.onclose = () => { d.replaceChildren(); resolve(answer); };
    d.showModal();
  });
}
