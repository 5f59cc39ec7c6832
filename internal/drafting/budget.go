package drafting

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// errBudget means that the day's tokens are spent.
var errBudget = errors.New("the budget of the day is spent")

// spendReserveIfLeftSQL takes tokens from the day's budget of a channel (0: of all);
// no row: not enough is left.
const spendReserveIfLeftSQL = `
INSERT INTO model_spend (day, channel_id, tokens)
SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date,
       $1::bigint,
       $2::bigint
 WHERE $3::bigint = 0
    OR $2::bigint <= $3::bigint
    ON CONFLICT (day, channel_id) DO UPDATE
   SET tokens = model_spend.tokens + $2::bigint
 WHERE $3::bigint = 0
    OR model_spend.tokens + $2::bigint <= $3::bigint
RETURNING tokens`

// reserve takes the worst case of a call from both budgets, in the transaction of
// its intent.
func (s *Service) reserve(ctx context.Context, tx pgx.Tx, channelID int64, tokens int) error {
	for _, b := range []struct{ channel, limit int64 }{{0, s.cfg.BudgetDay}, {channelID, s.cfg.BudgetChannelDay}} {
		var now int64
		err := tx.QueryRow(ctx, spendReserveIfLeftSQL, b.channel, int64(tokens), b.limit).Scan(&now)
		if errors.Is(err, pgx.ErrNoRows) {
			return errBudget
		}
		if err != nil {
			return fmt.Errorf("reserve tokens: %w", err)
		}
	}
	return nil
}

const spendGiveBackSQL = `
UPDATE model_spend
   SET tokens = greatest(0, tokens + $4::bigint)
 WHERE day = (SELECT (made_at AT TIME ZONE 'UTC')::date FROM model_calls WHERE draft_id = $1 AND revision = $2 AND turn = $3)
   AND channel_id IN (0, (SELECT channel_id FROM model_calls WHERE draft_id = $1 AND revision = $2 AND turn = $3))`

// giveBack corrects the reservation of a call by the difference to what it cost.
func giveBack(ctx context.Context, tx pgx.Tx, c callKey, difference int) error {
	_, err := tx.Exec(ctx, spendGiveBackSQL, c.draft, c.revision, c.turn, difference)
	if err != nil {
		return fmt.Errorf("correct the budget: %w", err)
	}
	return nil
}

const spendToldSQL = `
INSERT INTO model_spend (day, channel_id, told_at)
VALUES ((clock_timestamp() AT TIME ZONE 'UTC')::date, $1, clock_timestamp())
    ON CONFLICT (day, channel_id) DO UPDATE
   SET told_at = clock_timestamp()
 WHERE model_spend.told_at IS NULL
RETURNING day`

// tellBudget gives the one notice of the day.
func (s *Service) tellBudget(ctx context.Context, tx pgx.Tx, channelID int64) error {
	tag, err := tx.Exec(ctx, spendToldSQL, channelID)
	if err != nil {
		return fmt.Errorf("notice of the budget: %w", err)
	}
	if tag.RowsAffected() == 0 || s.cfg.OnBudget == nil {
		return nil
	}
	return s.cfg.OnBudget(ctx, tx, channelID)
}
