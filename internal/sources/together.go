package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/queue/batcher"
)

// Most polls find nothing new. Each by itself would cost six statements, several times the request's own cost;
// so sources that are due at about the same time are loaded together, and polls that changed nothing are recorded
// together: one transaction takes their jobs off the queue, writes their lines and puts in their next jobs.
const (
	loadTogether   = 64
	loadWait       = 3 * time.Millisecond
	recordTogether = 64
	recordWait     = 25 * time.Millisecond
	groupTimeout   = 20 * time.Second
)

// sourcesClaimSQL loads the sources of due polls and takes their hosts, one source a host, in the order of the
// hosts' names. A host is taken only for a poll that is due and wanted; how long to wait for one that was not free
// comes with the row.
const sourcesClaimSQL = `
WITH due AS MATERIALIZED (
  SELECT DISTINCT ON (w.host)
         w.host,
         w.id
    FROM unnest($1::bigint[], $2::bigint[]) AS u (id, due)
    JOIN sources w ON w.id = u.id
    LEFT JOIN hosts h ON h.host = w.host
   WHERE w.state = 'active'
     AND w.next_poll_at < to_timestamp(u.due + 1)
     AND coalesce(greatest(h.busy_until, h.rests_until) <= clock_timestamp(), true)
     AND ($5::boolean OR EXISTS (SELECT FROM subscriptions f WHERE f.source_id = w.id))
   ORDER BY w.host,
            u.due,
            w.id
), claim AS (
  INSERT INTO hosts (host, busy_until, holder)
  SELECT host,
         clock_timestamp() + $3::interval,
         $4::text || '/' || id
    FROM due
   ORDER BY host
      ON CONFLICT (host) DO UPDATE
     SET busy_until = excluded.busy_until,
         holder = excluded.holder
   WHERE hosts.busy_until <= clock_timestamp()
     AND hosts.rests_until <= clock_timestamp()
  RETURNING holder
)
SELECT` + sourceColumns + `,
       EXISTS (SELECT FROM claim WHERE claim.holder = $4::text || '/' || s.id) AS claimed,
       coalesce(extract(epoch FROM greatest(h.busy_until, h.rests_until, clock_timestamp()) - clock_timestamp()), 0)::float8 AS wait
  FROM sources s
  LEFT JOIN hosts h ON h.host = s.host
 WHERE s.id = ANY ($1::bigint[])`

// loading is one due poll that waits for its source.
type loading struct {
	args  pollArgs
	reply chan loaded // capacity 1
}

type loaded struct {
	src     *row
	claimed bool          // its host is ours for one request
	wait    time.Duration // else this is how long to leave the host alone
	err     error
}

// load brings the source of a due poll and takes its host. ErrUnknown: there is no such source.
func (s *Service) load(a pollArgs) loaded {
	l := &loading{args: a, reply: make(chan loaded, 1)}
	s.loads.Add(l)
	return <-l.reply
}

// loadAll answers each loading once.
func (s *Service) loadAll(group []*loading) {
	found, err := s.claimSources(group)
	for _, l := range group {
		switch got, ok := found[l.args.SourceID]; {
		case err != nil:
			l.reply <- loaded{err: fmt.Errorf("load sources: %w", err)}
		case !ok:
			l.reply <- loaded{err: ErrUnknown}
		default:
			l.reply <- got
			if got.claimed { // a second poll of the same source in one group has no claim
				found[l.args.SourceID] = loaded{src: got.src, wait: s.gap(got.src.host)}
			}
		}
	}
}

func (s *Service) claimSources(group []*loading) (map[int64]loaded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	ids, due := make([]int64, len(group)), make([]int64, len(group))
	for i, l := range group {
		ids[i], due[i] = l.args.SourceID, l.args.Due
	}
	rows, err := s.pool.Query(ctx, sourcesClaimSQL, ids, due, hostHold, s.holder, s.cfg.PollUnfollowed)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[int64]loaded, len(group))
	for rows.Next() {
		var l loaded
		var seconds float64
		if l.src, err = scanRow(rows, &l.claimed, &seconds); err != nil {
			return nil, err
		}
		if !l.claimed {
			l.wait = s.hostPause(l.src.host, l.src.id, time.Duration(seconds*float64(time.Second)))
		}
		found[l.src.id] = l
	}
	return found, rows.Err()
}

// quiet is a poll that changed nothing but its source's schedule and validators.
type quiet struct {
	job   *queue.Job[pollArgs]
	out   *outcome
	up    update
	reply chan error // capacity 1
}

// isQuiet reports whether a poll may be recorded together with others: its source was well and is well, and
// nobody is to be told anything.
func isQuiet(out *outcome, up update) bool {
	src := out.src
	switch {
	case out.problem != nil, out.outage, out.moved, out.hint != "", out.doc != nil && !out.same, out.rest > 0:
		return false
	case src.failures > 0, src.failingSince != nil, src.toldAt != nil, src.movedTo != "", src.baselineAt == nil:
		return false
	}
	return up.state == stateActive && up.newest == src.newestPost && up.keyVersion == src.keyVersion &&
		up.title == src.title && up.lang == src.lang && up.siteURL == src.siteURL
}

// recordQuietly records a quiet poll together with others and completes its job.
func (s *Service) recordQuietly(job *queue.Job[pollArgs], out *outcome, up update) error {
	q := &quiet{job: job, out: out, up: up, reply: make(chan error, 1)}
	s.quiets.Add(q)
	return <-q.reply
}

func (s *Service) recordAll(group []*quiet) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	jobs := make([]*queue.Job[pollArgs], len(group))
	for i, q := range group {
		jobs[i] = q.job
	}
	errs := queue.CompleteTogether(ctx, jobs, func(ctx context.Context, tx pgx.Tx, held []bool) error {
		var mine []*quiet
		for i, q := range group {
			if held[i] {
				mine = append(mine, q)
			}
		}
		return s.writeQuiets(ctx, tx, mine)
	})
	for i, q := range group {
		q.reply <- errs[i]
	}
}

// pollsWriteQuietSQL is pollWriteSQL for many quiet polls. A source that was paused, woken or scheduled anew
// while it was asked stays as it is now: it is not in the answer, and gets no next job from here.
const pollsWriteQuietSQL = `
WITH u AS MATERIALIZED (
  SELECT *
    FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::smallint[], $7::int[],
                $8::int[], $9::int[], $10::text[], $11::text[], $12::interval[], $13::text[], $14::text[], $15::timestamptz[],
                $16::bytea[], $17::int[])
      AS u (id, at, due, next, result, status, entries, bytes, millis, note, host, rest, etag, modified, validated, hash, seconds)
), line AS (
  INSERT INTO polls (source_id, at, result, status, entries, known, bytes, millis, note)
  SELECT id,
         at,
         result,
         status,
         entries,
         entries,
         bytes,
         millis,
         note
    FROM u
), held AS MATERIALIZED (
  SELECT h.host,
         u.rest
    FROM hosts h
    JOIN u ON h.host = u.host AND h.holder = $18::text || '/' || u.id
   ORDER BY h.host
     FOR UPDATE OF h
), freed AS (
  UPDATE hosts
     SET busy_until = '-infinity',
         rests_until = clock_timestamp() + held.rest
    FROM held
   WHERE hosts.host = held.host
)
UPDATE sources
   SET etag = u.etag,
       last_modified = u.modified,
       validators_at = u.validated,
       body_hash = u.hash,
       interval_s = u.seconds,
       next_poll_at = u.next,
       last_poll_at = u.at,
       last_success_at = u.at,
       error_code = '',
       error_text = ''
  FROM u
 WHERE sources.id = u.id
   AND sources.state = 'active'
   AND sources.next_poll_at = u.due
RETURNING sources.id`

func (s *Service) writeQuiets(ctx context.Context, tx pgx.Tx, group []*quiet) error {
	if len(group) == 0 {
		return nil
	}
	c := newQuietColumns(len(group))
	next := make(map[int64]time.Time, len(group))
	for _, q := range group {
		c.add(q, max(q.out.rest, s.gap(q.out.src.host)))
		next[q.out.src.id] = q.out.nextAt
	}
	rows, err := tx.Query(ctx, pollsWriteQuietSQL, c.id, c.at, c.due, c.next, c.result, c.status, c.entries, c.bytes, c.millis, c.note,
		c.host, c.rest, c.etag, c.modified, c.validated, c.hash, c.seconds, s.holder)
	if err != nil {
		return fmt.Errorf("record polls: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("record polls: %w", err)
	}
	jobs, times := make([]pollArgs, len(ids)), make([]time.Time, len(ids))
	for i, id := range ids {
		jobs[i], times[i] = pollArgs{id, next[id].Unix()}, next[id]
	}
	_, err = s.poll.EnqueueManyTx(ctx, tx, jobs, queue.RunAtEach(times))
	return err
}

// quietColumns are the columns of pollsWriteQuietSQL.
type quietColumns struct {
	id                              []int64
	at, due, next                   []time.Time
	validated                       []*time.Time
	result, note, host              []string
	etag, modified                  []string
	status                          []int16
	entries, bytes, millis, seconds []int32
	rest                            []time.Duration
	hash                            [][]byte
}

func newQuietColumns(n int) *quietColumns {
	return &quietColumns{
		id: make([]int64, 0, n), at: make([]time.Time, 0, n), due: make([]time.Time, 0, n), next: make([]time.Time, 0, n),
		validated: make([]*time.Time, 0, n), result: make([]string, 0, n), note: make([]string, 0, n), host: make([]string, 0, n),
		etag: make([]string, 0, n), modified: make([]string, 0, n), status: make([]int16, 0, n), entries: make([]int32, 0, n),
		bytes: make([]int32, 0, n), millis: make([]int32, 0, n), seconds: make([]int32, 0, n), rest: make([]time.Duration, 0, n),
		hash: make([][]byte, 0, n),
	}
}

func (c *quietColumns) add(q *quiet, rest time.Duration) {
	out, up := q.out, q.up
	status, size := out.answered()
	c.id, c.at, c.due, c.next = append(c.id, out.src.id), append(c.at, out.at), append(c.due, out.src.nextPoll), append(c.next, out.nextAt)
	c.validated = append(c.validated, up.validatorsAt)
	c.result, c.note, c.host = append(c.result, out.result()), append(c.note, out.note()), append(c.host, out.src.host)
	c.etag, c.modified = append(c.etag, up.etag), append(c.modified, up.lastMod)
	c.status = append(c.status, int16(status))
	c.entries, c.bytes = append(c.entries, int32(out.tally.entries)), append(c.bytes, int32(size))
	c.millis, c.seconds = append(c.millis, int32(out.millis)), append(c.seconds, int32(up.interval/time.Second))
	c.rest, c.hash = append(c.rest, rest), append(c.hash, up.bodyHash)
}

// settled reports whether a group's answer ends the job: it was recorded, or is somebody else's by now.
// Anything else is tried again alone.
func settled(err error) bool { return err == nil || errors.Is(err, queue.ErrLeaseLost) }

// groups starts what collects loads and quiet polls.
func (s *Service) groups() {
	s.loads = batcher.New(batcher.Config{Max: loadTogether, Wait: loadWait, Lanes: 2}, s.loadAll)
	s.quiets = batcher.New(batcher.Config{Max: recordTogether, Wait: recordWait, Lanes: 2}, s.recordAll)
}
