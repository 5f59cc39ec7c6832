package peertest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/sandbox"
)

const person = 500_100_001

// TestGrammYFeelsAtHome plays the product's conversation with a foreign client.
func TestGrammYFeelsAtHome(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is needed in CI")
		}
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node_modules/grammy"); err != nil {
		install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent")
		if out, err := install.CombinedOutput(); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("npm install: %v\n%s", err, out)
			}
			t.Skipf("grammY cannot be installed here: %v", err)
		}
	}
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	defer func() { srv.CloseClientConnections(); srv.Close(); _ = s.Close() }()
	events := runBot(t, srv.URL)
	expect := func(want map[string]any) {
		t.Helper()
		select {
		case got := <-events:
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("(-want +got)\n%s", d)
			}
		case <-time.After(15 * time.Second):
			t.Fatalf("the bot never said %v", want)
		}
	}
	act := func(path, body string) { t.Helper(); post(t, srv.URL+"/sandbox/api/"+path, body) }
	people := fmt.Sprintf("people/%d/", person)

	expect(map[string]any{"event": "ready", "username": "postonce_demo_bot"})
	act(people+"send", `{"text":"/start deep_1"}`)
	expect(map[string]any{"event": "start", "arg": "deep_1", "lang": "en"})
	eventually(t, "the keyboard", func() bool {
		status, _ := try(t, srv.URL+"/sandbox/api/"+people+"pick", `{"request_id":1,"chat":"@harbour_notes"}`)
		return status == http.StatusOK
	})
	expect(map[string]any{"event": "member", "status": "administrator", "may": true})
	expect(map[string]any{"event": "shared", "title": "Harbour Notes", "status": "administrator"})
	var tap map[string]any
	eventually(t, "the card", func() bool {
		status, v := try(t, srv.URL+"/sandbox/api/"+people+"tap", `{"message_id":4,"button":"Approve","wait_ms":5000}`)
		tap = v
		return status == http.StatusOK
	})
	if tap["text"] != "Done" {
		t.Errorf("the toast says %v", tap["text"])
	}
	expect(map[string]any{"event": "posted", "id": 2.0, "sender": "Harbour Notes"})
	expect(map[string]any{"event": "refused", "code": 400.0, "description": "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"})
	var paid map[string]any
	eventually(t, "the invoice", func() bool {
		status, v := try(t, srv.URL+"/sandbox/api/"+people+"pay", `{"message_id":6,"wait_ms":5000}`)
		paid = v
		return status == http.StatusOK
	})
	if paid["ok"] != true {
		t.Errorf("payment: %v", paid)
	}
	expect(map[string]any{"event": "paid", "total": 50.0, "charge": true})
	act(people+"forward", `{"chat":"@harbour_notes","message_id":2}`)
	expect(map[string]any{"event": "text", "text": "A post", "entities": []any{"italic"}, "forwarded": "channel"})
	act(people+"send", `{"text":"see https://example.org/x and @harbour_notes"}`)
	expect(map[string]any{"event": "text", "text": "see https://example.org/x and @harbour_notes", "entities": []any{"url", "mention"}})
}

// runBot starts the bot and returns what it prints; it ends with the test.
func runBot(t *testing.T, api string) <-chan map[string]any {
	t.Helper()
	cmd := exec.Command("node", "drive.mjs")
	cmd.Env = append(os.Environ(), "BOT_TOKEN="+string(sandbox.DefaultToken), "API_ROOT="+api)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	events := make(chan map[string]any, 100)
	go func() { // ends with the process's output
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var v map[string]any
			if json.Unmarshal(lines.Bytes(), &v) == nil {
				events <- v
			}
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	})
	return events
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(30 * time.Millisecond) // the bot is another process
	}
}

func try(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	var v map[string]any
	_ = json.Unmarshal(raw, &v)
	return resp.StatusCode, v
}

func post(t *testing.T, url, body string) {
	t.Helper()
	status, v := try(t, url, body)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %v", url, status, v)
	}
}
