package miniapp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/miniapp"
)

// operation is one of the served routes, with real things of Ann's put in.
type operation struct{ method, route, path, body string }

// operations puts the first of each of Ann's things into every served route.
func (w *world) operations() []operation {
	w.tb.Helper()
	s, err := miniapp.New(miniapp.Config{Token: botToken, Now: time.Now, Logger: zerolog.Nop()})
	if err != nil {
		w.tb.Fatal(err)
	}
	put := strings.NewReplacer(
		"{channel}", fmt.Sprint(w.channel), "{person}", fmt.Sprint(vic), "{pack}", "en-science",
		"{draft}", fmt.Sprint(w.one(`SELECT max(id) FROM drafts WHERE channel_id = $1`, w.channel)),
		"{source}", fmt.Sprint(w.one(`SELECT min(source_id) FROM subscriptions WHERE channel_id = $1`, w.channel)),
		"{story}", fmt.Sprint(w.one(`SELECT min(story_id) FROM scores WHERE channel_id = $1`, w.channel)),
	)
	bodies := map[string]string{
		"PATCH /channels/{channel}/members/{person}": `{"role":"editor"}`, "POST /channels/{channel}/invitations": `{"role":"viewer"}`,
		"POST /channels/{channel}/sources": `{"address":"https://s1.example/feed"}`, "POST /channels/{channel}/drafts": `{"text":"A text"}`,
		"POST /drafts/{draft}/schedule": `{"transition":1,"at":"2030-01-01T00:00:00Z"}`, "POST /drafts/{draft}/move": `{"transition":1,"at":"2030-01-01T00:00:00Z"}`,
		"POST /drafts/{draft}/settle": `{"transition":1,"finding":"leave"}`, "POST /drafts/{draft}/edit": `{"transition":1,"html":"x"}`,
		"POST /drafts/{draft}/edit-post": `{"html":"x"}`, "POST /drafts/{draft}/rewrite": `{"transition":1,"instruction":"shorter"}`,
		"POST /channels/{channel}/sources.opml": `<opml version="2.0"><body><outline xmlUrl="https://s1.example/feed"/></body></opml>`,
	}
	var list []operation
	for _, r := range s.RoutesForTest() {
		method, route, _ := strings.Cut(r, " ")
		op := operation{method: method, route: r, path: put.Replace(route), body: bodies[r]}
		if op.body == "" && (method == "POST" || method == "PATCH") {
			op.body = `{"transition":1}`
			if !strings.HasPrefix(route, "/drafts/") {
				op.body = `{}`
			}
		}
		switch route {
		case "/events":
			op.path += fmt.Sprintf("?channel=%d", w.channel)
		case "/life":
			op.path += put.Replace("?ref={draft}")
		}
		list = append(list, op)
	}
	return list
}

// ofPersons are the operations about oneself: they name nothing of anybody else's.
func ofPersons() map[string]bool {
	return map[string]bool{
		"POST /session": true, "GET /openapi.json": true, "GET /me": true, "PATCH /me": true, "GET /billing": true,
		"POST /billing/checkout": true, "POST /billing/cancel": true, "POST /probe": true, "GET /packs": true,
	}
}

// TestAStrangerLearnsNothing asks every operation that is served, over the real
// desk, as a person who is a member of another channel.
func TestAStrangerLearnsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(3, 2)
	token := session(t, w.srv.URL, eve)
	before := w.digest()
	asked := 0
	for _, op := range w.operations() {
		if ofPersons()[op.route] {
			continue
		}
		res, out := ask(t, op.method, w.srv.URL+"/api/v1"+op.path, token, op.body)
		if res.StatusCode != http.StatusNotFound || out["code"] != "error.not_yours" {
			t.Errorf("%s as a stranger: %d %v, want 404 error.not_yours", op.route, res.StatusCode, out)
		}
		if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: %q", op.route, got)
		}
		// What never was is answered alike: the answer tells nothing.
		_, never := ask(t, op.method, w.srv.URL+"/api/v1"+strings.NewReplacer(fmt.Sprintf("/%d", w.channel), "/987654", fmt.Sprintf("=%d", w.channel), "=987654").Replace(op.path), token, op.body)
		if fmt.Sprint(never) != fmt.Sprint(out) && strings.HasPrefix(op.path, "/channels") {
			t.Errorf("%s: %v where a stranger's, %v where nobody's", op.route, out, never)
		}
		asked++
	}
	if asked < 40 {
		t.Fatalf("only %d operations were asked", asked)
	}
	if after := w.digest(); after != before {
		t.Errorf("a stranger changed something: %s, then %s", before, after)
	}
	_, me := ask(t, "PATCH", w.srv.URL+"/api/v1/me", token, fmt.Sprintf(`{"channel_id":%d}`, w.channel))
	if me["code"] != "error.not_yours" {
		t.Errorf("a stranger chooses the channel: %v", me)
	}
}

// TestAViewerChangesNothing asks every operation that writes, as a viewer.
func TestAViewerChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(3, 2)
	token := session(t, w.srv.URL, vic)
	before := w.digest()
	for _, op := range w.operations() {
		if ofPersons()[op.route] || op.method == "GET" || op.route == "DELETE /channels/{channel}/members/{person}" { // a member may leave
			continue
		}
		if res, out := ask(t, op.method, w.srv.URL+"/api/v1"+op.path, token, op.body); res.StatusCode != http.StatusForbidden || out["code"] != "error.role" {
			t.Errorf("%s as a viewer: %d %v, want 403 error.role", op.route, res.StatusCode, out)
		}
	}
	if after := w.digest(); after != before {
		t.Errorf("a viewer changed something: %s, then %s", before, after)
	}
}

// digest is what writes would change.
func (w *world) digest() (s string) {
	w.tb.Helper()
	err := w.pool.QueryRow(w.tb.Context(), `SELECT concat_ws(' ',
		(SELECT sum(transition + revision) FROM drafts), (SELECT count(*) FROM draft_revisions), (SELECT count(*) FROM jobs), (SELECT count(*) FROM slots),
		(SELECT sum(version) FROM channels), (SELECT count(paused_at) FROM channels), (SELECT count(*) FROM subscriptions), (SELECT sum(weight) FROM subscriptions),
		(SELECT string_agg(role, ',' ORDER BY channel_id, person_id) FROM memberships), (SELECT count(*) FROM invitations), (SELECT count(*) FROM sources))`).Scan(&s)
	if err != nil {
		w.tb.Fatal(err)
	}
	return s
}

// TestOneOfManyChangesOfOneVersionWins sends changes of one version at once, each
// with the tag that all have read.
func TestOneOfManyChangesOfOneVersionWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := fmt.Sprintf("%s/api/v1/channels/%d", w.srv.URL, w.channel)
	token := session(t, w.srv.URL, ann)
	res, _ := ask(t, "GET", path, token, "")
	tag := res.Header.Get("ETag")
	var wg sync.WaitGroup
	status := make([]int, 8)
	for i := range status {
		wg.Go(func() {
			res, _ := ask(t, "PATCH", path, token, fmt.Sprintf(`{"look_for":"wish %d"}`, i), "If-Match", tag)
			status[i] = res.StatusCode
		})
	}
	wg.Wait()
	won := 0
	for _, s := range status {
		switch s {
		case http.StatusOK:
			won++
		case http.StatusPreconditionFailed:
		default:
			t.Errorf("status %d", s)
		}
	}
	if won != 1 {
		t.Errorf("%d changes of one version went through, want 1: %v", won, status)
	}
	for _, bad := range []string{`"x"`, `"v"`, "rubbish"} {
		if res, _ := ask(t, "PATCH", path, token, `{"look_for":"z"}`, "If-Match", bad); res.StatusCode != http.StatusPreconditionFailed {
			t.Errorf("If-Match %s: %d, want 412", bad, res.StatusCode)
		}
	}
}

// TestWritesMayBeRepeated sends each write twice, as after a lost answer.
func TestWritesMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(60, 3)
	token := session(t, w.srv.URL, ann)
	for _, op := range w.operations() {
		switch op.route {
		case "POST /session", "PATCH /me", "POST /billing/checkout", "POST /billing/cancel", "POST /probe", "POST /channels/{channel}/sources":
			continue // they write nothing of ours, or reach out to the network first
		}
		if op.method == "GET" {
			continue
		}
		_, first := ask(t, op.method, w.srv.URL+"/api/v1"+op.path, token, op.body, "Idempotency-Key", "a-key")
		if code, _ := first["code"].(string); code == "bad_request" || code == "internal" {
			t.Errorf("%s: %v", op.route, first)
		}
		once := w.digest()
		res, second := ask(t, op.method, w.srv.URL+"/api/v1"+op.path, token, op.body, "Idempotency-Key", "a-key")
		if twice := w.digest(); twice != once && op.method != "PATCH" { // a setting's version counts its writes
			t.Errorf("%s asked twice changes twice: %s, then %s (%d %v)", op.route, once, twice, res.StatusCode, second)
		}
		if first["link"] != second["link"] {
			t.Errorf("%s: %v, asked again %v", op.route, first["link"], second["link"])
		}
	}
}
