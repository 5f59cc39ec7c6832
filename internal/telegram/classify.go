package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// answer is the envelope of every Bot API response.
type answer struct {
	OK          *bool           `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	ErrorCode   int             `json:"error_code"`
	Parameters  struct {
		RetryAfter      int   `json:"retry_after"`
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// errNotAnAnswer is a body that Telegram did not write: a proxy's page, or an
// answer cut short. Whether the request ran cannot be seen from it.
var errNotAnAnswer = errors.New("the answer is not Telegram's JSON")

// classify reads a whole response. Only an answer of Telegram itself proves
// anything: a page of a proxy, whatever its status, leaves the outcome unknown.
func classify(status int, body []byte) Outcome {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.OK == nil {
		return Unknown{Err: fmt.Errorf("status %d: %w", status, errNotAnAnswer)}
	}
	if *a.OK {
		result := bytes.TrimSpace(a.Result)
		if status != http.StatusOK || len(result) == 0 || bytes.Equal(result, []byte("null")) {
			return Unknown{Err: fmt.Errorf("status %d: ok without a result", status)}
		}
		return Confirmed{Result: a.Result}
	}
	code := a.ErrorCode
	if code == 0 {
		code = status
	}
	if code < 400 || code >= 500 || status >= 500 {
		return Unknown{Err: fmt.Errorf("telegram answered %d %s", code, a.Description)}
	}
	return refusal(code, a)
}

func refusal(code int, a answer) Refused {
	r := Refused{Kind: kindOf(code, a.Description), Code: code, Description: a.Description}
	if a.Parameters.MigrateToChatID != 0 {
		r.Kind, r.MigrateTo = ChatMigrated, a.Parameters.MigrateToChatID
	}
	if d := retryAfter(a); d > 0 {
		r.Kind, r.RetryAfter = TooMany, d
	} else if code == http.StatusTooManyRequests {
		r.Kind, r.RetryAfter = TooMany, time.Second
	}
	return r
}

// retryIn finds the delay in a description: a 400 can carry one too.
var retryIn = regexp.MustCompile(`(?i)retry after (\d{1,6})`)

func retryAfter(a answer) time.Duration {
	if a.Parameters.RetryAfter > 0 {
		return time.Duration(a.Parameters.RetryAfter) * time.Second
	}
	if m := retryIn.FindStringSubmatch(a.Description); m != nil {
		n, _ := strconv.Atoi(m[1])
		return time.Duration(n) * time.Second
	}
	return 0
}

// wordings maps what Telegram says to a kind; the first that occurs wins. The
// texts are those of the Bot API server (telegram-bot-api, Client.cpp) and of
// TDLib.
func wordings() []struct {
	text string
	kind Kind
} {
	return []struct {
		text string
		kind Kind
	}{
		{"message is not modified", NotModified},
		{"query is too old", QueryTooOld},
		{"can't parse entities", BadMarkup},
		{"charge_already_refunded", AlreadyRefunded},
		{"subscription_not_active", SubscriptionOver},
		{"bot was blocked by the user", Blocked},
		{"user is deactivated", Blocked},
		{"user_is_blocked", Blocked},
		{"can't initiate conversation", CannotStart},
		{"bot was kicked", Kicked},
		{"bot is not a member", Kicked},
		{"group chat was deleted", Kicked},
		{"channel_private", Kicked},
		{"upgraded to a supergroup", ChatMigrated},
		{"need administrator rights", NoRights},
		{"not enough rights", NoRights},
		{"have no rights", NoRights},
		{"chat_write_forbidden", NoRights},
		{"chat_admin_required", NoRights},
		{"chat_restricted", NoRights},
		{"message to edit not found", MessageNotFound},
		{"message to delete not found", MessageNotFound},
		{"message to forward not found", MessageNotFound},
		{"message to copy not found", MessageNotFound},
		{"message to be replied not found", MessageNotFound},
		{"message_id_invalid", MessageNotFound},
		{"message can't be edited", CannotEdit},
		{"message can't be deleted", CannotDelete},
		{"chat not found", ChatNotFound},
		{"chat_id_invalid", ChatNotFound},
		{"message is too long", TooLong},
		{"caption is too long", TooLong},
		{"text is too long", TooLong},
		{"message text is empty", Empty},
		{"text must be non-empty", Empty},
		{"button_data_invalid", BadButton},
		{"button_url_invalid", BadButton},
		{"inline keyboard button", BadButton},
		{"http url", BadMedia},
		{"web page content", BadMedia},
		{"wrong file identifier", BadMedia},
		{"wrong remote file", BadMedia},
		{"can't upload file by url", BadMedia},
		{"photo_invalid", BadMedia},
		{"image_process_failed", BadMedia},
	}
}

func kindOf(code int, description string) Kind {
	folded := strings.ToLower(description)
	for _, w := range wordings() {
		if strings.Contains(folded, w.text) {
			return w.kind
		}
	}
	switch {
	case code == http.StatusUnauthorized,
		code == http.StatusNotFound && folded == "not found": // Telegram's word for a malformed token
		return Unauthorized
	case code == http.StatusConflict:
		return Conflict
	case code == http.StatusForbidden:
		return Kicked
	}
	return BadRequest
}
