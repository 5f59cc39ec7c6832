package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Outcome is what is known about one request: Confirmed, Refused or Unknown.
// The set is closed, and it is no error that a loop may swallow and try again.
type Outcome interface{ outcome() }

// Confirmed says that Telegram did it and told us.
type Confirmed struct {
	// Result is the answer's result, never empty.
	Result json.RawMessage
	// Already is set where Telegram refused because the wanted state is there
	// already: NotModified for edits, QueryTooOld for answers to taps,
	// AlreadyRefunded. Result is then "true".
	Already Kind
}

// Refused says that it certainly did not happen.
type Refused struct {
	Kind        Kind
	Code        int    // Telegram's error_code; 0 if the request never left
	Description string // Telegram's words, or ours if the request never left
	// RetryAfter is how long to wait; only with TooMany.
	RetryAfter time.Duration
	// MigrateTo is the new chat id; only with ChatMigrated.
	MigrateTo int64
}

// Unknown says that it may have happened. It must never be sent again by the
// program.
type Unknown struct {
	Err error // redacted
}

func (Confirmed) outcome() {}
func (Refused) outcome()   {}
func (Unknown) outcome()   {}

// Error makes a refusal an error, for callers that only read.
func (r Refused) Error() string {
	if r.Code == 0 {
		return r.Description
	}
	return fmt.Sprintf("telegram: %d %s", r.Code, r.Description)
}

// Error makes a doubt an error, for callers that only read.
func (u Unknown) Error() string { return "telegram: outcome unknown: " + u.Err.Error() }

// Unwrap gives the cause.
func (u Unknown) Unwrap() error { return u.Err }

// Temporary says that the same request may succeed later: it was refused for
// its time, or with the token that made it, and not for what it says.
func (r Refused) Temporary() bool {
	return r.Kind == TooMany || r.Kind == NotReached || r.Kind == Conflict || r.Kind == Unauthorized
}

// AsError is nil for Confirmed, else the outcome as an error that errors.As
// finds as Refused or Unknown. For reading calls; what changes something looks
// at the outcome itself.
func AsError(o Outcome) error {
	switch o := o.(type) {
	case Confirmed:
		return nil
	case Refused:
		return o
	case Unknown:
		return o
	}
	return errNoOutcome
}

var errNoOutcome = errors.New("telegram: no outcome")

// messageRef names a message in the ledger: chat and message id.
func messageRef(chat int64, message int) string { return fmt.Sprintf("%d:%d", chat, message) }

// RefusedAs reports whether an error or outcome is a refusal of this kind.
func RefusedAs(err error, kind Kind) bool {
	var r Refused
	return errors.As(err, &r) && r.Kind == kind
}

// Kind says why Telegram refused, as far as somebody branches on it.
type Kind string

// The kinds of refusal. Blocked, Kicked, NoRights, ChatNotFound and
// CannotStart are states of a person or a channel, which people are shown;
// NotReached and TooMany pass; the rest are about the request itself.
const (
	Blocked          Kind = "blocked"           // the person blocked the bot, or is deactivated
	CannotStart      Kind = "cannot_start"      // the person never wrote to the bot
	Kicked           Kind = "kicked"            // the bot is not, or no longer, in the chat
	NoRights         Kind = "no_rights"         // a right in the chat is missing
	ChatNotFound     Kind = "chat_not_found"    //
	ChatMigrated     Kind = "chat_migrated"     // MigrateTo has the new id
	TooMany          Kind = "too_many"          // RetryAfter has the delay
	NotModified      Kind = "not_modified"      // an edit that changes nothing
	QueryTooOld      Kind = "query_too_old"     // an answer to a tap that came too late
	BadMarkup        Kind = "bad_markup"        // entities do not parse
	BadButton        Kind = "bad_button"        // callback data or an address in a keyboard
	TooLong          Kind = "too_long"          // text or caption
	Empty            Kind = "empty"             // no text
	BadMedia         Kind = "bad_media"         // Telegram cannot fetch or use the picture
	MessageNotFound  Kind = "message_not_found" // the message to edit, delete, forward or answer
	CannotEdit       Kind = "cannot_edit"       // not ours, or too old
	CannotDelete     Kind = "cannot_delete"     //
	AlreadyRefunded  Kind = "already_refunded"  //
	SubscriptionOver Kind = "subscription_over" // it ended, or renews no more
	Unauthorized     Kind = "unauthorized"      // the token is wrong or revoked
	Conflict         Kind = "conflict"          // another poller, or a webhook is set
	NotReached       Kind = "not_reached"       // no connection, or the request was not written whole
	BadRequest       Kind = "bad_request"       // any other 4xx
)
