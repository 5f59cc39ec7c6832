// Package desk is what people decide, as use cases across features: approve,
// skip, move, rewrite, settle, follow a source, change a setting, and what they
// look at to do so. Both edges (chat and Mini App) call it, and nothing else.
//
// It owns no table. Writes go through the owners' functions in one transaction;
// what is shown is read by SQL of its own.
//
// Every method asks first what the person may do in the channel. A stranger
// gets the same answer, error.not_yours, as for something that does not exist.
// Every decision is idempotent by the transition number that its button
// carries: a late or double press is told what already happened.
package desk

import (
	"errors"
	"fmt"

	"github.com/postonce/postonce/internal/editorial"
)

// Error is what a person did wrong or cannot do. Code is a key of the
// catalogues, Args fill the text; Cause is for the log alone.
type Error struct {
	Code  string
	Args  map[string]any
	Cause error
}

// Error is for logs; people read the catalogue's text of Code.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("desk: %s: %v", e.Code, e.Cause)
	}
	return "desk: " + e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// The codes of Error. Those of sources continue CodeSource with the feature's own code.
const (
	CodeNotYours       = "error.not_yours"         // a stranger's, or it does not exist
	CodeRole           = "error.role"              // Args: need (owner, editor)
	CodeNoAccess       = "error.no_access"         // ACCESS=invite, and the person has no invitation
	CodeNotOperator    = "error.not_operator"      // operators only
	CodeTaken          = "error.channel_taken"     // somebody else linked it: ask him for an invitation
	CodeNotAdmin       = "error.not_channel_admin" // the person is no administrator of the channel
	CodeBotNotAdmin    = "error.bot_not_admin"     // the bot is no administrator of the channel
	CodeNoChannel      = "error.not_a_channel"     // a group or a private chat
	CodeNoRights       = "error.channel_no_rights" // Args: right
	CodePaused         = "error.channel_paused"    // Post now in a paused channel
	CodeRests          = "error.channel_rests"     // Post now in a channel beyond the plan
	CodeSetting        = "error.setting"           // Args: field, value
	CodeChanged        = "error.changed"           // Update of settings that somebody else changed meanwhile
	CodeSlotTaken      = "error.slot_taken"        // Args: at
	CodeSlotPast       = "error.slot_past"         // not a time to come
	CodeNoSlot         = "error.no_free_slot"      // the week has no free slot
	CodeInvitation     = "error.invitation"        // used, too old, or never existed
	CodeLastOwner      = "error.last_owner"        // invite another owner first
	CodeText           = "error.draft_text"        // Args: why (a check's code), and its details
	CodeNotPublished   = "error.not_published"     // there is no post to edit or delete
	CodePostGone       = "error.post_gone"         // the post is not in the channel any more
	CodeLink           = "error.post_link"         // not a link to a post of this channel
	CodeNothing        = "error.nothing_to_draft"  // OwnDraft with nothing usable
	CodeBusy           = "error.busy"              // another execution is at it: try again
	CodeSource         = "error.source."           // followed by the code of sources
	CodeLimit          = "error.limit"             // Args: what, limit: the plan does not reach that far
	CodeTooFast        = "error.too_fast"          // Args: seconds to wait
	CodeJob            = "error.job"               // Args: why (unsettled, in_flight, decided, ears, not_found)
	CodeUnknownFinding = "error.finding"           // Settle with another word than there, not_there, leave
)

func fail(code string, cause error) *Error { return &Error{Code: code, Cause: cause} }

func notYours() *Error { return &Error{Code: CodeNotYours} }

func needs(role editorial.Role) *Error {
	return &Error{Code: CodeRole, Args: map[string]any{"need": string(role)}}
}

// CodeOf returns the code of an *Error in the chain, or "".
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
