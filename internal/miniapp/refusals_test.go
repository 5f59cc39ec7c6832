package miniapp_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/telegram/initdata"
)

// TestEveryRefusalSaysWhatToDo asks, over the real desk, what a careless or a bad
// program asks. Each answer is a problem with a mend, of a status that the
// description promises for that operation.
func TestEveryRefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(80, 3)
	api, now := w.srv.URL+"/api/v1", time.Now()
	good := signed(t, ann, "Ann", "en", now)
	token := session(t, w.srv.URL, ann)
	another, err := initdata.Sign(initdata.User{ID: ann, FirstName: "Ann"}, strings.Replace(botToken, "1", "2", 1), now, "q", "")
	if err != nil {
		t.Fatal(err)
	}
	ch := fmt.Sprintf("/channels/%d", w.channel)
	theirs := fmt.Sprintf("/channels/%d", w.one(`SELECT id FROM channels WHERE id <> $1`, w.channel))
	waits := fmt.Sprintf("/drafts/%d", w.one(`SELECT max(id) FROM drafts WHERE state = 'proposed'`))
	planned := w.one(`SELECT min(id) FROM drafts WHERE state = 'scheduled'`)
	held := w.at(`SELECT slot_at FROM drafts WHERE id = $1`, planned)
	_, _ = ask(t, "POST", api+ch+"/invitations", token, `{"role":"viewer"}`, "Idempotency-Key", "one")
	doc := w.described()
	said := map[string]string{
		"error.slot_taken": "This slot was just taken. Choose another.", "session.expired": "Open the page again from the bot.",
		"error.setting": "This cannot be: time_zone = Mars/Olympus", "error.finding": "What can be asked, and how, stands in /api/v1/openapi.json.",
	}
	for _, tt := range []struct {
		name, method, route, path, auth, body, code string
		status                                      int
		head                                        []string
	}{
		{"no session", "GET", "/me", "/me", "", "", "session.missing", 401, nil},
		{"another scheme", "GET", "/me", "/me", "Basic YTpi", "", "session.missing", 401, nil},
		{"forged", "POST", "/session", "/session", "tma " + strings.Replace(good, "Ann", "Eve", 1), "", "session.refused", 401, nil},
		{"not signed at all", "POST", "/session", "/session", "tma user=%7B%22id%22%3A101%7D&auth_date=1", "", "session.refused", 401, nil},
		{"a key twice", "POST", "/session", "/session", "tma " + good + "&auth_date=1", "", "session.refused", 401, nil},
		{"another bot's", "POST", "/session", "/session", "tma " + another, "", "session.refused", 401, nil},
		{"expired", "GET", "/me", "/me", "tma " + signed(t, ann, "Ann", "en", now.Add(-2*time.Hour)), "", "session.expired", 401, nil},
		{"from the future", "GET", "/me", "/me", "tma " + signed(t, ann, "Ann", "en", now.Add(time.Hour)), "", "session.expired", 401, nil},
		{"another's channel", "GET", "/channels/{channel}/plan", theirs + "/plan", token, "", "error.not_yours", 404, nil},
		{"a number that is none", "GET", "/channels/{channel}", "/channels/1e9", token, "", "error.not_yours", 404, nil},
		{"a number beyond all", "GET", "/drafts/{draft}", "/drafts/99999999999999999999", token, "", "error.not_yours", 404, nil},
		{"another's stream", "GET", "/events", "/events?channel=" + strings.TrimPrefix(theirs, "/channels/"), token, "", "error.not_yours", 404, nil},
		{"a huge body", "POST", "/drafts/{draft}/edit", waits + "/edit", token, `{"transition":1,"html":"` + strings.Repeat("x", 300<<10) + `"}`, "too_large", 413, nil},
		{"a huge list of sources", "POST", "/channels/{channel}/sources.opml", ch + "/sources.opml", token, "<opml>" + strings.Repeat(" ", 6<<20), "too_large", 413, []string{"Content-Type", "text/x-opml"}},
		{"a list of sources that is none", "POST", "/channels/{channel}/sources.opml", ch + "/sources.opml", token, "{}", "error.source.not_opml", 422, nil},
		{"a form", "POST", "/drafts/{draft}/approve", waits + "/approve", token, "transition=1", "media_type", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"no type", "PATCH", "/channels/{channel}", ch, token, `{"look_for":"x"}`, "media_type", 415, []string{"Content-Type", ""}},
		{"half a body", "PATCH", "/channels/{channel}", ch, token, `{"look_for":`, "bad_request", 400, nil},
		{"two bodies", "PATCH", "/channels/{channel}", ch, token, `{}{}`, "bad_request", 400, nil},
		{"an unknown field", "PATCH", "/me", "/me", token, `{"operator":true}`, "bad_request", 400, nil},
		{"another type", "POST", "/drafts/{draft}/approve", waits + "/approve", token, `{"transition":"1"}`, "bad_request", 400, nil},
		{"no day", "GET", "/channels/{channel}/plan", ch + "/plan?from=2026-13-01", token, "", "bad_request", 400, nil},
		{"no number", "GET", "/channels/{channel}/drafts", ch + "/drafts?limit=many", token, "", "bad_request", 400, nil},
		{"the cursor of another list", "GET", "/channels/{channel}/activity", ch + "/activity?before=17", token, "", "bad_request", 400, nil},
		{"the other cursor of another list", "GET", "/channels/{channel}/drafts", ch + "/drafts?before=2026-01-01T00:00:00Z", token, "", "bad_request", 400, nil},
		{"no state", "GET", "/channels/{channel}/drafts", ch + "/drafts?state=lost", token, "", "bad_request", 400, nil},
		{"no time", "POST", "/drafts/{draft}/schedule", waits + "/schedule", token, `{"transition":1}`, "bad_request", 400, nil},
		{"a time that has passed", "POST", "/drafts/{draft}/schedule", waits + "/schedule", token, `{"transition":1,"at":"2020-01-01T00:00:00Z"}`, "error.slot_past", 409, nil},
		{"a slot that is taken", "POST", "/drafts/{draft}/schedule", waits + "/schedule", token, fmt.Sprintf(`{"transition":1,"at":%q}`, held.Format(time.RFC3339Nano)), "error.slot_taken", 409, nil},
		{"an old version", "PATCH", "/channels/{channel}", ch, token, `{"look_for":"x"}`, "error.changed", 412, []string{"If-Match", `"v0."`}},
		{"a version that is none", "PATCH", "/channels/{channel}", ch, token, `{"look_for":"x"}`, "error.changed", 412, []string{"If-Match", "*,*"}},
		{"a setting that cannot be", "PATCH", "/channels/{channel}", ch, token, `{"time_zone":"Mars/Olympus"}`, "error.setting", 422, nil},
		{"no such finding", "POST", "/drafts/{draft}/settle", waits + "/settle", token, `{"transition":1,"finding":"perhaps"}`, "error.finding", 422, nil},
		{"a post that is none", "POST", "/drafts/{draft}/edit-post", waits + "/edit-post", token, `{"html":"x"}`, "error.not_published", 422, nil},
		{"a key for another role", "POST", "/channels/{channel}/invitations", ch + "/invitations", token, `{"role":"owner"}`, "idempotency_key", 422, []string{"Idempotency-Key", "one"}},
		{"the last owner", "DELETE", "/channels/{channel}/members/{person}", ch + fmt.Sprintf("/members/%d", ann), token, "", "error.last_owner", 409, nil},
		{"a link to nothing", "GET", "/life", "/life?ref=https://example.org/never", token, "", "error.not_yours", 404, nil},
		{"nothing is sold", "POST", "/billing/checkout", "/billing/checkout", token, `{"plan":"pro"}`, "billing.off", 409, nil},
		{"no address of ours", "GET", "", "/nowhere", token, "", "not_found", 404, nil},
		{"another method", "PUT", "", ch, token, "{}", "method", 405, nil},
	} {
		w.ahead.Add(int64(time.Second)) // the pace that a person is allowed
		res, out := ask(t, tt.method, api+tt.path, tt.auth, tt.body, tt.head...)
		detail, _ := out["detail"].(string)
		title, _ := out["title"].(string)
		if res.StatusCode != tt.status || out["code"] != tt.code || out["status"] != float64(tt.status) {
			t.Errorf("%s: %d %v, want %d %s", tt.name, res.StatusCode, out, tt.status, tt.code)
		}
		if got := res.Header.Get("Content-Type"); got != "application/problem+json" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %q, %q", tt.name, got, res.Header.Get("Cache-Control"))
		}
		if len(detail) < 10 || title == "" || strings.ContainsAny(detail, "{}") {
			t.Errorf("%s: %q, %q tell nobody what to do", tt.name, title, detail)
		}
		// In the page's words, with what the code is about put in.
		if want := said[tt.code]; want != "" && detail != want {
			t.Errorf("%s: %q, want %q", tt.name, detail, want)
		}
		if tt.route != "" && !doc.promises(tt.method, tt.route, res.StatusCode) {
			t.Errorf("%s: %d of %s %s is not described", tt.name, res.StatusCode, tt.method, tt.route)
		}
		if tt.status == http.StatusMethodNotAllowed && res.Header.Get("Allow") != "GET, PATCH" {
			t.Errorf("%s: Allow %q", tt.name, res.Header.Get("Allow"))
		}
	}
}

// TestACursorOfAnothersListGivesOnlyOnesOwn pages with a number of a draft that is somebody else's.
func TestACursorOfAnothersListGivesOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(30, 2)
	token := session(t, w.srv.URL, eve)
	mine := w.one(`SELECT id FROM channels WHERE id <> $1`, w.channel)
	for _, cursor := range []string{fmt.Sprint(w.one(`SELECT max(id) FROM drafts`)), "-7", "0", "4611686018427387904"} {
		res, page := ask(t, "GET", fmt.Sprintf("%s/api/v1/channels/%d/drafts?before=%s", w.srv.URL, mine, cursor), token, "")
		if list, _ := page["drafts"].([]any); res.StatusCode != http.StatusOK || len(list) != 0 {
			t.Errorf("before=%s: %d, %d drafts of somebody else's", cursor, res.StatusCode, len(list))
		}
	}
}

// TestAListIsPagedToItsEnd asks for larger pages than there are, and follows the cursors.
func TestAListIsPagedToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(120, 6)
	token := session(t, w.srv.URL, ann)
	seen, path := 0, fmt.Sprintf("%s/api/v1/channels/%d/drafts?limit=1000", w.srv.URL, w.channel)
	for before := ""; ; {
		res, page := ask(t, "GET", path+before, token, "")
		list, _ := page["drafts"].([]any)
		if seen += len(list); res.StatusCode != http.StatusOK || seen > 120 {
			t.Fatalf("%d, %d drafts", res.StatusCode, seen)
		}
		next, more := page["next"].(float64)
		if !more {
			break
		}
		before = fmt.Sprintf("&before=%.0f", next)
	}
	if seen != 120 {
		t.Errorf("the pages hold %d drafts, want 120", seen)
	}
}

// TestOnePersonsStreamsAreBounded opens streams until one is refused, and one more after another closed.
func TestOnePersonsStreamsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := session(t, w.srv.URL, ann)
	client := &http.Client{Transport: &http.Transport{}}
	open := func() (*http.Response, bool) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s/api/v1/events?channel=%d", w.srv.URL, w.channel), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", token)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusOK {
			if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
				t.Errorf("refused with %d", res.StatusCode)
			}
			_ = res.Body.Close()
			return nil, false
		}
		if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "event:") {
			t.Fatalf("the first line is %q, %v", line, err)
		}
		return res, true
	}
	var all []*http.Response
	for {
		res, ok := open()
		if !ok {
			break
		}
		if all = append(all, res); len(all) > 50 {
			t.Fatal("50 streams of one person, and none was too many")
		}
	}
	if len(all) < 12 {
		t.Errorf("only %d streams", len(all))
	}
	_ = all[0].Body.Close()
	again := false
	for end := time.Now().Add(10 * time.Second); !again && time.Now().Before(end); {
		w.ahead.Add(int64(time.Second))
		_, again = open() // the server learns of the closed one when it looks next
	}
	if !again {
		t.Error("a closed stream makes no room")
	}
}

// TestNewsOfEveryKindIsTold changes what two people see at once, and asks what the pages are told.
func TestNewsOfEveryKindIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(70, 2)
	token := session(t, w.srv.URL, ann)
	ch := fmt.Sprintf("/channels/%d", w.channel)
	src := ch + fmt.Sprintf("/sources/%d", w.one(`SELECT min(id) FROM sources`))
	waits := fmt.Sprintf("/drafts/%d", w.one(`SELECT max(id) FROM drafts WHERE state = 'proposed'`))
	news := func() map[string]any {
		w.ahead.Add(int64(time.Second)) // past what is remembered
		_, out := ask(t, "GET", w.srv.URL+"/api/v1"+ch+"/changes", token, "")
		return out
	}
	for _, tt := range []struct{ topic, method, path, body string }{
		{"drafts", "POST", waits + "/approve", `{"transition":1}`},
		{"drafts", "POST", waits + "/undo", `{"transition":2}`},
		{"sources", "PATCH", src, `{"weight":50}`},
		{"sources", "PATCH", src, `{"must_words":["port"]}`},
		{"sources", "PATCH", src, `{"never_words":["ads"]}`},
		{"sources", "PATCH", src, `{"pattern":"ferr(y|ies)"}`},
		{"sources", "POST", src + "/pause", ``},
		{"settings", "PATCH", ch, `{"look_for":"tides"}`},
		{"settings", "POST", ch + "/pause", ``},
		{"settings", "PATCH", ch + fmt.Sprintf("/members/%d", vic), `{"role":"editor"}`},
		{"settings", "DELETE", ch + fmt.Sprintf("/members/%d", vic), ``},
	} {
		before := news()
		if res, out := ask(t, tt.method, w.srv.URL+"/api/v1"+tt.path, token, tt.body); res.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %d %v", tt.method, tt.path, res.StatusCode, out)
		}
		if after := news(); after[tt.topic] == before[tt.topic] {
			t.Errorf("%s %s %s: no news of %s", tt.method, tt.path, tt.body, tt.topic)
		}
	}
}

// TestThePlanSpeaksTheChannelsTime looks at each time of a plan with a planned post.
func TestThePlanSpeaksTheChannelsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(70, 2)
	token := session(t, w.srv.URL, ann)
	path := fmt.Sprintf("%s/api/v1/channels/%d", w.srv.URL, w.channel)
	if res, out := ask(t, "PATCH", path, token, `{"time_zone":"Asia/Kolkata"}`); res.StatusCode != http.StatusOK {
		t.Fatal(out)
	}
	// The next slot taken, so that the queue lasts until some time.
	_, free := ask(t, "GET", path+"/free-slots?n=1", token, "")
	waits := w.one(`SELECT max(id) FROM drafts WHERE state = 'proposed'`)
	next := free["slots"].([]any)[0]
	if res, out := ask(t, "POST", fmt.Sprintf("%s/api/v1/drafts/%d/schedule", w.srv.URL, waits), token, fmt.Sprintf(`{"transition":1,"at":%q}`, next)); res.StatusCode != http.StatusOK {
		t.Fatal(out)
	}
	_, plan := ask(t, "GET", path+"/plan", token, "")
	times := []any{plan["lasts_until"], plan["ends_at"], next}
	for _, d := range plan["days"].([]any) {
		day := d.(map[string]any)
		for _, s := range day["slots"].([]any) {
			at := s.(map[string]any)["at"]
			times = append(times, at)
			if !strings.HasPrefix(at.(string), day["date"].(string)) {
				t.Errorf("%v stands in the day %v", at, day["date"])
			}
		}
	}
	for _, at := range times {
		if text, _ := at.(string); !strings.HasSuffix(text, "+05:30") {
			t.Errorf("%v is not the channel's time", at)
		}
	}
	if len(times) < 10 {
		t.Errorf("only %d times", len(times))
	}
}
