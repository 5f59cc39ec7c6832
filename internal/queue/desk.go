package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Desk is where an operator decides about archived jobs. Every decision is one transaction, has an author, and
// may be repeated: the second time it answers what was decided the first time.
type Desk struct {
	Pool *pgxpool.Pool
	// Registry runs the kinds' Settled hooks; a desk without the job's kind refuses to settle its effects.
	Registry *Registry
}

// Decision answers what stands in the archive after a call.
type Decision struct {
	Status      Status    `json:"status"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
	ReplayJobID int64     `json:"replay_job_id,omitempty"`
	Fresh       bool      `json:"fresh"` // false: it had been decided before
}

// Evidence is what an operator says the outside world shows.
type Evidence string

const (
	// NoEvidence says nothing; a replay is refused while an effect is in doubt.
	NoEvidence Evidence = ""
	// EvidenceDone says that what is in doubt did happen; a replay will not repeat it.
	EvidenceDone Evidence = "done"
	// EvidenceNotDone says that what is in doubt did not happen; a replay does it.
	EvidenceNotDone Evidence = "not_done"
)

// Settlement is the end of a doubt, told to the kind whose job it was.
type Settlement struct {
	EffectKey  string
	Done       bool
	ExternalID string
	By         string
}

// Confirm closes an archived job as done: every effect in doubt did happen.
func (d *Desk) Confirm(ctx context.Context, jobID int64, by string) (Decision, error) {
	return d.decide(ctx, jobID, by, StatusReconciled, func(ctx context.Context, tx pgx.Tx, a *archived) error {
		if err := d.settleDoubts(ctx, tx, a, EvidenceDone, by); err != nil {
			return err
		}
		return a.resolve(ctx, tx, StatusReconciled, by, "confirmed as done", 0)
	})
}

// Dismiss closes an archived job without saying what happened; its effects stay as they are.
func (d *Desk) Dismiss(ctx context.Context, jobID int64, by string) (Decision, error) {
	return d.decide(ctx, jobID, by, StatusClosed, func(ctx context.Context, tx pgx.Tx, a *archived) error {
		return a.resolve(ctx, tx, StatusClosed, by, "dismissed", 0)
	})
}

// Replay enqueues an archived job anew, with its original payload, under the next generation of its key.
// ErrUnsettled: an effect is in doubt and no evidence was given. ErrInFlight: it is said not to have happened, and
// its request may still be under way.
func (d *Desk) Replay(ctx context.Context, jobID int64, by string, says Evidence) (Decision, error) {
	return d.decide(ctx, jobID, by, StatusReplayed, func(ctx context.Context, tx pgx.Tx, a *archived) error {
		if err := d.settleDoubts(ctx, tx, a, says, by); err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRow(ctx, jobReplaySQL, jobID).Scan(&id); err != nil {
			return fmt.Errorf("enqueue the replay: %w", err)
		}
		return a.resolve(ctx, tx, StatusReplayed, by, "replayed", id)
	})
}

const archiveLockSQL = `
SELECT kind,
       key,
       payload,
       status,
       coalesce(resolved_by, ''),
       coalesce(resolved_at, 'epoch'),
       coalesce(replay_job_id, 0)
  FROM job_archive
 WHERE job_id = $1
   FOR UPDATE`

const archiveResolveIfOpenSQL = `
UPDATE job_archive
   SET status = $2,
       needs_reconcile = false,
       resolved_at = clock_timestamp(),
       resolved_by = $3,
       resolution = $4,
       replay_job_id = nullif($5, 0::bigint)
 WHERE job_id = $1
   AND status = 'open'
RETURNING resolved_at`

// jobReplaySQL copies the payload byte for byte and keeps who asked for the original.
const jobReplaySQL = `
WITH old AS (
  SELECT a.kind,
         a.tier,
         a.key,
         a.ordering,
         a.payload,
         k.update_id,
         k.person_id,
         k.request_id,
         (SELECT max(generation) + 1 FROM job_keys WHERE kind = a.kind AND key = a.key)::smallint AS generation,
         nextval('job_id_seq') AS id
    FROM job_archive AS a
    LEFT JOIN job_keys AS k ON k.job_id = a.job_id
   WHERE a.job_id = $1
), named AS (
  INSERT INTO job_keys (job_id, kind, key, generation, parent_id, update_id, person_id, request_id)
  SELECT id,
         kind,
         key,
         coalesce(generation, 1),
         $1,
         update_id,
         person_id,
         request_id
    FROM old
)
INSERT INTO jobs (id, kind, tier, key, ordering, payload, generation, run_at, parent_id, update_id, person_id, request_id)
SELECT id,
       kind,
       tier,
       key,
       ordering,
       payload,
       coalesce(generation, 1),
       clock_timestamp(),
       $1,
       update_id,
       person_id,
       request_id
  FROM old
RETURNING id`

// archived is a locked row of the archive.
type archived struct {
	jobID    int64
	kind     string
	key      string
	payload  []byte
	decision Decision
}

// decide locks the archived job and lets do decide about it. A decision of the same kind that was made before is
// answered as it stands; ErrDecided: another one was made.
func (d *Desk) decide(ctx context.Context, jobID int64, by string, want Status, do func(context.Context, pgx.Tx, *archived) error) (Decision, error) {
	if by == "" {
		return Decision{}, errors.New("queue: a decision needs an author")
	}
	a := &archived{jobID: jobID}
	err := pgx.BeginFunc(ctx, d.Pool, func(tx pgx.Tx) error {
		c := &a.decision
		err := tx.QueryRow(ctx, archiveLockSQL, jobID).Scan(&a.kind, &a.key, &a.payload, &c.Status, &c.By, &c.At, &c.ReplayJobID)
		switch {
		case err != nil:
			return notFound(err)
		case c.Status == want:
			return nil
		case c.Status != StatusOpen:
			return fmt.Errorf("%s by %s: %w", c.Status, c.By, ErrDecided)
		}
		return do(ctx, tx, a)
	})
	if err != nil {
		return a.decision, fmt.Errorf("archived job %d: %w", jobID, err)
	}
	return a.decision, nil
}

func (a *archived) resolve(ctx context.Context, tx pgx.Tx, s Status, by, how string, replay int64) error {
	a.decision = Decision{Status: s, By: by, ReplayJobID: replay, Fresh: true}
	return tx.QueryRow(ctx, archiveResolveIfOpenSQL, a.jobID, s, by, how, replay).Scan(&a.decision.At)
}

const effectsInDoubtSQL = `
SELECT effect_key,
       CASE WHEN deadline_at > clock_timestamp() THEN deadline_at END
  FROM effects
 WHERE job_id = $1
   AND state IN ('intent', 'unknown')
 ORDER BY effect_key
   FOR UPDATE`

// settleDoubts ends every doubt of the job by what the operator says, and tells the kind.
func (d *Desk) settleDoubts(ctx context.Context, tx pgx.Tx, a *archived, says Evidence, by string) error {
	rows, err := tx.Query(ctx, effectsInDoubtSQL, a.jobID)
	if err != nil {
		return err
	}
	var keys []string
	var key string
	var until, underWay *time.Time
	_, err = pgx.ForEachRow(rows, []any{&key, &until}, func() error {
		keys = append(keys, key)
		if until != nil && (underWay == nil || until.After(*underWay)) {
			underWay = until
		}
		return nil
	})
	switch {
	case err != nil || len(keys) == 0:
		return err
	case says == NoEvidence:
		return ErrUnsettled
	case says == EvidenceNotDone && underWay != nil:
		return &InFlightError{Until: *underWay}
	}
	s := d.Registry.kind(a.kind)
	if s == nil {
		return fmt.Errorf("kind %s is not registered here", a.kind)
	}
	for _, key := range keys {
		if _, err := settleUnknown(ctx, tx, key, says == EvidenceDone, "", by); err != nil {
			return err
		}
		if err := s.settled(ctx, tx, a.payload, Settlement{EffectKey: key, Done: says == EvidenceDone, By: by}); err != nil {
			return fmt.Errorf("tell kind %s: %w", a.kind, err)
		}
	}
	return nil
}

// effectSettleIfUnknownSQL also takes an intent whose job has left the table.
const effectSettleIfUnknownSQL = `
UPDATE effects
   SET state = $2,
       outcome_at = clock_timestamp(),
       external_id = coalesce($3, external_id),
       reconciled_by = $4
 WHERE effect_key = $1
   AND (state = 'unknown' OR state = 'intent' AND NOT EXISTS (
         SELECT
           FROM jobs
          WHERE jobs.id = effects.job_id
       ))
RETURNING job_id`

// settleUnknown returns the effect's job. ErrDecided: it is settled otherwise, or still under way.
func settleUnknown(ctx context.Context, tx pgx.Tx, key string, done bool, externalID, by string) (jobID int64, err error) {
	state := stateNotDone
	if done {
		state = stateDone
	}
	err = tx.QueryRow(ctx, effectSettleIfUnknownSQL, key, state, nullText(externalID), by).Scan(&jobID)
	if !errors.Is(err, pgx.ErrNoRows) {
		return jobID, err
	}
	row, err := readLedger(ctx, tx, key)
	if err != nil {
		return 0, notFound(err)
	}
	if row.state != state {
		return 0, fmt.Errorf("it is %s: %w", row.state, ErrDecided)
	}
	return row.jobID, nil
}

// SettleTx ends a doubt by evidence or by a person's word, in the caller's transaction; the caller changes its
// own tables in the same transaction (no Settled hook runs). When nothing else of its job is in doubt, the
// archive row is reconciled. Repeating it is no error. ErrDecided: it was settled otherwise, or is under way;
// ErrNotFound: no such effect.
func SettleTx(ctx context.Context, tx pgx.Tx, effectKey string, done bool, externalID, by string) error {
	jobID, err := settleUnknown(ctx, tx, effectKey, done, externalID, by)
	if err != nil {
		return fmt.Errorf("settle effect %s: %w", effectKey, err)
	}
	how := "it did not happen"
	if done {
		how = "it happened"
	}
	if _, err := tx.Exec(ctx, jobArchiveSettleSQL, jobID, true, by, how); err != nil {
		return fmt.Errorf("settle effect %s: %w", effectKey, err)
	}
	return nil
}

const jobArchiveLeaveIfOpenSQL = `
UPDATE job_archive
   SET status = 'closed',
       needs_reconcile = false,
       resolved_at = clock_timestamp(),
       resolved_by = $2,
       resolution = 'left as it is'
 WHERE job_id = (
         SELECT job_id
           FROM effects
          WHERE effect_key = $1
       )
   AND status = 'open'`

// LeaveTx closes the archive row of a doubt that a person leaves as it is, in the caller's transaction: nobody
// is asked about it any more. The effect stays unknown, is never performed again, and SettleTx may still end it.
// Repeating it changes nothing.
func LeaveTx(ctx context.Context, tx pgx.Tx, effectKey, by string) error {
	if _, err := tx.Exec(ctx, jobArchiveLeaveIfOpenSQL, effectKey, by); err != nil {
		return fmt.Errorf("leave effect %s: %w", effectKey, err)
	}
	return nil
}

// jobCancelIfReadySQL takes a job that nobody runs out of the queue.
const jobCancelIfReadySQL = `
WITH gone AS (
  DELETE FROM jobs
   WHERE id = $1
     AND state = 'ready'
  RETURNING ` + archivedJob + `,
            last_error
)
INSERT INTO ` + archiveOf + archiveResolved + `)
SELECT ` + archivedJob + `,
       'cancelled',
       false,
       last_error,
       'closed',
       clock_timestamp(),
       $2,
       'cancelled'
  FROM gone
RETURNING job_id`

// CancelTx takes a waiting job out of the queue, into the archive as cancelled. ErrNotFound: it runs, or it is
// not in the queue any more.
func CancelTx(ctx context.Context, tx pgx.Tx, jobID int64, by string) error {
	var id int64
	if err := tx.QueryRow(ctx, jobCancelIfReadySQL, jobID, by).Scan(&id); err != nil {
		return fmt.Errorf("cancel job %d: %w", jobID, notFound(err))
	}
	return nil
}

const (
	keysForgetSQL = `
UPDATE job_keys
   SET person_id = NULL
 WHERE person_id = $1`

	jobsForgetSQL = `
UPDATE jobs
   SET person_id = NULL
 WHERE person_id = $1`
)

// ForgetPersonTx removes a person from the origins of all jobs.
func ForgetPersonTx(ctx context.Context, tx pgx.Tx, personID int64) error {
	for _, sql := range []string{keysForgetSQL, jobsForgetSQL} {
		if _, err := tx.Exec(ctx, sql, personID); err != nil {
			return fmt.Errorf("forget person: %w", err)
		}
	}
	return nil
}
