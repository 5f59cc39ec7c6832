package miniapp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/miniapp"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/telegram/initdata"
)

const botToken = "123456789:AAE-a-token-that-is-made-up-for-tests1"

// start serves the page and its API over a fake desk and an empty database.
func start(t testing.TB, d miniapp.Desk, now func() time.Time) *httptest.Server {
	t.Helper()
	s, err := miniapp.New(miniapp.Config{Desk: d, Pool: dbtest.New(t), Token: botToken, Now: now, Logger: zerolog.New(zerolog.NewTestWriter(t))})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/app/", s.Page())
	mux.Handle("/api/v1/", s.API())
	// The least that a page of this kind can be, to compare its start with.
	mux.HandleFunc("GET /bare/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><meta name="viewport" content="width=device-width"><ul></ul><script>
			fetch('/api/v1/session', {method: 'POST', headers: {authorization: 'tma ' + new URLSearchParams(location.hash.slice(1)).get('tgWebAppData')}}).then(r => r.json())
				.then(s => { document.querySelector('ul').innerHTML = '<li class=slot>' + s.channels[0].title })</script>`) // the reader went away: nobody to tell
	})
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, r *http.Request) {
		if f, ok := d.(*fakeDesk); ok {
			fresh := newFakeDesk(f.now)
			if r.URL.Query().Has("new") { // as on the first day
				fresh.drafts, fresh.sources = map[int64]*desk.DraftView{}, nil
			}
			f.mu.Lock()
			f.ch, f.drafts, f.sources = fresh.ch, fresh.drafts, fresh.sources
			f.mu.Unlock()
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(func() { s.Close(); srv.CloseClientConnections(); srv.Close() })
	return srv
}

func signed(t testing.TB, id int64, name, language string, at time.Time) string {
	t.Helper()
	raw, err := initdata.Sign(initdata.User{ID: id, FirstName: name, LanguageCode: language}, botToken, at, "q", "")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// needs finds what a test of the page runs on; under CI nothing may be missing.
func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			missing(t, n)
		}
	}
	if _, err := os.Stat("browsertest/node_modules"); err != nil {
		missing(t, "browsertest/node_modules (npm install in internal/miniapp/browsertest)")
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing: %s", what)
	}
	t.Skipf("missing: %s", what)
}

func TestThePageInChromium(t *testing.T) {
	t.Parallel()
	needs(t, "node", "chromium")
	now := time.Now()
	srv := start(t, newFakeDesk(now), time.Now)
	args := []string{"--test", "--test-reporter=spec"}
	if only := os.Getenv("PAGE_TESTS"); only != "" {
		args = append(args, "--test-name-pattern="+only)
	}
	cmd := exec.CommandContext(t.Context(), "node", append(args, "page.test.mjs")...)
	cmd.Dir = "browsertest"
	cmd.Env = append(os.Environ(), "BASE="+srv.URL, "ANN="+signed(t, ann, "Ann", "en", now), "VIC="+signed(t, vic, "Вик", "ru", now),
		"EVE="+signed(t, eve, "Eve", "en", now), "TOKEN="+botToken, "OLD="+signed(t, ann, "Ann", "en", now.Add(-2*time.Hour)))
	// Streamed, so that a test that hangs has already said where.
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}

// TestThePageIsThereSoon says how soon the page can be used on a phone whose
// processor is a quarter of this machine's; it needs a machine that does nothing
// else. POSTONCE_BENCH=1 runs it, LIMIT_MS fails it above a median.
func TestThePageIsThereSoon(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("POSTONCE_BENCH=1 measures")
	}
	needs(t, "node", "chromium")
	now := time.Now()
	srv := start(t, newFakeDesk(now), time.Now)
	cmd := exec.CommandContext(t.Context(), "node", "speed.mjs")
	cmd.Dir = "browsertest"
	cmd.Env = append(os.Environ(), "BASE="+srv.URL, "ANN="+signed(t, ann, "Ann", "en", now))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheScriptsKeepTheirTypes(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "-p", ".")
	cmd.Dir = "browsertest"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tsc --checkJs: %v\n%s", err, out)
	}
}
