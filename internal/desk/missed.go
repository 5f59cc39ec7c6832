package desk

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
)

// Missed is what became of a draft whose slot passed while nothing could be
// posted: moved to Now, or skipped (Now zero).
type Missed struct {
	DraftID   int64
	ChannelID int64
	Was, Now  time.Time
}

// MissedTx moves a scheduled draft whose slot passed to the next free one, or
// skips it, as its channel is set; never two at once, as each takes a slot of
// its own. For publishing, in the transaction in which it gave the draft up.
func (d *Desk) MissedTx(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error {
	dr, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	ch, err := channels.Get(ctx, tx, dr.ChannelID)
	if err != nil {
		return err
	}
	missed := Missed{DraftID: draftID, ChannelID: ch.ID, Was: dr.SlotAt}
	change := drafting.Change{DraftID: draftID, Transition: transition, From: []editorial.DraftState{editorial.Scheduled}}
	if ch.Missed == "move" {
		// Whose decision it was stays his: only the time is another.
		missed.Now, err = d.planning.TakeNext(ctx, tx, ch, draftID, dr.DecidedBy, time.Time{})
		if err != nil && !errors.Is(err, planning.ErrNoSlot) {
			return err
		}
	}
	if missed.Now.IsZero() {
		if _, err := d.planning.Free(ctx, tx, draftID); err != nil {
			return err
		}
		change.To, change.Skip = editorial.Skipped, editorial.SkipMissed
	} else {
		change.To, change.SlotAt, change.By = editorial.Scheduled, missed.Now, dr.DecidedBy
	}
	res, err := drafting.Transition(ctx, tx, change)
	if err != nil || !res.Done {
		return err
	}
	if !missed.Now.IsZero() {
		if _, err := d.publishing.EnqueueTx(ctx, tx, draftID, res.Draft.Transition, missed.Now); err != nil {
			return err
		}
	}
	if d.onMissed == nil {
		return nil
	}
	return d.onMissed(ctx, tx, missed)
}
