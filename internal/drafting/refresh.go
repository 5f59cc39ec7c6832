package drafting

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// refreshArgs asks to write a waiting draft anew, once per edit of its item.
type refreshArgs struct {
	DraftID int64 `json:"draft_id"`
	Edited  int64 `json:"edited"` // when the item was edited at its source, in µs
}

func (a refreshArgs) key() string { return fmt.Sprintf("%d:%d", a.DraftID, a.Edited) }

// untouchedSQL is true of a draft d that still waits and that no person wrote in
// or decided about.
const untouchedSQL = `d.state = 'proposed'
   AND d.decided_by IS NULL
   AND NOT EXISTS (SELECT FROM draft_revisions r WHERE r.draft_id = d.id AND (r.author_id IS NOT NULL OR r.instruction <> ''))`

const refreshWantedSQL = `
SELECT d.id,
       (extract(epoch FROM max(i.updated_at)) * 1000000)::bigint
  FROM story_items si
  JOIN items i ON i.id = si.item_id
  JOIN drafts d ON d.story_id = si.story_id
 WHERE si.item_id = ANY ($1)
   AND ` + untouchedSQL + `
 GROUP BY d.id
 ORDER BY d.id`

// EditedTx hears, in the caller's transaction, of items that were edited at their
// source. Their drafts that wait untouched are written anew; one that a person
// decided about or wrote in, and every posted one, stays as it is.
func (s *Service) EditedTx(ctx context.Context, tx pgx.Tx, itemIDs []int64) error {
	rows, err := tx.Query(ctx, refreshWantedSQL, itemIDs)
	if err != nil {
		return fmt.Errorf("drafts of edited items: %w", err)
	}
	args, err := pgx.CollectRows(rows, pgx.RowToStructByPos[refreshArgs])
	if err != nil {
		return fmt.Errorf("drafts of edited items: %w", err)
	}
	_, err = s.refresh.EnqueueManyTx(ctx, tx, args)
	return err
}

const refreshStandingSQL = `
SELECT d.revision,
       d.transition,
       coalesce((SELECT r.html
                   FROM draft_revisions r
                  WHERE r.draft_id = d.id
                    AND r.composer = 'extractive'
                  ORDER BY r.revision DESC
                  LIMIT 1), ''),
       EXISTS (SELECT FROM jobs j WHERE j.kind = 'compose' AND j.key = d.id || ':' || (d.revision + 1)),
       (SELECT count(*) FROM draft_revisions r WHERE r.draft_id = d.id AND r.composer = 'model')
  FROM drafts d
 WHERE d.id = $1
   AND ` + untouchedSQL

// maxRefreshed is how many texts a model writes for one draft before later edits
// of the item (a live page has hundreds) are left to the composer without one.
const maxRefreshed = 3

// workRefresh writes a draft anew where the edit changes what would be written.
func (s *Service) workRefresh(ctx context.Context, job *queue.Job[refreshArgs]) error {
	var (
		revision, transition, byModel int
		before                        string
		pending                       bool
	)
	err := s.cfg.Pool.QueryRow(ctx, refreshStandingSQL, job.Args.DraftID).Scan(&revision, &transition, &before, &pending, &byModel)
	switch {
	case postgres.NoRows(err):
		return nil // decided, edited or rewritten meanwhile
	case err != nil:
		return fmt.Errorf("read draft %d: %w", job.Args.DraftID, err)
	case pending:
		return queue.Later(20*time.Second, "its text is being written")
	}
	st, err := s.read(ctx, job.Args.DraftID)
	if err != nil {
		return ignoreGone(err)
	}
	w, ok := st.m.offline()
	if !ok || w.html == before {
		return nil
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		res, err := addRevision(ctx, tx, job.Args.DraftID, transition, w, editorial.Proposed)
		if err != nil || !res.Done {
			return err
		}
		s.metrics.drafts.WithLabelValues(w.composer, "").Inc()
		if s.cfg.Model == nil || byModel >= maxRefreshed {
			return s.refreshed(ctx, tx, res.Draft.ID)
		}
		return s.askModel(ctx, tx, ComposeArgs{DraftID: res.Draft.ID, Revision: res.Draft.Revision + 1, Refresh: true})
	})
}

// refreshed tells of a text that changed because its item did.
func (s *Service) refreshed(ctx context.Context, tx pgx.Tx, draftID int64) error {
	if s.cfg.OnRefreshed == nil {
		return nil
	}
	return s.cfg.OnRefreshed(ctx, tx, draftID)
}
