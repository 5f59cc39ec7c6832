package desk

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

const draftJobSQL = `
SELECT job_id
  FROM job_keys
 WHERE kind = 'draft'
   AND key = $1::bigint || ':' || $2::bigint
 ORDER BY generation DESC
 LIMIT 1`

// Rescue drafts a dropped story after all and teaches the score that it was
// wanted; Fresh is false when it was proposed before. For editors.
func (d *Desk) Rescue(ctx context.Context, by, channelID, storyID int64) (Submission, error) {
	var sub Submission
	err := d.tx(ctx, func(tx pgx.Tx) error {
		if _, err := d.may(ctx, tx, by, channelID, editorial.Editor); err != nil {
			return err
		}
		if err := d.slowly(d.rates.drafts, by); err != nil {
			return err
		}
		if err := d.draftsLeft(ctx, tx, channelID); err != nil {
			return err
		}
		fresh, err := d.scoring.Rescue(ctx, tx, channelID, storyID, by)
		if err != nil {
			return err
		}
		sub.Fresh = fresh
		err = tx.QueryRow(ctx, draftJobSQL, channelID, storyID).Scan(&sub.JobID)
		if postgres.NoRows(err) {
			if fresh {
				return nil
			}
			return notYours() // no such story was scored here
		}
		return err
	})
	return sub, err
}
