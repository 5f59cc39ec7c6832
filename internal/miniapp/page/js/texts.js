// The words of the interface. A key's text may hold {name} places; a key that
// counts has the forms of Intl.PluralRules as key#one, key#few, key#many, key#other.

import { catalogue } from './catalogue.js';

const columns = catalogue();
const keys = columns[0];

/** The tags of the languages that there are. */
export const languages = columns.slice(1).map(c => c[0]);

let column = 1, lang = 'en';
/** The first Intl object of a process is slow to make: only what counts needs one. @type {Intl.PluralRules | null} */
let plural = null;

/** Chooses the language; what is not translated falls back to English. @param {string} code */
export function setLanguage(code) {
  column = Math.max(languages.indexOf(code.slice(0, 2).toLowerCase()), 0) + 1;
  lang = languages[column - 1];
  plural = null;
  document.documentElement.lang = lang;
}

export const language = () => lang;

/** @param {string} key */
function text(key) {
  const i = keys.indexOf(key);
  return columns[column][i] || columns[1][i];
}

/** @param {string} key @param {Record<string, unknown>} [args] @returns {string} */
export function t(key, args = {}) {
  const counted = typeof args.n === 'number' && text(`${key}#${(plural ??= new Intl.PluralRules(lang)).select(args.n)}`);
  return (counted || text(key) || text(`${key}#other`) || key).replace(/\{(\w+)\}/g, (_, name) => String(args[name] ?? ''));
}

/** Whether there are words for a key. @param {string} key */
export const has = key => !!(text(key) || text(`${key}#other`));

/** The words for a code of the server's, or the code made legible. @param {string} area @param {string} code @param {Record<string, unknown>} [args] */
export function words(area, code, args) {
  const key = `${area}.${code}`;
  return has(key) ? t(key, args) : code.replace(/^error\./, '').replace(/[._]/g, ' ');
}

/** What went wrong, for a person, naming the mend. @param {unknown} err */
export function explain(err) {
  const e = /** @type {{ code?: string, args?: Record<string, unknown>, message?: string }} */ (err ?? {});
  const code = (e.code ?? 'internal').replace(/^error\./, ''), args = { ...e.args };
  for (const [name, area] of [['why', 'check'], ['what', 'quota'], ['field', 'set']]) if (args[name]) args[name] = words(area, String(args[name]));
  for (const key of [code, code.split('.')[0]]) if (has(`error.${key}`)) return (key !== code && has(code) ? t(code) + '. ' : '') + t(`error.${key}`, args);
  return e.message && e.message !== e.code ? e.message : t('error.internal');
}
