package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/doctor"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

const token = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// world is what the doctor looks at: all in order, until a test spoils a part.
type world struct {
	cfg     doctor.Config
	answers map[string]string // the result of each Bot API method
	refuse  map[string]string // method: whole answer of a refusal
	models  string
	date    time.Time
}

const schemaSQL = `
SELECT max(version_id)
  FROM goose_db_version`

const channelAddSQL = `
INSERT INTO channels (chat_id, title, created_by)
VALUES (-1001, 'Night news', 1)`

func sane(t *testing.T) *world {
	t.Helper()
	pool := dbtest.New(t)
	var schema int64
	if err := pool.QueryRow(t.Context(), schemaSQL).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), channelAddSQL); err != nil {
		t.Fatal(err)
	}
	w := &world{
		answers: map[string]string{
			"getMe":          `{"id":123456,"is_bot":true,"username":"postonce_bot"}`,
			"getWebhookInfo": `{"url":"","pending_update_count":3}`,
			"getChatMember":  `{"status":"administrator","can_post_messages":true}`,
			"getChat":        `{"id":-7,"type":"private"}`,
		},
		refuse: map[string]string{},
		models: `{"data":[{"id":"small-1"},{"id":"large-1"}]}`,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/bot"+token+"/{method}", func(rw http.ResponseWriter, r *http.Request) {
		if body, ok := w.refuse[r.PathValue("method")]; ok {
			var code struct {
				Code int `json:"error_code"`
			}
			_ = json.Unmarshal([]byte(body), &code)
			rw.WriteHeader(code.Code)
			_, _ = rw.Write([]byte(body))
			return
		}
		_, _ = rw.Write([]byte(`{"ok":true,"result":` + w.answers[r.PathValue("method")] + `}`))
	})
	mux.HandleFunc("/v1/models", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = rw.Write([]byte(w.models))
	})
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("HEAD /{$}", func(rw http.ResponseWriter, _ *http.Request) {
		if !w.date.IsZero() {
			rw.Header().Set("Date", w.date.UTC().Format(http.TimeFormat))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.cfg = doctor.Config{
		Open: func(context.Context) (*pgxpool.Pool, error) {
			return pgxpool.New(context.Background(), pool.Config().ConnString())
		},
		SchemaWanted: schema,
		Token:        token, APIURL: server.URL, Updates: "polling", PublicURL: server.URL, LogChatID: -7,
		ModelURL: server.URL + "/v1", ModelKey: "key", ModelName: "small-1", ModelAPI: "openai",
		HTTP: server.Client(),
	}
	return w
}

// clock sets this machine's.
func (w *world) clock(off time.Duration) {
	w.cfg.Now = func() time.Time { return time.Now().Add(off) }
}

func examine(t *testing.T, w *world) (map[string]doctor.Finding, bool) {
	t.Helper()
	found := map[string]doctor.Finding{}
	ok := doctor.Run(t.Context(), w.cfg, func(f doctor.Finding) {
		found[f.Name] = f
		if strings.Contains(f.Text, "\n") || strings.Contains(f.Text, token) || f.Text == "" {
			t.Errorf("%s: not one clean line: %q", f.Name, f.Text)
		}
	})
	return found, ok
}

func TestAHealthyPlaceIsAllInOrder(t *testing.T) {
	t.Parallel()
	found, ok := examine(t, sane(t))
	unsafe := false
	for name, f := range found {
		// The test server runs without fsync, and the doctor says so.
		if name == "database" && strings.Contains(f.Text, "fsync") {
			unsafe = true
			continue
		}
		if f.Status != doctor.OK {
			t.Errorf("%s: %s %s", name, f.Status, f.Text)
		}
	}
	if ok == unsafe {
		t.Errorf("healthy: %t, with fsync off: %t", ok, unsafe)
	}
}

func TestEachFaultIsNamedWithItsMend(t *testing.T) {
	t.Parallel()
	unauthorized := `{"ok":false,"error_code":401,"description":"Unauthorized"}`
	tests := []struct {
		name   string
		spoil  func(w *world)
		check  string
		status doctor.Status
		text   string
	}{
		{
			"no database", func(w *world) {
				w.cfg.Open = func(context.Context) (*pgxpool.Pool, error) {
					return nil, errors.New("DATABASE_URL: the database\ncannot be reached")
				}
			}, "database", doctor.Fail, "DATABASE_URL: the database cannot be reached",
		},
		{"an older schema", func(w *world) { w.cfg.SchemaWanted++ }, "schema", doctor.Fail, "postonce migrate up"},
		{"a newer schema", func(w *world) { w.cfg.SchemaWanted-- }, "schema", doctor.Fail, "run the release that migrated it"},
		{"no token", func(w *world) { w.cfg.Token = "" }, "token", doctor.Fail, "@BotFather"},
		{"a revoked token", func(w *world) { w.refuse["getMe"] = unauthorized }, "token", doctor.Fail, "revoked"},
		{"telegram out of reach", func(w *world) { w.cfg.APIURL = "http://127.0.0.1:1" }, "token", doctor.Fail, "cannot be asked"},
		{
			"a webhook in the way of polling", func(w *world) { w.answers["getWebhookInfo"] = `{"url":"https://other.example/x"}` },
			"webhook", doctor.Fail, "polling gets nothing",
		},
		{"another program's webhook", func(w *world) {
			w.cfg.Updates, w.cfg.WebhookURL = "webhook", "https://ours.example/telegram/webhook"
			w.answers["getWebhookInfo"] = `{"url":"https://other.example/x"}`
		}, "webhook", doctor.Fail, "another program uses the same token"},
		{"no administrator", func(w *world) { w.answers["getChatMember"] = `{"status":"member"}` }, "rights", doctor.Fail, "Night news (-1001): the bot is no administrator"},
		{"a missing right", func(w *world) { w.answers["getChatMember"] = `{"status":"administrator"}` }, "rights", doctor.Fail, "the right to post messages is missing"},
		{"a log chat out of reach", func(w *world) {
			w.refuse["getChat"] = `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`
		}, "log chat", doctor.Fail, "add the bot there"},
		{
			"a clock that is slow, the database's too", func(w *world) { w.date = time.Now().Add(time.Minute) },
			"clock", doctor.Fail, "this machine's clock and the database's are 1m0s behind Telegram's: let NTP set it",
		},
		{
			"a database of another time", func(w *world) { w.clock(-time.Hour); w.date = time.Now().Add(-time.Hour) },
			"clock", doctor.Fail, "the database's clock is 1h0m0s ahead of this machine's and Telegram's, and slots and leases go by it",
		},
		{
			"a clock that is fast", func(w *world) { w.clock(time.Hour); w.date = time.Now() },
			"clock", doctor.Fail, "this machine's clock is 1h0m0s ahead of the database's and Telegram's: let NTP set it",
		},
		{
			"three clocks, three times", func(w *world) { w.clock(time.Minute); w.date = time.Now().Add(-time.Minute) },
			"clock", doctor.Fail, "this machine's clock is 1m0s ahead of the database's and 2m",
		},
		{
			"a database of another time, and no Telegram", func(w *world) { w.clock(-time.Minute); w.date = time.Time{}; w.cfg.APIURL = "http://127.0.0.1:1" },
			"clock", doctor.Fail, "this machine's clock is 1m0s behind the database's, and slots go by that: let NTP set both",
		},
		{"a wrong key", func(w *world) { w.cfg.ModelKey = "x" }, "model", doctor.Fail, "refuses LLM_API_KEY"},
		{"a model nobody has", func(w *world) { w.cfg.ModelName = "tiny-9" }, "model", doctor.Warn, "tiny-9 is not among the 2"},
		{"an address that is no endpoint", func(w *world) { w.models = "<html>" }, "model", doctor.Warn, "often ends in /v1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := sane(t)
			tt.spoil(w)
			found, ok := examine(t, w)
			f := found[tt.check]
			if f.Status != tt.status || !strings.Contains(f.Text, tt.text) {
				t.Errorf("got %s %q, want %s with %q", f.Status, f.Text, tt.status, tt.text)
			}
			if tt.status == doctor.Fail && ok {
				t.Error("a failure leaves the whole healthy")
			}
		})
	}
}

func TestPrintKeepsOneLineForOneCheck(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	doctor.Print(&b, doctor.Finding{Name: "token", Status: doctor.OK, Text: "@postonce_bot"})
	if diff := cmp.Diff("ok    token           @postonce_bot\n", b.String()); diff != "" {
		t.Error(diff)
	}
}
