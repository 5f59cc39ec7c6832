// Package miniapp is the edge that people reach by the bot's menu button: a JSON
// API under /api/v1/ and the page under /app/ that uses it. Both are served by
// the same binary; the page is plain ES modules and CSS, embedded, with no
// build step and no script of others but Telegram's own, from its address.
//
// The handlers decide nothing: rights, rules and idempotency are the desk's. A
// write names what it wants (a draft with its transition, a setting's version),
// so a repeated one changes nothing and is told what already happened.
//
// The package owns no table: sessions are signed tokens. Its SQL only reads
// (small charts, and stamps that tell whether anything changed), always after the
// desk said that the person may look. It must never call a feature, write a
// row, or let somebody in whose data Telegram did not sign.
package miniapp
