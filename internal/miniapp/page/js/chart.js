// Small charts: inline SVG, drawn in the current colours, with their figures in words for screen readers.

import { svg } from './dom.js';

/**
 * Bars of two layers: what was new behind, what was proposed in front.
 * @param {{ back: number, front: number }[]} days @param {string} title
 */
export function spark(days, title) {
  const w = 4, gap = 2, height = 24, top = Math.max(1, ...days.map(d => d.back));
  const bar = (/** @type {number} */ v, /** @type {number} */ i, /** @type {string} */ cls) => {
    const size = v === 0 ? 0 : Math.max(2, Math.round((v / top) * height));
    return svg('rect', { x: i * (w + gap), y: height - size, width: w, height: size, rx: 1, class: cls });
  };
  return figure(days.length * (w + gap), height, 'spark', title, [
    svg('path', { d: `M0 ${height - 0.5}H${days.length * (w + gap)}`, class: 'axis' }),
    ...days.map((d, i) => bar(d.back, i, 'back')), ...days.map((d, i) => bar(d.front, i, 'front')),
  ]);
}

/**
 * A line over days; days without a value break it.
 * @param {(number | null)[]} values @param {number} top @param {string} title
 */
export function line(values, top, title) {
  const w = 280, height = 64, pad = 4, step = values.length > 1 ? (w - 2 * pad) / (values.length - 1) : 0;
  const y = (/** @type {number} */ v) => pad + (1 - v / top) * (height - 2 * pad);
  let d = '', pen = false;
  /** @type {SVGElement[]} */
  const dots = [];
  values.forEach((v, i) => {
    if (v === null) { pen = false; return; }
    const x = pad + i * step;
    d += `${pen ? 'L' : 'M'}${x.toFixed(1)} ${y(v).toFixed(1)}`;
    dots.push(svg('circle', { cx: x.toFixed(1), cy: y(v).toFixed(1), r: 2.4, class: 'dot' }));
    pen = true;
  });
  return figure(w, height, 'line', title, [
    ...[0, 0.5, 1].map(f => svg('path', { d: `M0 ${y(f * top)}H${w}`, class: 'axis' })), svg('path', { d, class: 'stroke' }), ...dots,
  ]);
}

/**
 * Stacked bars over days. @param {{ parts: { value: number, cls: string }[] }[]} days @param {string} title
 */
export function stack(days, title) {
  const w = 280, height = 64, slot = w / Math.max(1, days.length), top = Math.max(1, ...days.map(d => d.parts.reduce((s, p) => s + p.value, 0)));
  /** @type {SVGElement[]} */
  const bars = [svg('path', { d: `M0 ${height - 0.5}H${w}`, class: 'axis' })];
  days.forEach((d, i) => {
    let base = height;
    for (const p of d.parts) {
      const size = (p.value / top) * (height - 2);
      if (size > 0) bars.push(svg('rect', { x: (i * slot + slot * 0.15).toFixed(1), y: (base -= size).toFixed(1), width: (slot * 0.7).toFixed(1), height: size.toFixed(1), class: p.cls }));
    }
  });
  return figure(w, height, 'stack-chart', title, bars);
}

/** @param {number} w @param {number} height @param {string} cls @param {string} title @param {SVGElement[]} children */
function figure(w, height, cls, title, children) {
  return svg('svg', { viewBox: `0 0 ${w} ${height}`, class: `chart ${cls}`, role: 'img', 'aria-label': title, preserveAspectRatio: 'none' }, children);
}
