// Package postgres opens the one pool that the whole process shares, runs the
// migrations and gives use cases their transactions. It owns no table and
// knows no feature; whoever needs SQL keeps it beside its own Go.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says which database to open and how.
type Config struct {
	// URL is a Postgres connection string, as a URL or as key=value pairs.
	URL string
	// MaxConns bounds the pool; 0 takes 20.
	MaxConns int32
	// Pooled says that a transaction-mode pooler stands between: no named
	// statements are kept on its connections.
	Pooled bool
	// Name is shown in pg_stat_activity.
	Name string
	// OnConnect prepares each new connection; nil does nothing.
	OnConnect func(ctx context.Context, conn *pgx.Conn) error
}

// ErrUnreachable means that no connection could be made: the address, the
// network or the credentials are wrong, or the server is not up.
var ErrUnreachable = errors.New("the database cannot be reached")

// Open connects a pool and checks it with one query. It fails with an error
// that wraps ErrUnreachable when the server does not answer within ctx.
func Open(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// pgx's own message can repeat the address with its password.
		return nil, errors.New("the database address cannot be read: want postgres://user:password@host:5432/name")
	}
	pc.MaxConns = cfg.MaxConns
	if pc.MaxConns == 0 {
		pc.MaxConns = 20
	}
	pc.MaxConnIdleTime = 5 * time.Minute
	pc.HealthCheckPeriod = 30 * time.Second
	if pc.ConnConfig.ConnectTimeout == 0 {
		pc.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	if cfg.Pooled {
		// Only descriptions are kept, on our side: each query is parsed, bound and
		// run in one message to one backend. (Without descriptions pgx guesses
		// the types of parameters from Go's, and takes a json[] for a bytea[].)
		pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		pc.ConnConfig.StatementCacheCapacity = 0
	}
	pc.AfterConnect = cfg.OnConnect
	if cfg.Name != "" {
		pc.ConnConfig.RuntimeParams["application_name"] = cfg.Name
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, redact(err))
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, redact(err))
	}
	return pool, nil
}

// redact keeps the cause of a connection error, in one line, and drops the
// address with its password.
func redact(err error) error {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refusal{pe}
	}
	if oe, ok := errors.AsType[*net.OpError](err); ok && oe.Addr != nil {
		return fmt.Errorf("%s: %w", oe.Addr, oe.Err)
	}
	if ce, ok := errors.AsType[*pgconn.ConnectError](err); ok && errors.Unwrap(ce) != nil {
		err = errors.Unwrap(ce)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(first)
}

// refusal is an answer of Postgres told by its message alone, which names no value; its code can still be asked for.
type refusal struct{ *pgconn.PgError }

func (r refusal) Error() string { return r.Message }

func (r refusal) Unwrap() error { return r.PgError }

// Beginner starts transactions: a pool, a connection, or a transaction (which
// then makes a savepoint).
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs fn in one transaction: committed when fn returns nil, rolled back
// otherwise, also on a panic. fn must not call the outside world. An error of
// the commit itself is returned as it is: the caller can not know then whether
// the transaction took effect, and must find out by its natural key.
func InTx(ctx context.Context, db Beginner, fn func(tx pgx.Tx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After a commit this is a no-op; a cancelled ctx must not keep the
	// rollback from reaching the server.
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Querier is what reads: a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// NoRows reports whether a query that had to return a row returned none.
func NoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// BadText reports whether Postgres refused a text for its characters: a zero
// byte, also as \u0000 in JSON, or bytes that are no UTF-8.
func BadText(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "22021" || pe.Code == "22P05")
}

// Affected runs a statement and reports whether it touched any row: the answer
// of a conditional write, where false means that somebody was faster.
func Affected(ctx context.Context, q Querier, query string, args ...any) (bool, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	rows.Next()
	rows.Close()
	if err := rows.Err(); err != nil {
		return false, err
	}
	return rows.CommandTag().RowsAffected() > 0, nil
}
