package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/postgres/embedded"
)

const schemaFromTheFutureSQL = `
INSERT INTO goose_db_version (version_id, is_applied)
VALUES (99990101, true)`

// Whatever is wrong around the program, it says so in one line that names the
// mend, and ends with 2 where the configuration is to blame, with 1 where the
// world is.
func TestWhatIsWrongIsOneLineWithItsMend(t *testing.T) {
	t.Parallel()
	tw := newTown(t, nil)
	database := dbtest.URL(t)
	newer := dbtest.URL(t)
	conn, err := pgx.Connect(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), schemaFromTheFutureSQL); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken := dbtest.ServerDir(t)
	server, err := embedded.Start(t.Context(), filepath.Join(taken, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	busy := busyPort(t)

	tests := []struct {
		name string
		args string
		env  []string // after those of a sound configuration
		code int
		want []string
	}{
		{"no token", "serve", []string{"TELEGRAM_BOT_TOKEN="}, 2, []string{"TELEGRAM_BOT_TOKEN is not set", "@BotFather"}},
		{"a token that is none", "serve", []string{"TELEGRAM_BOT_TOKEN=hello"}, 2, []string{"TELEGRAM_BOT_TOKEN", "@BotFather"}},
		{"a token that Telegram does not know", "serve", []string{"TELEGRAM_BOT_TOKEN=7000000002:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 2, []string{"TELEGRAM_BOT_TOKEN is not known to Telegram", "@BotFather"}},
		{"Telegram out of reach", "serve", []string{"TELEGRAM_API_URL=http://127.0.0.1:1", "TELEGRAM_BOT_TOKEN=7000000003:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 1, []string{"TELEGRAM_API_URL http://127.0.0.1:1 does not answer", "check the network"}},
		{"a wrong variable", "serve", []string{"WORKERS_BULK=many"}, 2, []string{`WORKERS_BULK is "many": want a whole number`}},
		{"a missing variable", "serve", []string{"TELEGRAM_UPDATES=webhook"}, 2, []string{"PUBLIC_URL is empty", "https"}},
		{"a file that is not there", "serve", []string{"BILLING=stars", "BILLING_PLANS=/nowhere/plans"}, 2, []string{"BILLING_PLANS names /nowhere/plans"}},
		{"a secret's file that is not there", "serve", []string{"TELEGRAM_BOT_TOKEN=", "TELEGRAM_BOT_TOKEN_FILE=/nowhere/token"}, 2, []string{"TELEGRAM_BOT_TOKEN_FILE names /nowhere/token, which is not there"}},
		{"an address that is no database's", "serve", []string{"DATABASE_URL=postgres//nowhere"}, 2, []string{"DATABASE_URL", "postgres://"}},
		{"a database out of reach", "serve", []string{"DATABASE_URL=postgres://postgres@127.0.0.1:1/x?connect_timeout=2"}, 1, []string{"DATABASE_URL", "check that Postgres runs there"}},
		{"a database that is not there", "serve", []string{"DATABASE_URL=" + strings.Replace(database, "dbname=t_", "dbname=not_there_", 1)}, 1, []string{"DATABASE_URL", "does not exist", "create it"}},
		{"a schema newer than the program", "serve", []string{"DATABASE_URL=" + newer}, 1, []string{"newer", "run the release that migrated it"}},
		{"a schema newer than the program, for an operator", "jobs list", []string{"DATABASE_URL=" + newer}, 1, []string{"the schema"}},
		{"a busy port", "serve", []string{"HTTP_ADDR=" + busy}, 1, []string{"HTTP_ADDR", "stop the program that holds it, or choose another address"}},
		{"a busy private port", "serve", []string{"OPS_ADDR=" + busy}, 1, []string{"OPS_ADDR", "choose another address"}},
		{"a busy port of the demo", "demo --no-browser --addr " + busy, []string{"DATA_DIR=" + t.TempDir()}, 1, []string{"--addr", "choose another address"}},
		{"a data directory in use", "serve", []string{"DATABASE_URL=", "DATA_DIR=" + taken}, 1, []string{"DATA_DIR " + taken, "stop the other postonce, or choose another directory"}},
		{"a data directory that cannot be made", "serve", []string{"DATABASE_URL=", "DATA_DIR=/proc/nowhere"}, 1, []string{"DATA_DIR /proc/nowhere", "may write to"}},
		{"nobody to ask for health", "health", []string{"HTTP_ADDR=127.0.0.1:1"}, 1, []string{"not ready: nobody answers on 127.0.0.1:1"}},
		{"a command that is none", "publish", nil, 2, []string{`no command "publish"`, "postonce help"}},
		{"a decision without a number", "jobs replay", nil, 2, []string{"jobs replay needs one job number"}},
		{"a decision without an author", "jobs confirm 1", nil, 2, []string{"--by NAME"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := append(append(tw.env(database), "HTTP_ADDR=127.0.0.1:0", "OPS_ADDR=127.0.0.1:0", "LOG_LEVEL=error"), tt.env...)
			code, _, stderr := run(t, env, strings.Fields(tt.args)...)
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			for _, part := range tt.want {
				if !strings.Contains(stderr, part) {
					t.Errorf("no %q in what it said", part)
				}
			}
			line, rest, _ := strings.Cut(stderr, "\n")
			if !strings.HasPrefix(line, "postonce: ") || rest != "" && !strings.HasPrefix(rest, "usage: ") {
				t.Errorf("want one line")
			}
			if strings.Contains(stderr, "AAAAAAAA") {
				t.Error("a secret is in it")
			}
			if t.Failed() {
				t.Logf("exit %d:\n%s", code, stderr)
			}
		})
	}
}
