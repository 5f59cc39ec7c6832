package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	kind    string // link, text, forward, file, kept
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
	pasteKept    = "kept" // links from before there was a channel
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

const pastesKeptSQL = `
SELECT address
FROM pastes
WHERE person_id = $1
  AND kind = 'kept'
ORDER BY message_id`

const pastesUsedSQL = `
DELETE FROM pastes
WHERE person_id = $1
  AND kind = 'kept'`

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

// kept are the addresses that a person sent before there was a channel, in order.
func (p pastes) kept(ctx context.Context, person int64) ([]string, error) {
	rows, err := p.pool.Query(ctx, pastesKeptSQL, person)
	if err != nil {
		return nil, fmt.Errorf("read kept links: %w", err)
	}
	messages, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read kept links: %w", err)
	}
	return strings.Fields(strings.Join(messages, " ")), nil
}

// used forgets the kept links: they are followed now.
func (p pastes) used(ctx context.Context, person int64) error {
	if _, err := p.pool.Exec(ctx, pastesUsedSQL, person); err != nil {
		return fmt.Errorf("forget kept links: %w", err)
	}
	return nil
}
