//go:build failpoints

package queue

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// controlNoteSQL is a ledger as one writes it without R2: no lease is asked for and an open intent refuses nothing.
const controlNoteSQL = `
INSERT INTO effects AS e (effect_key, job_id, kind, class, lease_token, request_hash, deadline_at)
VALUES ($1, $2, $3, 'strict', $4, $5, clock_timestamp())
    ON CONFLICT (effect_key) DO UPDATE
   SET lease_token = excluded.lease_token,
       job_id = excluded.job_id,
       state = 'intent',
       outcome_at = NULL
 WHERE e.state <> 'done'
RETURNING effect_key`

// controlReapSQL returns by age, however often, and looks at no ledger.
const controlReapSQL = `
UPDATE jobs
   SET state = 'ready',
       lease_token = NULL,
       lease_until = NULL,
       leased_by = NULL,
       claim_nonce = NULL,
       claimed_at = NULL
 WHERE id = ANY ($1::bigint[])`

func controlIntend(ctx context.Context, r *run, e Effect, hash []byte) (*ledgerRow, error) {
	tag, err := r.engine.pool.Exec(ctx, controlNoteSQL, e.Key, r.id, r.kind, r.token, hash)
	if err != nil || tag.RowsAffected() == 1 {
		return nil, err
	}
	return readLedger(ctx, r.engine.pool, e.Key)
}

func controlReap(ctx context.Context, tx pgx.Tx, ids []int64) error {
	_, err := tx.Exec(ctx, controlReapSQL, ids)
	return err
}
