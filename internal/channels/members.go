package channels

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Member is a person with a role in a channel.
type Member struct {
	PersonID  int64          `json:"person_id"`
	FirstName string         `json:"first_name"`
	Username  string         `json:"username"`
	Role      editorial.Role `json:"role"`
	Notify    bool           `json:"notify"` // gets the cards
	Since     time.Time      `json:"since"`
}

const roleSQL = `
SELECT m.role
  FROM memberships m
  JOIN people p ON p.id = m.person_id
 WHERE m.channel_id = $1
   AND m.person_id = $2
   AND p.access <> 'banned'`

// RoleOf returns what a person may do in a channel: "" for a stranger, and
// for a channel that does not exist.
func RoleOf(ctx context.Context, q postgres.Querier, channelID, personID int64) (editorial.Role, error) {
	role, err := one[editorial.Role](ctx, q, roleSQL, channelID, personID)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return role, err
}

const membershipsOfSQL = `
SELECT m.channel_id,
       m.role
  FROM memberships m
  JOIN channels c ON c.id = m.channel_id
 WHERE m.person_id = $1
   AND c.state <> 'unlinked'
 ORDER BY m.channel_id`

// Of returns the linked channels of a person with his role in each, by id.
func Of(ctx context.Context, q postgres.Querier, personID int64) ([]editorial.Channel, map[int64]editorial.Role, error) {
	rows, err := q.Query(ctx, membershipsOfSQL, personID)
	if err != nil {
		return nil, nil, err
	}
	roles := map[int64]editorial.Role{}
	var ids []int64
	var id int64
	var role editorial.Role
	if _, err := pgx.ForEachRow(rows, []any{&id, &role}, func() error {
		roles[id] = role
		ids = append(ids, id)
		return nil
	}); err != nil {
		return nil, nil, fmt.Errorf("channels of person %d: %w", personID, err)
	}
	list, err := load(ctx, q, ids)
	return list, roles, err
}

const membersSQL = `
SELECT m.person_id,
       p.first_name,
       p.username,
       m.role,
       m.notify,
       m.created_at
  FROM memberships m
  JOIN people p ON p.id = m.person_id
 WHERE m.channel_id = $1
 ORDER BY m.created_at,
       m.person_id`

// Members lists who works on a channel, the longest first.
func Members(ctx context.Context, q postgres.Querier, channelID int64) ([]Member, error) {
	rows, err := q.Query(ctx, membersSQL, channelID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Member])
}

const listenersSQL = `
SELECT m.person_id
  FROM memberships m
  JOIN people p ON p.id = m.person_id
 WHERE m.channel_id = $1
   AND m.notify
   AND m.role IN ('owner', 'editor')
   AND p.access <> 'banned'
   AND p.blocked_at IS NULL
   AND p.erased_at IS NULL
 ORDER BY m.person_id`

// Listeners returns who gets the cards and notices of a channel.
func Listeners(ctx context.Context, q postgres.Querier, channelID int64) ([]int64, error) {
	rows, err := q.Query(ctx, listenersSQL, channelID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

const memberAddSQL = `
INSERT INTO memberships AS m (
       channel_id,
       person_id,
       role
) VALUES ($1, $2, $3)
ON CONFLICT (channel_id, person_id) DO UPDATE
   SET role = excluded.role
-- an invitation never takes rights away from somebody who has more
 WHERE array_position(ARRAY['viewer', 'editor', 'owner'], m.role) < array_position(ARRAY['viewer', 'editor', 'owner'], excluded.role)
RETURNING person_id`

func addMember(ctx context.Context, q postgres.Querier, channelID, personID int64, role editorial.Role) (bool, error) {
	return postgres.Affected(ctx, q, memberAddSQL, channelID, personID, role)
}

const memberNotifySQL = `
UPDATE memberships
   SET notify = $3
 WHERE channel_id = $1
   AND person_id = $2
RETURNING person_id`

// SetNotify says whether a member gets the cards.
func (s *Service) SetNotify(ctx context.Context, q postgres.Querier, channelID, personID int64, notify bool) error {
	return must(postgres.Affected(ctx, q, memberNotifySQL, channelID, personID, notify))
}

const memberRoleSQL = `
UPDATE memberships
   SET role = $3
 WHERE channel_id = $1
   AND person_id = $2
RETURNING person_id`

// SetRole changes a member's role; ErrLastOwner guards the last owner.
func (s *Service) SetRole(ctx context.Context, tx pgx.Tx, channelID, personID int64, role editorial.Role) error {
	if !role.May(editorial.Viewer) {
		return &InvalidError{"role", string(role)}
	}
	if role != editorial.Owner {
		if err := otherOwner(ctx, tx, channelID, personID); err != nil {
			return err
		}
	}
	return must(postgres.Affected(ctx, tx, memberRoleSQL, channelID, personID, role))
}

const memberRemoveSQL = `
DELETE FROM memberships
 WHERE channel_id = $1
   AND person_id = $2
RETURNING person_id`

const personForgetChannelSQL = `
UPDATE people
   SET channel_id = NULL
 WHERE id = $2
   AND channel_id = $1
RETURNING id`

// RemoveMember takes a person out of a channel; ErrLastOwner guards the last owner.
func (s *Service) RemoveMember(ctx context.Context, tx pgx.Tx, channelID, personID int64) (bool, error) {
	if err := otherOwner(ctx, tx, channelID, personID); err != nil {
		return false, err
	}
	gone, err := postgres.Affected(ctx, tx, memberRemoveSQL, channelID, personID)
	if err != nil || !gone {
		return gone, err
	}
	_, err = postgres.Affected(ctx, tx, personForgetChannelSQL, channelID, personID)
	return true, err
}

const otherOwnerSQL = `
SELECT EXISTS (
       SELECT
         FROM memberships
        WHERE channel_id = $1
          AND role = 'owner'
          AND person_id <> $2
)`

// otherOwner fails unless somebody else owns the channel too, or the person
// owns nothing. The channel is locked, so that two owners do not leave at once.
func otherOwner(ctx context.Context, tx pgx.Tx, channelID, personID int64) error {
	if err := Lock(ctx, tx, channelID); err != nil {
		return err
	}
	role, err := RoleOf(ctx, tx, channelID, personID)
	if err != nil || role != editorial.Owner {
		return err
	}
	other, err := one[bool](ctx, tx, otherOwnerSQL, channelID, personID)
	if err == nil && !other {
		return ErrLastOwner
	}
	return err
}
