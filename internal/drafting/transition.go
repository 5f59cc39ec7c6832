package drafting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// ErrNotFound means that no such draft exists.
var ErrNotFound = errors.New("no such draft")

// Change asks for a draft's next state.
type Change struct {
	DraftID int64
	// Transition is the number that the caller saw; 0: whatever it is. A press of a
	// button always carries one.
	Transition int
	// Revision is the text that the caller saw; 0: whatever it is.
	Revision int
	// From are the states that the change may start from; empty: all that may become To.
	From []editorial.DraftState
	To   editorial.DraftState
	// By is the person; 0: the autopilot or the program.
	By int64
	// SlotAt is when it is to go out, for To = scheduled; zero keeps the slot that it has.
	SlotAt time.Time
	// Skip is why, for To = skipped.
	Skip editorial.SkipReason
	// Failure is the code of what went wrong, for To = failed.
	Failure string
}

// Result says whether the change took place, and where the draft stands now: after
// it, or as something else had left it.
type Result struct {
	Done  bool
	Draft editorial.Draft
}

const draftColumnsSQL = `d.id,
       d.channel_id,
       coalesce(d.story_id, 0),
       d.kind,
       d.subject,
       d.state,
       d.transition,
       d.revision,
       d.score,
       d.explore,
       coalesce(d.slot_at, '0001-01-01 00:00:00+00'),
       coalesce(d.decided_by, 0),
       d.skip_reason,
       d.failure`

// draftTransitionIfUnchangedSQL is the one statement that changes a draft's state.
const draftTransitionIfUnchangedSQL = `
UPDATE drafts d
   SET state = $2,
       transition = d.transition + 1,
       slot_at = CASE
                   WHEN $2 IN ('proposed', 'skipped') THEN NULL
                   ELSE coalesce($6, d.slot_at)
                 END,
       -- An approval binds to the text of this moment. A move keeps the one that it had.
       approved_hash = CASE
                         WHEN $2 = 'scheduled' AND d.state IN ('proposed', 'failed')
                           THEN (SELECT r.html_hash FROM draft_revisions r WHERE r.draft_id = d.id AND r.revision = d.revision)
                         WHEN $2 IN ('proposed', 'skipped') THEN NULL
                         ELSE d.approved_hash
                       END,
       decided_by = CASE WHEN $2 IN ('proposed', 'scheduled', 'skipped') AND d.state <> 'publishing' THEN nullif($7::bigint, 0) ELSE d.decided_by END,
       decided_at = CASE WHEN $2 IN ('proposed', 'scheduled', 'skipped') AND d.state <> 'publishing' THEN clock_timestamp() ELSE d.decided_at END,
       skip_reason = CASE WHEN $2 = 'skipped' THEN $8 ELSE '' END,
       failure = CASE WHEN $2 = 'failed' THEN $9 ELSE '' END,
       autopilot_at = NULL,
       updated_at = clock_timestamp()
 WHERE d.id = $1
   AND d.state = ANY ($3)
   AND ($4 = 0 OR d.transition = $4)
   AND ($5 = 0 OR d.revision = $5)
RETURNING ` + draftColumnsSQL

const draftReadSQL = `
SELECT ` + draftColumnsSQL + `
  FROM drafts d
 WHERE d.id = $1`

func scanDraft(row pgx.Row) (editorial.Draft, error) {
	var d editorial.Draft
	err := row.Scan(&d.ID, &d.ChannelID, &d.StoryID, &d.Kind, &d.Subject, &d.State, &d.Transition, &d.Revision,
		&d.Score, &d.Explore, &d.SlotAt, &d.DecidedBy, &d.SkipReason, &d.Failure)
	if d.SlotAt.Year() <= 1 {
		d.SlotAt = time.Time{}
	}
	return d, err
}

// Get reads a draft; ErrNotFound.
func Get(ctx context.Context, q postgres.Querier, id int64) (editorial.Draft, error) {
	d, err := scanDraft(q.QueryRow(ctx, draftReadSQL, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return editorial.Draft{}, ErrNotFound
	}
	if err != nil {
		return editorial.Draft{}, fmt.Errorf("read draft %d: %w", id, err)
	}
	return d, nil
}

// Transition changes a draft's state in the caller's transaction, if it still
// stands where the change starts from. Done = false is an answer, no error: the
// result then says what had already happened. ErrNotFound for a number that never was.
func Transition(ctx context.Context, tx pgx.Tx, c Change) (Result, error) {
	from := startsFrom(c)
	var slot *time.Time
	if !c.SlotAt.IsZero() {
		slot = &c.SlotAt
	}
	if len(from) > 0 {
		d, err := scanDraft(tx.QueryRow(ctx, draftTransitionIfUnchangedSQL,
			c.DraftID, c.To, from, c.Transition, c.Revision, slot, c.By, c.Skip, c.Failure))
		if err == nil {
			return Result{Done: true, Draft: d}, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return Result{}, fmt.Errorf("draft %d to %s: %w", c.DraftID, c.To, err)
		}
	}
	d, err := Get(ctx, tx, c.DraftID)
	return Result{Draft: d}, err
}

// startsFrom leaves of From what the vocabulary allows.
func startsFrom(c Change) []editorial.DraftState {
	from := c.From
	if len(from) == 0 {
		from = []editorial.DraftState{
			editorial.Proposed, editorial.Scheduled, editorial.Publishing, editorial.Published, editorial.Skipped, editorial.Failed, editorial.Unconfirmed,
		}
	}
	var out []editorial.DraftState
	for _, s := range from {
		if s.CanBecome(c.To) {
			out = append(out, s)
		}
	}
	return out
}

const draftSkipReasonSQL = `
UPDATE drafts
   SET skip_reason = $2,
       updated_at = clock_timestamp()
 WHERE id = $1
   AND state = 'skipped'
   AND transition = $3`

// Because sets why a draft was skipped, which people say after the skip itself.
// False: it is not skipped any more.
func Because(ctx context.Context, tx pgx.Tx, draftID int64, transition int, why editorial.SkipReason) (bool, error) {
	tag, err := tx.Exec(ctx, draftSkipReasonSQL, draftID, why, transition)
	if err != nil {
		return false, fmt.Errorf("skip reason of draft %d: %w", draftID, err)
	}
	return tag.RowsAffected() == 1, nil
}

const draftAutopilotSQL = `
UPDATE drafts
   SET autopilot_at = $2,
       updated_at = clock_timestamp()
 WHERE id = $1
   AND state = 'proposed'
   AND transition = $3`

// Autopilot notes when a proposed draft schedules itself unless somebody objects;
// the zero time takes the note away. Any change of state does as well.
func Autopilot(ctx context.Context, tx pgx.Tx, draftID int64, transition int, at time.Time) (bool, error) {
	var when *time.Time
	if !at.IsZero() {
		when = &at
	}
	tag, err := tx.Exec(ctx, draftAutopilotSQL, draftID, when, transition)
	if err != nil {
		return false, fmt.Errorf("autopilot of draft %d: %w", draftID, err)
	}
	return tag.RowsAffected() == 1, nil
}
