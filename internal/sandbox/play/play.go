// Package play drives the sandbox through its public face as people would:
// they write, tap, forward, pick a chat and read. Tests of the whole program,
// the chaos run and scripts use it; it knows HTTP and nothing of the bot.
package play

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Stage is a running sandbox.
type Stage struct {
	Base string // http://127.0.0.1:8080
	HTTP *http.Client
}

// New talks to the sandbox at base.
func New(base string) *Stage {
	return &Stage{Base: strings.TrimRight(base, "/"), HTTP: &http.Client{Timeout: time.Minute}}
}

// Error is what the sandbox answers when something cannot be done.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return fmt.Sprintf("sandbox: %d %s", e.Status, e.Text) }

// Do makes one call of the control API; in and out may be nil.
func (s *Stage) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		var no struct{ Error string }
		_ = json.Unmarshal(b, &no)
		return &Error{Status: res.StatusCode, Text: no.Error}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(b, out)
}

// Button is one button under a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
	URL  string `json:"url"`
}

// Message is one message of a chat, as the Bot API shows it.
type Message struct {
	ID      int    `json:"message_id"`
	Date    int64  `json:"date"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
	Edited  int64  `json:"edit_date"`
	From    *struct {
		ID    int64 `json:"id"`
		IsBot bool  `json:"is_bot"`
	} `json:"from"`
	Markup struct {
		Rows [][]Button `json:"inline_keyboard"`
	} `json:"reply_markup"`
	Payment *struct {
		Charge   string `json:"telegram_payment_charge_id"`
		Payload  string `json:"invoice_payload"`
		Currency string `json:"currency"`
		Amount   int    `json:"total_amount"`
	} `json:"successful_payment"`
}

// Says is the message's text, or its caption.
func (m Message) Says() string {
	if m.Text != "" {
		return m.Text
	}
	return m.Caption
}

// FromBot reports whether the bot wrote it.
func (m Message) FromBot() bool { return m.From != nil && m.From.IsBot }

// Button finds a button by its words; an emoji before them does not count.
func (m Message) Button(words string) (Button, bool) {
	for _, row := range m.Markup.Rows {
		for _, b := range row {
			if b.Text == words || strings.HasSuffix(b.Text, " "+words) {
				return b, true
			}
		}
	}
	return Button{}, false
}

// Chat is a chat in somebody's list.
type Chat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	Username string `json:"username"`
	Mine     bool   `json:"mine"`
	LastID   int    `json:"last_id"`
}

// Person is somebody at the stage.
type Person struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
	Lang     string `json:"lang"`

	stage *Stage
}

// People lists who there is.
func (s *Stage) People(ctx context.Context) ([]*Person, error) {
	var list []*Person
	if err := s.Do(ctx, http.MethodGet, "/sandbox/api/people", nil, &list); err != nil {
		return nil, err
	}
	for _, p := range list {
		p.stage = s
	}
	return list, nil
}

// NewPerson adds one.
func (s *Stage) NewPerson(ctx context.Context, name, lang string) (*Person, error) {
	p := &Person{}
	err := s.Do(ctx, http.MethodPost, "/sandbox/api/people", map[string]any{"first_name": name, "username": strings.ToLower(name), "lang": lang}, p)
	p.stage = s
	return p, err
}

// NewChannel adds a channel that p runs; username may be empty.
func (p *Person) NewChannel(ctx context.Context, title, username string) (Chat, error) {
	var c Chat
	err := p.stage.Do(ctx, http.MethodPost, "/sandbox/api/channels", map[string]any{"title": title, "username": username, "owner": p.ID}, &c)
	return c, err
}

func (p *Person) do(ctx context.Context, what string, in map[string]any, out any) error {
	return p.stage.Do(ctx, http.MethodPost, fmt.Sprintf("/sandbox/api/people/%d/%s", p.ID, what), in, out)
}

// Send writes to the bot.
func (p *Person) Send(ctx context.Context, text string) (Message, error) {
	var m Message
	return m, p.do(ctx, "send", map[string]any{"text": text}, &m)
}

// Post writes into a channel that p runs.
func (p *Person) Post(ctx context.Context, chat int64, text string) (Message, error) {
	var m Message
	return m, p.do(ctx, "send", map[string]any{"chat_id": chat, "text": text}, &m)
}

// SendFile sends a document to the bot.
func (p *Person) SendFile(ctx context.Context, name string, body []byte) error {
	return p.do(ctx, "send", map[string]any{"document": map[string]any{"name": name, "data": body}}, nil)
}

// Answer is what a tap shows.
type Answer struct {
	Answered bool   `json:"answered"`
	Text     string `json:"text"`
}

// Tap presses the button with these words under a message, and waits up to
// wait for the bot's answer.
func (p *Person) Tap(ctx context.Context, message int, words string, wait time.Duration) (Answer, error) {
	var a Answer
	in := map[string]any{"message_id": message, "button": words, "wait_ms": wait.Milliseconds()}
	return a, p.do(ctx, "tap", in, &a)
}

// Forward forwards a message of a chat to the bot.
func (p *Person) Forward(ctx context.Context, chat int64, message int) error {
	return p.do(ctx, "forward", map[string]any{"chat_id": chat, "message_id": message}, nil)
}

// Pick chooses a chat in the picker that the bot's request_chat button opens.
func (p *Person) Pick(ctx context.Context, request int, chat int64) error {
	return p.do(ctx, "pick", map[string]any{"request_id": request, "chat_id": chat}, nil)
}

// PickWhenAsked waits for the button that asks for a chat, and picks this one.
func (p *Person) PickWhenAsked(ctx context.Context, chat int64) error {
	for {
		_, shown, err := p.stage.Messages(ctx, p.ID, 0)
		if err != nil {
			return err
		}
		if request, asked := shown.asksForChat(); asked {
			return p.Pick(ctx, request, chat)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for a button that asks for a chat: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Chats is the person's list: the chat with the bot first, then channels.
func (p *Person) Chats(ctx context.Context) ([]Chat, error) {
	var out struct{ Chats []Chat }
	err := p.stage.Do(ctx, http.MethodGet, "/sandbox/api/state?person="+strconv.FormatInt(p.ID, 10), nil, &out)
	return out.Chats, err
}

// Keyboard is the reply keyboard that a chat shows: its words and what they ask for.
type Keyboard struct {
	Rows [][]struct {
		Text        string `json:"text"`
		RequestChat *struct {
			ID int `json:"request_id"`
		} `json:"request_chat"`
	} `json:"keyboard"`
}

// asksForChat returns the request of the first button that asks for a chat.
func (k Keyboard) asksForChat() (request int, asked bool) {
	for _, row := range k.Rows {
		for _, b := range row {
			if b.RequestChat != nil {
				return b.RequestChat.ID, true
			}
		}
	}
	return 0, false
}

// Messages reads a chat: what is newer than after. A private chat has the
// person's own id.
func (s *Stage) Messages(ctx context.Context, chat int64, after int) ([]Message, Keyboard, error) {
	var out struct {
		Messages []Message
		Keyboard Keyboard
	}
	q := url.Values{"after": {strconv.Itoa(after)}}
	err := s.Do(ctx, http.MethodGet, fmt.Sprintf("/sandbox/api/chats/%d/messages?%s", chat, q.Encode()), nil, &out)
	return out.Messages, out.Keyboard, err
}

// Await waits until a message in a chat satisfies ok, and returns the newest that does.
func (s *Stage) Await(ctx context.Context, chat int64, after int, ok func(Message) bool) (Message, error) {
	for {
		list, _, err := s.Messages(ctx, chat, after)
		if err != nil {
			return Message{}, err
		}
		for i := len(list) - 1; i >= 0; i-- {
			if ok(list[i]) {
				return list[i], nil
			}
		}
		select {
		case <-ctx.Done():
			return Message{}, fmt.Errorf("waited for a message in chat %d that never came; it holds %s: %w", chat, Transcript(list), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Transcript writes messages as a person would read them.
func Transcript(list []Message) string {
	var b strings.Builder
	for _, m := range list {
		who := "person"
		if m.FromBot() {
			who = "bot"
		}
		fmt.Fprintf(&b, "\n--- %d %s: %s", m.ID, who, m.Says())
		for _, row := range m.Markup.Rows {
			b.WriteString("\n    ")
			for _, btn := range row {
				fmt.Fprintf(&b, "[%s] ", btn.Text)
			}
		}
	}
	return b.String()
}
