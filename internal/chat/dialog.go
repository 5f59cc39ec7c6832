package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// dialogLife is how long the next message keeps its meaning.
const dialogLife = 2 * time.Hour

// dialog is what a person's next message means. One is open at a time; a
// command closes it.
type dialog struct {
	step string
	data dialogData
}

// dialogData is what a step needs to go on. Only the fields of its step are set.
type dialogData struct {
	Draft      int64  `json:"draft,omitempty"`
	Transition int    `json:"transition,omitempty"`
	Channel    int64  `json:"channel,omitempty"`
	Source     int64  `json:"source,omitempty"`
	Field      string `json:"field,omitempty"`
	Message    int    `json:"message,omitempty"` // the bot's message that asked: it is edited when the answer came
}

const dialogPutSQL = `
INSERT INTO dialogs (
    person_id,
    step,
    data,
    expires_at
)
VALUES ($1, $2, $3, clock_timestamp() + $4::interval)
ON CONFLICT (person_id) DO UPDATE SET
    step = excluded.step,
    data = excluded.data,
    expires_at = excluded.expires_at,
    updated_at = clock_timestamp()`

const dialogGetSQL = `
SELECT
    step,
    data
FROM dialogs
WHERE person_id = $1
  AND expires_at > clock_timestamp()`

const dialogCloseSQL = `
DELETE FROM dialogs
WHERE person_id = $1`

// dialogs is the table.
type dialogs struct{ pool *pgxpool.Pool }

func (d dialogs) open(ctx context.Context, person int64, step string, data dialogData) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, dialogPutSQL, person, step, b, dialogLife); err != nil {
		return fmt.Errorf("open dialog %s: %w", step, err)
	}
	return nil
}

// current is the open dialog; its step is empty if there is none.
func (d dialogs) current(ctx context.Context, person int64) (dialog, error) {
	var out dialog
	var b []byte
	err := d.pool.QueryRow(ctx, dialogGetSQL, person).Scan(&out.step, &b)
	if errors.Is(err, pgx.ErrNoRows) {
		return dialog{}, nil
	}
	if err != nil {
		return dialog{}, fmt.Errorf("read dialog: %w", err)
	}
	if err := json.Unmarshal(b, &out.data); err != nil {
		return dialog{}, fmt.Errorf("read dialog: %w", err)
	}
	return out, nil
}

func (d dialogs) close(ctx context.Context, person int64) error {
	if _, err := d.pool.Exec(ctx, dialogCloseSQL, person); err != nil {
		return fmt.Errorf("close dialog: %w", err)
	}
	return nil
}
