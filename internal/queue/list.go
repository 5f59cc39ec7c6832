package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Reader is a pool, a connection or a transaction to read through.
type Reader interface {
	querier
	rowQuerier
}

// Row is one job as people see it, live, archived or finished.
type Row struct {
	JobID int64  `json:"job_id"`
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Tier  Tier   `json:"tier"`
	// State is ready or leased for a live job, archived for one in the archive, completed for one in the
	// history, and gone for one whose history is past its retention.
	State          string     `json:"state"`
	Reason         Reason     `json:"reason,omitempty"`
	Status         Status     `json:"status,omitempty"`
	NeedsReconcile bool       `json:"needs_reconcile,omitempty"`
	Failures       int        `json:"failures"`
	Expiries       int        `json:"expiries"`
	Generation     int        `json:"generation"`
	LastError      string     `json:"last_error,omitempty"`
	EnqueuedAt     *time.Time `json:"enqueued_at,omitempty"`
	RunAt          *time.Time `json:"run_at,omitempty"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	ResolvedBy     string     `json:"resolved_by,omitempty"`
	Resolution     string     `json:"resolution,omitempty"`
	ReplayJobID    int64      `json:"replay_job_id,omitempty"`
	ParentID       int64      `json:"parent_id,omitempty"`
	UpdateID       int64      `json:"update_id,omitempty"`
	PersonID       int64      `json:"person_id,omitempty"`
	RequestID      string     `json:"request_id,omitempty"`
}

// jobRowColumns joins a job's key row (k) with wherever the job is now.
const jobRowColumns = `
       k.job_id,
       k.kind,
       k.key,
       coalesce(j.tier, a.tier, d.tier, ''),
       CASE
         WHEN j.id IS NOT NULL THEN j.state
         WHEN a.job_id IS NOT NULL THEN 'archived'
         WHEN h.id IS NOT NULL THEN 'completed'
         ELSE 'gone'
       END AS state,
       coalesce(a.reason, ''),
       coalesce(a.status, ''),
       coalesce(a.needs_reconcile, false),
       coalesce(j.failures, a.failures, h.failures, 0),
       coalesce(j.expiries, a.expiries, h.expiries, 0),
       k.generation,
       coalesce(j.last_error, a.last_error, ''),
       coalesce(j.enqueued_at, a.enqueued_at, h.enqueued_at),
       j.run_at,
       coalesce(a.archived_at, h.finished_at),
       coalesce(a.resolved_by, ''),
       coalesce(a.resolution, ''),
       coalesce(a.replay_job_id, 0),
       coalesce(k.parent_id, 0),
       coalesce(k.update_id, 0),
       coalesce(k.person_id, 0),
       coalesce(k.request_id, '')`

const jobRowSources = `
  LEFT JOIN jobs AS j ON j.id = k.job_id
  LEFT JOIN job_archive AS a ON a.job_id = k.job_id
  LEFT JOIN job_kinds AS d ON d.name = k.kind
  LEFT JOIN LATERAL (
         SELECT id,
                failures,
                expiries,
                enqueued_at,
                finished_at
           FROM job_history
          WHERE id = k.job_id
            AND j.id IS NULL
            AND a.job_id IS NULL
            AND finished_at >= k.seen_at - interval '1 hour'
          LIMIT 1
       ) AS h ON true`

// jobListSQL: live jobs and the archive; without a state the live ones and what is open. Each side brings what the
// page may need in the order of its own index, so that a page costs the same however much lies in the archive.
const jobListSQL = `
WITH chosen AS (
  (SELECT id AS job_id
     FROM jobs
    WHERE ($1 = '' OR state = $1)
      AND ($2 = '' OR kind = $2)
      AND ($4 = 0 OR id < $4)
      AND NOT $5
    ORDER BY id DESC
    LIMIT $3)
   UNION ALL
  (SELECT job_id
     FROM job_archive
    WHERE ($1 = '' AND status = 'open' OR $1 IN (status, reason, 'archived'))
      AND ($2 = '' OR kind = $2)
      AND ($4 = 0 OR job_id < $4)
      AND (NOT $5 OR status = 'open')
    ORDER BY job_id DESC
    LIMIT $3)
   ORDER BY job_id DESC
   LIMIT $3
)
SELECT ` + jobRowColumns + `
  FROM chosen
  JOIN job_keys AS k USING (job_id)` + jobRowSources + `
 ORDER BY k.job_id DESC`

const jobRowSQL = `
SELECT ` + jobRowColumns + `
  FROM job_keys AS k` + jobRowSources + `
 WHERE k.job_id = $1`

const jobChildrenSQL = `
SELECT ` + jobRowColumns + `
  FROM job_keys AS k` + jobRowSources + `
 WHERE k.parent_id = $1
 ORDER BY k.job_id
 LIMIT 200`

const kindNamesSQL = `
SELECT name
  FROM job_kinds
 ORDER BY name`

// KindNames lists every kind that a process ever registered in this database.
func KindNames(ctx context.Context, db Reader) ([]string, error) {
	rows, err := db.Query(ctx, kindNamesSQL)
	if err != nil {
		return nil, fmt.Errorf("list kinds: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list kinds: %w", err)
	}
	return names, nil
}

// Filter chooses rows. State is one of States; empty: live jobs and open archive rows. Kind may be empty. Limit 0
// is 100. Before, where it is not 0, goes on below that job's number: the next page. Open leaves only what is open in
// the archive.
type Filter struct {
	State  string
	Kind   string
	Limit  int
	Before int64
	Open   bool
}

// States are the words that Filter.State knows: of live jobs, the archive as a whole, its reasons and its statuses.
func States() []string {
	states := []string{"ready", "leased", "archived"}
	for _, r := range Reasons() {
		states = append(states, string(r))
	}
	return append(states, string(StatusOpen), string(StatusReconciled), string(StatusReplayed), string(StatusClosed))
}

// List returns jobs, newest first.
func List(ctx context.Context, db Reader, f Filter) ([]Row, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	return readRows(ctx, db, jobListSQL, f.State, f.Kind, f.Limit, f.Before, f.Open)
}

func readRows(ctx context.Context, db querier, sql string, args ...any) ([]Row, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Row])
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return list, nil
}

// Attempt is one execution that did not end in completion.
type Attempt struct {
	At        time.Time  `json:"at"`
	ClaimedAt *time.Time `json:"claimed_at,omitempty"`
	Outcome   string     `json:"outcome"`
	Error     string     `json:"error,omitempty"`
	Worker
}

// Worker is one start of a process that works jobs; zero: none, or one that is no longer known.
type Worker struct {
	ID    int64  `json:"worker_id,omitempty"`
	Host  string `json:"worker_host,omitempty"`
	PID   int    `json:"worker_pid,omitempty"` // as the process saw itself: in a container 1 or 7
	Build string `json:"worker_build,omitempty"`
}

const workerColumns = `
       coalesce(w.id, 0),
       coalesce(w.host, ''),
       coalesce(w.pid, 0),
       coalesce(w.build, '')`

const jobAttemptsSQL = `
SELECT t.at,
       t.claimed_at,
       t.outcome,
       coalesce(t.error, ''),` + workerColumns + `
  FROM job_attempts t
  LEFT JOIN workers w ON w.id = t.leased_by
 WHERE t.job_id = $1
 ORDER BY t.at`

// jobWorkerSQL is who runs the job now, or ran it last before it was archived.
const jobWorkerSQL = `
SELECT ` + workerColumns + `
  FROM (SELECT leased_by FROM jobs WHERE id = $1
         UNION ALL
        SELECT leased_by FROM job_archive WHERE job_id = $1) l
  JOIN workers w ON w.id = l.leased_by`

// EffectRow is one row of the ledger.
type EffectRow struct {
	Key          string          `json:"key"`
	JobID        int64           `json:"job_id"`
	Class        Class           `json:"class"`
	State        string          `json:"state"` // intent, done, not_done, unknown
	Tries        int             `json:"tries"`
	IntentAt     time.Time       `json:"intent_at"`
	DeadlineAt   time.Time       `json:"deadline_at"`
	OutcomeAt    *time.Time      `json:"outcome_at,omitempty"`
	ExternalID   string          `json:"external_id,omitempty"`
	Detail       json.RawMessage `json:"detail,omitempty"`
	Error        string          `json:"error,omitempty"`
	ReconciledBy string          `json:"reconciled_by,omitempty"`
}

const effectColumns = `
       effect_key,
       job_id,
       class,
       state,
       tries,
       intent_at,
       deadline_at,
       outcome_at,
       coalesce(external_id, ''),
       detail,
       coalesce(error, ''),
       coalesce(reconciled_by, '')
  FROM effects`

const effectsOfJobSQL = `
SELECT ` + effectColumns + `
 WHERE job_id = $1
 ORDER BY intent_at`

const effectRowSQL = `
SELECT ` + effectColumns + `
 WHERE effect_key = $1`

// EffectOf reads one row of the ledger. ErrNotFound: no intent was ever written under the key.
func EffectOf(ctx context.Context, db Reader, key string) (EffectRow, error) {
	rows, err := db.Query(ctx, effectRowSQL, key)
	if err != nil {
		return EffectRow{}, fmt.Errorf("read effect %s: %w", key, err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[EffectRow])
	if err != nil {
		return EffectRow{}, fmt.Errorf("read effect %s: %w", key, notFound(err))
	}
	return row, nil
}

// Trace is a job's whole story.
type Trace struct {
	Row
	Worker                   // who runs it now, or ran it last before it was archived
	Payload  json.RawMessage `json:"payload,omitempty"`
	Attempts []Attempt       `json:"attempts"`
	Effects  []EffectRow     `json:"effects"`
	Parents  []Row           `json:"parents"` // from the immediate one upwards
	Children []Row           `json:"children"`
}

const jobPayloadSQL = `
SELECT payload
  FROM jobs
 WHERE id = $1
 UNION ALL
SELECT payload
  FROM job_archive
 WHERE job_id = $1`

// mostParents bounds how far up the chain of parents a story is told.
const mostParents = 50

// Show reads a job's story from its number. ErrNotFound: there never was such a job, or its key was purged.
func Show(ctx context.Context, db Reader, jobID int64) (*Trace, error) {
	t := &Trace{}
	var err error
	if t.Row, err = showRow(ctx, db, jobID); err != nil {
		return nil, err
	}
	if err = db.QueryRow(ctx, jobPayloadSQL, jobID).Scan(&t.Payload); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read payload of job %d: %w", jobID, err)
	}
	workers, err := collect[Worker](ctx, db, jobWorkerSQL, jobID)
	if err != nil {
		return nil, err
	}
	if len(workers) > 0 {
		t.Worker = workers[0]
	}
	if t.Children, err = readRows(ctx, db, jobChildrenSQL, jobID); err != nil {
		return nil, err
	}
	for id := t.ParentID; id != 0 && len(t.Parents) < mostParents; {
		parent, err := showRow(ctx, db, id)
		if errors.Is(err, ErrNotFound) {
			break // purged
		}
		if err != nil {
			return nil, err
		}
		t.Parents = append(t.Parents, parent)
		id = parent.ParentID
	}
	if t.Attempts, err = collect[Attempt](ctx, db, jobAttemptsSQL, jobID); err != nil {
		return nil, err
	}
	t.Effects, err = collect[EffectRow](ctx, db, effectsOfJobSQL, jobID)
	return t, err
}

func showRow(ctx context.Context, db querier, jobID int64) (Row, error) {
	rows, err := readRows(ctx, db, jobRowSQL, jobID)
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, fmt.Errorf("job %d: %w", jobID, ErrNotFound)
	}
	return rows[0], nil
}

func collect[T any](ctx context.Context, db querier, sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	return list, nil
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
