package sources

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/identity"
)

const sourceMoveSQL = `
UPDATE sources
   SET address = $2,
       url = $3,
       host = $4,
       etag = '',
       last_modified = ''
 WHERE id = $1`

const aliasInsertSQL = `
INSERT INTO source_aliases (address, source_id)
VALUES ($1, $2)
    ON CONFLICT (address) DO UPDATE
   SET source_id = excluded.source_id`

const aliasesMoveSQL = `
UPDATE source_aliases
   SET source_id = $2
 WHERE source_id = $1`

const keysMergeSQL = `
INSERT INTO item_keys (source_id, key, item_id)
SELECT $2,
       key,
       item_id
  FROM item_keys
 WHERE source_id = $1
 ORDER BY key
    ON CONFLICT (source_id, key) DO NOTHING`

const sourceMergeSQL = `
UPDATE sources
   SET state = 'merged',
       merged_into = $2,
       moved_to = '',
       last_poll_at = $3
 WHERE id = $1`

// move gives a source its new address; the old one stays an alias. If another
// source has that address, the two become one with the union of their keys,
// and true is returned.
func (s *Service) move(ctx context.Context, tx pgx.Tx, src *row, to string) (bool, error) {
	key := address.Normalise(to)
	if key == src.address {
		_, err := tx.Exec(ctx, sourceMoveSQL, src.id, key, to, identity.HostOf(to))
		return false, err
	}
	other, err := scanRow(tx.QueryRow(ctx, sourceByAddressSQL, key))
	switch {
	case errors.Is(err, ErrUnknown) || err == nil && other.id == src.id:
		if _, err := tx.Exec(ctx, sourceMoveSQL, src.id, key, to, identity.HostOf(to)); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, aliasInsertSQL, src.address, src.id)
		return false, err
	case err != nil:
		return false, err
	}
	if _, err := tx.Exec(ctx, keysMergeSQL, src.id, other.id); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, aliasesMoveSQL, src.id, other.id); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, sourceMergeSQL, src.id, other.id, s.now()); err != nil {
		return false, err
	}
	if s.cfg.OnMerged != nil {
		if err := s.cfg.OnMerged(ctx, tx, src.id, other.id); err != nil {
			return false, err
		}
	}
	if other.state != stateActive {
		return true, s.Resume(ctx, tx, other.id)
	}
	return true, nil
}
