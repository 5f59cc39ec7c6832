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
