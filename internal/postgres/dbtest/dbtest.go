// Package dbtest gives each test its own real Postgres database, cloned from a
// migrated template. One server serves a whole test process: the one named by
// TEST_DATABASE_URL, or a private one in a temporary folder (with fsync off,
// which is for tests only). A machine without Postgres fails the test: no
// test of ours skips for want of a database.
package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/migrations"
)

// server is the process's one test server with its migrated template.
type server struct {
	once     sync.Once
	url      string
	template string
	err      error
}

var (
	shared  server       //nolint:gochecknoglobals // one server per test process, by design
	counter atomic.Int64 //nolint:gochecknoglobals // names databases within the process
)

// New returns a pool on a fresh database with the whole schema. The database
// is dropped when the test ends, unless it failed.
func New(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	pool, err := pgxpool.New(context.Background(), URL(tb))
	if err != nil {
		tb.Fatalf("dbtest: %v", err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// URL is New for those who open the database themselves, such as a process
// under test.
func URL(tb testing.TB) string {
	tb.Helper()
	ctx := context.Background()
	shared.once.Do(func() { shared.err = shared.start(ctx) })
	if shared.err != nil {
		tb.Fatalf("dbtest: %v", shared.err)
	}
	name := fmt.Sprintf("t_%d_%d", os.Getpid(), counter.Add(1))
	if err := shared.exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY wal_log", name, shared.template)); err != nil {
		tb.Fatalf("dbtest: clone: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("dbtest: kept database %s", name)
			return
		}
		_ = shared.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	return withDatabase(shared.url, name)
}

// ServerDir returns a folder for a private server of the test's own, which the
// account that the server drops to can reach. It is removed when the test ends.
func ServerDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "postonce-server-") //nolint:usetesting // short, and open to the server's account
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // see above
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// start connects to the server, or starts a private one, and builds the template.
func (s *server) start(ctx context.Context) error {
	s.url = os.Getenv("TEST_DATABASE_URL")
	if s.url == "" {
		dir, err := os.MkdirTemp("", "postonce-test-")
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the account that the server drops to has to traverse it
			return err
		}
		// The server dies with this process, which leaves the folder behind:
		// sweep the ones of processes that are gone.
		sweep(filepath.Dir(dir), dir)
		pg, err := embedded.Start(ctx, dir, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
		if err != nil {
			return err
		}
		s.url = pg.URL
	}
	var err error
	s.template, err = s.buildTemplate(ctx)
	return err
}

// abandoned is how old a folder must be before it is swept: one that was made a
// moment ago belongs to a process that has not locked it yet.
const abandoned = time.Hour

// sweep removes the folders of earlier test processes: old ones that nobody locks.
func sweep(parent, own string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, "postonce-test-*"))
	for _, d := range dirs {
		fi, err := os.Stat(d)
		if d == own || err != nil || time.Since(fi.ModTime()) < abandoned || embedded.InUse(d) {
			continue
		}
		_ = os.RemoveAll(d)
	}
}

// buildTemplate migrates a template database that is named after the schema's
// digest; the advisory lock keeps parallel test binaries from building it twice.
func (s *server) buildTemplate(ctx context.Context) (string, error) {
	sum := sha256.New()
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, n := range names {
		b, err := fs.ReadFile(migrations.FS, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", n, len(b), b)
	}
	name := "tpl_" + hex.EncodeToString(sum.Sum(nil))[:16]

	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", err
	}
	var done bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&done)
	if err != nil || done {
		return name, err
	}
	for _, q := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, q); err != nil {
			return "", err
		}
	}
	m, err := postgres.NewMigrator(withDatabase(s.url, name), migrations.FS)
	if err != nil {
		return "", err
	}
	_, err = m.Up(ctx)
	if cerr := m.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE true")
	return name, err
}

func (s *server) exec(ctx context.Context, query string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, query)
	return err
}

// withDatabase points a connection string, in either form, at another database.
func withDatabase(url, name string) string {
	if !strings.Contains(url, "://") {
		return url + " dbname=" + name
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return url
	}
	return fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable", cfg.Host, cfg.Port, cfg.User, cfg.Password, name)
}
