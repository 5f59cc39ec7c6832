package publishing

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// PublishArgs is the payload of kind publish: one job per decision to publish.
type PublishArgs struct {
	DraftID    int64 `json:"draft_id"`
	Transition int   `json:"transition"` // of the scheduled draft
	Tries      int   `json:"tries"`      // certain refusals that passed, so far
}

// LookArgs is the payload of kind reconcile: one look at a doubt.
type LookArgs struct {
	PublicationID int64 `json:"publication_id"`
	Attempt       int   `json:"attempt"` // of the publication that is in doubt
	Look          int   `json:"look"`    // counts from 1
}

// EditArgs is the payload of kind post_edit.
type EditArgs struct {
	DraftID  int64 `json:"draft_id"`
	Revision int   `json:"revision"`
}

// DeleteArgs is the payload of kind post_delete.
type DeleteArgs struct {
	DraftID int64 `json:"draft_id"`
	Attempt int   `json:"attempt"` // counts a person's requests
}

// SweepArgs is the payload of kind publish_sweep.
type SweepArgs struct {
	FireAt time.Time `json:"fire_at"`
}

// publishFailures is how often the database or the machine may fail a
// publication before it goes to the archive.
const publishFailures = 5

func (s *Service) kinds() {
	s.publish = queue.Kind[PublishArgs]{
		Name: "publish", Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Strict, MaxFailures: publishFailures,
		Key:  func(a PublishArgs) string { return fmt.Sprintf("%d:%d", a.DraftID, a.Transition) },
		Work: s.workPublish,
		Settled: func(ctx context.Context, tx pgx.Tx, _ PublishArgs, end queue.Settlement) error {
			return s.settledAtDesk(ctx, tx, end.EffectKey)
		},
	}
	s.look = queue.Kind[LookArgs]{
		Name: "reconcile", Tier: queue.Default, Policy: queue.Ledger, Class: queue.Courtesy,
		Key:  func(a LookArgs) string { return fmt.Sprintf("%d:%d:%d", a.PublicationID, a.Attempt, a.Look) },
		Work: s.workLook,
	}
	s.edit = queue.Kind[EditArgs]{
		Name: "post_edit", Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Strict,
		Key:  func(a EditArgs) string { return fmt.Sprintf("%d:%d", a.DraftID, a.Revision) },
		Work: s.workEdit,
	}
	s.remove = queue.Kind[DeleteArgs]{
		Name: "post_delete", Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Strict,
		Key:  func(a DeleteArgs) string { return fmt.Sprintf("%d:%d", a.DraftID, a.Attempt) },
		Work: s.workDelete,
	}
	s.sweep = queue.Kind[SweepArgs]{
		Name: "publish_sweep", Tier: queue.Default, KeepKeys: 24 * time.Hour,
		Key:  func(a SweepArgs) string { return strconv.FormatInt(a.FireAt.Unix(), 10) },
		Work: s.workSweep,
	}
}

// sweepEvery is how soon a publication is noticed whose worker died.
const sweepEvery = 20 * time.Second

// Register adds the kinds of this package and its schedule.
func (s *Service) Register(r *queue.Registry) {
	queue.Register(r, s.publish)
	queue.Register(r, s.look)
	queue.Register(r, s.edit)
	queue.Register(r, s.remove)
	queue.Register(r, s.sweep)
	queue.Schedule(r, "publish_sweep", queue.Every(sweepEvery), queue.CatchUpLast, s.sweep,
		func(at time.Time) SweepArgs { return SweepArgs{FireAt: at} })
}

// EnqueueTx makes the job that publishes a scheduled draft at its slot, in the
// transaction that scheduled it.
func (s *Service) EnqueueTx(ctx context.Context, tx pgx.Tx, draftID int64, transition int, at time.Time) (queue.Submission, error) {
	return s.publish.EnqueueTx(ctx, tx, PublishArgs{DraftID: draftID, Transition: transition}, queue.RunAt(at))
}
