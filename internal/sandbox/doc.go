// Package sandbox is a local stand-in for Telegram: a strict Bot API server, a
// chat page in the browser for several people and channels, and public preview
// pages of channels. The demo and the tests talk to it; nothing in the product
// knows that it is not Telegram.
//
// It refuses what Telegram refuses, in Telegram's words, so that a bot which
// works here works there. Faults can be ordered per method and chat. It keeps
// its state in memory and, if asked, in one file; it owns no table and must
// never be used by what runs in production.
package sandbox
