package sandbox

import (
	"encoding/json"
	"net"
	"net/url"
	"strings"

	"github.com/postonce/postonce/internal/telegram/html"
)

// markup is a checked reply_markup. Inline stays with its message; keyboard and
// remove change the chat.
type markup struct {
	inline   json.RawMessage
	keyboard json.RawMessage
	remove   bool
}

type inlineButton struct {
	Text         *string         `json:"text"`
	URL          string          `json:"url"`
	CallbackData string          `json:"callback_data"`
	WebApp       *webApp         `json:"web_app"`
	CopyText     *copyText       `json:"copy_text"`
	Pay          bool            `json:"pay"`
	Switch       *string         `json:"switch_inline_query"`
	SwitchHere   *string         `json:"switch_inline_query_current_chat"`
	SwitchChosen json.RawMessage `json:"switch_inline_query_chosen_chat"`
	Login        json.RawMessage `json:"login_url"`
	Game         json.RawMessage `json:"callback_game"`
}

type webApp struct {
	URL string `json:"url"`
}

type copyText struct {
	Text string `json:"text"`
}

type keyButton struct {
	Text            *string         `json:"text"`
	RequestChat     *requestChat    `json:"request_chat"`
	RequestUsers    json.RawMessage `json:"request_users"`
	RequestContact  bool            `json:"request_contact"`
	RequestLocation bool            `json:"request_location"`
	WebApp          *webApp         `json:"web_app"`
}

type requestChat struct {
	RequestID     *int32          `json:"request_id"`
	ChatIsChannel *bool           `json:"chat_is_channel"`
	HasUsername   *bool           `json:"chat_has_username"`
	IsCreated     bool            `json:"chat_is_created"`
	UserRights    map[string]bool `json:"user_administrator_rights"`
	BotRights     map[string]bool `json:"bot_administrator_rights"`
	BotIsMember   bool            `json:"bot_is_member"`
	RequestTitle  bool            `json:"request_title"`
	RequestName   bool            `json:"request_username"`
	RequestPhoto  bool            `json:"request_photo"`
}

// readMarkup checks a reply_markup for a chat.
func readMarkup(s string, c *chat) (markup, *apiError) {
	if s == "" {
		return markup{}, nil
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &top); err != nil {
		if json.Valid([]byte(s)) {
			return markup{}, badRequest("object expected as reply markup")
		}
		return markup{}, badRequest("can't parse reply keyboard markup JSON object")
	}
	if rows, ok := top["inline_keyboard"]; ok {
		return readInline(rows, c)
	}
	if rows, ok := top["keyboard"]; ok {
		if c.Type == typeChannel {
			return markup{}, badRequest("reply keyboards can't be used in channels")
		}
		return readKeyboard(rows, s, c)
	}
	if string(top["remove_keyboard"]) == "true" {
		return markup{remove: true}, nil
	}
	return markup{}, nil
}

func readInline(rows json.RawMessage, c *chat) (markup, *apiError) {
	var grid [][]json.RawMessage
	if err := json.Unmarshal(rows, &grid); err != nil {
		return markup{}, badRequest(`field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`)
	}
	kept := make([][]json.RawMessage, 0, len(grid))
	total := 0
	for _, row := range grid {
		if len(row) == 0 {
			continue
		}
		for _, one := range row {
			if e := checkInline(one, c); e != nil {
				return markup{}, e
			}
			total++
		}
		kept = append(kept, row)
	}
	if total > 100 || len(rows) > 10_000 {
		return markup{}, badRequest("reply markup is too long")
	}
	if total == 0 {
		return markup{}, nil
	}
	return markup{inline: raw(obj{"inline_keyboard": kept})}, nil
}

func checkInline(one json.RawMessage, c *chat) *apiError {
	const prefix = "can't parse inline keyboard button: "
	var b inlineButton
	if err := json.Unmarshal(one, &b); err != nil {
		return badRequest(prefix + "InlineKeyboardButton must be an Object")
	}
	switch {
	case b.Text == nil:
		return badRequest(prefix + `Can't find field "text"`)
	case strings.TrimSpace(*b.Text) == "":
		return badRequest("inline keyboard button text must be non-empty")
	case b.URL != "":
		if html.CheckedLink(b.URL) == "" && !loopback(b.URL) {
			return badRequest("inline keyboard button URL '" + b.URL + "' is invalid: Wrong HTTP URL")
		}
	case b.CallbackData != "":
		if len(b.CallbackData) > 64 {
			return badRequest("BUTTON_DATA_INVALID")
		}
	case b.WebApp != nil:
		if c.Type != typePrivate {
			return badRequest("BUTTON_TYPE_INVALID")
		}
		if !webAppAddress(b.WebApp.URL) {
			return badRequest("inline keyboard button Web App URL '" + b.WebApp.URL + "' is invalid: Only HTTPS links are allowed")
		}
	case b.CopyText != nil:
		if n := html.UTF16Len(b.CopyText.Text); n == 0 || n > 256 {
			return badRequest("BUTTON_COPY_TEXT_INVALID")
		}
	case b.Pay, b.Switch != nil, b.SwitchHere != nil, b.SwitchChosen != nil, b.Login != nil, b.Game != nil:
	default:
		return badRequest(prefix + "Text buttons are unallowed in the inline keyboard")
	}
	return nil
}

func readKeyboard(rows json.RawMessage, whole string, c *chat) (markup, *apiError) {
	var grid [][]json.RawMessage
	if err := json.Unmarshal(rows, &grid); err != nil {
		return markup{}, badRequest(`field "keyboard" must be an Array of Arrays`)
	}
	for _, row := range grid {
		for _, one := range row {
			if e := checkKey(one, c); e != nil {
				return markup{}, e
			}
		}
	}
	return markup{keyboard: json.RawMessage(whole)}, nil
}

func checkKey(one json.RawMessage, c *chat) *apiError {
	const prefix = "can't parse keyboard button: "
	var text string
	if json.Unmarshal(one, &text) == nil {
		if text == "" {
			return badRequest("keyboard button text must be non-empty")
		}
		return nil
	}
	var b keyButton
	if err := json.Unmarshal(one, &b); err != nil {
		return badRequest(prefix + "KeyboardButton must be a String or an Object")
	}
	switch {
	case b.Text == nil:
		return badRequest(prefix + `Can't find field "text"`)
	case strings.TrimSpace(*b.Text) == "":
		return badRequest("keyboard button text must be non-empty")
	case b.RequestChat != nil:
		return checkRequestChat(b.RequestChat, c)
	case b.WebApp != nil && !webAppAddress(b.WebApp.URL):
		return badRequest("keyboard button Web App URL '" + b.WebApp.URL + "' is invalid: Only HTTPS links are allowed")
	}
	return nil
}

// checkRequestChat also knows the server's rule that the person's rights must
// include those that the bot asks for.
func checkRequestChat(r *requestChat, c *chat) *apiError {
	const prefix = "can't parse keyboard button: "
	switch {
	case c.Type != typePrivate:
		return badRequest("chats can be requested in private chats only")
	case r.RequestID == nil:
		return badRequest(prefix + `Can't find field "request_id"`)
	case r.ChatIsChannel == nil:
		return badRequest(prefix + `Can't find field "chat_is_channel"`)
	}
	for right, wanted := range r.BotRights {
		if wanted && right != "can_manage_chat" && !r.UserRights[right] {
			return badRequest("USER_RIGHTS_MISSING")
		}
	}
	return nil
}

// webAppAddress: https, or http on this machine, as the demo has no certificate.
func webAppAddress(s string) bool {
	return strings.HasPrefix(strings.ToLower(s), "https://") && html.CheckedLink(s) != "" || loopback(s)
}

func loopback(s string) bool {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
