package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// sweepArgs is one run of the sweeper.
type sweepArgs struct {
	At int64 `json:"at"`
}

// sourcesStrandedSQL finds active sources that should have been polled and
// whose job is gone: archived after its retries, or lost with its lease twice.
const sourcesStrandedSQL = `
SELECT s.id
  FROM sources s
 WHERE s.state = 'active'
   AND s.next_poll_at < $1
   AND NOT EXISTS (SELECT FROM job_keys k
                     JOIN jobs j ON j.id = k.job_id
                    WHERE k.kind = 'poll'
                      AND k.key = s.id || ':' || floor(extract(epoch FROM s.next_poll_at))::bigint)
 ORDER BY s.next_poll_at
 LIMIT 500`

// pollsPurgeSQL leans on time growing with the number: the first line that is
// young enough ends the search.
const pollsPurgeSQL = `
DELETE FROM polls
 WHERE id IN (SELECT id
                FROM polls
               WHERE id < coalesce((SELECT p.id FROM polls p WHERE p.at >= $1 ORDER BY p.id LIMIT 1), 0)
               ORDER BY id
               LIMIT 20000)`

const hostsPurgeSQL = `
DELETE FROM hosts
 WHERE busy_until < $1
   AND rests_until < $1`

// itemsPurgeSQL takes the text of old items. Their keys, titles and links stay
// for ever.
const itemsPurgeSQL = `
UPDATE items
   SET text = '',
       purged_at = clock_timestamp()
 WHERE id IN (SELECT id
                FROM items
               WHERE purged_at IS NULL
                 AND first_seen_at < $1
               ORDER BY first_seen_at
               LIMIT 5000)`

const keepPolls = 30 * 24 * time.Hour

// strandedAfter is how long a source without a poll may be overdue; a poll and the next one's job are written in
// one transaction, so this only keeps the sweeper away from what is being written.
const strandedAfter = time.Minute

// workSweep sees to it that no source stops silently, and forgets what is old.
func (s *Service) workSweep(ctx context.Context, job *queue.Job[sweepArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		now := s.now()
		rows, err := tx.Query(ctx, sourcesStrandedSQL, now.Add(-strandedAfter))
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.pollAt(ctx, tx, id, now.Add(time.Duration(phase(id)*float64(4*time.Minute)))); err != nil {
				return err
			}
		}
		if len(ids) > 0 {
			s.log.Warn().Int("sources", len(ids)).Msg("sources without a due poll were found and scheduled")
		}
		return s.forgetTx(ctx, tx, now)
	})
}

// forgetTx applies the retention, a bounded piece at a time.
func (s *Service) forgetTx(ctx context.Context, tx pgx.Tx, now time.Time) error {
	for _, f := range []struct {
		query string
		keep  time.Duration
	}{{pollsPurgeSQL, keepPolls}, {itemsPurgeSQL, s.cfg.KeepTexts}, {hostsPurgeSQL, 24 * time.Hour}} {
		if _, err := tx.Exec(ctx, f.query, now.Add(-f.keep)); err != nil {
			return fmt.Errorf("retention: %w", err)
		}
	}
	return nil
}
