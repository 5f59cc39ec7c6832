package telegram

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const nameKeepSQL = `
INSERT INTO bots AS b (bot_id, username)
VALUES ($1, $2)
    ON CONFLICT (bot_id) DO UPDATE
   SET username = excluded.username
 WHERE b.username <> excluded.username`

const nameReadSQL = `
SELECT username
  FROM bots
 WHERE bot_id = $1`

// KeepName remembers what Telegram calls the bot, without @, for a start at
// which Telegram does not answer.
func KeepName(ctx context.Context, pool *pgxpool.Pool, botID int64, username string) error {
	if _, err := pool.Exec(ctx, nameKeepSQL, botID, username); err != nil {
		return fmt.Errorf("keep the name of bot %d: %w", botID, err)
	}
	return nil
}

// KeptName is what KeepName remembered; empty if nothing was.
func KeptName(ctx context.Context, pool *pgxpool.Pool, botID int64) (string, error) {
	var name string
	err := pool.QueryRow(ctx, nameReadSQL, botID).Scan(&name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("read the name of bot %d: %w", botID, err)
	}
	return name, nil
}
