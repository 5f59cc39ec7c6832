package queue

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// claimSettingsSQL are for the connections that claim. Their statement is planned once: with LIMIT as a
// parameter the planner would otherwise plan every claim anew (1 ms, a third of the cost of a job), and a deep
// table would make it compile.
const claimSettingsSQL = `SELECT set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false)`

// groupSettingsSQL are for the transaction of one group commit of the ledger. Its statements are planned once, and by
// their indexes: a plan that was made while the ledger was small would go on reading all of it.
const groupSettingsSQL = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`

// grouped runs a statement of one row as a transaction with groupSettingsSQL, in one round trip.
type grouped struct{ db writer }

type groupedRow struct {
	ctx  context.Context //nolint:containedctx // of QueryRow, until Scan
	db   writer
	sql  string
	args []any
}

// QueryRow returns a row whose Scan does it all. After an error of Scan it may have committed, unless isServerError.
func (g grouped) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return groupedRow{ctx: ctx, db: g.db, sql: sql, args: args}
}

// Scan implements pgx.Row.
func (r groupedRow) Scan(dest ...any) error {
	b := &pgx.Batch{}
	b.Queue(groupSettingsSQL)
	b.Queue(r.sql, r.args...)
	results := r.db.SendBatch(r.ctx, b)
	_, err := results.Exec()
	if err == nil {
		err = results.QueryRow().Scan(dest...)
	}
	if closed := results.Close(); err == nil {
		err = closed // the commit comes after the row
	}
	return err
}

// ownConn is a connection outside the pool, so that handlers can never starve what must go on: each lane's
// claims, and all that the critical lane writes.
type ownConn struct {
	pool     *pgxpool.Pool
	settings string // run once on a new connection

	mu   sync.Mutex
	conn *pgx.Conn // nil: not connected; guarded by mu
}

// use calls fn with the connection, connecting first where necessary. After an error that broke the connection
// the next call makes a new one.
func (o *ownConn) use(ctx context.Context, fn func(writer) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == nil || o.conn.IsClosed() {
		if err := o.connect(ctx); err != nil {
			return err
		}
	}
	return fn(o.conn)
}

// connect must be called with mu held.
func (o *ownConn) connect(ctx context.Context) error {
	held, err := o.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	o.conn = held.Hijack()
	if o.settings == "" {
		return nil
	}
	if _, err := o.conn.Exec(ctx, o.settings); err != nil {
		_ = o.conn.Close(ctx)
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

func (o *ownConn) close(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn != nil {
		_ = o.conn.Close(ctx)
	}
}
