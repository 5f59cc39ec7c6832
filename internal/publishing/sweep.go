package publishing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// sweepMost bounds one sweep; the next one takes the rest.
const sweepMost = 100

// workSweep brings publications and drafts in line with what the queue knows:
// a worker that died leaves its publication or change behind, an operator
// decides in the archive, and a paused or lost channel leaves drafts whose slot
// passed.
func (s *Service) workSweep(ctx context.Context, job *queue.Job[SweepArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.sweepPublications(ctx, tx); err != nil {
			return err
		}
		if err := s.sweepChanges(ctx, tx); err != nil {
			return err
		}
		return s.sweepSlots(ctx, tx, nil)
	})
}

// Edits and deletions that ended in the archive a while ago: their worker may
// have died before it could tell.
const changesLostSQL = `
SELECT p.draft_id,
       a.job_id
  FROM job_archive a
  JOIN publications p ON p.draft_id = split_part(a.key, ':', 1)::bigint
 WHERE a.kind IN ('post_edit', 'post_delete')
   AND a.status = 'open'
   AND a.archived_at > clock_timestamp() - interval '10 minutes'
 ORDER BY a.job_id
 LIMIT $1`

// sweepChanges tells of edits and deletions that ended in the archive. Telling
// twice is telling once: the note is the same.
func (s *Service) sweepChanges(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, changesLostSQL, sweepMost)
	if err != nil {
		return fmt.Errorf("changes of posts that were lost: %w", err)
	}
	type lost struct{ DraftID, JobID int64 }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lost])
	if err != nil {
		return fmt.Errorf("changes of posts that were lost: %w", err)
	}
	for _, l := range list {
		if err := s.cfg.OnChanged(ctx, tx, l.DraftID, fmt.Sprintf("archived:%d", l.JobID)); err != nil {
			return err
		}
	}
	return nil
}

const leftBehindColumnsSQL = `
SELECT p.draft_id,
       p.channel_id,
       p.effect_key,
       p.state,
       e.state,
       coalesce(e.external_id, ''),
       e.detail
  FROM publications p
  JOIN effects e ON e.effect_key = p.effect_key`

const leftBehindOneSQL = leftBehindColumnsSQL + `
 WHERE p.effect_key = $1
   AND p.state IN ('sending', 'unconfirmed')`

// An effect that is done or not done while the publication says otherwise was
// settled in the archive; one in doubt whose job will not run belongs to a
// worker that died. Two alternatives instead of a list let each take its partial
// index: the sweep must not read what was ever published.
const leftBehindSQL = leftBehindColumnsSQL + `
 WHERE (p.state = 'sending' OR p.state = 'unconfirmed')
   AND (p.state = 'sending' OR e.state IN ('done', 'not_done'))
   AND NOT EXISTS (
       SELECT
         FROM jobs j
        WHERE j.id = e.job_id
   )
 ORDER BY p.channel_id,
       p.id
 LIMIT $1`

type leftBehind struct {
	DraftID    int64
	ChannelID  int64
	EffectKey  string
	State      editorial.PublicationState
	Effect     string
	ExternalID string
	Detail     json.RawMessage
}

func (s *Service) sweepPublications(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, leftBehindSQL, sweepMost)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[leftBehind])
	if err != nil {
		return err
	}
	for _, l := range list {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return s.bringIn(ctx, tx, l) })
		if err != nil {
			s.cfg.Logger.Error().Err(err).Int64("draft_id", l.DraftID).Str("effect", l.Effect).Msg("a publication left behind stays so")
		}
	}
	return nil
}

// settledAtDesk follows what an operator said of a doubt in the archive, in the
// same transaction: neither the card nor /ops asks on.
func (s *Service) settledAtDesk(ctx context.Context, tx pgx.Tx, effectKey string) error {
	rows, err := tx.Query(ctx, leftBehindOneSQL, effectKey)
	if err != nil {
		return err
	}
	l, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[leftBehind])
	if postgres.NoRows(err) {
		return nil // settled meanwhile, or a later send of the same draft is in doubt
	}
	if err != nil {
		return err
	}
	return s.bringIn(ctx, tx, l)
}

// bringIn settles one publication by what the ledger says.
func (s *Service) bringIn(ctx context.Context, tx pgx.Tx, l leftBehind) error {
	switch l.Effect {
	case "done":
		ids := confirmedIDs(queue.Confirmed{ExternalID: l.ExternalID, Detail: l.Detail}, nil)
		return s.settlePublished(ctx, tx, settled{DraftID: l.DraftID, ChannelID: l.ChannelID, EffectKey: l.EffectKey, IDs: ids, How: "operator"})
	case "not_done":
		return s.certainlyNot(ctx, tx, l.DraftID, l.ChannelID, l.EffectKey, "not_sent")
	default:
		return s.unconfirmed(ctx, tx, l.DraftID)
	}
}

// certainlyNot fails a draft that is known not to be in the channel.
func (s *Service) certainlyNot(ctx context.Context, tx pgx.Tx, draftID, channelID int64, effectKey, code string) error {
	if err := lockChannel(ctx, tx, channelID); err != nil {
		return err
	}
	ok, err := postgres.Affected(ctx, tx, publicationFailedSQL, draftID, effectKey, code)
	if err != nil || !ok {
		return err
	}
	if _, _, err := s.cfg.Change(ctx, tx, DraftChange{
		DraftID: draftID, From: []editorial.DraftState{editorial.Publishing, editorial.Unconfirmed}, To: editorial.Failed, Failure: code,
	}); err != nil {
		return err
	}
	return s.cfg.OnFailed(ctx, tx, draftID, code)
}

// A scheduled draft has a job for its present transition; where that job is
// gone, its channel did not take it at its time.
const stuckSQL = `
SELECT d.id,
       d.transition,
       d.slot_at,
       k.job_id IS NULL
  FROM drafts d
  JOIN channels c ON c.id = d.channel_id
  LEFT JOIN job_keys k ON k.kind = 'publish' AND k.key = d.id || ':' || d.transition AND k.generation = 0
 WHERE d.state = 'scheduled'
   AND c.state = 'active'
   AND c.paused_at IS NULL
   AND c.rests_at IS NULL
   AND NOT EXISTS (
       SELECT
         FROM restore_holds h
        WHERE h.channel_id = d.channel_id
          AND h.released_at IS NULL
   )
   AND ($1::bigint IS NULL OR d.channel_id = $1)
   AND (k.job_id IS NULL OR d.slot_at < $2)
   AND NOT EXISTS (
       SELECT
         FROM jobs j
        WHERE j.id = k.job_id
   )
 ORDER BY d.channel_id,
       d.slot_at
 LIMIT $3`

// sweepSlots takes up scheduled drafts that no job will publish: of one channel, or (nil) of all.
func (s *Service) sweepSlots(ctx context.Context, tx pgx.Tx, channelID *int64) error {
	rows, err := tx.Query(ctx, stuckSQL, channelID, s.cfg.Now(), sweepMost)
	if err != nil {
		return err
	}
	type stuck struct {
		DraftID    int64
		Transition int
		SlotAt     time.Time
		NoJob      bool
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stuck])
	if err != nil {
		return fmt.Errorf("drafts that no job will publish: %w", err)
	}
	for _, d := range list {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			if d.NoJob {
				_, err := s.EnqueueTx(ctx, tx, d.DraftID, d.Transition, d.SlotAt)
				return err
			}
			return s.cfg.Missed(ctx, tx, d.DraftID, d.Transition)
		})
		if err != nil {
			s.cfg.Logger.Error().Err(err).Int64("draft_id", d.DraftID).Msg("a draft whose slot passed stays where it is")
		}
	}
	return nil
}

// ResumeTx takes up what a channel could not publish while it was paused or
// had lost its rights: its missed slots are moved or skipped as set.
func (s *Service) ResumeTx(ctx context.Context, tx pgx.Tx, channelID int64) error {
	return s.sweepSlots(ctx, tx, &channelID)
}
