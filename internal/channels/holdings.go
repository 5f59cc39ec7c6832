package channels

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// What a person pays for: the channels that he linked and what they follow.

const channelPayerSQL = `
SELECT created_by
  FROM channels
 WHERE id = $1`

// Payer returns whose plan a channel uses: the person who linked it; ErrNotFound.
func Payer(ctx context.Context, q postgres.Querier, id int64) (int64, error) {
	return one[int64](ctx, q, channelPayerSQL, id)
}

const holdingsSQL = `
SELECT (SELECT count(*)
          FROM channels
         WHERE created_by = $1
           AND state <> 'unlinked'),
       (SELECT count(*)
          FROM subscriptions s
          JOIN channels c ON c.id = s.channel_id
         WHERE c.created_by = $1
           AND c.state <> 'unlinked')`

// Holdings counts the channels that a person pays for and what they follow,
// with what rests.
func Holdings(ctx context.Context, q postgres.Querier, personID int64) (channels, sources int64, err error) {
	err = q.QueryRow(ctx, holdingsSQL, personID).Scan(&channels, &sources)
	return channels, sources, err
}

const linkPayerSQL = `
SELECT coalesce((SELECT created_by
                   FROM channels
                  WHERE chat_id = $1
                    AND state <> 'unlinked'), $2::bigint)`

// lockHoldings waits for the turn of who pays for a channel.
func (s *Service) lockHoldings(ctx context.Context, tx pgx.Tx, channelID int64) error {
	if s.cfg.LockHoldings == nil {
		return nil
	}
	payer, err := Payer(ctx, tx, channelID)
	if err != nil {
		return err
	}
	return s.cfg.LockHoldings(ctx, tx, payer)
}

// lockLinked is the same for a chat that a person is about to link.
func (s *Service) lockLinked(ctx context.Context, tx pgx.Tx, chatID, personID int64) error {
	if s.cfg.LockHoldings == nil {
		return nil
	}
	payer, err := one[int64](ctx, tx, linkPayerSQL, chatID, personID)
	if err != nil {
		return err
	}
	return s.cfg.LockHoldings(ctx, tx, payer)
}

func (s *Service) holdingsChanged(ctx context.Context, tx pgx.Tx, channelID int64) error {
	if s.cfg.OnHoldings == nil {
		return nil
	}
	payer, err := Payer(ctx, tx, channelID)
	if err != nil {
		return err
	}
	return s.cfg.OnHoldings(ctx, tx, payer)
}

// Fit says what a plan's bounds changed.
type Fit struct {
	Resting        []int64 // channels that rest from now on
	Woken          []int64 // channels that work again
	SourcesResting int
	SourcesWoken   int
}

const channelsRestSQL = `
UPDATE channels c
   SET rests_at = CASE WHEN r.place > $2 THEN clock_timestamp() END
  FROM (SELECT id,
               row_number() OVER (ORDER BY created_at, id) AS place
          FROM channels
         WHERE created_by = $1
           AND state <> 'unlinked') r
 WHERE c.id = r.id
   AND (c.rests_at IS NOT NULL) <> (r.place > $2)
RETURNING c.id,
       c.rests_at IS NOT NULL`

const subscriptionsRestSQL = `
UPDATE subscriptions s
   SET rests_at = CASE WHEN r.rests THEN clock_timestamp() END
  FROM (SELECT t.channel_id,
               t.source_id,
               c.rests_at IS NOT NULL
               OR row_number() OVER (PARTITION BY c.rests_at IS NOT NULL ORDER BY t.created_at, t.channel_id, t.source_id) > $2 AS rests
          FROM subscriptions t
          JOIN channels c ON c.id = t.channel_id
         WHERE c.created_by = $1
           AND c.state <> 'unlinked') r
 WHERE s.channel_id = r.channel_id
   AND s.source_id = r.source_id
   AND (s.rests_at IS NOT NULL) <> r.rests
RETURNING s.channel_id,
       s.rests_at IS NOT NULL`

// FitPlan lets rest what exceeds the bounds of a person's plan, the newest
// first, and wakes what fits again; 0 is no bound. What a resting channel follows
// rests with it. Nothing is deleted. The caller lets no other FitPlan of the
// person run at the same time.
func (s *Service) FitPlan(ctx context.Context, tx pgx.Tx, personID, maxChannels, maxSources int64) (Fit, error) {
	var f Fit
	var err error
	if f.Resting, f.Woken, err = fit(ctx, tx, channelsRestSQL, personID, maxChannels); err != nil {
		return f, fmt.Errorf("fit the channels of %d: %w", personID, err)
	}
	resting, woken, err := fit(ctx, tx, subscriptionsRestSQL, personID, maxSources)
	if err != nil {
		return f, fmt.Errorf("fit the sources of %d: %w", personID, err)
	}
	f.SourcesResting, f.SourcesWoken = len(resting), len(woken)
	return f, nil
}

// fit returns the channels of the rows that query lets rest and wakes.
func fit(ctx context.Context, tx pgx.Tx, query string, personID, most int64) (resting, woken []int64, err error) {
	if most == 0 {
		most = math.MaxInt32
	}
	rows, err := tx.Query(ctx, query, personID, most)
	if err != nil {
		return nil, nil, err
	}
	var channelID int64
	var rests bool
	_, err = pgx.ForEachRow(rows, []any{&channelID, &rests}, func() error {
		if rests {
			resting = append(resting, channelID)
		} else {
			woken = append(woken, channelID)
		}
		return nil
	})
	return resting, woken, err
}
