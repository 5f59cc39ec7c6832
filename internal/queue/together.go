package queue

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// CompleteTogether is Job.Complete for several jobs of one engine: one transaction, and one flush to disk, for
// all of them. fn hears which jobs are still held, in the order of jobs, and must write for those only; its
// error rolls everything back. The answer holds for each job what Complete would have returned for it.
func CompleteTogether[A any](ctx context.Context, jobs []*Job[A], fn func(ctx context.Context, tx pgx.Tx, held []bool) error) []error {
	errs := make([]error, len(jobs))
	tokens := make([]int64, 0, len(jobs))
	for i, j := range jobs {
		if j.run.inDoubt.Load() && j.run.spec.class == Strict {
			errs[i] = ErrInDoubt
			continue
		}
		tokens = append(tokens, j.run.token)
	}
	if len(tokens) == 0 {
		return errs
	}
	held := make([]bool, len(jobs))
	asked := false // the commit was sent
	err := pgx.BeginFunc(ctx, jobs[0].run.engine.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, jobCompleteAndTellSQL, tokens)
		if err != nil {
			return err
		}
		done, err := tokenSet(rows, len(tokens))
		if err != nil {
			return err
		}
		for i, j := range jobs {
			held[i] = done[j.run.token]
		}
		if err := fn(ctx, tx, held); err != nil {
			return err
		}
		failpoint.Hit("completion-commit")
		asked = true
		return nil
	})
	failpoint.Hit("completion-committed")
	for i, j := range jobs {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = j.run.notCompleted(ctx, err, asked)
		case held[i]:
			j.run.ended(outcomeCompleted)
		default:
			errs[i] = j.run.notCompleted(ctx, ErrLeaseLost, asked)
		}
	}
	return errs
}
