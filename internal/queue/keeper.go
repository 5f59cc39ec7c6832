package queue

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// orphanEvery is how often a process looks for leases in its own name that it does not hold.
const orphanEvery = 20 * time.Second

// jobRenewIfLeasedSQL never shortens: an intent may have extended the lease further.
const jobRenewIfLeasedSQL = `
UPDATE jobs
   SET lease_until = greatest(jobs.lease_until, clock_timestamp() + u.lease)
  FROM unnest($1::bigint[], $2::interval[]) AS u (token, lease)
 WHERE jobs.lease_token = u.token
   AND jobs.state = 'leased'
RETURNING jobs.lease_token`

// workerSeenSQL says that the process lives and lists what is leased in its name.
const workerSeenSQL = `
WITH seen AS (
  UPDATE workers
     SET seen_at = clock_timestamp()
   WHERE id = $1
)
SELECT lease_token,
       claim_nonce
  FROM jobs
 WHERE state = 'leased'
   AND leased_by = $1`

// keeper renews leases and finds claims whose reply never arrived.
type keeper struct {
	engine *Engine

	mu       sync.Mutex
	expected map[int64]bool // nonces of claims under way; guarded by mu

	lastOrphans time.Time // only used by loop
}

func newKeeper(e *Engine) *keeper { return &keeper{engine: e, expected: map[int64]bool{}} }

func (k *keeper) expect(nonce int64) {
	k.mu.Lock()
	k.expected[nonce] = true
	k.mu.Unlock()
}

func (k *keeper) forget(nonce int64) {
	k.mu.Lock()
	delete(k.expected, nonce)
	k.mu.Unlock()
}

func (k *keeper) isExpected(nonce int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.expected[nonce]
}

func (k *keeper) loop(ctx context.Context) {
	tick := time.NewTicker(k.engine.cfg.KeepEvery)
	defer tick.Stop()
	k.lastOrphans = time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		k.renew(ctx)
		if time.Since(k.lastOrphans) > orphanEvery {
			k.lastOrphans = time.Now()
			k.handBackOrphans(ctx)
		}
	}
}

// renew extends every lease of which a third is over, in one statement. Tokens that do not come back are lost:
// their handlers are cancelled at once.
func (k *keeper) renew(ctx context.Context) {
	due := k.due(time.Now())
	if len(due) == 0 {
		return
	}
	tokens, leases := make([]int64, len(due)), make([]time.Duration, len(due))
	slices.SortFunc(due, func(a, b *run) int { return cmp.Compare(a.token, b.token) }) // the order in which intents lock
	for i, r := range due {
		tokens[i], leases[i] = r.token, r.lease
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	asked := time.Now()
	failpoint.Hit("renewal")
	rows, err := k.engine.pool.Query(ctx, jobRenewIfLeasedSQL, tokens, leases)
	if err != nil {
		k.engine.log.Warn().Err(err).Msg("leases not renewed yet")
		return
	}
	kept, err := tokenSet(rows, len(tokens))
	if err != nil {
		k.engine.log.Warn().Err(err).Msg("leases not renewed yet")
		return
	}
	for _, r := range due {
		if kept[r.token] {
			r.renewedAt.Store(k.engine.age(asked))
		} else if !r.finished.Load() && r.lane.holds(r.token) {
			k.engine.log.Warn().Int64("job", r.id).Str("kind", r.kind).Msg("lease lost")
			r.lost()
		}
	}
}

func (k *keeper) due(now time.Time) []*run {
	var due []*run
	for _, l := range k.engine.lanes {
		l.mu.Lock()
		for _, r := range l.held {
			if k.engine.age(now)-r.renewedAt.Load() > int64(r.lease/3) && !r.finished.Load() {
				due = append(due, r)
			}
		}
		l.mu.Unlock()
	}
	for _, r := range due {
		if now.Sub(r.startedAt) > r.lease && r.overran.CompareAndSwap(false, true) {
			k.engine.metrics.overruns.WithLabelValues(r.kind).Inc()
		}
	}
	return due
}

func (l *lane) holds(token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[token] != nil
}

// handBackOrphans returns leases in this process's name that it neither holds nor waits for: a claim that
// committed after its connection was lost. Their handlers never started, so nothing is counted.
func (k *keeper) handBackOrphans(ctx context.Context) {
	rows, err := k.engine.pool.Query(ctx, workerSeenSQL, k.engine.worker)
	if err != nil {
		return // the next round tries again
	}
	defer rows.Close()
	var orphans []*run
	for rows.Next() {
		var token, nonce int64
		if err := rows.Scan(&token, &nonce); err != nil {
			return
		}
		if !k.isExpected(nonce) && !k.held(token) {
			orphans = append(orphans, &run{engine: k.engine, token: token})
		}
	}
	rows.Close()
	if rows.Err() == nil && len(orphans) > 0 {
		// Most of these were being completed while they were read, and are gone.
		if n := k.engine.handBack(orphans, 0); n > 0 {
			k.engine.log.Warn().Int64("jobs", n).Msg("claims whose reply was lost were handed back")
		}
	}
}

func (k *keeper) held(token int64) bool {
	for _, l := range k.engine.lanes {
		if l.holds(token) {
			return true
		}
	}
	return false
}
