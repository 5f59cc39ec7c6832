// Package initdata checks and writes the initial data that Telegram hands to a
// Mini App (https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app).
//
// Validate proves that Telegram signed the data for this bot and that they are
// fresh; whoever calls it then issues a session of their own. Sign makes the
// same data for the local stand-in and for tests. The package is pure.
package initdata
