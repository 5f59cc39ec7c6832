package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// method answers one call; the world is locked while it runs.
type method func(s *Sandbox, a args) (any, *apiError)

// methods lists what the stand-in knows, by lower-case name.
func methods() map[string]method {
	return map[string]method{
		"getme":                           (*Sandbox).getMe,
		"logout":                          yes,
		"close":                           yes,
		"sendmessage":                     (*Sandbox).sendMessage,
		"sendphoto":                       (*Sandbox).sendPhoto,
		"senddocument":                    (*Sandbox).sendDocument,
		"sendmediagroup":                  (*Sandbox).sendMediaGroup,
		"sendinvoice":                     (*Sandbox).sendInvoice,
		"sendchataction":                  (*Sandbox).sendChatAction,
		"forwardmessage":                  (*Sandbox).forwardMessage,
		"copymessage":                     (*Sandbox).copyMessage,
		"editmessagetext":                 (*Sandbox).editMessageText,
		"editmessagecaption":              (*Sandbox).editMessageCaption,
		"editmessagemedia":                (*Sandbox).editMessageMedia,
		"editmessagereplymarkup":          (*Sandbox).editMessageReplyMarkup,
		"deletemessage":                   (*Sandbox).deleteMessage,
		"deletemessages":                  (*Sandbox).deleteMessages,
		"answercallbackquery":             (*Sandbox).answerCallbackQuery,
		"answerprecheckoutquery":          (*Sandbox).answerPreCheckoutQuery,
		"createinvoicelink":               (*Sandbox).createInvoiceLink,
		"refundstarpayment":               (*Sandbox).refundStarPayment,
		"getstartransactions":             (*Sandbox).getStarTransactions,
		"getmystarbalance":                (*Sandbox).getMyStarBalance,
		"edituserstarsubscription":        (*Sandbox).editUserStarSubscription,
		"getchat":                         (*Sandbox).getChat,
		"getchatmember":                   (*Sandbox).getChatMember,
		"getchatadministrators":           (*Sandbox).getChatAdministrators,
		"getchatmembercount":              (*Sandbox).getChatMemberCount,
		"leavechat":                       (*Sandbox).leaveChat,
		"getfile":                         (*Sandbox).getFile,
		"setmycommands":                   (*Sandbox).setMyCommands,
		"getmycommands":                   (*Sandbox).getMyCommands,
		"deletemycommands":                (*Sandbox).deleteMyCommands,
		"setmyname":                       profile("name", 64),
		"setmydescription":                profile("description", 512),
		"setmyshortdescription":           profile("short_description", 120),
		"setmydefaultadministratorrights": yes,
		"setchatmenubutton":               (*Sandbox).setChatMenuButton,
		"getchatmenubutton":               (*Sandbox).getChatMenuButton,
		"setwebhook":                      (*Sandbox).setWebhook,
		"deletewebhook":                   (*Sandbox).deleteWebhook,
		"getwebhookinfo":                  (*Sandbox).getWebhookInfo,
	}
}

func yes(*Sandbox, args) (any, *apiError) { return true, nil }

// Call is one request that the bot made, as tests see it.
type Call struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	ChatID int64           `json:"chat_id,omitempty"`
	Params json.RawMessage `json:"params"`
	// Applied says whether the call had its effect here; Answer what the bot was told.
	Applied bool      `json:"applied"`
	Answer  string    `json:"answer"`
	At      time.Time `json:"at"`
}

const keptCalls = 20000

func (s *Sandbox) serveBotAPI(w http.ResponseWriter, r *http.Request) {
	token, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || token != string(s.cfg.Token) {
		status, body := answerBody(nil, tokenError(token))
		writeJSON(w, status, body)
		return
	}
	a, e := readArgs(r)
	name = strings.ToLower(name)
	if e == nil && name == "getupdates" {
		s.getUpdates(w, r, a)
		return
	}
	m := methods()[name]
	if e == nil && m == nil {
		e = &apiError{Code: 404, Description: "Not Found: method not found"}
	}
	if e != nil {
		status, body := answerBody(nil, e)
		writeJSON(w, status, body)
		return
	}
	s.answer(w, r, name, m, a)
}

// tokenError: a token of the right form that is not ours is unauthorized, any
// other path is not found.
func tokenError(token string) *apiError {
	if id, secret, ok := strings.Cut(token, ":"); ok && len(secret) >= 30 {
		if _, err := strconv.ParseInt(id, 10, 64); err == nil {
			return &apiError{Code: 401, Description: "Unauthorized"}
		}
	}
	return &apiError{Code: 404, Description: "Not Found"}
}

// answer runs a call under the faults that were ordered for it.
func (s *Sandbox) answer(w http.ResponseWriter, r *http.Request, name string, m method, a args) {
	s.prefetch(r.Context(), &a)
	unlock := s.lock()
	f := s.takeFault(name, a)
	var result any
	var e *apiError
	applied := f == nil || f.applies()
	if applied {
		result, e = m(s, a)
	}
	status, body := answerBody(result, e)
	s.record(name, a, applied && e == nil, answerName(f, e))
	unlock()
	if f != nil {
		f.play(w, r, status, body)
		return
	}
	writeJSON(w, status, body)
}

func answerName(f *Fault, e *apiError) string {
	switch {
	case f != nil:
		return string(f.Kind)
	case e != nil:
		return e.Description
	}
	return "ok"
}

// record notes a call; the caller holds mu.
func (s *Sandbox) record(name string, a args, applied bool, answer string) {
	s.callSeq++
	c := Call{ID: s.callSeq, Method: name, Params: raw(a.values), Applied: applied, Answer: answer, At: s.now()}
	if ch := s.chatByRef(a.str("chat_id")); ch != nil {
		c.ChatID = ch.ID
	}
	s.calls = append(s.calls, c)
	if n := len(s.calls) - keptCalls; n > 0 {
		s.calls = s.calls[n:]
	}
}

func (s *Sandbox) getMe(args) (any, *apiError) {
	u := s.botUser()
	u["can_join_groups"] = true
	u["can_read_all_group_messages"] = false
	u["supports_inline_queries"] = false
	u["can_connect_to_business"] = false
	u["has_main_web_app"] = false
	return u, nil
}

func (s *Sandbox) botUser() obj {
	return obj{"id": s.botID, "is_bot": true, "first_name": s.cfg.BotName, "username": s.cfg.BotUsername}
}
