package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/telegram"
	"github.com/postonce/postonce/internal/telegram/initdata"
)

// controlRoutes is the stand-in's public face for the page, for tests and for
// scripts. Bodies and answers are JSON; a thing that cannot be done is a 409
// with {"error": "…"}. Only JSON requests are taken, so that no foreign page
// can send one.
func (s *Sandbox) controlRoutes() {
	for pattern, handler := range map[string]func(*http.Request, *request) (any, error){
		"GET /sandbox/api/state":                  s.getState,
		"GET /sandbox/api/changes":                s.getChanges,
		"GET /sandbox/api/people":                 s.getPeople,
		"POST /sandbox/api/people":                s.postPerson,
		"POST /sandbox/api/channels":              s.postChannel,
		"POST /sandbox/api/channels/{id}":         s.patchChannel,
		"GET /sandbox/api/chats/{id}/messages":    s.getMessages,
		"POST /sandbox/api/people/{id}/send":      s.postSend,
		"POST /sandbox/api/people/{id}/edit":      s.postEdit,
		"POST /sandbox/api/people/{id}/tap":       s.postTap,
		"POST /sandbox/api/people/{id}/forward":   s.postForward,
		"POST /sandbox/api/people/{id}/pick":      s.postPick,
		"POST /sandbox/api/people/{id}/block":     s.postBlock,
		"POST /sandbox/api/people/{id}/pay":       s.postPay,
		"POST /sandbox/api/people/{id}/webapp":    s.postWebApp,
		"POST /sandbox/api/people/{id}/delete":    s.postDelete,
		"POST /sandbox/api/payments/{id}/{act}":   s.postPayment,
		"GET /sandbox/api/people/{id}/payments":   s.getPayments,
		"GET /sandbox/api/invoices/{slug}":        s.getInvoice,
		"GET /sandbox/api/callbacks/{id}":         s.getCallback,
		"GET /sandbox/api/checkouts/{id}":         s.getCheckout,
		"GET /sandbox/api/calls":                  s.getCalls,
		"GET /sandbox/api/preview":                s.getLinkPreview,
		"GET /sandbox/api/faults":                 s.getFaults,
		"POST /sandbox/api/faults":                s.postFault,
		"DELETE /sandbox/api/faults":              s.deleteFaults,
		"POST /sandbox/api/faults/updates":        s.postUpdateFault,
		"POST /sandbox/api/updates":               s.postUpdate,
		"GET /sandbox/api/updates":                s.getPending,
		"GET /sandbox/api/chats/{id}/permissions": s.getPermissions,
	} {
		s.mux.HandleFunc(pattern, control(handler))
	}
}

// cannot is what a person is told; it becomes a 409.
type cannot string

func (c cannot) Error() string { return string(c) }

var errNoSuch = errors.New("no such person, chat or message")

// request is the body of a control call; each handler reads its fields.
type request struct {
	ChatID    json.Number     `json:"chat_id"`
	Chat      string          `json:"chat"` // @username instead of chat_id
	MessageID int             `json:"message_id"`
	Text      string          `json:"text"`
	Photo     string          `json:"photo"`
	Document  *sentFile       `json:"document"`
	Data      string          `json:"data"`
	Button    string          `json:"button"` // a button by its words
	RequestID int32           `json:"request_id"`
	Withhold  bool            `json:"without_rights"`
	Blocked   *bool           `json:"blocked"`
	URL       string          `json:"url"`
	FirstName string          `json:"first_name"`
	LastName  string          `json:"last_name"`
	Username  string          `json:"username"`
	Lang      string          `json:"lang"`
	Title     string          `json:"title"`
	About     string          `json:"about"`
	Owner     int64           `json:"owner"`
	Type      string          `json:"type"`
	BotStatus string          `json:"bot_status"`
	BotRights map[string]bool `json:"bot_rights"`
	NoPreview *bool           `json:"no_preview"`
	Deleted   *bool           `json:"deleted"`
	WaitMS    int             `json:"wait_ms"`
	Times     int             `json:"times"`
	Kind      string          `json:"kind"`
	Silent    bool            `json:"silent"` // the bot is not told
	raw       []byte
}

// sentFile is a file that a person sends: its name and its bytes (base64 in JSON).
type sentFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

func control(h func(*http.Request, *request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := &request{}
		if r.Method != http.MethodGet && r.Method != http.MethodDelete {
			if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
				writeJSON(w, http.StatusUnsupportedMediaType, obj{"error": "send application/json"})
				return
			}
			body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
			if err == nil && len(body) > 0 {
				err = json.Unmarshal(body, in)
			}
			if err != nil {
				writeJSON(w, http.StatusBadRequest, obj{"error": "the body is not JSON: " + err.Error()})
				return
			}
			in.raw = body
		}
		out, err := h(r, in)
		var no cannot
		switch {
		case errors.As(err, &no):
			writeJSON(w, http.StatusConflict, obj{"error": string(no)})
		case errors.Is(err, errNoSuch):
			writeJSON(w, http.StatusNotFound, obj{"error": err.Error()})
		case err != nil:
			writeJSON(w, http.StatusBadRequest, obj{"error": err.Error()})
		default:
			writeJSON(w, http.StatusOK, out)
		}
	}
}

func orCannot(text string) error {
	if text == "" {
		return nil
	}
	return cannot(text)
}

// who is the person of the path.
func (s *Sandbox) who(r *http.Request) (*person, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, errNoSuch
	}
	if p := s.personByID(id); p != nil {
		return p, nil
	}
	return nil, errNoSuch
}

// where is the chat that a body names; by default the person's with the bot.
func (s *Sandbox) where(in *request, p *person) (*chat, error) {
	ref := string(in.ChatID)
	if in.Chat != "" {
		ref = in.Chat
	}
	if ref == "" && p != nil {
		return s.privateChat(p), nil
	}
	if c := s.chatByRef(ref); c != nil {
		return c, nil
	}
	return nil, errNoSuch
}

func (s *Sandbox) personAndMessage(r *http.Request, in *request) (*person, *chat, *message, error) {
	p, err := s.who(r)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := s.where(in, p)
	if err != nil {
		return nil, nil, nil, err
	}
	m := c.find(in.MessageID)
	if m == nil {
		return p, c, nil, errNoSuch
	}
	return p, c, m, nil
}

func (s *Sandbox) getPeople(*http.Request, *request) (any, error) {
	defer s.lock()()
	list := make([]obj, 0, len(s.w.People))
	for _, p := range s.w.People {
		list = append(list, s.describe(p))
	}
	return list, nil
}

func (s *Sandbox) describe(p *person) obj {
	return obj{
		"id": p.ID, "name": p.name(), "first_name": p.FirstName, "username": p.Username, "lang": p.Lang,
		"blocked": p.Blocked, "started": p.Started, "stars": p.Stars,
	}
}

func (s *Sandbox) postPerson(_ *http.Request, in *request) (any, error) {
	defer s.lock()()
	if in.FirstName == "" {
		return nil, cannot("first_name is missing")
	}
	p := s.newPerson(in.FirstName, in.LastName, in.Username, in.Lang)
	s.touch(p.ID)
	return s.describe(p), nil
}

func (s *Sandbox) postChannel(_ *http.Request, in *request) (any, error) {
	defer s.lock()()
	if in.Title == "" || s.personByID(in.Owner) == nil {
		return nil, cannot("title and owner are needed")
	}
	if in.Username != "" && s.chatByName(in.Username) != nil {
		return nil, cannot("that username is taken")
	}
	c := s.newChannel(in.Owner, in.Title, in.Username, in.About)
	if in.Type == typeSupergroup || in.Type == typeGroup {
		c.Type = in.Type
	}
	return s.summary(c, in.Owner), nil
}

// patchChannel changes a channel or the bot's standing in it. owner says who
// does it; by default the channel's owner.
func (s *Sandbox) patchChannel(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	c := s.chatByRef(r.PathValue("id"))
	if c == nil || c.Type == typePrivate {
		return nil, errNoSuch
	}
	if in.BotStatus != "" || in.BotRights != nil {
		if in.BotStatus == "" {
			in.BotStatus = c.BotStatus
		}
		if in.BotStatus == statusAdmin && in.BotRights == nil {
			in.BotRights = map[string]bool{"can_manage_chat": true, "can_post_messages": true}
		}
		by := c.Owner
		if in.Owner != 0 {
			by = in.Owner
		}
		s.setStanding(c, by, in.BotStatus, in.BotRights)
	}
	if in.NoPreview != nil {
		c.NoPreview = *in.NoPreview
	}
	if in.Deleted != nil {
		c.Deleted = *in.Deleted
	}
	if in.Title != "" {
		c.Title = in.Title
	}
	s.touch(c.ID)
	return s.summary(c, c.Owner), nil
}

func (s *Sandbox) getMessages(r *http.Request, _ *request) (any, error) {
	defer s.lock()()
	c := s.chatByRef(r.PathValue("id"))
	if c == nil {
		return nil, errNoSuch
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	list := []obj{}
	for i, m := range c.Messages {
		if m.ID > after && (limit <= 0 || i >= len(c.Messages)-limit) {
			list = append(list, s.show(c, m))
		}
	}
	return obj{"version": s.version, "messages": list, "keyboard": c.Keyboard, "chat": s.summary(c, c.Owner)}, nil
}

func (s *Sandbox) postSend(r *http.Request, in *request) (any, error) {
	pictures := args{values: map[string]string{"photo": in.Photo}}
	s.prefetch(r.Context(), &pictures)
	defer s.lock()()
	p, err := s.who(r)
	if err != nil {
		return nil, err
	}
	c, err := s.where(in, p)
	if err != nil {
		return nil, err
	}
	photo := ""
	if in.Photo != "" {
		f, e := s.media(pictures, in.Photo, "", true)
		if e != nil {
			return nil, cannot(e.Description)
		}
		photo = f.ID
	}
	document := ""
	if in.Document != nil {
		f, e := s.keep(in.Document.Name, in.Document.Data, "", false)
		if e != nil {
			return nil, cannot(e.Description)
		}
		document = f.ID
	}
	m, no := s.say(p, c, message{Text: in.Text, Photo: photo, Document: document})
	if no != "" {
		return nil, cannot(no)
	}
	return s.show(c, m), nil
}

func (s *Sandbox) postEdit(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, c, m, err := s.personAndMessage(r, in)
	if err != nil {
		return nil, err
	}
	if err := orCannot(s.amend(p, c, m, in.Text)); err != nil {
		return nil, err
	}
	return s.show(c, m), nil
}

// postDelete deletes a message as a person can: any in one's own chats.
func (s *Sandbox) postDelete(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, c, m, err := s.personAndMessage(r, in)
	if err != nil {
		return nil, err
	}
	if c.Owner != p.ID {
		return nil, cannot("not " + p.name() + "'s chat")
	}
	s.remove(c, m)
	return obj{"ok": true}, nil
}

// postTap presses a button by its data or its words. With wait_ms it waits for
// the bot's answer, which is what a person sees as a toast.
func (s *Sandbox) postTap(r *http.Request, in *request) (any, error) {
	unlock := s.lock()
	p, c, m, err := s.personAndMessage(r, in)
	if err != nil {
		unlock()
		return nil, err
	}
	data := in.Data
	if data == "" {
		data = dataOf(m, in.Button)
	}
	cb, no := s.tap(p, c, m, data)
	unlock()
	if no != "" {
		return nil, cannot(no)
	}
	return s.awaitCallback(r, cb.ID, time.Duration(in.WaitMS)*time.Millisecond), nil
}

// dataOf finds the callback data of the button that carries the words; an emoji
// before them does not count.
func dataOf(m *message, words string) string {
	for _, b := range buttonsOf(m) {
		if b.Text != nil && (*b.Text == words || strings.HasSuffix(*b.Text, " "+words)) {
			return b.CallbackData
		}
	}
	return ""
}

func buttonsOf(m *message) []inlineButton {
	var k struct {
		Rows [][]inlineButton `json:"inline_keyboard"`
	}
	_ = json.Unmarshal(m.Markup, &k)
	return slices.Concat(k.Rows...)
}

func (s *Sandbox) awaitCallback(r *http.Request, id string, wait time.Duration) obj {
	deadline := time.Now().Add(wait)
	for {
		s.mu.Lock()
		cb, changed := *s.w.Callbacks[id], s.changed
		s.mu.Unlock()
		if left := time.Until(deadline); !cb.Answered && left > 0 {
			select {
			case <-changed:
				continue
			case <-time.After(left):
				continue
			case <-r.Context().Done():
			}
		}
		return obj{"id": cb.ID, "answered": cb.Answered, "text": cb.Text, "alert": cb.Alert, "url": cb.URL}
	}
}

func (s *Sandbox) getCallback(r *http.Request, _ *request) (any, error) {
	s.mu.Lock()
	known := s.w.Callbacks[r.PathValue("id")] != nil
	s.mu.Unlock()
	if !known {
		return nil, errNoSuch
	}
	ms, _ := strconv.Atoi(r.URL.Query().Get("wait_ms"))
	return s.awaitCallback(r, r.PathValue("id"), time.Duration(ms)*time.Millisecond), nil
}

// postForward forwards chat_id/message_id into the person's chat with the bot.
func (s *Sandbox) postForward(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, c, m, err := s.personAndMessage(r, in)
	if err != nil {
		return nil, err
	}
	out, no := s.forward(p, c, m)
	if no != "" {
		return nil, cannot(no)
	}
	return s.show(s.privateChat(p), out), nil
}

func (s *Sandbox) postPick(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, err := s.who(r)
	if err != nil {
		return nil, err
	}
	c, err := s.where(in, nil)
	if err != nil {
		return nil, err
	}
	if err := orCannot(s.pick(p, in.RequestID, c, in.Withhold)); err != nil {
		return nil, err
	}
	return s.summary(c, p.ID), nil
}

func (s *Sandbox) postBlock(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, err := s.who(r)
	if err != nil {
		return nil, err
	}
	s.setBlocked(p, in.Blocked == nil || *in.Blocked)
	return s.describe(p), nil
}

// postPay taps Pay on an invoice message, or opens an invoice link.
func (s *Sandbox) postPay(r *http.Request, in *request) (any, error) {
	unlock := s.lock()
	co, err := s.checkoutFor(r, in)
	unlock()
	if err != nil {
		return nil, err
	}
	return s.awaitCheckout(r, co.ID, time.Duration(in.WaitMS)*time.Millisecond), nil
}

func (s *Sandbox) checkoutFor(r *http.Request, in *request) (*checkout, error) {
	p, err := s.who(r)
	if err != nil {
		return nil, err
	}
	if in.URL != "" {
		inv := s.w.Links[in.URL[strings.LastIndexByte(in.URL, '$')+1:]]
		if inv == nil {
			return nil, cannot("no such invoice")
		}
		return s.startCheckout(p, *inv, p.ID, 0), nil
	}
	c := s.privateChat(p)
	m := c.find(in.MessageID)
	if m == nil || m.Invoice == nil {
		return nil, cannot("that message asks for no payment")
	}
	return s.startCheckout(p, *m.Invoice, c.ID, m.ID), nil
}

func (s *Sandbox) awaitCheckout(r *http.Request, id string, wait time.Duration) obj {
	deadline := time.Now().Add(wait)
	for {
		s.mu.Lock()
		co, changed := *s.w.Checkouts[id], s.changed
		s.mu.Unlock()
		if left := time.Until(deadline); !co.Done && left > 0 {
			select {
			case <-changed:
				continue
			case <-time.After(left):
				continue
			case <-r.Context().Done():
			}
		}
		return obj{"id": co.ID, "done": co.Done, "ok": co.OK, "error": co.Error, "late": !co.Done && s.unix()-co.Date > 10}
	}
}

func (s *Sandbox) getCheckout(r *http.Request, _ *request) (any, error) {
	s.mu.Lock()
	known := s.w.Checkouts[r.PathValue("id")] != nil
	s.mu.Unlock()
	if !known {
		return nil, errNoSuch
	}
	ms, _ := strconv.Atoi(r.URL.Query().Get("wait_ms"))
	return s.awaitCheckout(r, r.PathValue("id"), time.Duration(ms)*time.Millisecond), nil
}

// postWebApp opens the Mini App as the person: the address with signed initial
// data in its fragment, as Telegram's clients open it.
func (s *Sandbox) postWebApp(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p, err := s.who(r)
	if err != nil {
		return nil, err
	}
	address := in.URL
	if address == "" {
		var menu struct {
			WebApp *webApp `json:"web_app"`
		}
		_ = json.Unmarshal(s.menuOf(p.ID), &menu)
		if menu.WebApp != nil {
			address = menu.WebApp.URL
		} else {
			address = s.cfg.WebApp
		}
	}
	if address == "" {
		return nil, cannot("the bot has no Mini App")
	}
	return s.openWebApp(p, address)
}

func (s *Sandbox) openWebApp(p *person, address string) (any, error) {
	data, err := InitData(s.cfg.Token, p.ID, p.FirstName, p.LastName, p.Username, p.Lang, s.now())
	if err != nil {
		return nil, err
	}
	return obj{"url": webAppURL(address, data), "init_data": data}, nil
}

// InitData signs initial data for a person, as the stand-in's clients send them.
func InitData(token telegram.Token, id int64, first, last, username, lang string, at time.Time) (string, error) {
	u := initdata.User{ID: id, FirstName: first, LastName: last, Username: username, LanguageCode: lang, AllowsWriteToPM: true}
	return initdata.Sign(u, string(token), at, "SBX"+randomID(8), "")
}
