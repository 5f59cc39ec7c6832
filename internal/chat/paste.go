package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
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
	// The post behind a forward.
	post  int64
	title string
	at    time.Time
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
    chat_id,
    post_id,
    title,
    posted_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (person_id, message_id) DO NOTHING`

const pasteGetSQL = `
SELECT
    kind,
    address,
    html,
    chat_id,
    post_id,
    title,
    coalesce(posted_at, sent_at)
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
	at := pgtype.Timestamptz{Time: v.at, Valid: !v.at.IsZero()}
	_, err := p.pool.Exec(ctx, pastePutSQL, v.person, v.message, v.kind, v.address, v.html, v.chat, v.post, v.title, at)
	if err != nil {
		return fmt.Errorf("keep paste: %w", err)
	}
	return nil
}

// get is what a person pasted; ok is false for what is unknown or too old.
func (p pastes) get(ctx context.Context, person int64, messageID int) (v paste, ok bool, err error) {
	v = paste{person: person, message: messageID}
	err = p.pool.QueryRow(ctx, pasteGetSQL, person, messageID).Scan(&v.kind, &v.address, &v.html, &v.chat, &v.post, &v.title, &v.at)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, false, nil
	}
	if err != nil {
		return v, false, fmt.Errorf("read paste: %w", err)
	}
	return v, true, nil
}
