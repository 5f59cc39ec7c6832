package publishing

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
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

// disputed is a publication that a person settles.
type disputed struct {
	ID        int64
	ChannelID int64
	State     editorial.PublicationState
	EffectKey string
	UnderWay  bool // the request may be: its deadline is to come
	Left      bool // a person said before: leave it
}

func readDisputed(ctx context.Context, tx pgx.Tx, draftID int64) (disputed, error) {
	rows, err := tx.Query(ctx, publicationOfSQL, draftID)
	if err != nil {
		return disputed{}, fmt.Errorf("read publication of draft %d: %w", draftID, err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[disputed])
	if postgres.NoRows(err) {
		return p, ErrNotUnconfirmed
	}
	if err != nil {
		return p, fmt.Errorf("read publication of draft %d: %w", draftID, err)
	}
	return p, nil
}

// SettleTx records what a person saw. There publishes the draft as it is; Leave
// keeps the doubt, ends the looking and closes the archive's row; NotThere
// fails the draft with code not_there: whoever posts it after that does so as a
// new effect with its own key. Who left it can still settle it later.
// ErrNotUnconfirmed when there is no doubt (any more), ErrLeft when Leave was
// said before; ErrInFlight for NotThere before the request's deadline.
func (s *Service) SettleTx(ctx context.Context, tx pgx.Tx, w Settlement) error {
	p, err := readDisputed(ctx, tx, w.DraftID)
	if err != nil {
		return err
	}
	if err := lockChannel(ctx, tx, p.ChannelID); err != nil {
		return err
	}
	if p, err = readDisputed(ctx, tx, w.DraftID); err != nil { // as it is under the lock
		return err
	}
	switch {
	case p.State != editorial.PublicationUnconfirmed:
		return ErrNotUnconfirmed
	case p.Left && w.Finding == Leave:
		return ErrLeft
	case p.UnderWay && w.Finding == NotThere:
		return ErrInFlight
	}
	var message *int64
	if w.MessageID != 0 {
		message = &w.MessageID
	}
	ordinal, err := review(ctx, tx, p.ID, "person", string(w.Finding), &w.By, message)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("person:%d", w.By)
	switch w.Finding {
	case There:
		return s.there(ctx, tx, p, w, by)
	case NotThere:
		return s.notThere(ctx, tx, p, w.DraftID, by)
	case Leave:
		if err := queue.LeaveTx(ctx, tx, p.EffectKey, by); err != nil || s.cfg.OnChanged == nil {
			return err
		}
		return s.cfg.OnChanged(ctx, tx, w.DraftID, fmt.Sprintf("left:%d:%d", p.ID, ordinal)) // the draft's state is what it was
	}
	return fmt.Errorf("publishing: unknown finding %q", w.Finding)
}

// there publishes a draft that a person saw in the channel.
func (s *Service) there(ctx context.Context, tx pgx.Tx, p disputed, w Settlement, by string) error {
	external, ids := "", []int64(nil)
	if w.MessageID != 0 {
		external, ids = strconv.FormatInt(w.MessageID, 10), []int64{w.MessageID}
	}
	if err := queue.SettleTx(ctx, tx, p.EffectKey, true, external, by); err != nil {
		return fmt.Errorf("settle %s: %w", p.EffectKey, err)
	}
	return s.settlePublished(ctx, tx, settled{
		DraftID: w.DraftID, ChannelID: p.ChannelID, EffectKey: p.EffectKey, IDs: ids, How: "person", By: w.By,
	})
}

// publicationNotThereSQL lets the attempt grow: the next send has a key of its own.
const publicationNotThereSQL = `
UPDATE publications
   SET state = 'failed',
       error = 'not_there',
       attempt = attempt + 1
 WHERE draft_id = $1
   AND effect_key = $2
   AND state = 'unconfirmed'
RETURNING id`

// notThere fails a draft that a person did not find in the channel.
func (s *Service) notThere(ctx context.Context, tx pgx.Tx, p disputed, draftID int64, by string) error {
	if err := queue.SettleTx(ctx, tx, p.EffectKey, false, "", by); err != nil {
		return fmt.Errorf("settle %s: %w", p.EffectKey, err)
	}
	ok, err := postgres.Affected(ctx, tx, publicationNotThereSQL, draftID, p.EffectKey)
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
