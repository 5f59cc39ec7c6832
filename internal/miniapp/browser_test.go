package miniapp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rs/zerolog"

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
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, _ *http.Request) {
		if f, ok := d.(*fakeDesk); ok {
			fresh := newFakeDesk(f.now)
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
		"EVE="+signed(t, eve, "Eve", "en", now), "OLD="+signed(t, ann, "Ann", "en", now.Add(-2*time.Hour)))
	// Streamed, so that a test that hangs has already said where.
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
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
