package queue

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// hintChannel carries the name of a tier in which something became due, or a self-test's word.
const hintChannel = "postonce_jobs"

// hintEvery is how often a process sends a hint per tier at most. A NOTIFY in every commit made enqueueing
// five times slower: such a commit holds a global lock through its flush.
const hintEvery = 20 * time.Millisecond

const hintsInConn = "postonce.queue.hints"

// Hints limits how often a process says "there is work" with NOTIFY. Share one between all connections of a
// pool (ShareWith) and the engine; without one every enqueue statement notifies.
type Hints struct {
	start time.Time
	last  [3]atomic.Int64        // when the last hint of each tier was granted, in ns since start
	soon  atomic.Pointer[func()] // told when a critical job is enqueued, before that commits
	held  [3]atomic.Bool         // a hint was held back since; the engine makes up for it
}

// NewHints returns the hints of one process.
func NewHints() *Hints { return &Hints{start: time.Now()} }

// ShareWith is for pgxpool.Config.AfterConnect: enqueues over conn ask h.
func (h *Hints) ShareWith(_ context.Context, conn *pgx.Conn) error {
	conn.PgConn().CustomData()[hintsInConn] = h
	return nil
}

// want tells whether an enqueue into the tier should notify.
func (h *Hints) want(t Tier) bool {
	i := tierIndex(t)
	now := int64(time.Since(h.start)) + int64(hintEvery)
	last := h.last[i].Load()
	if now-last >= int64(hintEvery) && h.last[i].CompareAndSwap(last, now) {
		return true
	}
	h.held[i].Store(true)
	return false
}

// takeHeld tells whether a hint was held back, and forgets it.
func (h *Hints) takeHeld(t Tier) bool {
	i := tierIndex(t)
	return h.held[i].Load() && h.held[i].Swap(false)
}

func wantHint(conn *pgx.Conn, t Tier) bool {
	if conn == nil {
		return true
	}
	h, ok := conn.PgConn().CustomData()[hintsInConn].(*Hints)
	if !ok {
		return true
	}
	if soon := h.soon.Load(); t == Critical && soon != nil {
		(*soon)()
	}
	return h.want(t)
}

func tierIndex(t Tier) int {
	switch t {
	case Critical:
		return 0
	case Default:
		return 1
	default:
		return 2
	}
}
