package sources

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Validators go as well: they would spare the very read that records what came
// since the backup.
const sourcesRebaselineSQL = `
UPDATE sources
   SET baseline_at = NULL,
       etag = '',
       last_modified = '',
       validators_at = NULL,
       body_hash = NULL
 WHERE state <> 'merged'`

// RebaselineTx makes the next document of every source a baseline: after a
// restore of the database, what it shows beyond what is known has been proposed
// before, and is recorded only.
func RebaselineTx(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, sourcesRebaselineSQL); err != nil {
		return fmt.Errorf("rebaseline sources: %w", err)
	}
	return nil
}
