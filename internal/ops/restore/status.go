package restore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// Hold is one channel that publishes nothing.
type Hold struct {
	RestoreID int64     `json:"restore"`
	How       How       `json:"how"`
	ChannelID int64     `json:"channel"`
	Title     string    `json:"title"`
	HeldAt    time.Time `json:"held_at"`
	Looks     int       `json:"looks"`
	Found     int       `json:"found"`
	Alike     int       `json:"alike"`
	Returned  int       `json:"returned"`
	Note      string    `json:"note"`
}

const holdsOpenSQL = `
SELECT h.restore_id,
       r.how,
       h.channel_id,
       c.title,
       h.held_at,
       h.looks,
       h.found,
       h.alike,
       h.returned,
       h.note
  FROM restore_holds h
  JOIN restores r ON r.id = h.restore_id
  JOIN channels c ON c.id = h.channel_id
 WHERE h.released_at IS NULL
 ORDER BY h.channel_id`

// Open lists the channels that are held.
func Open(ctx context.Context, db postgres.Querier) ([]Hold, error) {
	rows, err := db.Query(ctx, holdsOpenSQL)
	if err != nil {
		return nil, fmt.Errorf("open holds: %w", err)
	}
	holds, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hold])
	if err != nil {
		return nil, fmt.Errorf("open holds: %w", err)
	}
	return holds, nil
}

// Release lets a channel publish again, or all of them (channelID 0), on a
// person's word: what the look could not see, the person has seen. Scheduled
// drafts whose time has passed were returned to their owners by the look; a
// channel that was not looked at yet is not released. It returns how many
// channels it released; a second call releases none. tell hands over the word
// to the people of each released channel, in the same transaction; nil tells nobody.
func Release(ctx context.Context, db postgres.Beginner, channelID int64, by string,
	tell func(ctx context.Context, tx pgx.Tx, restoreID, channelID int64) error,
) (released, waiting int, err error) {
	err = postgres.InTx(ctx, db, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, holdReleaseIfLookedSQL, channelID, by)
		if err != nil {
			return fmt.Errorf("release: %w", err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[freed])
		if err != nil {
			return fmt.Errorf("release: %w", err)
		}
		for _, f := range list {
			if tell == nil {
				break
			}
			if err := tell(ctx, tx, f.RestoreID, f.ChannelID); err != nil {
				return fmt.Errorf("tell of channel %d: %w", f.ChannelID, err)
			}
		}
		released = len(list)
		if err := tx.QueryRow(ctx, holdsWaitingSQL, channelID).Scan(&waiting); err != nil {
			return fmt.Errorf("release: %w", err)
		}
		if _, err := tx.Exec(ctx, restoreCloseIfReleasedSQL); err != nil {
			return fmt.Errorf("close restore: %w", err)
		}
		return nil
	})
	return released, waiting, err
}

const holdReleaseIfLookedSQL = `
UPDATE restore_holds
   SET released_at = clock_timestamp(),
       released_by = $2
 WHERE ($1 = 0 OR channel_id = $1)
   AND released_at IS NULL
   AND looks > 0
RETURNING restore_id,
          channel_id`

// freed is a channel that was released just now.
type freed struct{ RestoreID, ChannelID int64 }

const holdsWaitingSQL = `
SELECT count(*)
  FROM restore_holds
 WHERE ($1 = 0 OR channel_id = $1)
   AND released_at IS NULL`
