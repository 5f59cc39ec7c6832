package embedded_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres/embedded"
)

func query(t *testing.T, url, q string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var got string
	if err := conn.QueryRow(t.Context(), q).Scan(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func exec(t *testing.T, url, q string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func TestServerKeepsDataOverKillAndRestart(t *testing.T) {
	t.Parallel()
	dir := dbtest.ServerDir(t)
	first, err := embedded.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, first.URL, "CREATE TABLE kept AS SELECT 'Ё' AS v")
	if _, err := embedded.Start(t.Context(), dir); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("second start on one directory: %v, want ErrInUse", err)
	}
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the server outlived SIGKILL")
	}
	first.Stop()
	second, err := embedded.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Stop()
	if got := query(t, second.URL, "SELECT lower(v) FROM kept"); got != "ё" {
		t.Errorf("after the restart: %q, want ё (Cyrillic folds)", got)
	}
}
