package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// paste is what a person sent without saying what for: the buttons below the
// question carry only its message number.
type paste struct {
	person  int64
	message int
	kind    string // link, text, forward, file
	address string
	html    string
	chat    int64
}

// The kinds of pastes.
const (
	pasteLink    = "link"
	pasteText    = "text"
	pasteForward = "forward"
	pasteFile    = "file"
)

const pastePutSQL = `
INSERT INTO pastes (
    person_id,
    message_id,
    kind,
    address,
    html,
    chat_id
)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (person_id, message_id) DO NOTHING`

const pasteGetSQL = `
SELECT
    kind,
    address,
    html,
    chat_id
FROM pastes
WHERE person_id = $1
  AND message_id = $2`

const pastesSweepSQL = `
DELETE FROM pastes
WHERE sent_at < clock_timestamp() - interval '7 days'`

const pastesForgetSQL = `
DELETE FROM pastes
WHERE person_id = $1`

// pastes is the table.
type pastes struct{ pool *pgxpool.Pool }

func (p pastes) put(ctx context.Context, v paste) error {
	_, err := p.pool.Exec(ctx, pastePutSQL, v.person, v.message, v.kind, v.address, v.html, v.chat)
	if err != nil {
		return fmt.Errorf("keep paste: %w", err)
	}
	return nil
}

// get is what a person pasted; ok is false for what is unknown or too old.
func (p pastes) get(ctx context.Context, person int64, messageID int) (v paste, ok bool, err error) {
	v = paste{person: person, message: messageID}
	err = p.pool.QueryRow(ctx, pasteGetSQL, person, messageID).Scan(&v.kind, &v.address, &v.html, &v.chat)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, false, nil
	}
	if err != nil {
		return v, false, fmt.Errorf("read paste: %w", err)
	}
	return v, true, nil
}
