package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// jobSuspendSQL takes every job out of the queue whose kind acts outside, also
// one that is leased: its worker, if it lives, is fenced. An intent without an
// outcome becomes a doubt.
const jobSuspendSQL = `
WITH gone AS (
  DELETE FROM jobs
   WHERE kind IN (SELECT name FROM job_kinds WHERE policy <> 'db')
     AND kind <> ALL ($1::text[])
  RETURNING ` + archivedJob + `
), doubts AS (
  UPDATE effects AS e
     SET state = 'unknown',
         outcome_at = clock_timestamp(),
         error = $2
    FROM gone
   WHERE e.job_id = gone.id
     AND e.state = 'intent'
  RETURNING e.job_id,
            e.class
)
INSERT INTO ` + archiveOf + `)
SELECT ` + archivedJob + `,
       CASE WHEN EXISTS (SELECT FROM doubts WHERE job_id = id AND class = 'strict') THEN 'unconfirmed' ELSE 'cancelled' END,
       EXISTS (SELECT FROM doubts WHERE job_id = id AND class = 'strict'),
       $2
  FROM gone`

// SuspendTx moves every job of a kind that may act outside (policy ledger or
// opaque) into the archive as cancelled, but for the kinds in except; an effect
// whose outcome is not known makes it unconfirmed. It is for a database that
// was restored from a backup: such a job may have run after the backup was
// made. It returns how many jobs it moved.
func SuspendTx(ctx context.Context, tx pgx.Tx, why string, except ...string) (int, error) {
	if except == nil {
		except = []string{}
	}
	tag, err := tx.Exec(ctx, jobSuspendSQL, except, why)
	if err != nil {
		return 0, fmt.Errorf("suspend jobs: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
