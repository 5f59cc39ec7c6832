package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/queue"
)

// undoWindow is how long at least a person can take back what the autopilot
// scheduled, before it goes out.
const undoWindow = 10 * time.Minute

type pilotArgs struct {
	DraftID    int64 `json:"draft_id"`
	Transition int   `json:"transition"`
}

// pilotKind schedules a draft that nobody objected to.
func (d *Desk) pilotKind() queue.Kind[pilotArgs] {
	return queue.Kind[pilotArgs]{
		Name: "autopilot",
		Key:  func(a pilotArgs) string { return fmt.Sprintf("%d:%d", a.DraftID, a.Transition) },
		Work: d.workPilot,
	}
}

const draftSourceSQL = `
SELECT coalesce(i.source_id, 0)
  FROM drafts d
  LEFT JOIN stories t ON t.id = d.story_id
  LEFT JOIN items i ON i.id = t.lead_item_id
 WHERE d.id = $1`

// AutopilotTx notes of a new text whether and when the draft schedules itself:
// by its channel's level, its score and its source. Any decision or edit of a
// person takes the note away. For drafting, in the transaction that made the text.
func (d *Desk) AutopilotTx(ctx context.Context, tx pgx.Tx, draftID int64) error {
	dr, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	ch, err := channels.Get(ctx, tx, dr.ChannelID)
	if err != nil {
		return err
	}
	var source int64
	if err := tx.QueryRow(ctx, draftSourceSQL, draftID).Scan(&source); err != nil {
		return fmt.Errorf("source of draft %d: %w", draftID, err)
	}
	at, ok := autopilotAt(ch, dr, source, d.now())
	if !ok {
		return nil
	}
	done, err := drafting.Autopilot(ctx, tx, draftID, dr.Transition, at)
	if err != nil || !done {
		return err
	}
	_, err = d.pilotKind().EnqueueTx(ctx, tx, pilotArgs{DraftID: draftID, Transition: dr.Transition}, queue.RunAt(at))
	return err
}

// autopilotAt says when a draft schedules itself. What a person sent, and what
// is proposed below the threshold in order to learn, always waits for a person.
func autopilotAt(ch editorial.Channel, dr editorial.Draft, source int64, now time.Time) (time.Time, bool) {
	if dr.State != editorial.Proposed || dr.Kind == editorial.KindOwn || dr.Explore {
		return time.Time{}, false
	}
	if len(ch.AutopilotSources) > 0 && !slices.Contains(ch.AutopilotSources, source) {
		return time.Time{}, false
	}
	switch ch.Autopilot {
	case editorial.AutopilotDelay:
		return now.Add(time.Duration(ch.AutopilotMinutes) * time.Minute), true
	case editorial.AutopilotScore:
		return now, dr.Kind != editorial.KindDigest && dr.Score >= ch.AutopilotScore
	case editorial.AutopilotOff:
	}
	return time.Time{}, false
}

func (d *Desk) workPilot(ctx context.Context, job *queue.Job[pilotArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return d.fly(ctx, tx, job.Args)
	})
}

// fly schedules a draft by itself, unless somebody was faster or its channel does not want that any more.
func (d *Desk) fly(ctx context.Context, tx pgx.Tx, a pilotArgs) error {
	dr, err := drafting.Get(ctx, tx, a.DraftID)
	if errors.Is(err, drafting.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	// Who gives a draft a slot holds the channel: from here on the draft has none of a person's.
	if err := channels.Lock(ctx, tx, dr.ChannelID); err != nil {
		return err
	}
	if dr, err = drafting.Get(ctx, tx, a.DraftID); err != nil {
		return err
	}
	ch, err := channels.Get(ctx, tx, dr.ChannelID)
	if err != nil {
		return err
	}
	if dr.State != editorial.Proposed || dr.Transition != a.Transition || ch.Autopilot == editorial.AutopilotOff ||
		ch.State != editorial.ChannelActive || ch.Paused || ch.Rests {
		return nil
	}
	return d.scheduleItself(ctx, tx, dr, ch)
}

// scheduleItself gives a proposed draft the next slot that leaves people time to object, and tells them.
func (d *Desk) scheduleItself(ctx context.Context, tx pgx.Tx, dr editorial.Draft, ch editorial.Channel) error {
	at, err := d.planning.TakeNext(ctx, tx, ch, dr.ID, 0, d.now().Add(undoWindow))
	if errors.Is(err, planning.ErrNoSlot) {
		return nil // it waits for a person
	}
	if err != nil {
		return err
	}
	res, err := drafting.Transition(ctx, tx, drafting.Change{
		DraftID: dr.ID, Transition: dr.Transition, From: []editorial.DraftState{editorial.Proposed}, To: editorial.Scheduled, SlotAt: at,
	})
	if err != nil {
		return err
	}
	if !res.Done { // skipped or edited this very moment
		_, err := d.planning.Free(ctx, tx, dr.ID)
		return err
	}
	if _, err := d.publishing.EnqueueTx(ctx, tx, dr.ID, res.Draft.Transition, at); err != nil {
		return err
	}
	if d.onDecided != nil {
		if err := d.onDecided(ctx, tx, dr.ID, res.Draft.Transition); err != nil {
			return err
		}
	}
	// By its score a draft is planned before its card comes, and the card says so.
	if d.onPilot == nil || ch.Autopilot != editorial.AutopilotDelay {
		return nil
	}
	return d.onPilot(ctx, tx, Pilot{DraftID: dr.ID, ChannelID: ch.ID, Transition: res.Draft.Transition, At: at})
}
