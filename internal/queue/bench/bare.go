package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// bare is the physical limit: claim a batch, delete a batch, no leases, no keys, no history.
func bare(ctx context.Context, s settings) {
	pool := fresh(ctx, s, "bench_bare", 6)
	defer pool.Close()
	for _, q := range []string{
		"CREATE TABLE q (id bigserial PRIMARY KEY, state smallint NOT NULL DEFAULT 0, payload jsonb NOT NULL)",
		"CREATE INDEX q_ready ON q (id) WHERE state = 0",
		fmt.Sprintf("INSERT INTO q (payload) SELECT jsonb_build_object('num', g) FROM generate_series(1, %d) g", s.jobs),
		"VACUUM ANALYZE q", "CHECKPOINT",
	} {
		get(pool.Exec(ctx, q))
	}
	claim := fmt.Sprintf(`WITH c AS MATERIALIZED (SELECT ctid FROM q WHERE state = 0 ORDER BY id LIMIT %d FOR UPDATE SKIP LOCKED)
		UPDATE q SET state = 1 WHERE ctid = ANY (ARRAY(SELECT ctid FROM c)) RETURNING id, payload`, s.claim)
	release := holdSnapshot(ctx, pool, s.old)
	var done atomic.Int64
	a, start := snap(ctx, s), time.Now()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			conn := get(pool.Acquire(ctx))
			defer conn.Release()
			for {
				rows := get(conn.Query(ctx, claim))
				ids := get(pgx.CollectRows(rows, func(row pgx.CollectableRow) (id int64, err error) {
					var payload []byte
					err = row.Scan(&id, &payload)
					return id, err
				}))
				if len(ids) == 0 {
					return
				}
				get(conn.Exec(ctx, "DELETE FROM q WHERE id = ANY ($1) AND state = 1", ids))
				done.Add(int64(len(ids)))
			}
		})
	}
	wg.Wait()
	wall := time.Since(start)
	release()
	report(fmt.Sprintf("bare claim-%d/delete-%d loop", s.claim, s.claim), int(done.Load()), wall, a, snap(ctx, s))
}
