// Package telegram is the way to and from the Telegram Bot API: one place that
// makes a request and says what is known of its outcome, the limits on sending,
// and the durable intake of updates.
//
// It owns the tables updates, update_cursors, update_pollers,
// update_dead_letters, update_troubles, bots. It knows no feature, decides nothing
// about drafts or people, and never repeats a request by itself: whoever holds the
// outcome decides whether to try again. The token occurs in no error and no log line.
package telegram
