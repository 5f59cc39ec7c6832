// Times, always in the channel's zone: the person may be elsewhere.

import { language, t } from './texts.js';

/** @type {Intl.DateTimeFormat | null} */
let format = null;
let zone = 'UTC';

/** @param {string} name IANA */
export function setZone(name) { if (name !== zone) { zone = name; format = null; } }

/**
 * The local time of an instant, yyyy-mm-dd hh:mm. The first format of a process
 * takes a slow phone 150 ms: what is shown first does without it.
 * @param {string | number} at
 */
function local(at) {
  if (!format) {
    const make = (/** @type {string} */ timeZone) => new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    try { format = make(zone); } catch { format = make('UTC'); }
  }
  return format.format(new Date(at));
}

const weekday = (/** @type {string} */ date) => t(`day.${['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(date.slice(0, 10)).getUTCDay()]}`);
/** 29 Nov; `date` is a local date, yyyy-mm-dd @param {string} date */
export const shortDay = date => `${Number(date.slice(8, 10))} ${t('months').split(' ')[Number(date.slice(5, 7)) - 1]}`;
/** Sun 29 Nov @param {string} date */
export const dayName = date => `${weekday(date)} ${shortDay(date)}`;

/** 18:00 @param {string} at */
export const clock = at => local(at).slice(11);
/**
 * Thu 18:00, with the date when it is not within a week. Times of the plan are
 * written in the channel's zone: they are their own `wall`.
 * @param {string} at @param {string} [wall]
 */
export const dayClock = (at, wall = local(at)) => `${Math.abs(Date.parse(at) - Date.now()) > 6 * 864e5 ? dayName(wall) : weekday(wall)} ${wall.slice(11, 16)}`;
/** The local date of an instant, yyyy-mm-dd @param {string | number} at */
export const localDate = at => local(at).slice(0, 10);
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
