package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

const lapsingSQL = `
SELECT person_id
  FROM accounts
 WHERE plan <> 'free'
   AND coalesce(greatest(paid_until, trial_until), '-infinity') < clock_timestamp() - $1::interval
 ORDER BY person_id
 LIMIT 100`

const accountLapseSQL = `
UPDATE accounts a
   SET plan = 'free',
       renews = false,
       updated_at = clock_timestamp()
  FROM (SELECT person_id, plan FROM accounts WHERE person_id = $1) was
 WHERE a.person_id = was.person_id
   AND a.plan <> 'free'
   AND coalesce(greatest(a.paid_until, a.trial_until), '-infinity') < clock_timestamp() - $2::interval
RETURNING was.plan,
       coalesce(greatest(a.paid_until, a.trial_until), clock_timestamp())`

// lapseGrace leaves a renewal that is told of late its time: until then the
// plan stands.
const lapseGrace = 6 * time.Hour

// workLapse ends plans that nobody paid on: what exceeds the free plan rests,
// nothing is deleted.
func (s *Service) workLapse(ctx context.Context, job *queue.Job[lapseArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lapsingSQL, lapseGrace)
		if err != nil {
			return err
		}
		people, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range people {
			if err := s.lapsed(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) lapsed(ctx context.Context, tx pgx.Tx, personID int64) error {
	if err := lockPerson(ctx, tx, personID); err != nil {
		return err
	}
	var planID string
	var until time.Time
	err := tx.QueryRow(ctx, accountLapseSQL, personID, lapseGrace).Scan(&planID, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // paid for meanwhile
	}
	if err != nil {
		return fmt.Errorf("end the plan of %d: %w", personID, err)
	}
	if err := s.Refit(ctx, tx, personID); err != nil {
		return err
	}
	plan, _ := s.cfg.Plans.find(planID)
	return s.notify(ctx, tx, Event{
		Key: fmt.Sprintf("ended:%d", until.UnixMicro()), PersonID: personID, Code: "ended", Plan: plan, Until: until,
	})
}
