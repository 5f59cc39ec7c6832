// Times, always in the channel's zone: the person may be elsewhere.

import { language } from './texts.js';

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();
let zone = 'UTC';

/** @param {string} name IANA */
export function setZone(name) {
  try { new Intl.DateTimeFormat('en', { timeZone: name }); zone = name; } catch { zone = 'UTC'; }
}

/** @param {Intl.DateTimeFormatOptions} options @param {string} [tz] */
function format(options, tz = zone) {
  const key = language() + tz + JSON.stringify(options);
  let f = formats.get(key);
  if (!f) formats.set(key, f = new Intl.DateTimeFormat(language() === 'en' ? 'en-GB' : language(), { timeZone: tz, ...options }));
  return f;
}

/** 18:00 @param {string} at */
export const clock = at => format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at));
/** Thu 18:00, with the date when it is not within a week @param {string} at */
export function dayClock(at) {
  const far = Math.abs(Date.parse(at) - Date.now()) > 6 * 864e5;
  return format({ weekday: 'short', ...(far ? { day: 'numeric', month: 'short' } : {}), hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at));
}
/** Sun 29 Nov; `date` is a local date, yyyy-mm-dd @param {string} date */
export const dayName = date => format({ weekday: 'short', day: 'numeric', month: 'short' }, 'UTC').format(new Date(date + 'T12:00:00Z'));
/** 29 Nov @param {string} date */
export const shortDay = date => format({ day: 'numeric', month: 'short' }, 'UTC').format(new Date(date + 'T12:00:00Z'));
/** The local date of an instant, yyyy-mm-dd @param {string | number} at */
export const localDate = at => new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(new Date(at));
/** @param {string} date @param {number} n */
export const addDays = (date, n) => new Date(Date.parse(date + 'T12:00:00Z') + n * 864e5).toISOString().slice(0, 10);

/** 3 hours ago, in 5 minutes @param {string} at */
export function ago(at) {
  const s = (Date.parse(at) - Date.now()) / 1000;
  const f = new Intl.RelativeTimeFormat(language(), { numeric: 'auto', style: 'short' });
  for (const [unit, size] of /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([['day', 86400], ['hour', 3600], ['minute', 60]])) {
    if (Math.abs(s) >= size) return f.format(Math.round(s / size), unit);
  }
  return f.format(0, 'second');
}
