package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// A deep backlog is never counted exactly.
const opsTiersSQL = `
SELECT t.tier,
       (SELECT count(*) FROM (SELECT FROM jobs j WHERE j.tier = t.tier AND j.state = 'ready' AND j.run_at <= now() LIMIT 10001) x),
       coalesce(extract(epoch FROM now() - (SELECT min(j.run_at) FROM jobs j WHERE j.tier = t.tier AND j.state = 'ready' AND j.run_at <= now())), 0)::float8,
       (SELECT count(*) FROM jobs j WHERE j.tier = t.tier AND j.state = 'leased')
  FROM unnest(ARRAY['critical', 'default', 'bulk']) AS t (tier)`

// The hour is read once for all kinds together.
const opsKindsSQL = `
WITH done AS (
  SELECT kind,
         count(*) AS n
    FROM job_history
   WHERE finished_at > now() - interval '1 hour'
   GROUP BY kind
), failed AS (
  SELECT kind,
         count(*) AS n
    FROM job_attempts
   WHERE at > now() - interval '1 hour'
     AND outcome IN ('transient', 'permanent', 'unknown', 'lease_expired')
   GROUP BY kind
)
SELECT k.name,
       k.tier,
       k.paused,
       coalesce(d.n, 0),
       coalesce(f.n, 0)
  FROM job_kinds k
  LEFT JOIN done d ON d.kind = k.name
  LEFT JOIN failed f ON f.kind = k.name
 ORDER BY k.name`

const opsArchiveSQL = `
SELECT reason,
       count(*)
  FROM job_archive
 WHERE status = 'open'
 GROUP BY reason
 ORDER BY reason`

const opsWorkersSQL = `
SELECT id,
       host,
       pid,
       build,
       started_at,
       seen_at
  FROM workers
 WHERE stopped_at IS NULL
   AND seen_at > now() - interval '5 minutes'
 ORDER BY id`

// The last run of each by its key: three months of runs are a million rows.
const opsSchedulesSQL = `
SELECT s.name,
       r.fire_at
  FROM schedules s
 CROSS JOIN LATERAL (
       SELECT fire_at
         FROM schedule_runs
        WHERE name = s.name
        ORDER BY fire_at DESC
        LIMIT 1
       ) r`

const opsDoubtsSQL = `
SELECT count(*)
  FROM publications
 WHERE state = 'unconfirmed'`

const opsFindingsSQL = `
SELECT count(*)
  FROM payment_findings
 WHERE settled_at IS NULL`

// Ops is the operators' page: load, failures, the archive, who works.
func (d *Desk) Ops(ctx context.Context, by int64) (OpsView, error) {
	v := OpsView{Schedules: map[string]time.Time{}}
	if err := d.operator(ctx, d.pool, by); err != nil {
		return v, err
	}
	err := errors.Join(
		each(ctx, d, opsTiersSQL, func(r pgx.CollectableRow) error {
			var t TierView
			var oldest float64
			err := r.Scan(&t.Tier, &t.Depth, &oldest, &t.Leased)
			t.Oldest = time.Duration(oldest * float64(time.Second)).Round(time.Millisecond)
			v.Tiers = append(v.Tiers, t)
			return err
		}),
		each(ctx, d, opsKindsSQL, func(r pgx.CollectableRow) error {
			var k KindView
			err := r.Scan(&k.Kind, &k.Tier, &k.Paused, &k.Done, &k.Failed)
			if all := k.Done + k.Failed; all > 0 {
				k.Rate = float64(k.Failed) / float64(all)
			}
			v.Kinds = append(v.Kinds, k)
			return err
		}),
		each(ctx, d, opsArchiveSQL, func(r pgx.CollectableRow) error {
			var a ArchiveCount
			err := r.Scan(&a.Reason, &a.Open)
			v.Archive = append(v.Archive, a)
			return err
		}),
		each(ctx, d, opsWorkersSQL, func(r pgx.CollectableRow) error {
			var w WorkerView
			err := r.Scan(&w.ID, &w.Host, &w.PID, &w.Build, &w.Since, &w.Seen)
			v.Workers = append(v.Workers, w)
			return err
		}),
		each(ctx, d, opsSchedulesSQL, func(r pgx.CollectableRow) error {
			var name string
			var at time.Time
			err := r.Scan(&name, &at)
			v.Schedules[name] = at
			return err
		}),
		d.pool.QueryRow(ctx, opsDoubtsSQL).Scan(&v.Unconfirmed),
		d.pool.QueryRow(ctx, opsFindingsSQL).Scan(&v.Findings),
	)
	return v, err
}

// each reads the rows of a query that takes no arguments.
func each(ctx context.Context, d *Desk, query string, scan func(pgx.CollectableRow) error) error {
	rows, err := d.pool.Query(ctx, query)
	if err != nil {
		return err
	}
	_, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (struct{}, error) { return struct{}{}, scan(r) })
	return err
}

// author names a person in the queue's records.
func author(by int64) string { return fmt.Sprintf("person:%d", by) }

// EarsKind is the kind of job that hears people: without it nobody could press the button that starts it again.
const EarsKind = "update"

// PauseKind stops a kind of job; what waits stays. Refused (error.job, ears) for EarsKind, which `postonce jobs pause`
// stops and starts. For operators.
func (d *Desk) PauseKind(ctx context.Context, by int64, kind string) (bool, error) {
	if kind == EarsKind {
		if err := d.operator(ctx, d.pool, by); err != nil {
			return false, err
		}
		return false, &Error{Code: CodeJob, Args: map[string]any{"why": "ears"}}
	}
	return d.pauseKind(ctx, by, kind, true)
}

// ResumeKind starts it again.
func (d *Desk) ResumeKind(ctx context.Context, by int64, kind string) (bool, error) {
	return d.pauseKind(ctx, by, kind, false)
}

const kindPausedSQL = `
SELECT paused
  FROM job_kinds
 WHERE name = $1`

func (d *Desk) pauseKind(ctx context.Context, by int64, kind string, paused bool) (bool, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return false, err
	}
	var changed bool
	err := d.tx(ctx, func(tx pgx.Tx) error {
		var was bool
		err := tx.QueryRow(ctx, kindPausedSQL, kind).Scan(&was)
		if postgres.NoRows(err) {
			return &Error{Code: CodeJob, Args: map[string]any{"why": "not_found"}}
		}
		if err != nil {
			return err
		}
		changed = was != paused
		return queue.PauseTx(ctx, tx, kind, paused, author(by))
	})
	return changed, err
}

// Archive lists the open archive, the newest first, at most 100 at once; before, where it is not 0, goes on below that
// job's number. For operators.
func (d *Desk) Archive(ctx context.Context, by, before int64, limit int) ([]ArchivedView, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return nil, err
	}
	const most = 100
	rows, err := queue.List(ctx, d.pool, queue.Filter{Open: true, Before: before, Limit: max(1, min(limit, most))})
	if err != nil {
		return nil, err
	}
	out := make([]ArchivedView, len(rows))
	for i, r := range rows {
		out[i] = archivedView(r)
	}
	return out, nil
}

func archivedView(r queue.Row) ArchivedView {
	v := ArchivedView{
		JobView: JobView{ID: r.JobID, Kind: r.Kind, Key: r.Key, State: r.State, Failures: r.Failures, Error: r.LastError},
		Reason:  string(r.Reason), Status: string(r.Status), Doubt: r.NeedsReconcile, ResolvedBy: r.ResolvedBy,
	}
	v.RunAt = deref(r.RunAt)
	if v.Since = deref(r.EndedAt); v.Since.IsZero() {
		v.Since = deref(r.EnqueuedAt)
	}
	return v
}

// ArchivedJob shows one job whole, with its effects; for operators.
func (d *Desk) ArchivedJob(ctx context.Context, by, jobID int64) (ArchivedView, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return ArchivedView{}, err
	}
	t, err := queue.Show(ctx, d.pool, jobID)
	if err != nil {
		return ArchivedView{}, jobError(err)
	}
	v := archivedView(t.Row)
	v.Payload = string(t.Payload)
	for _, e := range t.Effects {
		v.Effects = append(v.Effects, effectView(e))
	}
	return v, nil
}

// jobError turns what the queue refuses into words for operators.
func jobError(err error) error {
	for _, known := range []struct {
		err error
		why string
	}{{queue.ErrNotFound, "not_found"}, {queue.ErrUnsettled, "unsettled"}, {queue.ErrDecided, "decided"}, {queue.ErrInFlight, "in_flight"}} {
		if errors.Is(err, known.err) {
			return &Error{Code: CodeJob, Args: map[string]any{"why": known.why}, Cause: err}
		}
	}
	return err
}

// ConfirmJob closes an archived job as done: what is in doubt did happen. For operators.
func (d *Desk) ConfirmJob(ctx context.Context, by, jobID int64) error {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return err
	}
	_, err := d.archive().Confirm(ctx, jobID, author(by))
	return jobError(err)
}

// ReplayJob runs an archived job again; refused (error.job, unsettled) while an
// effect of it is in doubt. For operators.
func (d *Desk) ReplayJob(ctx context.Context, by, jobID int64) (Submission, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return Submission{}, err
	}
	dec, err := d.archive().Replay(ctx, jobID, author(by), queue.NoEvidence)
	return Submission{JobID: dec.ReplayJobID, Fresh: dec.Fresh}, jobError(err)
}

// ReplayUndone runs an archived job again whose effect was in doubt, on the word
// that it did not happen outside. For operators.
func (d *Desk) ReplayUndone(ctx context.Context, by, jobID int64) (Submission, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return Submission{}, err
	}
	dec, err := d.archive().Replay(ctx, jobID, author(by), queue.EvidenceNotDone)
	return Submission{JobID: dec.ReplayJobID, Fresh: dec.Fresh}, jobError(err)
}

// DismissJob closes an archived job without saying what happened. For operators.
func (d *Desk) DismissJob(ctx context.Context, by, jobID int64) error {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return err
	}
	_, err := d.archive().Dismiss(ctx, jobID, author(by))
	return jobError(err)
}

// Findings lists the payments that do not match the provider's list, the oldest
// first; for operators.
func (d *Desk) Findings(ctx context.Context, by int64) ([]billing.Finding, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return nil, err
	}
	return billing.Findings(ctx, d.pool)
}

// SettleFinding closes one that an operator looked into; repeating it changes nothing.
func (d *Desk) SettleFinding(ctx context.Context, by, id int64) error {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return err
	}
	return d.tx(ctx, func(tx pgx.Tx) error {
		_, err := billing.Settle(ctx, tx, id, author(by), "")
		if errors.Is(err, billing.ErrNoFinding) {
			return &Error{Code: CodeJob, Args: map[string]any{"why": "not_found"}, Cause: err}
		}
		return err
	})
}

func (d *Desk) archive() *queue.Desk { return &queue.Desk{Pool: d.pool, Registry: d.registry} }

func effectView(e queue.EffectRow) EffectView {
	return EffectView{Key: e.Key, State: e.State, At: e.IntentAt, ExternalID: e.ExternalID, Error: e.Error}
}
