package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

type num struct {
	N string `json:"n"`
}

// quiet is an engine of which nothing runs by itself: the test claims, completes and reaps.
type quiet struct {
	t      testing.TB
	pool   *pgxpool.Pool
	engine *Engine
	lane   *lane
	kind   Kind[num]
}

func newQuiet(t *testing.T, change ...func(*Kind[num])) *quiet {
	t.Helper()
	pool := dbtest.New(t)
	k := Kind[num]{
		Name: "quiet", Policy: Ledger, MaxFailures: 1, Key: func(n num) string { return n.N },
		Work: func(context.Context, *Job[num]) error { return errors.New("never called") },
	}
	for _, c := range change {
		c(&k)
	}
	registry := NewRegistry()
	Register(registry, k)
	e := New(Config{Pool: pool, Registry: registry, Logger: zerolog.Nop(), LeaseMargin: time.Second})
	e.worker = 7
	e.nonces.Store(e.worker << 32)
	var stop context.CancelFunc
	e.workContext, stop = context.WithCancel(context.Background())
	t.Cleanup(stop)
	e.hardContext = e.workContext
	if err := e.publishKinds(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := &quiet{t: t, pool: pool, engine: e, lane: e.lanes[Default], kind: k}
	t.Cleanup(func() { q.lane.close(context.Background()) })
	return q
}

func (q *quiet) ok(err error) {
	q.t.Helper()
	if err != nil {
		q.t.Fatal(err)
	}
}

func (q *quiet) exec(sql string, args ...any) {
	q.t.Helper()
	_, err := q.pool.Exec(context.Background(), sql, args...)
	q.ok(err)
}

func (q *quiet) text(sql string, args ...any) (s string) {
	q.t.Helper()
	q.ok(q.pool.QueryRow(context.Background(), sql, args...).Scan(&s))
	return s
}

func (q *quiet) enqueue(n string) (sub Submission) {
	q.t.Helper()
	q.ok(pgx.BeginFunc(context.Background(), q.pool, func(tx pgx.Tx) (err error) {
		sub, err = q.kind.EnqueueTx(context.Background(), tx, num{N: n})
		return err
	}))
	return sub
}

func (q *quiet) claim(n int) []*run {
	q.t.Helper()
	runs, err := q.lane.claim(context.Background(), bound{}, n)
	q.ok(err)
	return runs
}

func TestALostReplyToAClaimIsFoundByItsNonce(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	for i := range 3 {
		q.enqueue(fmt.Sprint(i))
	}
	runs := q.claim(3)
	nonce := q.engine.nonces.Load()
	q.lane.drop(runs...) // as if the answer had never come
	again, err := q.lane.findClaim(t.Context(), nonce)
	q.ok(err)
	if len(again) != 3 || again[0].token != runs[0].token || !q.lane.holds(again[2].token) {
		t.Errorf("found %d runs", len(again))
	}
	if other, err := q.lane.findClaim(t.Context(), nonce+1); err != nil || len(other) != 0 {
		t.Errorf("found %d runs of a claim that never was, %v", len(other), err)
	}
}

func TestAClaimThatNobodyWaitsForIsHandedBackUncounted(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.enqueue("held")
	q.enqueue("lost")
	runs := q.claim(2)
	q.lane.drop(runs[1])
	q.engine.keeper.handBackOrphans(t.Context())
	got := q.text(`SELECT string_agg(key || ' ' || state || ' ' || failures || ' ' || expiries, ', ' ORDER BY key) FROM jobs`)
	if got != "held leased 0 0, lost ready 0 0" {
		t.Errorf("got %s", got)
	}
}

func TestACompletionWhoseReplyWasLostIsFoundInTheHistory(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	for i := range 3 {
		q.enqueue(fmt.Sprint(i))
	}
	runs := q.claim(3)
	tokens := []int64{runs[0].token, runs[1].token, runs[2].token}
	if done, err := q.lane.completeBatch(runs[:2], tokens[:2]); err != nil || done != nil {
		t.Fatalf("first: %v, %v", done, err)
	}
	q.exec(`UPDATE jobs SET lease_token = nextval('job_lease_seq') WHERE lease_token = $1`, tokens[2]) // somebody else's now
	done, err := q.lane.completeBatch(runs, tokens)
	if err != nil || !done[tokens[0]] || !done[tokens[1]] || done[tokens[2]] {
		t.Errorf("again: %v, %v", done, err)
	}
}

func TestHintsThatAreSwallowedAreNoticed(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	test := selfTest{engine: q.engine}
	test.step(t.Context())
	word := test.word
	if word == "" {
		t.Fatal("no word was sent")
	}
	test.step(t.Context()) // its time is over
	if !q.engine.blind.Load() {
		t.Error("a swallowed word was not noticed")
	}
	test.step(t.Context())
	test.heard("another process's word")
	if !q.engine.blind.Load() {
		t.Error("another's word proves nothing")
	}
	test.heard(test.word)
	if q.engine.blind.Load() {
		t.Error("the word was heard: hints arrive")
	}
}

func TestAWordIsHeardOverARealConnection(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.engine.blind.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.engine.listen(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); q.engine.blind.Load(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the self-test's word was never heard")
		}
	}
	cancel()
	<-ended
}

func TestPartitionsAreMadeAheadAndDroppedPastTheRetention(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	parts := func(table string) string {
		return q.text(`SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
			WHERE i.inhparent = $1::regclass`, table)
	}
	day := func(d int) string {
		return q.text(`SELECT to_char((clock_timestamp() AT TIME ZONE 'UTC')::date + $1::int, 'YYYYMMDD')`, d)
	}
	// A row that came before its day's partition is where it was: in the default one, and still found.
	q.exec(`INSERT INTO job_history (id, lease_token, enqueued_at, claimed_at, failures, expiries, kind, key) VALUES (1, 1, now(), now(), 0, 0, 'k', 'a')`)
	for _, d := range []int{-20, -15, -14} {
		q.exec(fmt.Sprintf(`CREATE TABLE job_history_%s PARTITION OF job_history FOR VALUES FROM ('%s') TO ('%s')`, day(d), day(d), day(d+1)))
	}
	q.ok(q.engine.keepPartitions(t.Context()))
	q.ok(q.engine.keepPartitions(t.Context())) // again is no error
	want := fmt.Sprintf("job_history_%s job_history_%s job_history_%s job_history_%s job_history_%s job_history_default",
		day(-14), day(0), day(1), day(2), day(3))
	if got := parts("job_history"); got != want {
		t.Errorf("history: %s, want %s", got, want)
	}
	want = fmt.Sprintf("job_attempts_%s job_attempts_%s job_attempts_%s job_attempts_%s job_attempts_default", day(0), day(1), day(2), day(3))
	if got := parts("job_attempts"); got != want {
		t.Errorf("attempts: %s, want %s", got, want)
	}
	q.exec(`INSERT INTO job_history (id, lease_token, enqueued_at, claimed_at, failures, expiries, kind, key) VALUES (2, 2, now(), now(), 0, 0, 'k', 'b')`)
	if got := q.text(`SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY id) FROM job_history`); got != "job_history_default job_history_"+day(0) {
		t.Errorf("rows stand in %s", got)
	}
}

func TestRetentionForgetsWhatIsOldAndFinished(t *testing.T) {
	t.Parallel()
	q := newQuiet(t, func(k *Kind[num]) { k.KeepKeys = 24 * time.Hour })
	done, waiting := q.enqueue("done"), q.enqueue("waiting")
	runs := q.claim(1)
	q.ok(runs[0].complete(t.Context(), nil))
	q.exec(`UPDATE job_keys SET seen_at = now() - interval '2 days'`)
	q.exec(`UPDATE job_history SET finished_at = now() - interval '16 days' WHERE id = $1`, done.JobID)
	q.ok(q.engine.purge(t.Context()))
	q.ok(q.engine.purgeKeys(t.Context()))
	if got := q.text(`SELECT string_agg(job_id::text, ' ') FROM job_keys`); got != fmt.Sprint(waiting.JobID) {
		t.Errorf("keys left: %s, want the waiting job's %d", got, waiting.JobID)
	}
	if got := q.text(`SELECT count(*)::text FROM job_history`); got != "0" {
		t.Errorf("%s rows of old history left", got)
	}
	if sub := q.enqueue("done"); !sub.Fresh {
		t.Error("a forgotten key is not free again")
	}
}

// Keys that are kept for ever are the oldest of all: the hourly retention must not read them again and again.
func TestTheRetentionOfKeysReadsEachOnce(t *testing.T) {
	t.Parallel()
	q := newQuiet(t, func(k *Kind[num]) { k.KeepKeys = 24 * time.Hour })
	q.exec(`INSERT INTO job_kinds (name, tier, policy, class, keep_keys) VALUES ('kept', 'default', 'db', 'strict', NULL), ('longer', 'default', 'db', 'strict', '3 days')`)
	add := func(n int, age string) {
		for _, kind := range []string{"kept", "quiet", "longer"} {
			q.exec(`INSERT INTO job_keys (job_id, kind, key, seen_at) SELECT nextval('job_id_seq'), $1, gen_random_uuid()::text, now() - $3::interval FROM generate_series(1, $2::integer)`, kind, n, age)
		}
	}
	left := func() string {
		return q.text(`SELECT string_agg(kind || ' ' || n, ', ' ORDER BY kind) FROM (SELECT kind, count(*) AS n FROM job_keys GROUP BY kind) AS k`)
	}
	reads := func(keep time.Duration) int {
		n, err := q.engine.purgeKeysOf(t.Context(), keep)
		q.ok(err)
		return n
	}
	add(20, "4 days")
	add(10, "2 days")
	add(5, "1 hour")
	for _, want := range []int{90, 0} {
		if got := reads(24 * time.Hour); got != want {
			t.Errorf("%d keys read for those that are kept a day, want %d", got, want)
		}
	}
	for _, want := range []int{40, 0} { // what the first retention forgot is not there to be read
		if got := reads(72 * time.Hour); got != want {
			t.Errorf("%d keys read for those that are kept three days, want %d", got, want)
		}
	}
	if got := left(); got != "kept 35, longer 15, quiet 5" {
		t.Errorf("left: %s", got)
	}
	q.exec(`UPDATE job_keys SET seen_at = seen_at - interval '2 days'`) // two days later
	q.ok(q.engine.purgeKeys(t.Context()))
	if got := left(); got != "kept 35, longer 5" {
		t.Errorf("two days later: %s", got)
	}
}

func TestTheLeaseFollowsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	measure := func(seconds float64) string {
		q.exec(`DELETE FROM job_history`)
		q.exec(`INSERT INTO job_history (id, lease_token, enqueued_at, claimed_at, finished_at, failures, expiries, kind, key)
			SELECT g, g, now(), now() - make_interval(secs => $1), now(), 0, 0, 'quiet', g::text FROM generate_series(1, 200) AS g`, seconds)
		q.ok(pgx.BeginFunc(context.Background(), q.pool, func(tx pgx.Tx) error { return q.engine.measureLeases(context.Background(), tx) }))
		q.ok(q.engine.readKinds(context.Background()))
		return q.lane.leases().of("quiet").String()
	}
	for seconds, want := range map[float64]string{30: "1m0s", .01: "10s", 40: "1m20s", 7200: "15m0s"} {
		if got := measure(seconds); got != want {
			t.Errorf("p99 of %g s: lease %s, want %s", seconds, got, want)
		}
	}
	q.enqueue("a")
	measure(40)
	q.claim(1)
	if got := q.text(`SELECT round(extract(epoch FROM lease_until - claimed_at))::text FROM jobs`); got != "80" {
		t.Errorf("claimed for %s s, want 80", got)
	}
}

func TestACrewBringsUpAsManyAsWait(t *testing.T) {
	t.Parallel()
	const n = 50
	var running atomic.Int64
	all, release := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{}, n)
	c := newCrew(nil, func(*run) {
		if running.Add(1) == n {
			close(all)
		}
		<-release
		ended <- struct{}{}
	})
	defer c.close()
	for range n {
		c.hand([]*run{{}})
	}
	select {
	case <-all:
	case <-time.After(20 * time.Second):
		t.Fatalf("%d of %d handlers run", running.Load(), n)
	}
	close(release)
	for range n {
		<-ended
	}
}

func TestAHandlersContextEndsWithItsLease(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	for name, early := range map[string]bool{"asked before": true, "asked after": false} {
		r := &run{engine: q.engine, lane: q.lane}
		r.ctx.parent, r.ctx.origin = q.engine.workContext, Origin{JobID: 3} //nolint:fatcontext // of this run alone
		var child context.Context
		cancel := func() {}
		if early {
			child, cancel = context.WithTimeout(&r.ctx, time.Hour)
		}
		r.lost()
		if !early {
			child, cancel = context.WithTimeout(&r.ctx, time.Hour)
		}
		<-child.Done()
		if cause := context.Cause(child); !errors.Is(cause, ErrLeaseLost) {
			t.Errorf("%s: the cause is %v", name, cause)
		}
		if OriginFrom(child).JobID != 3 {
			t.Errorf("%s: no origin", name)
		}
		cancel()
	}
}
