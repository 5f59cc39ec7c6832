package drafting_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/llm"
)

// startAimock serves the answers of aimock/serve.mjs and returns the address.
func startAimock(t *testing.T) string {
	t.Helper()
	missing := func(what string, err error) {
		t.Helper()
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is needed in CI: %v", what, err)
		}
		t.Skipf("%s is not here: %v", what, err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("node", err)
	}
	if _, err := os.Stat("aimock/node_modules/@copilotkit/aimock"); err != nil {
		install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent", "--ignore-scripts")
		install.Dir = "aimock"
		if out, err := install.CombinedOutput(); err != nil {
			missing("@copilotkit/aimock", fmt.Errorf("%w\n%s", err, out))
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "serve.mjs")
	cmd.Dir, cmd.Stderr = "aimock", os.Stderr
	in, err := cmd.StdinPipe()
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
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http://") {
			return strings.TrimSpace(lines.Text())
		}
	}
	t.Fatal("aimock did not start")
	return ""
}

// journalled is one request as aimock saw it.
type journalled struct {
	Timestamp int64             `json:"timestamp"`
	Path      string            `json:"path"`
	Headers   map[string]string `json:"headers"`
	Body      json.RawMessage   `json:"body"`
	Response  struct {
		Status int `json:"status"`
	} `json:"response"`
}

// journal reads what was asked, once at least so much was.
func journal(t *testing.T, url string, least int) []journalled {
	t.Helper()
	var list []journalled
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(url + "/__aimock/journal") //nolint:gosec // the test's own server
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) >= least {
			break
		}
	}
	return list
}

// mockCase is what becomes of a draft whose item asks for one case.
type mockCase struct {
	composer, fallback string
	requests           int
}

func mockCases() map[string]mockCase {
	return map[string]mockCase{
		"Quuxgood":    {"model", "", 1},
		"Quuxbroken":  {"extractive", "checks:empty", 2},
		"Quuxmended":  {"model", "", 2},
		"Quuxlength":  {"model", "", 2},
		"Quuxendless": {"extractive", "checks:length", 2},
		"Quuxrefusal": {"extractive", "declined", 1},
		"Quuxprose":   {"extractive", "checks:empty", 2},
		"Quuxdenied":  {"extractive", "denied", 1},
		"Quuxlater":   {"model", "", 2},
		"Quuxquota":   {"extractive", "no_quota", 1},
		"Quuxfails":   {"extractive", "answer_lost", 1},
		"Quuxbusy":    {"extractive", "answer_lost", 1},
		"Quuxhang":    {"extractive", "answer_lost", 1},
		"Quuxdrop":    {"extractive", "answer_lost", 1},
		"Quuxgarbled": {"extractive", "checks:empty", 2},
	}
}

// TestAForeignEndpointIsAskedOnceATurn drives drafts through an endpoint that nobody
// here wrote; its journal says what was really asked.
func TestAForeignEndpointIsAskedOnceATurn(t *testing.T) {
	t.Parallel()
	url := startAimock(t)
	b := newBundle(t, withModel(url+"/v1"), func(c *drafting.Config) { c.ModelTimeout = 3 * time.Second })
	ch := b.channel("en")
	stories := map[string]int64{}
	requests := 0
	for word, c := range mockCases() {
		stories[word] = b.story(ch, rocketTitle+" "+word, rocketText)
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: stories[word], Score: 77})
		requests += c.requests
	}
	b.toldOf(len(stories))
	b.quiet()
	seen := journal(t, url, requests)
	if len(seen) != requests {
		t.Errorf("%d requests in all, want %d", len(seen), requests)
	}
	for word, want := range mockCases() {
		var got mockCase
		err := b.pool.QueryRow(t.Context(), `
			SELECT r.composer, r.fallback,
			       (SELECT coalesce(sum(tries), 0) FROM model_calls m WHERE m.draft_id = d.id)
			  FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision WHERE d.story_id = $1`, stories[word]).
			Scan(&got.composer, &got.fallback, &got.requests)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %+v in the database, want %+v", word, got, want)
		}
		askedOnce(t, word, seen, want.requests)
	}
}

// askedOnce holds one case's requests against the promise: each turn once, and a
// second time only after a certain "later".
func askedOnce(t *testing.T, word string, seen []journalled, want int) {
	t.Helper()
	var bodies []string
	var last journalled
	n := 0
	for _, e := range seen {
		body := string(e.Body)
		if !strings.Contains(body, word) {
			continue
		}
		n++
		if slices.Contains(bodies, body) {
			if last.Response.Status != http.StatusTooManyRequests || e.Timestamp-last.Timestamp < 2000 {
				t.Errorf("%s: one turn was asked twice, %d ms after status %d", word, e.Timestamp-last.Timestamp, last.Response.Status)
			}
		}
		for name := range e.Headers {
			if strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key") {
				t.Errorf("%s: sent with %s", word, name)
			}
		}
		bodies, last = append(bodies, body), e
	}
	if n != want {
		t.Errorf("%s: %d requests arrived, want %d", word, n, want)
	}
}

func TestTheLadderOfAForeignEndpointIsRemembered(t *testing.T) {
	t.Parallel()
	url := startAimock(t)
	b := newBundle(t, withModel(url+"/v1"))
	ch := b.channel("en")
	for range 2 {
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle+" Quuxladder", rocketText)})
		b.quiet()
	}
	if n := b.id(`SELECT count(*) FROM draft_revisions WHERE composer = 'model'`); n != 2 {
		t.Errorf("%d texts by the model, want 2", n)
	}
	var formats []string
	for _, e := range journal(t, url, 4) {
		var req struct {
			Format struct{ Type string } `json:"response_format"`
		}
		if err := json.Unmarshal(e.Body, &req); err != nil {
			t.Fatal(err)
		}
		formats = append(formats, req.Format.Type)
	}
	if got := strings.Join(formats, " "); got != "json_schema json_object  " {
		t.Errorf("asked for %q, want each rung once and then plain", got)
	}
}

func TestAnthropicsOwnAPI(t *testing.T) {
	t.Parallel()
	url := startAimock(t)
	b := newBundle(t, func(c *drafting.Config) {
		c.Model = llm.New(llm.Config{API: llm.Anthropic, BaseURL: url + "/v1", Key: "k", Model: "m"})
		c.ModelTimeout = 3 * time.Second
	})
	ch := b.channel("en")
	want := mockCases()
	words := []string{"Quuxgood", "Quuxmended", "Quuxlength", "Quuxdenied", "Quuxfails", "Quuxlater", "Quuxdrop"}
	stories := map[string]int64{}
	requests := 0
	for _, word := range words {
		stories[word] = b.story(ch, rocketTitle+" "+word, rocketText)
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: stories[word]})
		requests += want[word].requests
	}
	b.toldOf(len(words))
	b.quiet()
	seen := journal(t, url, requests)
	for _, word := range words {
		got := b.text(`SELECT r.composer || ' ' || r.fallback FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision WHERE d.story_id = $1`, stories[word])
		if got != want[word].composer+" "+want[word].fallback {
			t.Errorf("%s: %s, want %+v", word, got, want[word])
		}
		askedOnce(t, word, seen, want[word].requests)
	}
	for _, e := range seen {
		if e.Path != "/v1/messages" {
			t.Errorf("asked at %s", e.Path)
		}
	}
}
