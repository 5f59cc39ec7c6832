package restore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// firstLook waits after a restore was noticed: what a dying process had still
// under way is in the channel by then.
const firstLook = 2 * time.Minute

// promotionGap is the longest silence before a new timeline that still looks
// like a failover.
const promotionGap = 15 * time.Minute

// Config is what a Service needs of others. Each function works in the
// transaction that it is given.
type Config struct {
	Pool *pgxpool.Pool
	Log  zerolog.Logger
	// Suspend puts every queued job that may have an outside effect into the
	// archive, as cancelled, and returns how many: it may have run after the
	// backup was made. It spares those that ask Held before they act.
	Suspend func(ctx context.Context, tx pgx.Tx, why string) (int, error)
	// Rebaseline makes the next document of every source a baseline: what came
	// after the backup is recorded, not proposed again.
	Rebaseline func(ctx context.Context, tx pgx.Tx) error
	// Look reads what stands in a channel after a message id.
	Look func(ctx context.Context, channelID, after int64) (Look, error)
	// PlainText is a draft's HTML as a reader of the channel sees it.
	PlainText func(html string) string
	// Published settles a draft whose post was found.
	Published func(ctx context.Context, tx pgx.Tx, draftID int64, post Post) error
	// Duplicate skips a draft whose link was posted with another text.
	Duplicate func(ctx context.Context, tx pgx.Tx, draftID int64) error
	// Return takes a scheduled draft back to proposed and frees its slot.
	Return func(ctx context.Context, tx pgx.Tx, draftID int64) error
	// Notify tells the channel's owners what was found; nil tells nobody.
	Notify func(ctx context.Context, tx pgx.Tx, r Report) error
	// FirstLook is how long after a restore was noticed the channels are read;
	// 0 takes 2 minutes.
	FirstLook time.Duration
}

// Service notices restores, holds channels and releases them. It is safe for
// concurrent use, and across processes by the lock on the kept mark.
type Service struct{ cfg Config }

// New returns a Service; Register its Kind before the queue starts.
func New(cfg Config) *Service {
	if cfg.FirstLook == 0 {
		cfg.FirstLook = firstLook
	}
	return &Service{cfg: cfg}
}

const restoreBeginSQL = `
INSERT INTO restores (how, said_by, last_known_at)
VALUES ($1, $2, $3)
RETURNING id,
          noticed_at`

const restoreSuspendedSQL = `
UPDATE restores
   SET suspended = $2
 WHERE id = $1`

const holdAllSQL = `
INSERT INTO restore_holds (restore_id, channel_id)
SELECT $1,
       c.id
  FROM channels c
 WHERE c.state <> 'unlinked'
   AND NOT EXISTS (SELECT FROM restore_holds h
                    WHERE h.channel_id = c.id
                      AND h.released_at IS NULL)
RETURNING channel_id`

const restoreCloseIfReleasedSQL = `
UPDATE restores r
   SET closed_at = clock_timestamp()
 WHERE r.closed_at IS NULL
   AND NOT EXISTS (SELECT FROM restore_holds h
                    WHERE h.restore_id = r.id
                      AND h.released_at IS NULL)`

const heldSQL = `
SELECT EXISTS (SELECT FROM restore_holds
                WHERE channel_id = $1
                  AND released_at IS NULL)`

// Check compares the database with its mark. It is called after migrations and
// before the queue works, and begins a restore where the mark does not fit. On
// a new database it sets the mark.
func (s *Service) Check(ctx context.Context) error {
	return postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		now, err := readMark(ctx, tx)
		if err != nil {
			return err
		}
		how, by, err := compare(ctx, tx, now)
		if err != nil {
			return err
		}
		if how != "" {
			if err := s.begin(ctx, tx, how, by); err != nil {
				return err
			}
		}
		return setMark(ctx, tx, now)
	})
}

// Declare says that the database was restored where it left no mark (copied
// files). Nothing is published from that moment on; the next Check, at a start
// or by its schedule, begins the restore.
func Declare(ctx context.Context, db postgres.Beginner, by string) error {
	return postgres.InTx(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, markDeclareSQL, by); err != nil {
			return fmt.Errorf("declare a restore: %w", err)
		}
		return nil
	})
}

// Round is the payload of one regular Check.
type Round struct {
	At time.Time `json:"at"`
}

// CheckKind is Check as a job, for a schedule: a process that lives through a
// failover notices the new timeline without a restart.
func (s *Service) CheckKind() queue.Kind[Round] {
	return queue.Kind[Round]{
		Name:     "restore-check",
		Tier:     queue.Critical,
		Policy:   queue.DB,
		Lease:    30 * time.Second,
		KeepKeys: 24 * time.Hour,
		Key:      func(r Round) string { return r.At.UTC().Format(time.RFC3339) },
		Work:     func(ctx context.Context, _ *queue.Job[Round]) error { return s.Check(ctx) },
	}
}

func (s *Service) begin(ctx context.Context, tx pgx.Tx, how How, by string) error {
	trace, err := lastTrace(ctx, tx)
	if err != nil {
		return err
	}
	var id int64
	var noticed time.Time
	if err := tx.QueryRow(ctx, restoreBeginSQL, string(how), by, trace).Scan(&id, &noticed); err != nil {
		return fmt.Errorf("begin restore: %w", err)
	}
	rows, err := tx.Query(ctx, holdAllSQL, id)
	if err != nil {
		return fmt.Errorf("hold channels: %w", err)
	}
	held, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("hold channels: %w", err)
	}
	suspended := 0
	if how != OtherTimeline || longGap(trace, noticed) {
		if suspended, err = s.goBack(ctx, tx, id); err != nil {
			return err
		}
	}
	// Looks come after Suspend, which would archive them with the rest.
	if err := s.enqueueLooks(ctx, tx, id, held); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, restoreCloseIfReleasedSQL); err != nil { // no channels: nothing to reconcile
		return fmt.Errorf("close restore: %w", err)
	}
	s.cfg.Log.Warn().Int64("restore", id).Str("how", string(how)).Str("by", by).
		Int("channels", len(held)).Int("suspended", suspended).
		Msg("the database was restored: its channels publish nothing until they are reconciled")
	return nil
}

// longGap tells a point-in-time recovery from a promoted standby, which carry
// the same mark: the newest trace of work is old. After a promotion the queued
// work goes on: nothing but the channels needs a look.
func longGap(trace *time.Time, noticed time.Time) bool {
	return trace == nil || noticed.Sub(*trace) > promotionGap
}

// goBack makes the queue and the sources forget what they cannot know.
func (s *Service) goBack(ctx context.Context, tx pgx.Tx, id int64) (int, error) {
	suspended, err := s.cfg.Suspend(ctx, tx, fmt.Sprintf("restore %d: it may have run after the backup was made", id))
	if err != nil {
		return 0, fmt.Errorf("suspend jobs: %w", err)
	}
	if _, err := tx.Exec(ctx, restoreSuspendedSQL, id, suspended); err != nil {
		return 0, fmt.Errorf("record restore %d: %w", id, err)
	}
	if err := s.cfg.Rebaseline(ctx, tx); err != nil {
		return 0, fmt.Errorf("rebaseline sources: %w", err)
	}
	return suspended, nil
}

// Held reports whether a channel publishes nothing for now. It belongs into the
// transaction that commits the intent to publish. It compares the timeline too,
// so that a process that lived through a failover to a promoted standby stops
// before the next start's Check.
func (s *Service) Held(ctx context.Context, tx pgx.Tx, channelID int64) (bool, error) {
	var held bool
	if err := tx.QueryRow(ctx, heldSQL, channelID).Scan(&held); err != nil {
		return true, fmt.Errorf("hold of channel %d: %w", channelID, err)
	}
	if held {
		return true, nil
	}
	var fits bool
	if err := tx.QueryRow(ctx, timelineFitsSQL).Scan(&fits); err != nil {
		return true, fmt.Errorf("timeline: %w", err)
	}
	return !fits, nil
}

const timelineFitsSQL = `
SELECT coalesce((SELECT lpad(to_hex(timeline), 8, '0') FROM database_marks), '')
         = lower(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))`
