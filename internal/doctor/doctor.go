// Package doctor checks everything that postonce needs around itself: the
// database, the bot's token and rights, the webhook, the clock, the model's
// endpoint, the public address. Each check is one line that names the mend.
//
// It owns no table, changes nothing anywhere, and never makes a call that
// costs money or that a person can see.
package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/telegram"
)

// Status is what a check found.
type Status string

// The findings: only Fail makes the command fail.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "FAIL"
	Skip Status = "skip" // not configured, or what it builds on failed
)

// Finding is one line of the report.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
}

// Config is what there is to check.
type Config struct {
	// Open connects to the database; its error is shown as it is.
	Open func(ctx context.Context) (*pgxpool.Pool, error)
	// SchemaWanted is the newest migration that the program knows.
	SchemaWanted int64
	// Pooled says that DATABASE_DIRECT_URL is set.
	Pooled bool

	Token      string
	APIURL     string
	Updates    string // polling or webhook
	PublicURL  string
	WebhookURL string // where the program receives updates; empty with polling
	LogChatID  int64

	ModelURL  string
	ModelKey  string
	ModelName string
	ModelAPI  string // openai or anthropic

	// HTTP asks the model's endpoint, the public address and the time; default
	// a client that follows no redirects.
	HTTP *http.Client
	// Now is this machine's clock; default time.Now.
	Now func() time.Time
}

const (
	checkTimeout = 15 * time.Second
	maxChannels  = 200 // whose rights are checked
)

// exam is one run: what a check learned and a later one builds on.
type exam struct {
	cfg    Config
	pool   *pgxpool.Pool    // nil: no database
	schema bool             // the tables are there
	client *telegram.Client // nil: no token, or Telegram does not take it
}

// Run makes every check in order, reports each as soon as it is known, and
// returns whether none failed.
func Run(ctx context.Context, cfg Config, report func(Finding)) bool {
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	e := &exam{cfg: cfg}
	defer func() {
		if e.pool != nil {
			e.pool.Close()
		}
	}()
	healthy := true
	for _, check := range []struct {
		name string
		run  func(ctx context.Context) (Status, string)
	}{
		{"database", e.database},
		{"schema", e.schemaVersion},
		{"pooler", e.pooler},
		{"token", e.token},
		{"webhook", e.webhook},
		{"rights", e.rights},
		{"log chat", e.logChat},
		{"clock", e.clock},
		{"model", e.model},
		{"public address", e.publicAddress},
		{"archive", e.archive},
		{"restore", e.restore},
	} {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		status, text := check.run(ctx)
		cancel()
		healthy = healthy && status != Fail
		report(Finding{Name: check.name, Status: status, Text: text})
	}
	return healthy
}

// Print writes one finding as a line of the terminal's report.
func Print(w io.Writer, f Finding) {
	_, _ = fmt.Fprintf(w, "%-5s %-15s %s\n", f.Status, f.Name, f.Text)
}
