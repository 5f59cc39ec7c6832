// Package channels keeps the people who talk to the bot, the Telegram channels
// that they link, who may do what in which channel, the settings of a channel,
// invitations, and which sources a channel follows.
//
// Its tables: people, channels, memberships, invitations, subscriptions.
// Nobody else writes them; others take part through the functions here, inside
// their own transaction.
//
// It must never decide about rights by anything but the memberships table, never
// keep a token of an invitation (only its digest), and never forget a
// channel's settings because Telegram took a right away.
package channels

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Service is the one writer of this package's tables. It is safe for
// concurrent use.
type Service struct{ cfg Config }

// Config is what a Service needs.
type Config struct {
	Pool *pgxpool.Pool
	// Rights asks Telegram about a chat.
	Rights Rights
	// MayLink is asked in the transaction that links a channel whether the person
	// may pay for one more; its error refuses the link. nil: always.
	MayLink func(ctx context.Context, tx pgx.Tx, personID int64) error
	// LockHoldings makes everything that changes what a person pays for wait in
	// line. It is called before the first row is changed: who lets a person's
	// channels rest takes the same lock first and the rows after it. nil does nothing.
	LockHoldings func(ctx context.Context, tx pgx.Tx, personID int64) error
	// OnHoldings is told, in the transaction that changes it, that a person pays
	// for other channels or sources than before. nil does nothing.
	OnHoldings func(ctx context.Context, tx pgx.Tx, personID int64) error
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

var (
	// ErrNotFound means that there is no such person, channel, membership or subscription.
	ErrNotFound = errors.New("channels: not found")
	// ErrTaken means that somebody else linked the channel; he can invite.
	ErrTaken = errors.New("channels: linked by somebody else")
	// ErrPersonNoAdmin means that the person is no administrator of the channel that he wants to link.
	ErrPersonNoAdmin = errors.New("channels: the person is no administrator of the channel")
	// ErrBotNoAdmin means that the bot is no administrator of the channel.
	ErrBotNoAdmin = errors.New("channels: the bot is no administrator of the channel")
	// ErrNoChannel means that the chat is a group or a private chat.
	ErrNoChannel = errors.New("channels: not a channel")
	// ErrChanged means that somebody else changed the settings meanwhile.
	ErrChanged = errors.New("channels: somebody else changed the settings meanwhile")
	// ErrLastOwner means that the channel would be left without an owner.
	ErrLastOwner = errors.New("channels: the last owner stays")
	// ErrInvitation means that an invitation was used by somebody else, is too old or never existed.
	ErrInvitation = errors.New("channels: the invitation does not work any more")
)

// InvalidError is a setting that cannot be: Field is its name in Change, in snake case.
type InvalidError struct{ Field, Value string }

func (e *InvalidError) Error() string {
	return fmt.Sprintf("channels: %s cannot be %q", e.Field, e.Value)
}
