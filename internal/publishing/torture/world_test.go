package torture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/postonce/postonce/internal/sandbox"
)

// Ids that the stand-in gives in order; see its seed.
const (
	logChat      = int64(500_100_001) // the first person of the seed, who takes the probes
	firstPerson  = int64(500_100_003)
	firstChannel = int64(-1_002_000_000_003)
)

// world is Telegram: the stand-in behind a socket, with a seeded fault for each
// call that changes a channel.
type world struct {
	t    *testing.T
	sand *sandbox.Sandbox
	web  *httptest.Server
	seed uint64

	mu    sync.Mutex
	asked map[string]int // how often a call was made; guarded by mu
	hurt  int            // calls that went wrong; guarded by mu
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, seed: seed, asked: map[string]int{}}
	var err error
	if w.sand, err = sandbox.New(sandbox.Config{}); err != nil {
		t.Fatal(err)
	}
	w.web = httptest.NewServer(w)
	t.Cleanup(func() { w.web.CloseClientConnections(); w.web.Close(); _ = w.sand.Close() })
	w.do(fmt.Sprintf("people/%d/send", logChat), map[string]any{"text": "/start"})
	return w
}

// ServeHTTP orders a fault for what changes a channel and serves a picture of its own.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/picture/") {
		rw.Header().Set("Content-Type", "image/png")
		_ = png.Encode(rw, image.NewGray(image.Rect(0, 0, 8, 8)))
		return
	}
	if method, ok := strings.CutPrefix(r.URL.Path, "/bot"+string(sandbox.DefaultToken)+"/"); ok && changes(method) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender died
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.spoil(method, body)
	}
	w.sand.ServeHTTP(rw, r)
}

func changes(method string) bool {
	switch method {
	case "sendMessage", "sendPhoto", "sendMediaGroup", "editMessageText", "editMessageCaption", "deleteMessage":
		return true
	}
	return false
}

// spoil decides by the seed and the call itself, so that a seed means the same
// whichever process calls first.
func (w *world) spoil(method string, body []byte) {
	var p struct {
		Chat json.Number `json:"chat_id"`
	}
	_ = json.Unmarshal(body, &p)
	chat, _ := p.Chat.Int64()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[string(body)]++
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, w.seed, method, string(body), w.asked[string(body)])
	f, bad := faultOf(rand.New(rand.NewPCG(h.Sum64(), w.seed)))
	if !bad {
		return
	}
	w.hurt++
	f.Method, f.ChatID = method, chat
	w.sand.AddFault(f)
}

// faultOf is every form of an outcome, in its pair.
func faultOf(r *rand.Rand) (sandbox.Fault, bool) {
	apply := r.IntN(2) == 0
	switch n := r.IntN(100); {
	case n < 5:
		return sandbox.Fault{Kind: sandbox.FaultLost, Apply: apply}, true
	case n < 10:
		return sandbox.Fault{Kind: sandbox.FaultReset, Apply: apply}, true
	case n < 15:
		return sandbox.Fault{Kind: sandbox.FaultStatus, Status: 500 + r.IntN(5), Description: "Internal Server Error", Apply: apply}, true
	case n < 19:
		return sandbox.Fault{Kind: sandbox.FaultHTML, Status: []int{200, 403, 502}[r.IntN(3)], Apply: apply}, true
	case n < 23:
		return sandbox.Fault{Kind: sandbox.FaultCut, Apply: apply}, true
	case n < 26:
		return sandbox.Fault{Kind: sandbox.FaultNull, Apply: apply}, true
	case n < 30:
		return sandbox.Fault{Kind: sandbox.FaultHang, Apply: apply}, true
	case n < 34:
		return sandbox.Fault{Kind: sandbox.FaultTooMany, RetryAfter: 1}, true
	case n < 38:
		return sandbox.Fault{Kind: sandbox.FaultSlow, DelayMS: 100}, true
	case n < 40:
		return sandbox.Fault{Kind: sandbox.FaultZeroID}, true
	case n < 42:
		return sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: SOMETHING_NEW"}, true
	}
	return sandbox.Fault{}, false
}

func (w *world) do(path string, in any) {
	w.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.Post(w.web.URL+"/sandbox/api/"+path, "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s: %d %s", path, resp.StatusCode, text)
	}
}

// channel makes a person who owns a channel in which the bot posts.
func (w *world) channel(i int, username string) (person, chat int64) {
	w.t.Helper()
	person, chat = firstPerson+int64(i), firstChannel-int64(i)
	w.do("people", map[string]any{"first_name": "Owner", "username": fmt.Sprintf("owner_%d", i)})
	w.do(fmt.Sprintf("people/%d/send", person), map[string]any{"text": "/start"})
	w.do("channels", map[string]any{"title": "Channel", "owner": person, "username": username})
	w.do(fmt.Sprintf("channels/%d", chat), map[string]any{"bot_status": "administrator"})
	return person, chat
}

// applied are the calls that had their effect, by method and the text that they carry.
type applied struct {
	sends   map[string]int // by the post's text: once per album too
	edits   map[string]int
	deletes map[string]int // by chat and message
}

func (w *world) applied() applied {
	a := applied{sends: map[string]int{}, edits: map[string]int{}, deletes: map[string]int{}}
	for _, c := range w.sand.Calls(0, "") {
		if !c.Applied {
			continue
		}
		var p map[string]string
		_ = json.Unmarshal(c.Params, &p)
		switch c.Method {
		case "sendmessage":
			a.sends[p["text"]]++
		case "sendphoto":
			a.sends[p["caption"]]++
		case "sendmediagroup":
			var media []struct{ Caption string }
			_ = json.Unmarshal([]byte(p["media"]), &media)
			if len(media) > 0 {
				a.sends[media[0].Caption]++
			}
		case "editmessagetext":
			a.edits[p["text"]]++
		case "editmessagecaption":
			a.edits[p["caption"]]++
		case "deletemessage":
			a.deletes[p["chat_id"]+"/"+p["message_id"]]++
		}
	}
	return a
}

// shown is what stands in a channel now, by message id.
func (w *world) shown(chat int64) map[int64]string {
	w.t.Helper()
	resp, err := http.Get(w.web.URL + fmt.Sprintf("/sandbox/api/chats/%d/messages", chat))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var v struct {
		Messages []struct {
			ID            int64 `json:"message_id"`
			Text, Caption string
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		w.t.Fatal(err)
	}
	out := map[int64]string{}
	for _, m := range v.Messages {
		out[m.ID] = m.Text + m.Caption
	}
	return out
}
