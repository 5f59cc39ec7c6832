package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources"
)

// publishKind is spared when a restore suspends what acts outside: each of its
// jobs asks whether its channel is held.
const publishKind = "publish"

// checkEvery is how often a running program looks for a promoted standby or a
// declared restore.
const checkEvery = 30 * time.Second

// newRestore wires the guard over restored backups: what it learns in a channel
// becomes of drafts through their owners, and notify tells the people of the channel.
func newRestore(a *App, pub *publishing.Service, plan *planning.Service,
	notify func(ctx context.Context, tx pgx.Tx, r restore.Report) error,
) *restore.Service {
	return restore.New(restore.Config{
		Pool: a.db.Pool, Log: a.log,
		Suspend: func(ctx context.Context, tx pgx.Tx, why string) (int, error) {
			return queue.SuspendTx(ctx, tx, why, publishKind)
		},
		Rebaseline: sources.RebaselineTx,
		Look: func(ctx context.Context, channelID, after int64) (restore.Look, error) {
			posts, complete, why, err := pub.ReadChannel(ctx, channelID, after)
			look := restore.Look{Complete: complete, Why: why}
			for _, p := range posts {
				look.Posts = append(look.Posts, restore.Post{ID: p.ID, At: p.At, Text: p.Text, Links: p.Links})
			}
			return look, err
		},
		PlainText: publishing.PlainText,
		Published: func(ctx context.Context, tx pgx.Tx, draftID int64, post restore.Post) error {
			if err := bringToSchedule(ctx, tx, draftID, post.At); err != nil {
				return err
			}
			return pub.FoundTx(ctx, tx, draftID, post.ID, "preview")
		},
		Duplicate: func(ctx context.Context, tx pgx.Tx, draftID int64) error {
			return change(ctx, tx, plan, drafting.Change{DraftID: draftID, To: editorial.Skipped, Skip: editorial.SkipDuplicate})
		},
		Return: func(ctx context.Context, tx pgx.Tx, draftID int64) error {
			return change(ctx, tx, plan, drafting.Change{
				DraftID: draftID, From: []editorial.DraftState{editorial.Scheduled}, To: editorial.Proposed,
			})
		},
		Notify: notify,
	})
}

// change takes a draft out of its slot with its state.
func change(ctx context.Context, tx pgx.Tx, plan *planning.Service, c drafting.Change) error {
	if _, err := plan.Free(ctx, tx, c.DraftID); err != nil {
		return err
	}
	_, err := drafting.Transition(ctx, tx, c)
	return err
}

// errStuck: the draft's state leads nowhere from here.
var errStuck = errors.New("the draft cannot be brought to its slot")

// bringToSchedule leads a draft whose post was found along the ways that drafts
// go, so that each state keeps its promises: a skipped one is proposed again, a
// proposed or failed one is scheduled for the time of its post.
func bringToSchedule(ctx context.Context, tx pgx.Tx, draftID int64, at time.Time) error {
	d, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	for range 3 {
		next := drafting.Change{DraftID: draftID, From: []editorial.DraftState{d.State}}
		switch d.State {
		case editorial.Skipped:
			next.To = editorial.Proposed
		case editorial.Proposed, editorial.Failed:
			next.To, next.SlotAt = editorial.Scheduled, at
		case editorial.Scheduled, editorial.Publishing, editorial.Published, editorial.Unconfirmed:
			return nil
		}
		res, err := drafting.Transition(ctx, tx, next)
		if err != nil {
			return err
		}
		d = res.Draft
	}
	return fmt.Errorf("draft %d is %s: %w", draftID, d.State, errStuck)
}

// releaseChannel lets one held channel publish again and tells its people.
func releaseChannel(ctx context.Context, tx pgx.Tx, channelID int64, by string) (bool, error) {
	released, _, err := restore.Release(ctx, tx, channelID, by, notifyReleased)
	return released > 0, err
}

// registerRestore adds its jobs and its regular check.
func registerRestore(r *queue.Registry, s *restore.Service) {
	queue.Register(r, s.Kind())
	check := s.CheckKind()
	queue.Register(r, check)
	queue.Schedule(r, "restore-check", queue.Every(checkEvery), queue.CatchUpNone, check,
		func(at time.Time) restore.Round { return restore.Round{At: at} })
}
