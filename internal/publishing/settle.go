package publishing

import (
	"context"
	"errors"
	"fmt"

	"github.com/postonce/postonce/internal/postgres"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
)

// Finding is what a person saw of a publication in doubt.
type Finding string

// The findings, by the words on the buttons: It's there · Not there, post it · Leave it.
const (
	There    Finding = "there"
	NotThere Finding = "not_there"
	Leave    Finding = "leave"
)

// Settlement is a person's word on a publication in doubt.
type Settlement struct {
	DraftID   int64
	Finding   Finding
	By        int64
	MessageID int64 // for There, where the person gave a link; 0: not known
}

// PublicationLeft is whether the last word of a person on publication p was to
// leave it: a part of a query that names publications p.
const PublicationLeft = `coalesce((
         SELECT v.finding = 'leave'
           FROM publication_reviews v
          WHERE v.publication_id = p.id
            AND v.how IN ('person', 'operator')
          ORDER BY v.ordinal DESC
          LIMIT 1
       ), false)`

const publicationOfSQL = `
SELECT p.id,
       p.channel_id,
       p.state,
       p.effect_key,
       coalesce(e.deadline_at, p.started_at) > clock_timestamp(),
       ` + PublicationLeft + `
  FROM publications p
  LEFT JOIN effects e ON e.effect_key = p.effect_key
 WHERE p.draft_id = $1`

// SettleTx records what a person saw. There publishes the draft as it is; Leave
// keeps the doubt, ends the looking and closes the archive's row; NotThere
// fails the draft with code not_there: whoever posts it after that does so as a
// new effect with its own key. Who left it can still settle it later.
// ErrNotUnconfirmed when there is no doubt (any more), ErrLeft when Leave was
// said before; ErrInFlight for NotThere before the request's deadline.
func (s *Service) SettleTx(ctx context.Context, tx pgx.Tx, w Settlement) error {
	var p struct {
		id, channelID int64
		state         editorial.PublicationState
		effectKey     string
		underWay      bool // the request may be: its deadline is to come
		left          bool
	}
	read := func() error {
		return tx.QueryRow(ctx, publicationOfSQL, w.DraftID).Scan(&p.id, &p.channelID, &p.state, &p.effectKey, &p.underWay, &p.left)
	}
	if err := read(); err != nil {
		return settleError(w.DraftID, err)
	}
	if err := lockChannel(ctx, tx, p.channelID); err != nil {
		return err
	}
	if err := read(); err != nil { // as it is under the lock
		return settleError(w.DraftID, err)
	}
	if p.state != editorial.PublicationUnconfirmed {
		return ErrNotUnconfirmed
	}
	if p.left && w.Finding == Leave {
		return ErrLeft
	}
	var message *int64
	var ids []int64
	if w.MessageID != 0 {
		message, ids = &w.MessageID, []int64{w.MessageID}
	}
	ordinal, err := review(ctx, tx, p.id, "person", string(w.Finding), &w.By, message)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("person:%d", w.By)
	switch w.Finding {
	case There:
		if err := queue.SettleTx(ctx, tx, p.effectKey, true, external(message), by); err != nil {
			return fmt.Errorf("settle %s: %w", p.effectKey, err)
		}
		return s.settlePublished(ctx, tx, settled{
			DraftID: w.DraftID, ChannelID: p.channelID, EffectKey: p.effectKey, IDs: ids, How: "person", By: w.By,
		})
	case NotThere:
		if p.underWay {
			return ErrInFlight
		}
		if err := queue.SettleTx(ctx, tx, p.effectKey, false, "", by); err != nil {
			return fmt.Errorf("settle %s: %w", p.effectKey, err)
		}
		return s.notThere(ctx, tx, w.DraftID, p.effectKey)
	case Leave:
		if err := queue.LeaveTx(ctx, tx, p.effectKey, by); err != nil || s.cfg.OnChanged == nil {
			return err
		}
		return s.cfg.OnChanged(ctx, tx, w.DraftID, fmt.Sprintf("left:%d:%d", p.id, ordinal)) // the draft's state is what it was
	}
	return fmt.Errorf("publishing: unknown finding %q", w.Finding)
}

func settleError(draftID int64, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotUnconfirmed
	}
	return fmt.Errorf("read publication of draft %d: %w", draftID, err)
}

func external(message *int64) string {
	if message == nil {
		return ""
	}
	return fmt.Sprint(*message)
}

// The attempt grows: the next send has a key of its own, and names the review that asked for it.
const publicationNotThereSQL = `
UPDATE publications
   SET state = 'failed',
       error = 'not_there',
       attempt = attempt + 1
 WHERE draft_id = $1
   AND effect_key = $2
   AND state = 'unconfirmed'
RETURNING id`

func (s *Service) notThere(ctx context.Context, tx pgx.Tx, draftID int64, effectKey string) error {
	ok, err := postgres.Affected(ctx, tx, publicationNotThereSQL, draftID, effectKey)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotUnconfirmed
	}
	_, _, err = s.cfg.Change(ctx, tx, DraftChange{
		DraftID: draftID, From: []editorial.DraftState{editorial.Unconfirmed}, To: editorial.Failed, Failure: "not_there",
	})
	return err
}
