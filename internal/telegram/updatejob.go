package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// UpdateKind is the name of the job that handles one update.
const UpdateKind = "update"

const (
	// keepUpdates exceeds the 24 h for which Telegram delivers an update: it is known
	// when it comes again.
	keepUpdates = 72 * time.Hour
	keepDead    = 30 * 24 * time.Hour
)

// UpdateArgs name an update; its body stays in the table, so that no archive
// row holds what people wrote.
type UpdateArgs struct {
	BotID    int64 `json:"bot_id"`
	UpdateID int64 `json:"update_id"`
	ChatID   int64 `json:"chat_id,omitempty"`
	PersonID int64 `json:"person_id,omitempty"`
	// Payment is a successful_payment: it waits for nothing of its chat, since a
	// credit depends on its charge alone.
	Payment bool `json:"payment,omitempty"`
}

const updateReadSQL = `
SELECT body
  FROM updates
 WHERE bot_id = $1
   AND update_id = $2`

const updatePruneSQL = `
DELETE FROM updates
 WHERE received_at < clock_timestamp() - $1::interval`

const deadLetterPruneSQL = `
DELETE FROM update_dead_letters
 WHERE received_at < clock_timestamp() - $1::interval`

// Register adds the intake's kinds and its clean-up to the registry.
func (in *Intake) Register(r *queue.Registry) {
	queue.Register(r, in.kind)
	prune := in.pruneKind()
	queue.Register(r, prune)
	queue.Schedule(r, "prune_updates", queue.Every(time.Hour), queue.CatchUpLast, prune, func(at time.Time) pruneArgs {
		return pruneArgs{At: at.Unix()}
	})
}

func (in *Intake) updateKind() queue.Kind[UpdateArgs] {
	return queue.Kind[UpdateArgs]{
		Name: UpdateKind, Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Courtesy, KeepKeys: keepUpdates,
		Lease: 10 * time.Second, // after a kill the next message of the chat waits for it
		Key:   func(a UpdateArgs) string { return key(a.BotID, a.UpdateID) },
		Ordering: func(a UpdateArgs) string {
			if a.ChatID == 0 || a.Payment {
				return ""
			}
			return "chat:" + strconv.FormatInt(a.ChatID, 10)
		},
		Work: in.work,
	}
}

// work decodes the stored update and calls the handler.
func (in *Intake) work(ctx context.Context, job *queue.Job[UpdateArgs]) error {
	u, err := in.read(ctx, job.Args)
	if err != nil {
		return err
	}
	return in.cfg.Handle(ctx, job, u)
}

func (in *Intake) read(ctx context.Context, a UpdateArgs) (*models.Update, error) {
	var body []byte
	err := in.cfg.Pool.QueryRow(ctx, updateReadSQL, a.BotID, a.UpdateID).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, queue.Permanent(fmt.Errorf("update %d is no longer kept", a.UpdateID))
	}
	if err != nil {
		return nil, fmt.Errorf("read update %d: %w", a.UpdateID, err)
	}
	u := new(models.Update)
	if err := json.Unmarshal(body, u); err != nil {
		return nil, queue.Permanent(fmt.Errorf("decode update %d: %w", a.UpdateID, err))
	}
	return u, nil
}

// PruneTx forgets updates after 72 hours and dead letters after 30 days.
func PruneTx(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, updatePruneSQL, keepUpdates); err != nil {
		return fmt.Errorf("prune updates: %w", err)
	}
	if _, err := tx.Exec(ctx, deadLetterPruneSQL, keepDead); err != nil {
		return fmt.Errorf("prune dead letters: %w", err)
	}
	return nil
}

type pruneArgs struct {
	At int64 `json:"at"`
}

// pruneKind forgets updates that cannot come again.
func (in *Intake) pruneKind() queue.Kind[pruneArgs] {
	return queue.Kind[pruneArgs]{
		Name: "prune_updates", Tier: queue.Bulk, Policy: queue.DB, KeepKeys: keepUpdates,
		Key: func(a pruneArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: func(ctx context.Context, job *queue.Job[pruneArgs]) error {
			return job.Complete(ctx, PruneTx)
		},
	}
}
