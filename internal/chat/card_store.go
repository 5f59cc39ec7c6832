package chat

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// card is a message that shows a draft to a person.
type card struct {
	draft      int64
	person     int64
	message    int64
	revision   int
	transition int
	photo      bool
}

const cardPutSQL = `
INSERT INTO cards (
    draft_id,
    person_id,
    message_id,
    revision,
    transition,
    photo
)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (draft_id, person_id, message_id) DO UPDATE SET
    revision = excluded.revision,
    transition = excluded.transition`

const cardsOfDraftSQL = `
SELECT
    draft_id,
    person_id,
    message_id,
    revision,
    transition,
    photo
FROM cards
WHERE draft_id = $1
  AND sent_at > clock_timestamp() - interval '30 days'
ORDER BY sent_at`

const cardSeenSQL = `
SELECT EXISTS (
    SELECT
    FROM cards
    WHERE draft_id = $1
      AND person_id = $2
      AND revision >= $3
)`

const cardsForgetSQL = `
DELETE FROM cards
WHERE person_id = $1`

// cardReadersSQL lists who gets the cards of a channel.
const cardReadersSQL = `
SELECT m.person_id
FROM drafts d
JOIN memberships m ON m.channel_id = d.channel_id
JOIN people p ON p.id = m.person_id
WHERE d.id = $1
  AND m.notify
  AND m.role IN ('owner', 'editor')
  AND p.blocked_at IS NULL
  AND p.erased_at IS NULL
  AND p.access <> 'banned'
ORDER BY m.person_id`

// cards is the table.
type cards struct{ pool *pgxpool.Pool }

func putCard(ctx context.Context, tx pgx.Tx, v card) error {
	_, err := tx.Exec(ctx, cardPutSQL, v.draft, v.person, v.message, v.revision, v.transition, v.photo)
	if err != nil {
		return fmt.Errorf("keep card of draft %d: %w", v.draft, err)
	}
	return nil
}

func (c cards) ofDraft(ctx context.Context, draft int64) ([]card, error) {
	rows, err := c.pool.Query(ctx, cardsOfDraftSQL, draft)
	if err != nil {
		return nil, fmt.Errorf("cards of draft %d: %w", draft, err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (card, error) {
		var v card
		err := r.Scan(&v.draft, &v.person, &v.message, &v.revision, &v.transition, &v.photo)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("cards of draft %d: %w", draft, err)
	}
	return list, nil
}

// seen reports whether a person has a card of this revision or a later one.
func (c cards) seen(ctx context.Context, draft, person int64, revision int) (bool, error) {
	var ok bool
	if err := c.pool.QueryRow(ctx, cardSeenSQL, draft, person, revision).Scan(&ok); err != nil {
		return false, fmt.Errorf("card of draft %d: %w", draft, err)
	}
	return ok, nil
}

func readers(ctx context.Context, tx pgx.Tx, draft int64) ([]int64, error) {
	rows, err := tx.Query(ctx, cardReadersSQL, draft)
	if err != nil {
		return nil, fmt.Errorf("readers of draft %d: %w", draft, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("readers of draft %d: %w", draft, err)
	}
	return list, nil
}
