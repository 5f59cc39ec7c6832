package e2e_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

const (
	emptiedSQL = `
DROP SCHEMA public CASCADE`

	schemaBackSQL = `
CREATE SCHEMA public`

	relationsSQL = `
SELECT count(*)
  FROM pg_class
 WHERE relnamespace = 'public'::regnamespace`
)

// A token that Telegram does not take stops the start before anything is
// touched. An outage of Telegram stops only the first start with a token, where
// a mistake in the settings is as likely.
func TestTelegramsAnswerIsNeededOnce(t *testing.T) {
	t.Parallel()
	tw, database := newTown(t, nil), dbtest.URL(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{emptiedSQL, schemaBackSQL} {
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	here := append(tw.env(database), "HTTP_ADDR=127.0.0.1:0", "OPS_ADDR=127.0.0.1:0")
	if code, _, stderr := run(t, append(here, "TELEGRAM_BOT_TOKEN=7000000002:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "serve"); code != 2 {
		t.Errorf("a wrong token: exit %d: %s", code, stderr)
	}
	if n := one(t, conn, relationsSQL); n != 0 {
		t.Errorf("a start with a wrong token made %d tables and indexes", n)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	outage := "TELEGRAM_API_URL=http://127.0.0.1:1"
	if code, _, stderr := run(t, append(here, outage), "serve"); code != 1 || !strings.Contains(stderr, "does not answer") {
		t.Errorf("the first start, in an outage: exit %d: %s", code, stderr)
	}
	serve(t, tw.env(database)...).kill()
	again := serve(t, append(tw.env(database), outage)...)
	if said, err := body(t, again.http+"/readyz"); err != nil {
		t.Errorf("a later start, in an outage, is not ready: %v: %s", err, said)
	}
	if !strings.Contains(again.log.String(), "started without Telegram") {
		t.Error("nothing is said of the outage")
	}
}
