package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Submission answers an enqueue: the number of the job, and whether it is new. The number of a known key is
// that of the job that has the key (its latest replay), finished or not.
type Submission struct {
	JobID int64
	Fresh bool
}

// Option changes one enqueue.
type Option func(*enqueue)

type enqueue struct {
	runAt  *time.Time
	each   []time.Time
	after  time.Duration
	origin *Origin
}

// RunAt makes the job due at t.
func RunAt(t time.Time) Option { return func(e *enqueue) { e.runAt = &t } }

// RunAtEach makes the jobs of one call due at times of their own, in the order of its args.
func RunAtEach(times []time.Time) Option { return func(e *enqueue) { e.each = times } }

// After makes the job due after d, on the database's clock.
func After(d time.Duration) Option { return func(e *enqueue) { e.after = d } }

// CausedBy links the job to o instead of the context's origin.
func CausedBy(o Origin) Option { return func(e *enqueue) { e.origin = &o } }

// jobEnqueueSQL writes keys first, in their order (no deadlock between two batches), and jobs for the fresh
// ones only. Numbers follow the order of the input, for the sake of ordered kinds.
const jobEnqueueSQL = `
WITH input AS MATERIALIZED (
  SELECT nextval('job_id_seq') AS id,
         u.key,
         u.payload,
         u.ordering,
         u.run_at
    FROM unnest($3::text[], $4::json[], $5::text[], $13::timestamptz[]) WITH ORDINALITY AS u (key, payload, ordering, run_at, ord)
   ORDER BY u.ord
), fresh AS (
  INSERT INTO job_keys (job_id, kind, key, parent_id, update_id, person_id, request_id)
  SELECT id,
         $1,
         key,
         $8,
         $9,
         $10,
         $11
    FROM input
   ORDER BY key
      ON CONFLICT (kind, key, generation) DO NOTHING
  RETURNING job_id,
            key
), created AS (
  INSERT INTO jobs (id, kind, tier, key, payload, ordering, run_at, parent_id, update_id, person_id, request_id)
  SELECT input.id,
         $1,
         $2,
         input.key,
         input.payload,
         nullif(input.ordering, ''),
         coalesce(input.run_at, $6, clock_timestamp() + $7::interval),
         $8,
         $9,
         $10,
         $11
    FROM fresh
    JOIN input ON input.id = fresh.job_id
   ORDER BY input.id
), hint AS (
  SELECT CASE WHEN $12::boolean THEN pg_notify('` + hintChannel + `', $2::text) END AS sent
)
SELECT fresh.key,
       fresh.job_id
  FROM fresh
  LEFT JOIN hint ON true`

// jobKeyFindSQL is a statement of its own: its newer snapshot sees a key that was inserted concurrently.
const jobKeyFindSQL = `
SELECT DISTINCT ON (key)
       key,
       job_id
  FROM job_keys
 WHERE kind = $1
   AND key = ANY ($2::text[])
 ORDER BY key, generation DESC`

// EnqueueTx adds one job in the caller's transaction, or finds the one that has its key.
func (k Kind[A]) EnqueueTx(ctx context.Context, tx pgx.Tx, args A, opts ...Option) (Submission, error) {
	subs, err := k.EnqueueManyTx(ctx, tx, []A{args}, opts...)
	if err != nil {
		return Submission{}, err
	}
	return subs[0], nil
}

// EnqueueManyTx adds jobs in the caller's transaction; answers are in the order of args. Keys that are known,
// or that occur twice in args, are no error.
func (k Kind[A]) EnqueueManyTx(ctx context.Context, tx pgx.Tx, args []A, opts ...Option) ([]Submission, error) {
	if len(args) == 0 {
		return nil, nil
	}
	b := batchOf(len(args))
	for _, a := range args {
		payload, err := json.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("enqueue %s: encode payload: %w", k.Name, err)
		}
		ordering := ""
		if k.Ordering != nil {
			ordering = k.Ordering(a)
		}
		b.add(k.Key(a), payload, ordering)
	}
	subs, err := b.insert(ctx, tx, k.Name, k.tier(), opts)
	if err != nil {
		return nil, fmt.Errorf("enqueue %s: %w", k.Name, err)
	}
	return subs, nil
}

// batch is what one enqueue statement carries.
type batch struct {
	keys      []string
	payloads  [][]byte
	orderings []string
}

func batchOf(n int) *batch {
	return &batch{keys: make([]string, 0, n), payloads: make([][]byte, 0, n), orderings: make([]string, 0, n)}
}

func (b *batch) add(key string, payload []byte, ordering string) {
	b.keys = append(b.keys, key)
	b.payloads = append(b.payloads, payload)
	b.orderings = append(b.orderings, ordering)
}

func (b *batch) insert(ctx context.Context, tx pgx.Tx, kind string, tier Tier, opts []Option) ([]Submission, error) {
	e := &enqueue{}
	for _, o := range opts {
		o(e)
	}
	from := OriginFrom(ctx)
	if e.origin != nil {
		from = *e.origin
	}
	if e.each != nil && len(e.each) != len(b.keys) {
		return nil, fmt.Errorf("%d due times for %d jobs", len(e.each), len(b.keys))
	}
	due := e.runAt == nil && e.each == nil && e.after <= 0
	rows, err := tx.Query(ctx, jobEnqueueSQL, kind, tier, b.keys, b.payloads, b.orderings, e.runAt, e.after,
		nullInt(from.JobID), nullInt(from.UpdateID), nullInt(from.PersonID), nullText(from.RequestID),
		due && wantHint(tx.Conn(), tier), e.each)
	if err != nil {
		return nil, err
	}
	fresh, err := collectKeys(rows, len(b.keys))
	if err != nil {
		return nil, err
	}
	known := map[string]int64{}
	if len(fresh) < len(b.keys) {
		if known, err = b.find(ctx, tx, kind); err != nil {
			return nil, err
		}
	}
	return b.answer(fresh, known)
}

func (b *batch) find(ctx context.Context, tx pgx.Tx, kind string) (map[string]int64, error) {
	rows, err := tx.Query(ctx, jobKeyFindSQL, kind, b.keys)
	if err != nil {
		return nil, err
	}
	return collectKeys(rows, len(b.keys))
}

// answer gives a key that occurs twice its freshness once.
func (b *batch) answer(fresh, known map[string]int64) ([]Submission, error) {
	subs := make([]Submission, len(b.keys))
	for i, key := range b.keys {
		if id, ok := fresh[key]; ok {
			subs[i] = Submission{JobID: id, Fresh: true}
			delete(fresh, key)
			known[key] = id
			continue
		}
		id, ok := known[key]
		if !ok {
			return nil, fmt.Errorf("key %q is neither fresh nor known", key)
		}
		subs[i] = Submission{JobID: id}
	}
	return subs, nil
}

func collectKeys(rows pgx.Rows, n int) (map[string]int64, error) {
	defer rows.Close()
	found := make(map[string]int64, n)
	for rows.Next() {
		var (
			key string
			id  int64
		)
		if err := rows.Scan(&key, &id); err != nil {
			return nil, err
		}
		found[key] = id
	}
	return found, rows.Err()
}

func nullInt(v int64) *int64 {
	if v == 0 {
		return nil
	}
	return &v
}

func nullText(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}
