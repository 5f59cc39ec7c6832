package drafting

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// forgetArgs is one run of the clean-up.
type forgetArgs struct {
	At int64 `json:"at"`
}

// answersForgetSQL leaves the row: that the call was made, for what request and
// at what cost stays known.
const answersForgetSQL = `
UPDATE model_calls
   SET answer = NULL
 WHERE (draft_id, revision, turn) IN (
         SELECT draft_id,
                revision,
                turn
           FROM model_calls
          WHERE answer IS NOT NULL
            AND made_at < clock_timestamp() - $1::interval
          ORDER BY made_at
          LIMIT 20000
       )`

// ForgetAnswersTx erases raw answers of models that are older than KeepAnswers,
// at most 20,000 at once, and returns how many.
func (s *Service) ForgetAnswersTx(ctx context.Context, tx pgx.Tx) (int, error) {
	tag, err := tx.Exec(ctx, answersForgetSQL, s.cfg.KeepAnswers)
	if err != nil {
		return 0, fmt.Errorf("forget answers of models: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// forgetKind applies the retention of raw answers.
func (s *Service) forgetKind() queue.Kind[forgetArgs] {
	return queue.Kind[forgetArgs]{
		Name: "forget_answers", Tier: queue.Bulk, Policy: queue.DB, KeepKeys: 72 * time.Hour,
		Key: func(a forgetArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: func(ctx context.Context, job *queue.Job[forgetArgs]) error {
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := s.ForgetAnswersTx(ctx, tx)
				return err
			})
		},
	}
}
