package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox"
)

const (
	ann   = int64(500_100_001)
	boris = int64(500_100_002)
)

// world is a stand-in behind a socket, as a bot and as people use it.
type world struct {
	t     *testing.T
	s     *sandbox.Sandbox
	srv   *httptest.Server // nil: the stand-in is a process of its own
	base  string
	d     *description // nil: answers are not compared
	now   time.Time
	chan1 int64
	known map[string]bool // methods whose answers were compared
}

func newWorld(t *testing.T, change ...func(*sandbox.Config)) *world {
	t.Helper()
	w := &world{t: t, now: time.Now(), chan1: -1_002_000_000_001}
	cfg := sandbox.Config{Now: func() time.Time { return w.now }}
	for _, f := range change {
		f(&cfg)
	}
	var err error
	if w.s, err = sandbox.New(cfg); err != nil {
		t.Fatal(err)
	}
	w.srv = httptest.NewServer(w.s)
	w.base = w.srv.URL
	t.Cleanup(func() { w.srv.CloseClientConnections(); w.srv.Close(); _ = w.s.Close() })
	return w
}

type answer struct {
	OK          bool
	Result      any
	Description string
	ErrorCode   int `json:"error_code"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	}
}

func (w *world) raw(method string, params map[string]any) answer {
	w.t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.Post(w.base+"/bot"+string(sandbox.DefaultToken)+"/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	if a.OK != (resp.StatusCode == http.StatusOK) || !a.OK && a.ErrorCode != resp.StatusCode {
		w.t.Errorf("%s: status %d with %+v", method, resp.StatusCode, a)
	}
	return a
}

// ok calls a method that must succeed and compares the answer.
func (w *world) ok(method string, params map[string]any) any {
	w.t.Helper()
	a := w.raw(method, params)
	if !a.OK {
		w.t.Fatalf("%s(%v): %s", method, params, a.Description)
	}
	if w.d != nil {
		w.d.checkResult(w.t, method, a.Result)
		if w.known == nil {
			w.known = map[string]bool{}
		}
		w.known[strings.ToLower(method)] = true
	}
	return a.Result
}

func (w *world) id(method string, params map[string]any) int {
	w.t.Helper()
	return int(w.ok(method, params).(map[string]any)["message_id"].(float64))
}

// refused calls a method that must fail in these words.
func (w *world) refused(want, method string, params map[string]any) {
	w.t.Helper()
	if a := w.raw(method, params); a.OK || a.Description != want {
		w.t.Errorf("%s(%v): %q, want %q", method, params, a.Description, want)
	}
}

func (w *world) control(path string, body map[string]any) (int, map[string]any) {
	w.t.Helper()
	raw, _ := json.Marshal(body)
	resp, err := http.Post(w.base+"/sandbox/api/"+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&v)
	return resp.StatusCode, v
}

func (w *world) does(path string, body map[string]any) map[string]any {
	w.t.Helper()
	status, v := w.control(path, body)
	if status != http.StatusOK {
		w.t.Fatalf("%s: %d %v", path, status, v)
	}
	return v
}

// sees reads from the control API.
func (w *world) sees(path string) (v map[string]any) {
	w.t.Helper()
	resp, err := http.Get(w.base + "/sandbox/api/" + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) start(people ...int64) {
	for _, p := range people {
		w.does(fmt.Sprintf("people/%d/send", p), map[string]any{"text": "/start"})
	}
}

func (w *world) link() {
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"bot_status": "administrator"})
}

// updates takes and confirms what is pending.
func (w *world) updates() []map[string]any {
	w.t.Helper()
	var all []map[string]any
	offset := 0
	for {
		list := w.ok("getUpdates", map[string]any{"offset": offset, "timeout": 0}).([]any)
		if len(list) == 0 {
			return all
		}
		for _, u := range list {
			m := u.(map[string]any)
			if w.d != nil {
				for _, bad := range w.d.check("update", "Update", m) {
					w.t.Error(bad)
				}
			}
			all = append(all, m)
			offset = int(m["update_id"].(float64)) + 1
		}
	}
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 64, 32))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEverythingHasTheShapeOfTheBotAPI plays what the product does and compares
// each answer and update with the published description.
func TestEverythingHasTheShapeOfTheBotAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.d = readDescription(t)
	pics := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "image/png")
		_, _ = rw.Write(picture(t))
	}))
	defer pics.Close()
	w.ok("getMe", nil)
	w.start(ann)
	w.ok("setMyCommands", map[string]any{"commands": []any{map[string]any{"command": "add", "description": "x"}}, "scope": map[string]any{"type": "all_private_chats"}, "language_code": "ru"})
	w.ok("getMyCommands", map[string]any{"scope": map[string]any{"type": "all_private_chats"}, "language_code": "ru"})
	w.ok("setChatMenuButton", map[string]any{"menu_button": map[string]any{"type": "web_app", "text": "Desk", "web_app": map[string]any{"url": "https://example.org/app"}}})
	w.ok("getChatMenuButton", map[string]any{"chat_id": ann})
	w.ok("sendMessage", map[string]any{"chat_id": ann, "text": "pick", "reply_markup": map[string]any{"keyboard": []any{[]any{map[string]any{"text": "pick", "request_chat": map[string]any{
		"request_id": 7, "chat_is_channel": true, "request_title": true, "request_username": true,
		"user_administrator_rights": map[string]bool{"can_post_messages": true}, "bot_administrator_rights": map[string]bool{"can_post_messages": true},
	}}}}}})
	w.does(fmt.Sprintf("people/%d/pick", ann), map[string]any{"request_id": 7, "chat_id": w.chan1})
	w.ok("getChat", map[string]any{"chat_id": w.chan1})
	w.ok("getChat", map[string]any{"chat_id": ann})
	for _, user := range []any{ann, boris, 7_000_000_001} {
		w.ok("getChatMember", map[string]any{"chat_id": w.chan1, "user_id": user})
	}
	w.ok("getChatAdministrators", map[string]any{"chat_id": w.chan1})
	w.ok("getChatMemberCount", map[string]any{"chat_id": w.chan1})
	text := `<b>Bold</b> <i>and</i> <a href="https://example.org/x">link</a> <tg-spoiler>s</tg-spoiler> <code>c</code> <blockquote expandable>q</blockquote> https://a.org #tag @name a@b.org`
	post := w.id("sendMessage", map[string]any{"chat_id": w.chan1, "text": text, "parse_mode": "HTML", "link_preview_options": map[string]any{"url": "https://example.org", "prefer_large_media": true}})
	card := w.id("sendMessage", map[string]any{"chat_id": ann, "text": text, "parse_mode": "HTML", "reply_markup": map[string]any{"inline_keyboard": []any{[]any{map[string]any{"text": "✅ Approve", "callback_data": "a"}, map[string]any{"text": "Open", "url": "https://x.org"}}}}})
	photo := w.id("sendPhoto", map[string]any{"chat_id": w.chan1, "photo": pics.URL + "/p.png", "caption": "<b>c</b>", "parse_mode": "HTML"})
	w.ok("sendMediaGroup", map[string]any{"chat_id": w.chan1, "media": []any{map[string]any{"type": "photo", "media": pics.URL + "/p.png", "caption": "a"}, map[string]any{"type": "photo", "media": pics.URL + "/q.png"}}})
	w.ok("editMessageText", map[string]any{"chat_id": w.chan1, "message_id": post, "text": "edited"})
	w.ok("editMessageCaption", map[string]any{"chat_id": w.chan1, "message_id": photo, "caption": "edited"})
	w.ok("editMessageReplyMarkup", map[string]any{"chat_id": ann, "message_id": card, "reply_markup": map[string]any{"inline_keyboard": []any{[]any{map[string]any{"text": "Undo", "callback_data": "u"}}}}})
	w.ok("forwardMessage", map[string]any{"chat_id": ann, "from_chat_id": w.chan1, "message_id": post})
	w.ok("copyMessage", map[string]any{"chat_id": ann, "from_chat_id": w.chan1, "message_id": post})
	w.ok("sendMessage", map[string]any{"chat_id": ann, "text": "reply", "reply_parameters": map[string]any{"message_id": card}})
	w.ok("sendChatAction", map[string]any{"chat_id": ann, "action": "typing"})
	w.does(fmt.Sprintf("people/%d/forward", ann), map[string]any{"chat_id": w.chan1, "message_id": post})
	w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": "/add https://example.org/feed"})
	w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": "own post", "chat_id": w.chan1})
	tap := w.does(fmt.Sprintf("people/%d/tap", ann), map[string]any{"message_id": card, "button": "Undo"})
	w.ok("answerCallbackQuery", map[string]any{"callback_query_id": tap["id"], "text": "done"})
	w.ok("sendInvoice", map[string]any{"chat_id": ann, "title": "Plan", "description": "A month", "payload": "p", "currency": "XTR", "prices": []any{map[string]any{"label": "Plan", "amount": 100}}})
	link := w.ok("createInvoiceLink", map[string]any{"title": "Plan", "description": "A month", "payload": "p2", "currency": "XTR", "prices": []any{map[string]any{"label": "Plan", "amount": 100}}, "subscription_period": 2592000})
	co := w.does(fmt.Sprintf("people/%d/pay", ann), map[string]any{"url": link})
	w.ok("answerPreCheckoutQuery", map[string]any{"pre_checkout_query_id": co["id"], "ok": true})
	w.does(fmt.Sprintf("people/%d/block", ann), map[string]any{})
	w.does(fmt.Sprintf("people/%d/block", ann), map[string]any{"blocked": false})
	charge := ""
	for _, u := range w.updates() {
		if m, ok := u["message"].(map[string]any); ok {
			if p, ok := m["successful_payment"].(map[string]any); ok {
				charge = p["telegram_payment_charge_id"].(string)
			}
		}
	}
	w.does("payments/"+charge+"/renew", map[string]any{})
	w.ok("editUserStarSubscription", map[string]any{"user_id": ann, "telegram_payment_charge_id": charge, "is_canceled": true})
	w.ok("refundStarPayment", map[string]any{"user_id": ann, "telegram_payment_charge_id": charge})
	w.refused("Bad Request: CHARGE_ALREADY_REFUNDED", "refundStarPayment", map[string]any{"user_id": ann, "telegram_payment_charge_id": charge})
	w.ok("getStarTransactions", nil)
	w.ok("getMyStarBalance", nil)
	w.ok("deleteMessage", map[string]any{"chat_id": w.chan1, "message_id": post})
	w.ok("deleteMessages", map[string]any{"chat_id": ann, "message_ids": []int{card}})
	w.ok("editMessageMedia", map[string]any{"chat_id": w.chan1, "message_id": photo, "media": map[string]any{"type": "photo", "media": pics.URL + "/r.png", "caption": "new"}})
	document := w.ok("sendDocument", map[string]any{"chat_id": ann, "document": pics.URL + "/p.png", "caption": "c"}).(map[string]any)
	w.ok("getFile", map[string]any{"file_id": document["document"].(map[string]any)["file_id"]})
	w.ok("deleteMyCommands", nil)
	w.ok("setMyName", map[string]any{"name": "postonce"})
	w.ok("setMyDescription", map[string]any{"description": "d"})
	w.ok("setMyShortDescription", map[string]any{"short_description": "s"})
	w.ok("setMyDefaultAdministratorRights", map[string]any{"for_channels": true})
	w.ok("setWebhook", map[string]any{"url": "http://127.0.0.1:1/x", "secret_token": "abc"})
	w.ok("getWebhookInfo", nil)
	w.ok("deleteWebhook", nil)
	w.ok("leaveChat", map[string]any{"chat_id": w.chan1})
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"bot_status": "kicked"})
	w.updates()
	w.ok("logOut", nil)
	w.ok("close", nil)
	for _, m := range sandbox.Methods() {
		if !w.known[m] {
			t.Errorf("the stand-in offers %s, which this test never compared", m)
		}
	}
}

func TestTheStandInRefusesInTelegramsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("🏟", 2049) // 4098 UTF-16 units
	w.refused("Forbidden: bot can't initiate conversation with a user", "sendMessage", map[string]any{"chat_id": ann, "text": "x"})
	w.start(ann, boris)
	w.refused("Bad Request: chat not found", "sendMessage", map[string]any{"chat_id": 1, "text": "x"})
	w.refused("Bad Request: message text is empty", "sendMessage", map[string]any{"chat_id": ann, "text": ""})
	w.refused("Bad Request: text must be non-empty", "sendMessage", map[string]any{"chat_id": ann, "text": " \n "})
	w.refused("Bad Request: message is too long", "sendMessage", map[string]any{"chat_id": ann, "text": long})
	w.refused("Bad Request: message caption is too long", "sendPhoto", map[string]any{"chat_id": ann, "photo": "x", "caption": long[:513*4]})
	w.ok("sendMessage", map[string]any{"chat_id": ann, "text": "<b>" + long[:2048*4] + "</b>", "parse_mode": "HTML"})
	w.refused(`Bad Request: can't parse entities: Unsupported start tag "h1" at byte offset 0`, "sendMessage", map[string]any{"chat_id": ann, "text": "<h1>x</h1>", "parse_mode": "HTML"})
	button := func(b map[string]any) map[string]any {
		return map[string]any{"chat_id": ann, "text": "x", "reply_markup": map[string]any{"inline_keyboard": []any{[]any{b}}}}
	}
	w.ok("sendMessage", button(map[string]any{"text": "x", "callback_data": strings.Repeat("я", 32)}))
	w.refused("Bad Request: BUTTON_DATA_INVALID", "sendMessage", button(map[string]any{"text": "x", "callback_data": strings.Repeat("я", 32) + "."}))
	w.refused("Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard", "sendMessage", button(map[string]any{"text": "x"}))
	w.refused("Forbidden: bot is not a member of the channel chat", "sendMessage", map[string]any{"chat_id": w.chan1, "text": "x"})
	w.refused("Forbidden: bot is not a member of the channel chat", "sendMessage", map[string]any{"chat_id": "@harbour_notes", "text": "x"})
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"bot_status": "administrator", "bot_rights": map[string]bool{"can_edit_messages": true}})
	w.refused("Bad Request: need administrator rights in the channel chat", "sendMessage", map[string]any{"chat_id": w.chan1, "text": "x"})
	w.link()
	post := w.id("sendMessage", map[string]any{"chat_id": w.chan1, "text": "x"})
	w.refused("Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message", "editMessageText", map[string]any{"chat_id": w.chan1, "message_id": post, "text": "x"})
	w.refused("Bad Request: message to edit not found", "editMessageText", map[string]any{"chat_id": w.chan1, "message_id": 999, "text": "x"})
	w.refused("Bad Request: message to delete not found", "deleteMessage", map[string]any{"chat_id": w.chan1, "message_id": 999})
	w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": "the owner's", "chat_id": w.chan1})
	w.refused("Bad Request: message can't be edited", "editMessageText", map[string]any{"chat_id": w.chan1, "message_id": post + 1, "text": "x"})
	w.refused("Bad Request: message can't be deleted", "deleteMessage", map[string]any{"chat_id": w.chan1, "message_id": post + 1})
	w.refused("Bad Request: message to forward not found", "forwardMessage", map[string]any{"chat_id": ann, "from_chat_id": w.chan1, "message_id": 999})
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"bot_status": "left"})
	w.refused("Bad Request: message to forward not found", "forwardMessage", map[string]any{"chat_id": ann, "from_chat_id": w.chan1, "message_id": post})
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"bot_status": "kicked"})
	w.refused("Forbidden: bot was kicked from the channel chat", "sendMessage", map[string]any{"chat_id": w.chan1, "text": "x"})
	w.does(fmt.Sprintf("people/%d/block", ann), map[string]any{})
	w.refused("Forbidden: bot was blocked by the user", "sendMessage", map[string]any{"chat_id": ann, "text": "x"})
	w.refused("Bad Request: query is too old and response timeout expired or query ID is invalid", "answerCallbackQuery", map[string]any{"callback_query_id": "7"})
	w.refused("Not Found: method not found", "sendTelepathy", nil)
	resp, err := http.Get(w.srv.URL + "/bot123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/getMe")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("another token: %d", resp.StatusCode)
	}
}

func TestUpdatesFollowTheOffset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(ann)
	for i := range 4 {
		w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": fmt.Sprint(i)})
	}
	ids := func(params map[string]any) (out []int) {
		for _, u := range w.ok("getUpdates", params).([]any) {
			out = append(out, int(u.(map[string]any)["update_id"].(float64)))
		}
		return out
	}
	all := ids(nil)
	if len(all) != 5 || len(ids(nil)) != 5 {
		t.Fatalf("without an offset nothing is confirmed: %v", all)
	}
	if got := ids(map[string]any{"limit": 2}); len(got) != 2 {
		t.Errorf("limit 2 gave %v", got)
	}
	if got := ids(map[string]any{"offset": all[1]}); len(got) != 4 || got[0] != all[1] {
		t.Errorf("an offset confirms what is below it: %v", got)
	}
	if got := ids(map[string]any{"offset": -1}); len(got) != 1 || got[0] != all[4] {
		t.Errorf("-1 keeps the last: %v", got)
	}
	if got := ids(map[string]any{"offset": all[4] + 100}); len(got) != 0 {
		t.Errorf("a high offset confirms all: %v", got)
	}
}

// An update that was handed out keeps its body: the bot has stored it under that number, and asks for the next.
func TestAnUpdateThatWasSeenKeepsItsNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(ann)
	say := func(text string) { w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": text}) }
	texts := func() (out []any) {
		for _, u := range w.ok("getUpdates", nil).([]any) {
			out = append(out, u.(map[string]any)["message"].(map[string]any)["text"])
		}
		return out
	}
	say("one")
	if got := texts(); got[len(got)-1] != "one" {
		t.Fatalf("before: %v", got)
	}
	w.does("faults/updates", map[string]any{"kind": "reorder"})
	say("two")
	say("three")
	got := texts()
	if want := []any{"one", "three", "two"}; !slices.Equal(got[len(got)-3:], want) {
		t.Errorf("got %v, want %v at the end: only what nobody saw changes places", got, want)
	}
}

func TestTheSecondPollerEndsTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := make(chan answer, 1)
	go func() { first <- w.raw("getUpdates", map[string]any{"timeout": 20}) }()
	time.Sleep(200 * time.Millisecond) // the first has to wait already
	second := make(chan answer, 1)
	go func() { second <- w.raw("getUpdates", map[string]any{"timeout": 20}) }()
	if a := <-first; a.ErrorCode != http.StatusConflict || !strings.HasPrefix(a.Description, "Conflict: terminated by other getUpdates") {
		t.Errorf("the first: %+v", a)
	}
	w.start(ann)
	if a := <-second; !a.OK || len(a.Result.([]any)) != 1 {
		t.Errorf("the second: %+v", a)
	}
	w.ok("setWebhook", map[string]any{"url": "http://127.0.0.1:1/x"})
	w.refused("Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", "getUpdates", nil)
}

func TestTheBotsOwnPostsAreNotDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link()
	w.updates()
	w.ok("sendMessage", map[string]any{"chat_id": w.chan1, "text": "the bot's"})
	w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": "the owner's", "chat_id": w.chan1})
	got := w.updates()
	if len(got) != 1 || got[0]["channel_post"].(map[string]any)["text"] != "the owner's" {
		t.Errorf("updates: %v", got)
	}
}

func TestAKillKeepsTheChats(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state", "sandbox.json")
	keep := func(c *sandbox.Config) { c.StateFile = file }
	w := newWorld(t, keep)
	w.start(ann)
	w.link()
	post := w.id("sendMessage", map[string]any{"chat_id": w.chan1, "text": "kept"})
	// No Close: the process dies here.
	again := newWorld(t, keep)
	if n := len(again.updates()); n != 2 {
		t.Errorf("%d updates are pending after the restart, want 2", n)
	}
	again.ok("editMessageText", map[string]any{"chat_id": w.chan1, "message_id": post, "text": "still here"})
	if next := again.id("sendMessage", map[string]any{"chat_id": w.chan1, "text": "y"}); next != post+1 {
		t.Errorf("the next id is %d, want %d", next, post+1)
	}
}

func TestPublicPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link()
	for i := range 25 {
		w.ok("sendMessage", map[string]any{"chat_id": w.chan1, "text": fmt.Sprintf("<b>post %d</b>\nsecond line", i), "parse_mode": "HTML"})
	}
	get := func(path string) (int, string) {
		c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(w.srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	_, page := get("/s/harbour_notes")
	if n := strings.Count(page, "data-post=\"harbour_notes/"); n != 20 {
		t.Errorf("%d posts on a page, want 20", n)
	}
	if !strings.Contains(page, "<b>post 24</b><br/>second line") || strings.Contains(page, "<b>post 4</b>") || !strings.Contains(page, "data-view=\"") {
		t.Error("the page does not look like t.me/s")
	}
	if _, older := get("/s/harbour_notes?before=7"); !strings.Contains(older, "<b>post 4</b>") || strings.Contains(older, "<b>post 5</b>") {
		t.Error("paging back fails")
	}
	w.does(fmt.Sprintf("channels/%d", w.chan1), map[string]any{"no_preview": true})
	if status, _ := get("/s/harbour_notes"); status != http.StatusFound {
		t.Errorf("a channel without previews: %d", status)
	}
}

func TestUploadsAndFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(ann)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("chat_id", fmt.Sprint(ann))
	part, _ := form.CreateFormFile("photo", "p.png")
	_, _ = part.Write(picture(t))
	_ = form.Close()
	resp, err := http.Post(w.srv.URL+"/bot"+string(sandbox.DefaultToken)+"/sendPhoto", form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || !a.OK {
		t.Fatalf("%+v %v", a, err)
	}
	id := a.Result.(map[string]any)["photo"].([]any)[0].(map[string]any)["file_id"].(string)
	again := w.ok("sendPhoto", map[string]any{"chat_id": ann, "photo": id}).(map[string]any)
	if again["photo"].([]any)[0].(map[string]any)["width"].(float64) != 64 {
		t.Errorf("by id: %v", again)
	}
	own := w.ok("sendPhoto", map[string]any{"chat_id": ann, "photo": w.srv.URL + "/file/page/" + id}).(map[string]any)
	if own["photo"] == nil {
		t.Error("a picture that the stand-in serves itself cannot be sent")
	}
	w.refused("Bad Request: failed to get HTTP URL content", "sendPhoto", map[string]any{"chat_id": ann, "photo": w.srv.URL + "/nothing.png"})
	w.refused("Bad Request: wrong type of the web page content", "sendPhoto", map[string]any{"chat_id": ann, "photo": w.srv.URL + "/style.css"})
}

func TestForeignPagesCannotDriveTheStandIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	resp, err := http.Post(w.srv.URL+fmt.Sprintf("/sandbox/api/people/%d/send", ann), "text/plain", strings.NewReader(`{"text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a simple cross-site request: %d", resp.StatusCode)
	}
	page, err := http.Get(w.srv.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	if !strings.Contains(page.Header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf("the page has no policy: %v", page.Header)
	}
}
