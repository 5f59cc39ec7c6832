package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/queue"
)

// every is how often the watch looks; the windows of its rules are multiples.
const every = time.Minute

// Config is what a Watch needs.
type Config struct {
	Pool *pgxpool.Pool
	// ModelBudget is the model's tokens per day; 0 is unlimited.
	ModelBudget int64
	// Notify hands one notice for the operators over, in the transaction that
	// records it: the start of an incident (ClosedAt zero) or its end. Nil
	// tells nobody.
	Notify func(ctx context.Context, tx pgx.Tx, i Incident) error
}

// Watch judges the figures once a minute.
type Watch struct{ cfg Config }

// New returns a Watch; Register gives it its schedule.
func New(cfg Config) *Watch { return &Watch{cfg: cfg} }

// Register adds the job that looks, and its schedule.
func (w *Watch) Register(r *queue.Registry) {
	k := w.Kind()
	queue.Register(r, k)
	queue.Schedule(r, "watch", queue.Every(every), queue.CatchUpNone, k, func(at time.Time) Round { return Round{At: at} })
}

// Round is the payload of one look.
type Round struct {
	At time.Time `json:"at"`
}

// Kind is the job that looks once.
func (w *Watch) Kind() queue.Kind[Round] {
	return queue.Kind[Round]{
		Name:     "watch",
		Tier:     queue.Critical, // it has to run while the other tiers are stuck
		Policy:   queue.DB,
		Lease:    30 * time.Second,
		KeepKeys: 24 * time.Hour,
		Key:      func(r Round) string { return r.At.UTC().Format(time.RFC3339) },
		Work: func(ctx context.Context, job *queue.Job[Round]) error {
			f, err := Read(ctx, w.cfg.Pool)
			if err != nil {
				return err
			}
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return w.CheckTx(ctx, tx, f) })
		},
	}
}

// CheckTx judges f against the depths of before, records what began and ended
// and hands the notices over.
func (w *Watch) CheckTx(ctx context.Context, tx pgx.Tx, f Figures) error {
	h, err := history(ctx, tx)
	if err != nil {
		return err
	}
	began, ended, err := apply(ctx, tx, Judge(f, h, w.cfg.ModelBudget))
	if err != nil {
		return err
	}
	if err := sample(ctx, tx, f.Lanes); err != nil {
		return err
	}
	if w.cfg.Notify == nil {
		return nil
	}
	for _, i := range append(began, ended...) {
		if err := w.cfg.Notify(ctx, tx, i); err != nil {
			return fmt.Errorf("notify of %s: %w", i.Name, err)
		}
	}
	return nil
}

// Open lists the incidents that last, oldest first.
func Open(ctx context.Context, db Reader) ([]Incident, error) {
	return incidents(ctx, db, incidentOpenListSQL)
}
