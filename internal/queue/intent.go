package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// effectIntendIfLeasedSQL is R2 for a batch: the job rows are locked, which serialises with the reaper; token
// and unexpired lease are required; the leases are extended past the requests' deadlines; keys go in sorted.
// A row that is certainly not done is taken over, also by another job and for another request. The lease is extended
// through its token, not through the place of the locked row: where a renewal came in between, the place is newer than
// the statement's snapshot, and nothing would be found there. It answers with one row, the tokens that were granted.
const effectIntendIfLeasedSQL = `
WITH asked AS MATERIALIZED (
  SELECT DISTINCT ON (u.key)
         u.token,
         u.key,
         u.hash,
         u.class,
         u.timeout
    FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::interval[])
         AS u (token, key, hash, class, timeout)
   ORDER BY u.key,
            u.token
), held AS MATERIALIZED (
  SELECT id,
         kind,
         lease_token,
         lease_until
    FROM jobs
   WHERE lease_token = ANY ($1::bigint[])
     AND state = 'leased'
     AND lease_until > clock_timestamp()
   ORDER BY lease_token
     FOR NO KEY UPDATE
), longer AS (
  UPDATE jobs
     SET lease_until = clock_timestamp() + ($5::interval[])[array_position($1::bigint[], lease_token)] + $6::interval
   WHERE state = 'leased'
     AND lease_token = ANY (ARRAY(
           SELECT held.lease_token
             FROM held
             JOIN asked ON asked.token = held.lease_token
            WHERE held.lease_until < clock_timestamp() + asked.timeout + $6::interval
         ))
), granted AS (
INSERT INTO effects AS e (effect_key, job_id, kind, class, lease_token, request_hash, deadline_at)
SELECT asked.key,
       held.id,
       held.kind,
       asked.class,
       held.lease_token,
       asked.hash,
       clock_timestamp() + asked.timeout
  FROM asked
  JOIN held ON held.lease_token = asked.token
 ORDER BY asked.key
    ON CONFLICT (effect_key) DO UPDATE
   SET state = 'intent',
       job_id = excluded.job_id,
       kind = excluded.kind,
       class = excluded.class,
       lease_token = excluded.lease_token,
       request_hash = excluded.request_hash,
       tries = e.tries + 1,
       intent_at = excluded.intent_at,
       deadline_at = excluded.deadline_at,
       outcome_at = NULL,
       external_id = NULL,
       detail = NULL,
       error = NULL,
       reconciled_by = NULL
 WHERE e.state = 'not_done'
RETURNING lease_token
)
SELECT coalesce(array_agg(lease_token), '{}')
  FROM granted`

// effectFindSQL reads one key of the ledger and whether its job is running.
const effectFindSQL = `
SELECT e.state,
       e.request_hash,
       e.lease_token,
       e.job_id,
       e.external_id,
       e.detail,
       EXISTS (
         SELECT
           FROM jobs
          WHERE jobs.lease_token = e.lease_token
            AND jobs.state = 'leased'
            AND jobs.lease_until > clock_timestamp()
       ) AS held
  FROM effects AS e
 WHERE e.effect_key = $1`

// intent is one request for the right to perform.
type intent struct {
	run     *run
	key     string
	hash    []byte
	timeout time.Duration
	reply   chan intentReply
}

type intentReply struct {
	granted bool
	err     error
}

// writeIntent goes through the group commit, or through a transaction of its own when the domain has a
// precondition. When it returns true the intent is durable.
func (r *run) writeIntent(ctx context.Context, e Effect, hash []byte) (bool, error) {
	in := &intent{run: r, key: e.Key, hash: hash, timeout: e.timeout()}
	if e.Before != nil {
		return r.intendTx(ctx, e, in)
	}
	in.reply = make(chan intentReply, 1)
	r.lane.intents.Add(in)
	reply := <-in.reply
	if reply.err != nil {
		return false, fmt.Errorf("intent %s: %w", e.Key, reply.err)
	}
	return reply.granted, nil
}

func (r *run) intendTx(ctx context.Context, e Effect, in *intent) (granted bool, err error) {
	asked := false
	err = pgx.BeginFunc(ctx, r.engine.pool, func(tx pgx.Tx) error {
		if err := e.Before(ctx, tx); err != nil {
			return err
		}
		got, err := intend(ctx, tx, []*intent{in})
		granted = got.has(r.token)
		failpoint.Hit("intent-commit")
		asked = err == nil
		return err
	})
	if err == nil {
		failpoint.Hit("intent-committed")
		return granted, nil
	}
	if !asked || isServerError(err) {
		return false, err
	}
	// The reply to the commit was lost: the ledger, read by the caller, tells. Nothing has been called yet.
	return false, nil
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// querier is a pool, a connection or a transaction to read through.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// writer is one to write through.
type writer interface {
	querier
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// intend returns the tokens whose intents were granted; a token has one intent at a time.
func intend(ctx context.Context, db rowQuerier, ins []*intent) (tokens, error) {
	n := len(ins)
	asked, keys, hashes := make([]int64, n), make([]string, n), make([][]byte, n)
	classes, timeouts := make([]string, n), make([]time.Duration, n)
	for i, in := range ins {
		asked[i], keys[i], hashes[i] = in.run.token, in.key, in.hash
		classes[i], timeouts[i] = string(in.run.spec.class), in.timeout
	}
	var granted []int64
	err := db.QueryRow(ctx, effectIntendIfLeasedSQL, asked, keys, hashes, classes, timeouts,
		ins[0].run.engine.cfg.LeaseMargin).Scan(&granted)
	return tokensOf(granted), err
}

// flushIntents is the group commit of intents.
func (l *lane) flushIntents(ins []*intent) {
	ctx, cancel := l.engine.writeContext()
	defer cancel()
	failpoint.Hit("intent-commit")
	var granted tokens
	err := l.use(ctx, func(db writer) (err error) {
		granted, err = intend(ctx, grouped{db}, ins)
		return err
	})
	failpoint.Hit("intent-committed")
	if err != nil && len(ins) > 1 && isServerError(err) {
		for _, in := range ins { // one of them spoils it for all
			l.flushIntents([]*intent{in})
		}
		return
	}
	for _, in := range ins {
		reply := intentReply{granted: granted.has(in.run.token)}
		if err != nil && isServerError(err) {
			reply.err = err
		}
		in.reply <- reply // not granted: the asker reads the ledger, which also resolves a lost reply
	}
}

func readLedger(ctx context.Context, db rowQuerier, key string) (*ledgerRow, error) {
	var row ledgerRow
	err := db.QueryRow(ctx, effectFindSQL, key).Scan(&row.state, &row.hash, &row.token, &row.jobID,
		&row.externalID, &row.detail, &row.held)
	if err != nil {
		return nil, err
	}
	return &row, nil
}
