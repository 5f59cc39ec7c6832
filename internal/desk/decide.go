package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/scoring"
)

// errAlready rolls a decision back whose draft was decided otherwise meanwhile.
var errAlready = errors.New("desk: decided before")

// UndoShown is how long a decided card offers Undo; draftViewsSQL says the same.
// Undo itself works as long as nothing went out.
const UndoShown = 10 * time.Minute

// wish is one decision about one draft, while it is being made.
type wish struct {
	by         int64
	draft      editorial.Draft
	channel    editorial.Channel
	transition int // that the button carried
}

// decide makes one decision in one transaction. fn changes the draft, or
// returns errAlready; the answer then says what had already happened.
func (d *Desk) decide(ctx context.Context, by, draftID int64, transition int, fn func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error)) (Decision, error) {
	var after editorial.Draft
	err := d.tx(ctx, func(tx pgx.Tx) error {
		dr, err := readDraft(ctx, tx, draftID)
		if err != nil {
			return err
		}
		ch, _, err := d.channel(ctx, tx, by, dr.ChannelID, editorial.Editor)
		if err != nil {
			return err
		}
		if dr.Transition != transition {
			return errAlready
		}
		after, err = fn(ctx, tx, wish{by: by, draft: dr, channel: ch, transition: transition})
		if err != nil {
			return err
		}
		return d.decided(ctx, tx, after)
	})
	switch {
	case err == nil:
		return d.decision(ctx, after, true)
	case errors.Is(err, errAlready):
		now, err := drafting.Get(ctx, d.pool, draftID)
		if err != nil {
			return Decision{}, err
		}
		return d.decision(ctx, now, false)
	}
	return Decision{}, err
}

// readDraft reads a draft; a number that never was is nobody's.
func readDraft(ctx context.Context, q postgres.Querier, draftID int64) (editorial.Draft, error) {
	dr, err := drafting.Get(ctx, q, draftID)
	if errors.Is(err, drafting.ErrNotFound) {
		return dr, notYours()
	}
	return dr, err
}

// mayEdit fails for everybody who is no editor of the draft's channel.
func (d *Desk) mayEdit(ctx context.Context, q postgres.Querier, by, draftID int64) error {
	dr, err := readDraft(ctx, q, draftID)
	if err != nil {
		return err
	}
	_, err = d.may(ctx, q, by, dr.ChannelID, editorial.Editor)
	return err
}

// decided teaches the score what the decision says and tells the cards.
func (d *Desk) decided(ctx context.Context, tx pgx.Tx, dr editorial.Draft) error {
	if dr.StoryID != 0 {
		label := scoring.Label(dr.State, dr.SkipReason)
		if err := d.scoring.Teach(ctx, tx, dr.ChannelID, dr.StoryID, label, dr.DecidedBy); err != nil {
			return err
		}
	}
	if d.onDecided == nil {
		return nil
	}
	return d.onDecided(ctx, tx, dr.ID, dr.Transition)
}

// become asks drafting for the change; errAlready when somebody was faster.
func become(ctx context.Context, tx pgx.Tx, w wish, c drafting.Change) (editorial.Draft, error) {
	c.DraftID, c.Transition, c.By = w.draft.ID, w.transition, w.by
	res, err := drafting.Transition(ctx, tx, c)
	if err == nil && !res.Done {
		err = errAlready
	}
	return res.Draft, err
}

// schedule gives the draft a time and makes the job that publishes it then.
func (d *Desk) schedule(ctx context.Context, tx pgx.Tx, w wish, from []editorial.DraftState, take func() (time.Time, error)) (editorial.Draft, error) {
	if !slices.Contains(from, w.draft.State) {
		return editorial.Draft{}, errAlready
	}
	if w.channel.State != editorial.ChannelActive {
		return editorial.Draft{}, &Error{Code: CodeNoRights, Args: map[string]any{"right": "can_post_messages"}}
	}
	at, err := take()
	if err != nil {
		return editorial.Draft{}, err
	}
	after, err := become(ctx, tx, w, drafting.Change{From: from, To: editorial.Scheduled, SlotAt: at})
	if err != nil {
		return after, err
	}
	_, err = d.publishing.EnqueueTx(ctx, tx, after.ID, after.Transition, at)
	return after, err
}

func undecided() []editorial.DraftState {
	return []editorial.DraftState{editorial.Proposed, editorial.Failed}
}

// Approve gives a proposed draft the next free slot.
func (d *Desk) Approve(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		return d.schedule(ctx, tx, w, undecided(), func() (time.Time, error) {
			return d.planning.TakeNext(ctx, tx, w.channel, draftID, by, time.Time{})
		})
	})
}

// Retry gives a failed draft the next free slot.
func (d *Desk) Retry(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return d.Approve(ctx, by, draftID, transition)
}

// PostNow publishes a proposed, failed or scheduled draft at once.
func (d *Desk) PostNow(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		return d.postNow(ctx, tx, w, append(undecided(), editorial.Scheduled))
	})
}

func (d *Desk) postNow(ctx context.Context, tx pgx.Tx, w wish, from []editorial.DraftState) (editorial.Draft, error) {
	if w.channel.Paused {
		return editorial.Draft{}, fail(CodePaused, nil)
	}
	if w.channel.Rests {
		return editorial.Draft{}, fail(CodeRests, nil)
	}
	return d.schedule(ctx, tx, w, from, func() (time.Time, error) {
		return d.planning.TakeNow(ctx, tx, w.channel, w.draft.ID, w.by)
	})
}

// ScheduleAt gives a draft exactly this time.
func (d *Desk) ScheduleAt(ctx context.Context, by, draftID int64, transition int, at time.Time) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		return d.schedule(ctx, tx, w, append(undecided(), editorial.Scheduled), func() (time.Time, error) {
			return d.planning.TakeAt(ctx, tx, w.channel, draftID, by, at)
		})
	})
}

// Move gives a scheduled draft another time.
func (d *Desk) Move(ctx context.Context, by, draftID int64, transition int, at time.Time) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		return d.schedule(ctx, tx, w, []editorial.DraftState{editorial.Scheduled}, func() (time.Time, error) {
			return d.planning.TakeAt(ctx, tx, w.channel, draftID, by, at)
		})
	})
}

// Skip refuses a draft; the reason may be empty, and SkipBecause fills it in.
func (d *Desk) Skip(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		after, err := become(ctx, tx, w, drafting.Change{
			From: append(undecided(), editorial.Scheduled), To: editorial.Skipped, Skip: reason,
		})
		if err != nil {
			return after, err
		}
		_, err = d.planning.Free(ctx, tx, draftID)
		return after, err
	})
}

// SkipBecause sets or changes the reason of a skipped draft; it teaches the score.
func (d *Desk) SkipBecause(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		done, err := drafting.Because(ctx, tx, draftID, transition, reason)
		if err != nil {
			return w.draft, err
		}
		if !done {
			return w.draft, errAlready
		}
		w.draft.SkipReason = reason
		return w.draft, nil
	})
}

// Undo leads back to proposed, from scheduled, skipped or failed.
func (d *Desk) Undo(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		after, err := become(ctx, tx, w, drafting.Change{
			From: []editorial.DraftState{editorial.Scheduled, editorial.Skipped, editorial.Failed}, To: editorial.Proposed,
		})
		if err != nil {
			return after, err
		}
		_, err = d.planning.Free(ctx, tx, draftID)
		return after, err
	})
}

const decisionSQL = `
SELECT coalesce(p.first_name, ''),
       c.chat_id,
       c.username,
       coalesce(pub.message_id, 0)
  FROM drafts d
  JOIN channels c ON c.id = d.channel_id
  LEFT JOIN people p ON p.id = d.decided_by
  LEFT JOIN publications pub ON pub.draft_id = d.id AND pub.state = 'published'
 WHERE d.id = $1`

// decision says where a draft stands, for the card.
func (d *Desk) decision(ctx context.Context, dr editorial.Draft, done bool) (Decision, error) {
	out := Decision{
		DraftID: dr.ID, Done: done, Already: !done, State: dr.State, Transition: dr.Transition, SlotAt: dr.SlotAt,
		By: dr.DecidedBy, SkipReason: dr.SkipReason, Failure: dr.Failure,
	}
	var chatID, messageID int64
	var username string
	err := d.pool.QueryRow(ctx, decisionSQL, dr.ID).Scan(&out.ByName, &chatID, &username, &messageID)
	if err != nil {
		return out, fmt.Errorf("read draft %d: %w", dr.ID, err)
	}
	out.Post = postLink(chatID, messageID, username)
	return out, nil
}
