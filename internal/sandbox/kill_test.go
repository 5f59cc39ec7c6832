package sandbox_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox"
)

// TestMain turns this test binary into the stand-in that gets killed.
func TestMain(m *testing.M) {
	if file := os.Getenv("SANDBOX_CHILD_STATE"); file != "" {
		if err := child(file); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(file string) error {
	s, err := sandbox.New(sandbox.Config{StateFile: file})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, s)
}

// TestAKillLosesNothingThatWasAnswered kills the whole stand-in between an
// answer and the next request, again and again, while posts, payments, edits
// and messages come in from all sides.
func TestAKillLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandbox.json")
	var posted, said, paid []string
	for round := range 6 {
		w, kill := startChild(t, file)
		if round == 0 {
			w.start(ann)
			w.link()
		}
		for _, text := range posted {
			if n := w.times(w.chan1, text); n != 1 {
				t.Errorf("round %d: %q is in the channel %d times", round, text, n)
			}
		}
		for _, text := range said {
			if n := w.times(ann, text); n != 1 {
				t.Errorf("round %d: %q is in the chat %d times", round, text, n)
			}
		}
		list := w.ok("getStarTransactions", nil).(map[string]any)["transactions"].([]any)
		if len(list) != len(paid) {
			t.Errorf("round %d: %d payments are known, want %d", round, len(list), len(paid))
		}
		var side sync.WaitGroup
		for i := range 8 {
			a, b := fmt.Sprintf("post %d.%d", round, i), fmt.Sprintf("said %d.%d", round, i)
			posted, said = append(posted, a), append(said, b)
			side.Go(func() { w.ok("sendMessage", map[string]any{"chat_id": w.chan1, "text": a}) })
			side.Go(func() { w.does(fmt.Sprintf("people/%d/send", ann), map[string]any{"text": b}) })
		}
		side.Wait()
		link := w.ok("createInvoiceLink", map[string]any{"title": "Plan", "description": "A month", "payload": fmt.Sprint(round), "currency": "XTR", "prices": []any{map[string]any{"label": "Plan", "amount": 100}}})
		co := w.does(fmt.Sprintf("people/%d/pay", ann), map[string]any{"url": link})
		w.ok("answerPreCheckoutQuery", map[string]any{"pre_checkout_query_id": co["id"], "ok": true})
		paid = append(paid, fmt.Sprint(round))
		kill()
	}
}

// times counts a text in a chat.
func (w *world) times(chat int64, text string) (n int) {
	w.t.Helper()
	for _, m := range w.sees(fmt.Sprintf("chats/%d/messages", chat))["messages"].([]any) {
		if m.(map[string]any)["text"] == text {
			n++
		}
	}
	return n
}

// startChild starts a stand-in of its own process and returns how it is killed.
func startChild(t *testing.T, file string) (*world, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env, cmd.Stderr = append(os.Environ(), "SANDBOX_CHILD_STATE="+file), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, base: strings.TrimSpace(line), now: time.Now(), chan1: -1_002_000_000_001}, kill
}
