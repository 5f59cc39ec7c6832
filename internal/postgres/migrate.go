package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// ErrSchemaNewer means that the database was migrated by a newer release than
// this one; running on would write by rules that the schema no longer keeps.
var ErrSchemaNewer = errors.New("the schema is newer than this program")

// Migration is one line of Status.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero: pending
}

// Migrator brings a database to this program's schema. It needs a connection
// that is not behind a transaction-mode pooler: it holds a session lock, so
// that several processes starting at once migrate once.
type Migrator struct {
	db       *sql.DB
	provider *goose.Provider
}

// NewMigrator opens its own connection to url and reads the migrations in fsys.
func NewMigrator(url string, fsys fs.FS) (*Migrator, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database address cannot be read: want postgres://user:password@host:5432/name")
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	db := stdlib.OpenDB(*cfg)
	p, err := goose.NewProvider(goose.DialectPostgres, db, fsys, goose.WithSessionLocker(locker))
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return &Migrator{db: db, provider: p}, nil
}

// Close releases the connection.
func (m *Migrator) Close() error { return m.db.Close() }

// Versions returns the schema version of the database (0 when empty) and the
// newest that this program knows.
func (m *Migrator) Versions(ctx context.Context) (have, want int64, err error) {
	have, want, err = m.provider.GetVersions(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("schema version: %w", err)
	}
	return have, want, nil
}

// Up applies what is pending and returns how many migrations that were. It
// fails with ErrSchemaNewer, and changes nothing, on a database of a newer
// release.
func (m *Migrator) Up(ctx context.Context) (int, error) {
	have, want, err := m.Versions(ctx)
	if err != nil {
		return 0, err
	}
	if have > want {
		return 0, fmt.Errorf("%w (it has %d, the program knows %d)", ErrSchemaNewer, have, want)
	}
	done, err := m.provider.Up(ctx)
	if err != nil {
		return len(done), fmt.Errorf("migrate: %w", err)
	}
	return len(done), nil
}

// Status lists every migration in order, applied or pending.
func (m *Migrator) Status(ctx context.Context) ([]Migration, error) {
	list, err := m.provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	out := make([]Migration, len(list))
	for i, s := range list {
		out[i] = Migration{Version: s.Source.Version, Name: s.Source.Path, AppliedAt: s.AppliedAt}
	}
	return out, nil
}
