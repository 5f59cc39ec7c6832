package drafting

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The meters of a plan that this package counts: drafts that were made, and
// texts that a model was asked for.
const (
	MeterDrafts = "drafts"
	MeterModel  = "model_drafts"
)

// errPlan means that the plan of the channel's payer does not reach that far.
var errPlan = errors.New("the plan does not reach that far")

// use counts one of a meter; errPlan.
func (s *Service) use(ctx context.Context, tx pgx.Tx, channelID int64, meter string) error {
	if s.cfg.Use == nil {
		return nil
	}
	ok, err := s.cfg.Use(ctx, tx, channelID, meter, 1)
	if err == nil && !ok {
		err = errPlan
	}
	return err
}

// beyondPlan tells that something was left out.
func (s *Service) beyondPlan(ctx context.Context, tx pgx.Tx, channelID int64, meter string) error {
	if s.cfg.OnPlan == nil {
		return nil
	}
	return s.cfg.OnPlan(ctx, tx, channelID, meter)
}

const modelTextCountedSQL = `
SELECT EXISTS (
       SELECT
         FROM model_calls
        WHERE draft_id = $1
          AND revision = $2
          AND turn <> $3
          AND state IN ('reserved', 'answered', 'unknown'))`

// countModel counts a text by the model when its first call begins (1), and
// gives it back when that call was certainly refused (-1). Further turns about the
// same text count no more.
func (s *Service) countModel(ctx context.Context, tx pgx.Tx, k callKey, channelID, n int64) error {
	if s.cfg.Use == nil {
		return nil
	}
	var counted bool
	if err := tx.QueryRow(ctx, modelTextCountedSQL, k.draft, k.revision, k.turn).Scan(&counted); err != nil {
		return fmt.Errorf("count %s: %w", k.effect(), err)
	}
	if counted {
		return nil
	}
	ok, err := s.cfg.Use(ctx, tx, channelID, MeterModel, n)
	if err == nil && !ok {
		err = errPlan
	}
	return err
}
