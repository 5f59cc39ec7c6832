// Package chat is the private chat with the bot: commands, cards, taps,
// dialogs and every word that people read there.
//
// It decides nothing. It reads an update, calls desk for what a person wants,
// and says what came of it; whatever it sends goes through the effect ledger as
// a courtesy, so that a crash leaves at most one message missing and never one
// twice. An update is one job, and the updates of one person run in order.
//
// Its tables: dialogs (what a person's next message means), pastes (what a
// person sent without saying what for), cards (which messages show which
// draft). Nobody else writes them.
//
// It must never call a feature, trust what a button carries (desk checks the
// rights on every path), or put foreign text into a message unescaped.
package chat
