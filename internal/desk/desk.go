package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/stories"
)

// Config is what a Desk needs.
type Config struct {
	Pool       *pgxpool.Pool
	Now        func() time.Time // the clock of the calendar
	Logger     zerolog.Logger
	Channels   *channels.Service
	Planning   *planning.Service
	Sources    *sources.Service
	Stories    *stories.Service
	Scoring    *scoring.Service
	Drafting   *drafting.Service
	Publishing *publishing.Service
	Billing    *billing.Service // nil: no limits
	// Registry knows the kinds of jobs, for what operators decide in the archive.
	Registry *queue.Registry
	// Packs are suggested sources; nil takes SuggestedPacks.
	Packs []PackView
	// OnDecided is told of each change that a person made to a draft, with the
	// number of its transition, so that cards follow.
	OnDecided func(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error
	// OnMissed is told what became of a draft whose slot passed.
	OnMissed func(ctx context.Context, tx pgx.Tx, m Missed) error
	// OnPilot is told of a draft that the autopilot planned after nobody objected.
	OnPilot func(ctx context.Context, tx pgx.Tx, p Pilot) error
	// OnRecap is told once a day and channel what the autopilot did.
	OnRecap func(ctx context.Context, tx pgx.Tx, r Recap) error
	// OnImported is told what became of a list, in the transaction that took it.
	OnImported func(ctx context.Context, tx pgx.Tx, jobID int64, r ImportResult) error
	// OnRelease lets a channel that is held after a restored backup publish
	// again, on a person's word; false: it is not held. Nil: none ever is.
	OnRelease func(ctx context.Context, tx pgx.Tx, channelID int64, by string) (bool, error)
	// Open admits everybody (ACCESS=open); otherwise a person needs an invitation.
	Open bool
	// Operators are the Telegram ids of OPERATOR_IDS.
	Operators []int64
}

// Desk is safe for concurrent use.
type Desk struct {
	pool       *pgxpool.Pool
	now        func() time.Time
	log        zerolog.Logger
	channels   *channels.Service
	planning   *planning.Service
	sources    *sources.Service
	stories    *stories.Service
	scoring    *scoring.Service
	drafting   *drafting.Service
	publishing *publishing.Service
	billing    *billing.Service
	registry   *queue.Registry
	packs      []PackView
	open       bool
	operators  map[int64]bool
	rates      rates

	onDecided  func(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error
	onMissed   func(ctx context.Context, tx pgx.Tx, m Missed) error
	onImported func(ctx context.Context, tx pgx.Tx, jobID int64, r ImportResult) error
	onPilot    func(ctx context.Context, tx pgx.Tx, p Pilot) error
	onRecap    func(ctx context.Context, tx pgx.Tx, r Recap) error
	onRelease  func(ctx context.Context, tx pgx.Tx, channelID int64, by string) (bool, error)
}

// New returns a Desk.
func New(cfg Config) *Desk {
	d := &Desk{
		pool: cfg.Pool, now: cfg.Now, log: cfg.Logger, channels: cfg.Channels, planning: cfg.Planning,
		sources: cfg.Sources, stories: cfg.Stories, scoring: cfg.Scoring,
		drafting: cfg.Drafting, publishing: cfg.Publishing, billing: cfg.Billing, registry: cfg.Registry, packs: cfg.Packs,
		open: cfg.Open, operators: map[int64]bool{}, rates: newRates(), onDecided: cfg.OnDecided, onMissed: cfg.OnMissed, onImported: cfg.OnImported,
		onPilot: cfg.OnPilot, onRecap: cfg.OnRecap, onRelease: cfg.OnRelease,
	}
	if d.packs == nil {
		d.packs = SuggestedPacks()
	}
	for _, id := range cfg.Operators {
		d.operators[id] = true
	}
	return d
}

// tx runs a use case in one transaction and explains its error to people.
func (d *Desk) tx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return explain(postgres.InTx(ctx, d.pool, fn))
}

// may checks a person's role in a channel. A stranger learns nothing: not even
// that the channel exists.
func (d *Desk) may(ctx context.Context, q postgres.Querier, by, channelID int64, need editorial.Role) (editorial.Role, error) {
	role, err := channels.RoleOf(ctx, q, channelID, by)
	switch {
	case err != nil:
		return "", fmt.Errorf("role of %d in channel %d: %w", by, channelID, err)
	case !role.May(editorial.Viewer):
		return "", notYours()
	case !role.May(need):
		return role, needs(need)
	}
	return role, nil
}

// channel is may, and the channel.
func (d *Desk) channel(ctx context.Context, q postgres.Querier, by, channelID int64, need editorial.Role) (editorial.Channel, editorial.Role, error) {
	role, err := d.may(ctx, q, by, channelID, need)
	if err != nil {
		return editorial.Channel{}, role, err
	}
	ch, err := channels.Get(ctx, q, channelID)
	return ch, role, explain(err)
}

// operator fails for everybody who is none.
func (d *Desk) operator(ctx context.Context, q postgres.Querier, by int64) error {
	p, err := channels.Person(ctx, q, by)
	if errors.Is(err, channels.ErrNotFound) || (err == nil && p.Access != editorial.AccessOperator) {
		return fail(CodeNotOperator, nil)
	}
	return err
}

// admitted fails for a person who needs an invitation first.
func (d *Desk) admitted(ctx context.Context, q postgres.Querier, by int64) error {
	p, err := channels.Person(ctx, q, by)
	if errors.Is(err, channels.ErrNotFound) {
		return fail(CodeNoAccess, nil)
	}
	if err == nil && !d.Admitted(p) {
		return fail(CodeNoAccess, nil)
	}
	return err
}

// Admitted reports whether a person may use the bot: with ACCESS=invite, only
// operators and those whom an invitation let in.
func (d *Desk) Admitted(p editorial.Person) bool {
	switch p.Access {
	case editorial.AccessOperator, editorial.AccessInvited:
		return true
	case editorial.AccessNone:
		return d.open
	case editorial.AccessBanned:
		return false
	}
	return false
}

// explain turns the features' errors into an *Error; others stay as they are.
func explain(err error) error {
	if err == nil || CodeOf(err) != "" {
		return err
	}
	if bad, ok := errors.AsType[*channels.InvalidError](err); ok {
		return &Error{Code: CodeSetting, Args: map[string]any{"field": bad.Field, "value": bad.Value}, Cause: err}
	}
	for _, known := range []struct {
		err  error
		code string
	}{
		{channels.ErrNotFound, CodeNotYours},
		{channels.ErrChanged, CodeChanged},
		{channels.ErrTaken, CodeTaken},
		{channels.ErrPersonNoAdmin, CodeNotAdmin},
		{channels.ErrBotNoAdmin, CodeBotNotAdmin},
		{channels.ErrNoChannel, CodeNoChannel},
		{channels.ErrLastOwner, CodeLastOwner},
		{channels.ErrInvitation, CodeInvitation},
		{planning.ErrSlotTaken, CodeSlotTaken},
		{planning.ErrPast, CodeSlotPast},
		{planning.ErrNoSlot, CodeNoSlot},
	} {
		if errors.Is(err, known.err) {
			return fail(known.code, err)
		}
	}
	return err
}
