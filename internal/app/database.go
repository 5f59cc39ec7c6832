package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/migrations"
)

// Database is the one pool, and the private server behind it when no address
// was configured.
type Database struct {
	Pool *pgxpool.Pool
	// DirectURL is past a pooler: for LISTEN and migrations.
	DirectURL string
	// Clock is the database's, by which slots are planned.
	Clock *postgres.Clock
	// Hints keeps enqueues from notifying more often than workers can use.
	Hints *queue.Hints

	server *embedded.Server // nil: somebody else's server
}

// OpenDatabase connects to DATABASE_URL, or starts a private server under
// DATA_DIR when that is empty. Its errors are one line that names the mend.
func OpenDatabase(ctx context.Context, cfg config.Config) (*Database, error) {
	db := &Database{DirectURL: cfg.DirectURL(), Hints: queue.NewHints()}
	url := cfg.DatabaseURL
	if url == "" {
		server, err := embedded.Start(ctx, filepath.Join(cfg.DataDir, "postgres"))
		if err != nil {
			return nil, explainEmbedded(err, cfg.DataDir)
		}
		db.server = server
		db.DirectURL, url = server.URL, server.URL
	}
	pool, err := postgres.Open(ctx, postgres.Config{
		URL: url, MaxConns: cfg.DatabaseConns, Pooled: cfg.DatabaseDirectURL != "", Name: "postonce", OnConnect: db.Hints.ShareWith,
	})
	if err != nil {
		db.Close()
		if errors.Is(err, postgres.ErrUnreachable) {
			return nil, fmt.Errorf("DATABASE_URL: %w: %s", err, mendDatabase(err))
		}
		return nil, &config.Error{Variable: "DATABASE_URL", Problem: err.Error()}
	}
	db.Pool, db.Clock = pool, postgres.NewClock(pool, nil)
	if err := db.Clock.Set(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// mendDatabase names what to do about a database that refused us.
func mendDatabase(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "28P01", "28000":
			return "correct the user and the password in the address; the database of docker-compose.yml keeps the POSTGRES_PASSWORD of its first start (docs/operating.md, \"Install\", says how to change it)"
		case "3D000":
			return "create it, or correct the name at the end of the address"
		case "53300":
			return "raise its max_connections, or lower DATABASE_CONNS of the programs that share it"
		}
	}
	return "check that Postgres runs there and that the user and password are right"
}

func explainEmbedded(err error, dir string) error {
	if errors.Is(err, embedded.ErrInUse) {
		return fmt.Errorf("DATA_DIR %s: %w: stop the other postonce, or choose another directory", dir, err)
	}
	// Postgres says so in the tail of its log.
	if errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), "No space left on device") {
		return fmt.Errorf("DATA_DIR %s: its disk is full: make room for 100 MB and more, or choose another directory", dir)
	}
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		return err
	}
	return fmt.Errorf("DATA_DIR %s: %w: make it a folder that this user may write to, with room on its disk, or set DATABASE_URL", dir, err)
}

// Close ends the pool, then the private server.
func (d *Database) Close() {
	if d.Pool != nil {
		d.Pool.Close()
	}
	if d.server != nil {
		d.server.Stop()
	}
}

// Lost is closed when a private server exits although nobody asked it to; nil
// where the server is somebody else's.
func (d *Database) Lost() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// Migrate brings the schema up to date and returns how many migrations ran.
func (d *Database) Migrate(ctx context.Context) (int, error) {
	m, err := postgres.NewMigrator(d.DirectURL, migrations.FS)
	if err != nil {
		return 0, err
	}
	n, err := m.Up(ctx)
	if cerr := m.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, postgres.ErrSchemaNewer) {
		return n, fmt.Errorf("%w: run the release that migrated it, or a newer one", err)
	}
	return n, err
}

// Migrations lists all migrations, applied or pending.
func (d *Database) Migrations(ctx context.Context) ([]postgres.Migration, error) {
	m, err := postgres.NewMigrator(d.DirectURL, migrations.FS)
	if err != nil {
		return nil, err
	}
	list, err := m.Status(ctx)
	if cerr := m.Close(); err == nil {
		err = cerr
	}
	return list, err
}

const schemaVersionSQL = `
SELECT coalesce(max(version_id), 0)
  FROM goose_db_version
 WHERE is_applied`

// current fails unless the schema is the one that this program knows. It is
// asked at every health check, so it costs one query of the pool.
func (d *Database) current(ctx context.Context) error {
	want, err := SchemaVersion()
	if err != nil {
		return err
	}
	var have int64
	if err := d.Pool.QueryRow(ctx, schemaVersionSQL).Scan(&have); err != nil {
		return errors.New("cannot be read")
	}
	if have != want {
		return fmt.Errorf("is at %d, the program wants %d", have, want)
	}
	return nil
}

// SchemaVersion is the newest migration that this program knows.
func SchemaVersion() (int64, error) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, errors.New("no migrations are built in")
	}
	number, _, _ := strings.Cut(names[len(names)-1], "_")
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("migration %s: %w", names[len(names)-1], err)
	}
	return v, nil
}
