package channels

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Invitation is what accepting one gave.
type Invitation struct {
	ChannelID int64          // 0: into the bot, not into a channel
	Role      editorial.Role // in the channel
	Operator  bool           // it made an operator
	Already   bool           // this person had used it before
}

const invitationAddSQL = `
INSERT INTO invitations (
       token_hash,
       channel_id,
       role,
       created_by,
       expires_at
) VALUES ($1, $2, $3, $4, clock_timestamp() + $5::interval)
ON CONFLICT (token_hash) DO UPDATE SET token_hash = excluded.token_hash
 WHERE invitations.role = excluded.role
RETURNING expires_at`

// Invite makes a link's token that works once: into a channel with a role. The
// caller may bring a secret token of its own, so that one that is asked for
// twice is made once; empty: one is drawn. Asked for with another role than the
// first time, it is an InvalidError.
func (s *Service) Invite(ctx context.Context, q postgres.Querier, channelID int64, role editorial.Role, by int64, token string, lasts time.Duration) (string, error) {
	if !role.May(editorial.Viewer) {
		return "", &InvalidError{"role", string(role)}
	}
	return s.invite(ctx, q, &channelID, string(role), &by, token, lasts)
}

// InviteIntoBot makes a token that gives a person access to the bot: invited
// (ACCESS=invite) or operator. by 0 is the program itself on its first start.
func (s *Service) InviteIntoBot(ctx context.Context, q postgres.Querier, access editorial.Access, by int64, lasts time.Duration) (string, error) {
	creator := &by
	if by == 0 {
		creator = nil
	}
	return s.invite(ctx, q, nil, string(access), creator, "", lasts)
}

func (s *Service) invite(ctx context.Context, q postgres.Querier, channelID *int64, role string, by *int64, token string, lasts time.Duration) (string, error) {
	if token == "" {
		raw := make([]byte, 18)
		if _, err := rand.Read(raw); err != nil {
			return "", err
		}
		token = base64.RawURLEncoding.EncodeToString(raw)
	}
	_, err := one[time.Time](ctx, q, invitationAddSQL, hash(token), channelID, role, by, lasts)
	if errors.Is(err, ErrNotFound) {
		return "", &InvalidError{"role", role}
	}
	if err != nil {
		return "", fmt.Errorf("invite as %s: %w", role, err)
	}
	return token, nil
}

func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

const invitationUseSQL = `
UPDATE invitations
   SET used_by = $2,
       used_at = clock_timestamp()
 WHERE token_hash = $1
   AND used_by IS NULL
   AND expires_at > clock_timestamp()
RETURNING coalesce(channel_id, 0),
       role`

const invitationUsedSQL = `
SELECT coalesce(channel_id, 0),
       role
  FROM invitations
 WHERE token_hash = $1
   AND used_by = $2`

// Accept uses an invitation once. The same person pressing the link again is
// told that he is in (Already); anybody else gets ErrInvitation.
func (s *Service) Accept(ctx context.Context, tx pgx.Tx, token string, personID int64) (Invitation, error) {
	var inv Invitation
	var role string
	err := tx.QueryRow(ctx, invitationUseSQL, hash(token), personID).Scan(&inv.ChannelID, &role)
	if errors.Is(err, pgx.ErrNoRows) {
		err = tx.QueryRow(ctx, invitationUsedSQL, hash(token), personID).Scan(&inv.ChannelID, &role)
		inv.Already = true
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Invitation{}, ErrInvitation
	}
	if err != nil {
		return Invitation{}, fmt.Errorf("use invitation: %w", err)
	}
	inv.Operator = role == string(editorial.AccessOperator)
	if inv.ChannelID != 0 {
		inv.Role = editorial.Role(role)
	}
	if inv.Already {
		return inv, nil
	}
	return inv, s.admit(ctx, tx, inv, personID)
}

const personAdmitSQL = `
UPDATE people
   SET access = $2
 WHERE id = $1
   AND (access = 'none' OR (access = 'invited' AND $2 = 'operator'))
RETURNING id`

func (s *Service) admit(ctx context.Context, tx pgx.Tx, inv Invitation, personID int64) error {
	access := editorial.AccessInvited
	if inv.Operator {
		access = editorial.AccessOperator
	}
	if _, err := postgres.Affected(ctx, tx, personAdmitSQL, personID, access); err != nil {
		return err
	}
	if inv.ChannelID == 0 {
		return nil
	}
	if _, err := addMember(ctx, tx, inv.ChannelID, personID, inv.Role); err != nil {
		return err
	}
	return s.Choose(ctx, tx, personID, inv.ChannelID)
}

const invitationClaimsDropSQL = `
DELETE FROM invitations
 WHERE role = 'operator'
   AND created_by IS NULL
   AND used_by IS NULL`

const operatorCountSQL = `
SELECT count(*)
  FROM people
 WHERE access = 'operator'`

// ClaimToken makes the one-time token for the first operator, which serve
// prints; earlier unused ones stop working. It returns "" when there is an
// operator already.
func (s *Service) ClaimToken(ctx context.Context, tx pgx.Tx, lasts time.Duration) (string, error) {
	n, err := one[int](ctx, tx, operatorCountSQL)
	if err != nil || n > 0 {
		return "", err
	}
	if _, err := postgres.Affected(ctx, tx, invitationClaimsDropSQL); err != nil {
		return "", err
	}
	return s.InviteIntoBot(ctx, tx, editorial.AccessOperator, 0, lasts)
}
