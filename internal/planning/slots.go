package planning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Slot is a time in a channel's plan and the draft that holds it.
type Slot struct {
	At      time.Time
	DraftID int64
	TakenBy int64 // 0: the autopilot
}

const channelLockSQL = `
SELECT id
  FROM channels
 WHERE id = $1
   FOR NO KEY UPDATE`

// lock makes plans of one channel wait for one another, so that the daily cap
// holds; the slots' key alone keeps two drafts apart.
func lock(ctx context.Context, tx pgx.Tx, channelID int64) error {
	var id int64
	return tx.QueryRow(ctx, channelLockSQL, channelID).Scan(&id)
}

const slotsTakenSQL = `
SELECT at,
       draft_id,
       coalesce(taken_by, 0)
  FROM slots
 WHERE channel_id = $1
   AND at >= $2
   AND at < $3
 ORDER BY at`

// Taken returns the held slots of a channel in [from, to), in order.
func Taken(ctx context.Context, q postgres.Querier, channelID int64, from, to time.Time) ([]Slot, error) {
	rows, err := q.Query(ctx, slotsTakenSQL, channelID, from, to)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Slot])
}

const slotTakeSQL = `
INSERT INTO slots (
       channel_id,
       at,
       draft_id,
       taken_by
) VALUES ($1, $2, $3, $4)
ON CONFLICT (channel_id, at) DO NOTHING
RETURNING id`

const slotFreeSQL = `
DELETE FROM slots
 WHERE draft_id = $1
RETURNING at`

// TakeNext gives a draft the next free slot after the given time (or now, if
// later), instead of the one that it holds, if any. by 0 is the autopilot.
// ErrNoSlot when the week has none within Horizon.
func (s *Service) TakeNext(ctx context.Context, tx pgx.Tx, ch editorial.Channel, draftID, by int64, after time.Time) (time.Time, error) {
	if err := lock(ctx, tx, ch.ID); err != nil {
		return time.Time{}, fmt.Errorf("lock channel %d: %w", ch.ID, err)
	}
	if _, err := s.Free(ctx, tx, draftID); err != nil {
		return time.Time{}, err
	}
	free, err := s.free(ctx, tx, ch, after)
	if err != nil {
		return time.Time{}, err
	}
	for _, at := range free {
		ok, err := take(ctx, tx, ch.ID, draftID, by, at)
		if err != nil {
			return time.Time{}, err
		}
		if ok {
			return at, nil
		}
	}
	return time.Time{}, ErrNoSlot
}

// TakeAt gives a draft exactly this time, which a person chose: a whole minute
// to come, in quiet hours and beyond the daily cap too. It lets go of the
// slot that the draft holds. ErrSlotTaken when another draft holds the instant.
func (s *Service) TakeAt(ctx context.Context, tx pgx.Tx, ch editorial.Channel, draftID, by int64, at time.Time) (time.Time, error) {
	at = at.Truncate(time.Minute)
	now := s.now()
	if at.Before(now) || at.After(now.Add(Farthest)) {
		return time.Time{}, ErrPast
	}
	return s.place(ctx, tx, ch, draftID, by, at)
}

// TakeNow gives a draft this very moment: Post now.
func (s *Service) TakeNow(ctx context.Context, tx pgx.Tx, ch editorial.Channel, draftID, by int64) (time.Time, error) {
	return s.place(ctx, tx, ch, draftID, by, s.now().Truncate(time.Microsecond))
}

func (s *Service) place(ctx context.Context, tx pgx.Tx, ch editorial.Channel, draftID, by int64, at time.Time) (time.Time, error) {
	if err := lock(ctx, tx, ch.ID); err != nil {
		return time.Time{}, fmt.Errorf("lock channel %d: %w", ch.ID, err)
	}
	if _, err := s.Free(ctx, tx, draftID); err != nil {
		return time.Time{}, err
	}
	ok, err := take(ctx, tx, ch.ID, draftID, by, at)
	if err == nil && !ok {
		err = ErrSlotTaken
	}
	return at, err
}

func take(ctx context.Context, tx pgx.Tx, channelID, draftID, by int64, at time.Time) (bool, error) {
	var person *int64
	if by != 0 {
		person = &by
	}
	var id int64
	err := tx.QueryRow(ctx, slotTakeSQL, channelID, at, draftID, person).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take slot for draft %d: %w", draftID, err)
	}
	return true, nil
}

// Free lets go of a draft's slot and returns its time; zero when it held none.
func (s *Service) Free(ctx context.Context, tx pgx.Tx, draftID int64) (time.Time, error) {
	var at time.Time
	err := tx.QueryRow(ctx, slotFreeSQL, draftID).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return at, fmt.Errorf("free slot of draft %d: %w", draftID, err)
	}
	return at, nil
}

// FreeSlots returns the next n free slots of a channel.
func (s *Service) FreeSlots(ctx context.Context, q postgres.Querier, ch editorial.Channel, n int) ([]time.Time, error) {
	free, err := s.free(ctx, q, ch, time.Time{})
	return free[:min(n, len(free))], err
}

func (s *Service) free(ctx context.Context, q postgres.Querier, ch editorial.Channel, after time.Time) ([]time.Time, error) {
	cal, err := CalendarOf(ch)
	if err != nil {
		return nil, err
	}
	from := s.now().Add(lead)
	if after.After(from) {
		from = after
	}
	to := from.Add(Horizon)
	slots, err := Taken(ctx, q, ch.ID, cal.Midnight(from), to.Add(24*time.Hour))
	if err != nil {
		return nil, fmt.Errorf("slots of channel %d: %w", ch.ID, err)
	}
	taken := make([]time.Time, len(slots))
	for i, slot := range slots {
		taken[i] = slot.At
	}
	return cal.free(from, to, taken), nil
}
