package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/casetest"
	"github.com/postonce/postonce/internal/sandbox"
)

// offered are the stand-in's methods as the description spells them.
func offered(t *testing.T, d *description) (names []string) {
	t.Helper()
	spelled := map[string]string{}
	for name := range d.Methods {
		spelled[strings.ToLower(name)] = name
	}
	for _, m := range sandbox.Methods() {
		if spelled[m] == "" {
			t.Errorf("the stand-in offers %s, which Telegram does not have", m)
			continue
		}
		names = append(names, spelled[m])
	}
	return names
}

// TestRequiredFields leaves out each required field of each method that the
// stand-in offers, as the description names them.
func TestRequiredFields(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	w := newWorld(t)
	w.start(ann)
	w.link()
	msg := w.id("sendMessage", map[string]any{"chat_id": ann, "text": "x"})
	full := map[string]map[string]any{
		"sendMessage":              {"chat_id": ann, "text": "x"},
		"sendPhoto":                {"chat_id": ann, "photo": "x"},
		"sendDocument":             {"chat_id": ann, "document": "x"},
		"sendMediaGroup":           {"chat_id": ann, "media": "[]"},
		"sendInvoice":              {"chat_id": ann, "title": "x", "description": "x", "payload": "x", "currency": "XTR", "prices": []any{map[string]any{"label": "x", "amount": 1}}},
		"createInvoiceLink":        {"title": "x", "description": "x", "payload": "x", "currency": "XTR", "prices": []any{map[string]any{"label": "x", "amount": 1}}},
		"sendChatAction":           {"chat_id": ann, "action": "typing"},
		"forwardMessage":           {"chat_id": ann, "from_chat_id": ann, "message_id": msg},
		"copyMessage":              {"chat_id": ann, "from_chat_id": ann, "message_id": msg},
		"editMessageText":          {"chat_id": ann, "message_id": msg, "text": "y"},
		"deleteMessage":            {"chat_id": ann, "message_id": msg},
		"deleteMessages":           {"chat_id": ann, "message_ids": []int{msg}},
		"answerCallbackQuery":      {"callback_query_id": "1"},
		"answerPreCheckoutQuery":   {"pre_checkout_query_id": "1", "ok": true},
		"getChat":                  {"chat_id": ann},
		"getChatMember":            {"chat_id": w.chan1, "user_id": ann},
		"getChatAdministrators":    {"chat_id": w.chan1},
		"getChatMemberCount":       {"chat_id": w.chan1},
		"leaveChat":                {"chat_id": w.chan1},
		"getFile":                  {"file_id": "x"},
		"setMyCommands":            {"commands": []any{}},
		"refundStarPayment":        {"user_id": ann, "telegram_payment_charge_id": "x"},
		"editUserStarSubscription": {"user_id": ann, "telegram_payment_charge_id": "x", "is_canceled": true},
		"editMessageMedia":         {"chat_id": ann, "message_id": msg, "media": "{}"},
	}
	for _, method := range offered(t, d) {
		params := full[method]
		for _, f := range d.Methods[method].Fields {
			if !f.Required || method == "setWebhook" { // Telegram takes no address for deleteWebhook
				continue
			}
			if _, ok := params[f.Name]; !ok {
				t.Errorf("%s: this test does not know the required %s", method, f.Name)
			}
			less := map[string]any{}
			for k, v := range params {
				if k != f.Name {
					less[k] = v
				}
			}
			if a := w.raw(method, less); a.OK || a.ErrorCode != 400 {
				t.Errorf("%s without %s: %+v", method, f.Name, a)
			}
		}
	}
}

// wireTypes maps TDLib's names of entities to those of the Bot API.
func wireTypes() map[string]string {
	return map[string]string{
		"Bold": "bold", "Italic": "italic", "Underline": "underline", "Strikethrough": "strikethrough", "Spoiler": "spoiler",
		"Code": "code", "Pre": "pre", "PreCode": "pre", "BlockQuote": "blockquote", "ExpandableBlockQuote": "expandable_blockquote",
		"TextUrl": "text_link",
	}
}

// TestHTMLVectorsThroughTheWire sends each of Telegram's vectors as a message
// and compares what is shown, or the words of the refusal.
func TestHTMLVectorsThroughTheWire(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(casetest.Dir(t, "telegram"), "tdlib_html_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			In, Error string
			Text      *string
			Entities  []struct {
				Type           string
				Offset, Length int
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.start(ann)
	compared, types := 0, wireTypes()
	for _, v := range file.Vectors {
		a := w.raw("sendMessage", map[string]any{"chat_id": ann, "text": v.In, "parse_mode": "HTML"})
		switch {
		case v.In == "":
			continue
		case v.Error != "":
			if want := "Bad Request: can't parse entities: " + v.Error; a.Description != want {
				t.Errorf("%q: %q, want %q", v.In, a.Description, want)
			}
			compared++
			continue
		case strings.TrimSpace(*v.Text) == "":
			if a.OK {
				t.Errorf("%q: nothing was sent", v.In)
			}
			continue
		case !a.OK:
			t.Errorf("%q: %s", v.In, a.Description)
			continue
		}
		m := a.Result.(map[string]any)
		if *v.Text != strings.TrimSpace(*v.Text) {
			continue // what is sent is trimmed, and the offsets move
		}
		compared++
		if m["text"] != *v.Text {
			t.Errorf("%q: text %q, want %q", v.In, m["text"], *v.Text)
		}
		var got, want []string
		known := map[string]bool{}
		for _, name := range types {
			known[name] = true
		}
		list, _ := m["entities"].([]any)
		for _, e := range list {
			o := e.(map[string]any)
			if name := o["type"].(string); known[name] {
				got = append(got, fmt.Sprintf("%s %v+%v", name, o["offset"], o["length"]))
			}
		}
		for _, e := range v.Entities {
			if types[e.Type] != "" {
				want = append(want, fmt.Sprintf("%s %d+%d", types[e.Type], e.Offset, e.Length))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: entities (-want +got)\n%s", v.In, d)
		}
	}
	if compared < 60 {
		t.Errorf("only %d of %d vectors were compared", compared, len(file.Vectors))
	}
}

// TestUpdatesInDisorder: one event under two ids, one id twice, two in the
// wrong order, and kinds and members that nobody knows.
func TestUpdatesInDisorder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(ann)
	w.updates()
	say := func(texts ...string) {
		for _, text := range texts {
			w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": text})
		}
	}
	take := func() (ids []int, texts []string) {
		for _, u := range w.updates() {
			ids = append(ids, int(u["update_id"].(float64)))
			if m, ok := u["message"].(map[string]any); ok {
				texts = append(texts, m["text"].(string))
			}
		}
		return ids, texts
	}
	w.does("faults/updates", map[string]any{"kind": "duplicate"})
	say("twice")
	if ids, texts := take(); len(ids) != 2 || ids[0] == ids[1] || texts[0] != texts[1] {
		t.Errorf("duplicate: %v %v", ids, texts)
	}
	w.does("faults/updates", map[string]any{"kind": "redeliver"})
	say("again")
	if ids, _ := take(); len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("redeliver: %v", ids)
	}
	say("one")
	w.does("faults/updates", map[string]any{"kind": "reorder"})
	say("two")
	if ids, texts := take(); len(ids) != 2 || ids[0] >= ids[1] || texts[0] != "two" || texts[1] != "one" {
		t.Errorf("reorder: %v %v", ids, texts)
	}
	w.does("updates", map[string]any{"telepathy": map[string]any{"thought": 1}})
	if got := w.updates(); len(got) != 1 || got[0]["telepathy"] == nil {
		t.Errorf("an unknown kind: %v", got)
	}
}
