package miniapp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/miniapp"
)

// ask makes a request and reads its answer.
func ask(t testing.TB, method, url, auth, body string, head ...string) (*http.Response, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", auth)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	_ = json.Unmarshal(raw, &out) // 304 and plain answers have none
	return res, out
}

func session(t testing.TB, base string, id int64) string {
	t.Helper()
	res, out := ask(t, "POST", base+"/api/v1/session", "tma "+signed(t, id, "X", "en", time.Now()), "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("session of %d: %d %v", id, res.StatusCode, out)
	}
	return "Bearer " + out["token"].(string)
}

func TestSessionsAreOpenedByTelegramAlone(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(time.Now())
	srv := start(t, f, time.Now)
	good := signed(t, ann, "Ann", "en", time.Now())
	token := session(t, srv.URL, ann)
	tests := []struct {
		name, auth, code string
		status           int
	}{
		{"signed", "tma " + good, "", 200},
		{"a session says who it is", token, "", 200},
		{"nothing", "", "session.missing", 401},
		{"forged", "tma " + strings.Replace(good, "Ann", "Eve", 1), "session.refused", 401},
		{"a duplicated key", "tma " + good + "&user=%7B%22id%22%3A666%7D", "session.refused", 401},
		{"expired", "tma " + signed(t, ann, "Ann", "en", time.Now().Add(-61*time.Minute)), "session.expired", 401},
		{"from the future", "tma " + signed(t, ann, "Ann", "en", time.Now().Add(10*time.Minute)), "session.expired", 401},
		{"another person in the token", strings.Replace(token, "101.", "102.", 1), "session.expired", 401},
		{"a longer life in the token", regexp.MustCompile(`\.\d+\.`).ReplaceAllString(token, ".99999999999."), "session.expired", 401},
		{"rubbish", "Bearer a.b.c", "session.expired", 401},
	}
	for _, tt := range tests {
		res, out := ask(t, "POST", srv.URL+"/api/v1/session", tt.auth, "")
		code, _ := out["code"].(string)
		if res.StatusCode != tt.status || code != tt.code {
			t.Errorf("%s: %d %q, want %d %q", tt.name, res.StatusCode, code, tt.status, tt.code)
		}
	}
	f.mu.Lock()
	p := f.people[ann]
	p.Access = editorial.AccessBanned
	f.people[ann] = p
	f.mu.Unlock()
	if res, _ := ask(t, "GET", srv.URL+"/api/v1/me", token, ""); res.StatusCode != http.StatusForbidden {
		t.Errorf("a banned person's running session: %d, want 403", res.StatusCode)
	}
}

func TestASessionEndsAndAnotherBotsIsWorthNothing(t *testing.T) {
	t.Parallel()
	now := time.Now()
	clock := now
	srv := start(t, newFakeDesk(now), func() time.Time { return clock })
	token := session(t, srv.URL, ann)
	clock = now.Add(11 * time.Hour)
	if res, _ := ask(t, "GET", srv.URL+"/api/v1/me", token, ""); res.StatusCode != http.StatusOK {
		t.Errorf("after 11 h: %d", res.StatusCode)
	}
	clock = now.Add(13 * time.Hour)
	if res, _ := ask(t, "GET", srv.URL+"/api/v1/me", token, ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after 13 h: %d, want 401", res.StatusCode)
	}
	clock = now
	other, err := miniapp.New(miniapp.Config{Desk: newFakeDesk(now), Token: botToken + "x", Now: time.Now, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "/api/v1/me", nil)
	req.Header.Set("Authorization", token)
	other.API().ServeHTTP(rec, req)
	if rec.Code != http.StatusUnauthorized {
		t.Errorf("another bot takes the session: %d", rec.Code)
	}
}

// TestTheSessionBringsWhatIsShownFirst asks for it with a channel of the person's,
// one of nobody's and none; the week is the one that the plan itself answers.
func TestTheSessionBringsWhatIsShownFirst(t *testing.T) {
	t.Parallel()
	srv := start(t, newFakeDesk(time.Now()), time.Now)
	api, token := srv.URL+"/api/v1/", session(t, srv.URL, ann)
	_, plan := ask(t, "GET", api+"channels/1/plan", token, "")
	for _, first := range []string{"1", "0", "999"} {
		_, got := ask(t, "POST", api+"session?first="+first, token, "")
		f, _ := got["first"].(map[string]any)
		if f["channel_id"] != 1.0 || f["changes"] == nil {
			t.Fatalf("first=%s brought %v", first, got["first"])
		}
		if diff := cmp.Diff(plan, f["plan"]); diff != "" {
			t.Errorf("first=%s: the plan (-) and what the session brought (+):\n%s", first, diff)
		}
	}
	if _, got := ask(t, "POST", api+"session", token, ""); got["first"] != nil {
		t.Error("nobody asked for the first view")
	}
	if res, _ := ask(t, "POST", api+"session?first=one", token, ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("first=one: %d, want 400", res.StatusCode)
	}
}

func TestReadsAreConditionalAndWritesRepeatable(t *testing.T) {
	t.Parallel()
	srv := start(t, newFakeDesk(time.Now()), time.Now)
	api, token := srv.URL+"/api/v1/", session(t, srv.URL, ann)
	res, _ := ask(t, "GET", api+"channels/1/drafts?state=proposed&limit=2", token, "")
	again, _ := ask(t, "GET", api+"channels/1/drafts?state=proposed&limit=2", token, "", "If-None-Match", res.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("the same read again: %d, want 304", again.StatusCode)
	}
	_, page := ask(t, "GET", api+"channels/1/drafts?state=proposed&limit=2", token, "")
	if page["next"] != 2.0 || len(page["drafts"].([]any)) != 2 {
		t.Errorf("page = %v", page["next"])
	}
	_, first := ask(t, "POST", api+"drafts/1/approve", token, `{"transition":1}`)
	_, second := ask(t, "POST", api+"drafts/1/approve", token, `{"transition":1}`)
	if first["done"] != true || second["already"] != true || first["slot_at"] != second["slot_at"] {
		t.Errorf("approved %v, again %v", first, second)
	}
	res, _ = ask(t, "GET", api+"channels/1", token, "")
	old := res.Header.Get("ETag")
	if res, _ = ask(t, "PATCH", api+"channels/1", token, `{"look_for":"a"}`, "If-Match", old); res.StatusCode != http.StatusOK {
		t.Errorf("a change: %d", res.StatusCode)
	}
	if res, _ = ask(t, "PATCH", api+"channels/1", token, `{"look_for":"b"}`, "If-Match", old); res.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("a change over another's: %d, want 412", res.StatusCode)
	}
	for _, bad := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "drafts/1/approve", `{"transition":1,"surprise":true}`, 400},
		{"POST", "drafts/1/approve", `{"transition":1}{}`, 400},
		{"GET", "channels/1/drafts?state=lost", "", 400},
		{"GET", "channels/1/plan?from=yesterday", "", 400},
		{"PATCH", "channels/1", `{"digest_at":"25:00"}`, 422},
		{"POST", "billing/checkout", `{"plan":"x"}`, 409},
		{"POST", "drafts/1/edit", `{"html":"` + strings.Repeat("x", 300<<10) + `"}`, 413},
		{"GET", "nowhere", "", 404},
	} {
		if res, out := ask(t, bad.method, api+bad.path, token, bad.body); res.StatusCode != bad.status {
			t.Errorf("%s %s: %d %v, want %d", bad.method, bad.path, res.StatusCode, out, bad.status)
		}
	}
}

func TestTheDescriptionNamesWhatIsServed(t *testing.T) {
	t.Parallel()
	srv := start(t, newFakeDesk(time.Now()), time.Now)
	s, err := miniapp.New(miniapp.Config{Token: botToken, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	_, doc := ask(t, "GET", srv.URL+"/api/v1/openapi.json", "", "")
	var described []string
	for path, ops := range doc["paths"].(map[string]any) {
		for method := range ops.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	served := s.RoutesForTest()
	slices.Sort(served)
	slices.Sort(described)
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("described (-) and served (+):\n%s", diff)
	}
}

func TestThePageIsSmallAndStrict(t *testing.T) {
	t.Parallel()
	srv := start(t, newFakeDesk(time.Now()), time.Now)
	s, err := miniapp.New(miniapp.Config{Token: botToken, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	const most = 40_000
	if n := s.WeightForTest(); n > most {
		t.Errorf("the page's files are %d bytes gzipped, want at most %d", n, most)
	} else {
		t.Logf("the page's files are %d bytes gzipped", n)
	}
	res, _ := ask(t, "GET", srv.URL+"/app/", "", "")
	policy := res.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self' 'sha256-", "https://telegram.org; style", "base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error("the policy allows something unsafe")
	}
}

// TestEachLanguageIsWhole holds the catalogues against English and the code: every text in each, every key that is
// named there, its places alike.
func TestEachLanguageIsWhole(t *testing.T) {
	t.Parallel()
	all := catalogue(t)
	en := all["en"]
	form := regexp.MustCompile(`#(zero|two|few|many)$`)
	place := regexp.MustCompile(`\{\w+\}`)
	for tag, texts := range all {
		for k, text := range en {
			other, there := texts[k]
			if !there {
				t.Errorf("%s lacks %s", tag, k)
			}
			a, b := place.FindAllString(text, -1), place.FindAllString(other, -1)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(a, b) {
				t.Errorf("%s in %s: places %v and %v", k, tag, a, b)
			}
		}
		for k := range texts {
			if _, there := en[k]; !there && !form.MatchString(k) {
				t.Errorf("English lacks %s", k)
			}
		}
	}
	for k, text := range all["ru"] {
		if base, counts := strings.CutSuffix(k, "#one"); counts && text != "" && (all["ru"][base+"#few"] == "" || all["ru"][base+"#many"] == "" || all["ru"][base+"#other"] == "") {
			t.Errorf("%s lacks a Russian plural form", base)
		}
	}
	files, err := os.ReadDir("page/js")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bt\('([^'$]+)'`)
	for _, f := range files {
		raw, err := os.ReadFile("page/js/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(raw), -1) {
			if en[m[1]] == "" && en[m[1]+"#other"] == "" {
				t.Errorf("%s names %s, which has no text", f.Name(), m[1])
			}
		}
	}
}

// catalogue reads catalogue.js: a map of texts for each language, by its tag in the first line.
func catalogue(t *testing.T) map[string]map[string]string {
	t.Helper()
	raw, err := os.ReadFile("page/js/catalogue.js")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(raw), "`\n")
	body, _, _ = strings.Cut(body, "\n`")
	first, rest, _ := strings.Cut(body, "\n")
	tags := strings.Split(first, "|")[1:]
	all := map[string]map[string]string{}
	for _, tag := range tags {
		all[tag] = map[string]string{}
	}
	for line := range strings.SplitSeq(rest, "\n") {
		col := strings.Split(line, "|")
		if len(col) != 1+len(tags) {
			t.Fatalf("not a key and %d texts: %q", len(tags), line)
		}
		for i, tag := range tags {
			if all[tag][col[0]] != "" {
				t.Fatalf("a key twice: %q", line)
			}
			if col[i+1] != "" {
				all[tag][col[0]] = col[i+1]
			}
		}
	}
	return all
}

// TestTheModulesCanBeJoined checks what join relies on.
func TestTheModulesCanBeJoined(t *testing.T) {
	t.Parallel()
	if idle("{ for (let i = 0; i < f(9); i++); }") == "" || idle("{ if (a) b(); }") != "" {
		t.Error("loops without a body are not told from others")
	}
	files, err := os.ReadDir("page/js")
	if err != nil {
		t.Fatal(err)
	}
	top := regexp.MustCompile(`(?m)^(?:export )?(?:async function|function|const|let|class) (\w+)`)
	strange := regexp.MustCompile(`(?m)^(import (?:[^{]|\{[^}]* as ).*|export (?:default|\{|\*|let).*)|\bimport\(["']`)
	comment := regexp.MustCompile(`(?s)/\*\*.*?\*/`)
	seen := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile("page/js/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range top.FindAllStringSubmatch(string(raw), -1) {
			if other, twice := seen[m[1]]; twice {
				t.Errorf("%s is at the top of %s and of %s", m[1], other, f.Name())
			}
			seen[m[1]] = f.Name()
		}
		if s := idle(string(raw)); s != "" {
			t.Errorf("%s: %q ends a block without a body", f.Name(), s)
		}
		if s := strange.FindString(comment.ReplaceAllString(string(raw), "")); s != "" {
			t.Errorf("%s: %q is a form that cannot be joined", f.Name(), s)
		}
	}
}

// idle finds a for, while or if without a body at the end of a block: its
// semicolon is needed.
func idle(src string) string {
	for _, at := range regexp.MustCompile(`\b(?:for|while|if) \(`).FindAllStringIndex(src, -1) {
		depth, end := 1, at[1]
		for ; depth > 0 && end < len(src); end++ {
			switch src[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		if rest, empty := strings.CutPrefix(src[end:], ";"); empty && strings.HasPrefix(strings.TrimSpace(rest), "}") {
			return src[at[0]:end]
		}
	}
	return ""
}

// TestEveryCodeOfTheServersHasWords looks for the codes that the page is sent
// and puts into a key: of the desk's errors and lives, of kinds, states and findings.
func TestEveryCodeOfTheServersHasWords(t *testing.T) {
	t.Parallel()
	en := catalogue(t)["en"]
	has := func(key string) bool { return en[key] != "" || en[key+"#other"] != "" }
	source := ""
	for _, dir := range []string{"../desk", "../publishing"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
				raw, err := os.ReadFile(dir + "/" + f.Name())
				if err != nil {
					t.Fatal(err)
				}
				source += string(raw)
			}
		}
	}
	// The codes that only the chat and the operators' commands can cause.
	elsewhere := []string{"error.not_operator", "error.channel_taken", "error.not_channel_admin", "error.bot_not_admin", "error.not_a_channel", "error.invitation", "error.job", "error.finding", "error.source."}
	for _, m := range regexp.MustCompile(`"(error\.[a-z_.]+)"`).FindAllStringSubmatch(source, -1) {
		if !has(m[1]) && !slices.Contains(elsewhere, m[1]) {
			t.Errorf("the desk refuses with %s, which the page has no words for", m[1])
		}
	}
	lives := regexp.MustCompile(`'life\.([a-z_]+)'`).FindAllStringSubmatch(source, -1)
	for _, m := range append(lives, []string{"", "approved"}, []string{"", "skipped"}, []string{"", "taken_back"}, []string{"", "published"}, []string{"", "failed"}, []string{"", "unconfirmed"}) {
		if !has("life." + m[1]) {
			t.Errorf("a life holds life.%s, which the page has no words for", m[1])
		}
	}
	if len(lives) < 8 {
		t.Errorf("only %d codes of lives were found", len(lives))
	}
	lists := regexp.MustCompile(`func (?:channel|draft)Kinds\(\) \[\]string \{\s+return \[\]string\{([^}]*)\}`).FindAllStringSubmatch(source, -1)
	for _, l := range lists {
		for _, kind := range regexp.MustCompile(`\w+`).FindAllString(l[1], -1) {
			if !has("jobkind." + kind) {
				t.Errorf("a status holds jobs of kind %s, which the page has no words for", kind)
			}
		}
	}
	if len(lists) != 2 {
		t.Errorf("%d lists of kinds were found", len(lists))
	}
	chat, err := os.ReadFile("../chat/texts/en.json")
	if err != nil {
		t.Fatal(err)
	}
	checks := regexp.MustCompile(`"(check\.[a-z]+)":`).FindAllStringSubmatch(string(chat), -1)
	for _, m := range checks {
		if !has(m[1]) && m[1] != "check.other" {
			t.Errorf("the chat has words for %s, the page has none", m[1])
		}
	}
	if len(checks) < 4 {
		t.Errorf("only %d checks were found", len(checks))
	}
	// What the tables allow.
	for area, values := range map[string][]string{
		"verdict": checked(t, "verdict"), "how": append(checked(t, "settled_how"), checked(t, "how")...), "finding": checked(t, "finding"),
		"skip": checked(t, "skip_reason"), "composer": checked(t, "composer"),
	} {
		for _, v := range values {
			if !has(area + "." + v) {
				t.Errorf("the page has no words for %s.%s", area, v)
			}
		}
	}
}

// checked are the values that a CHECK of the features' tables allows in a column.
func checked(t *testing.T, column string) []string {
	t.Helper()
	var out []string
	for _, file := range []string{"0004_stories", "0005_scoring", "0006_drafting", "0008_publishing"} {
		raw, err := os.ReadFile("../../migrations/" + file + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`CHECK \(`+column+` IN \(([^)]*)\)`).FindAllStringSubmatch(string(raw), -1) {
			for _, v := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(m[1], -1) {
				if v[1] != "lead" && v[1] != "sending" { // said of nothing that people are shown
					out = append(out, v[1])
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no CHECK names the values of %s", column)
	}
	return out
}
