package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const kindPauseSQL = `
UPDATE job_kinds
   SET paused = $2,
       paused_by = CASE WHEN $2 THEN $3 END,
       paused_at = CASE WHEN $2 THEN clock_timestamp() END
 WHERE name = $1`

// PauseTx stops (or restarts) the claiming of a kind in all processes, from the commit on. What runs goes on.
// ErrNotFound: no process ever registered such a kind.
func PauseTx(ctx context.Context, tx pgx.Tx, kind string, paused bool, by string) error {
	tag, err := tx.Exec(ctx, kindPauseSQL, kind, paused, by)
	if err != nil {
		return fmt.Errorf("pause kind %s: %w", kind, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("pause kind %s: %w", kind, ErrNotFound)
	}
	return nil
}
