package channels

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Erased counts what Erase took away.
type Erased struct {
	Channels    int // unlinked: the person was their only owner
	Memberships int
}

const soleOwnerSQL = `
SELECT m.channel_id
  FROM memberships m
 WHERE m.person_id = $1
   AND m.role = 'owner'
   AND NOT EXISTS (
       SELECT
         FROM memberships o
        WHERE o.channel_id = m.channel_id
          AND o.role = 'owner'
          AND o.person_id <> $1
   )
 ORDER BY m.channel_id`

const membershipsForgetSQL = `
DELETE FROM memberships
 WHERE person_id = $1`

const invitationsForgetSQL = `
DELETE FROM invitations
 WHERE created_by = $1
   AND used_by IS NULL`

// A ban outlives the erasure: it would be worth nothing otherwise.
const personEraseSQL = `
UPDATE people
   SET first_name = '',
       username = '',
       language = 'en',
       language_set = false,
       access = CASE WHEN access = 'banned' THEN access ELSE 'none' END,
       channel_id = NULL,
       erased_at = clock_timestamp()
 WHERE id = $1`

// Erase forgets a person: name, settings, memberships, unused invitations.
// Channels that only he owned are unlinked, so that nothing is posted in them
// any more; their settings stay with the channel. The number of the person stays
// where decisions and payments name it, without a name behind it.
func (s *Service) Erase(ctx context.Context, tx pgx.Tx, personID int64) (Erased, error) {
	var e Erased
	rows, err := tx.Query(ctx, soleOwnerSQL, personID)
	if err != nil {
		return e, err
	}
	sole, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return e, err
	}
	for _, id := range sole {
		changed, err := s.Unlink(ctx, tx, id)
		if err != nil {
			return e, fmt.Errorf("unlink channel %d: %w", id, err)
		}
		if changed {
			e.Channels++
		}
	}
	tag, err := tx.Exec(ctx, membershipsForgetSQL, personID)
	if err != nil {
		return e, err
	}
	e.Memberships = int(tag.RowsAffected())
	for _, query := range []string{invitationsForgetSQL, personEraseSQL} {
		if _, err := tx.Exec(ctx, query, personID); err != nil {
			return e, fmt.Errorf("erase person %d: %w", personID, err)
		}
	}
	return e, nil
}
