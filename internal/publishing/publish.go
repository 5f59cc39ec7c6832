package publishing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

const (
	// otherSend is how soon a draft asks again while another one of its channel is being sent.
	otherSend = 5 * time.Second
	// punctual is how late a post still goes out although another one went out since its slot.
	punctual = time.Minute
	// slowest is the longest wait between two tries to reach Telegram.
	slowest = 5 * time.Minute
)

// workPublish is one execution of a publish job. It ends without effect where
// the draft was decided otherwise, or its channel cannot take it now: the sweep
// and Resume take up what stays scheduled.
func (s *Service) workPublish(ctx context.Context, job *queue.Job[PublishArgs]) error {
	d, err := readDelivery(ctx, s.cfg.Pool, job.Args.DraftID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return queue.Transient(err)
	}
	log := s.cfg.Logger.With().Int64("job", job.ID).Int64("draft_id", d.DraftID).Int64("channel_id", d.ChannelID).Logger()
	resumed := d.State == editorial.Publishing && d.Transition == job.Args.Transition+1
	if !resumed && (d.State != editorial.Scheduled || d.Transition != job.Args.Transition) {
		log.Debug().Str("state", string(d.State)).Msg("the draft was decided otherwise")
		return nil
	}
	if d.Paused || d.ChannelState != editorial.ChannelActive {
		log.Info().Str("channel", string(d.ChannelState)).Bool("paused", d.Paused).Msg("the channel takes no posts now")
		if !resumed {
			return nil
		}
	}
	if !resumed {
		missed, err := s.missed(ctx, d)
		if err != nil {
			return queue.Transient(err)
		}
		if missed {
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
				return s.cfg.Missed(ctx, tx, d.DraftID, d.Transition)
			})
		}
	}
	return s.deliver(ctx, job, d)
}

const startedSinceSQL = `
SELECT EXISTS (
       SELECT
         FROM publications
        WHERE channel_id = $1
          AND draft_id <> $2
          AND started_at >= $3
          AND state <> 'failed'
)`

// missed reports whether the slot has passed: by more than the grace, or while
// another post of the channel went out, so that two never come at once.
func (s *Service) missed(ctx context.Context, d *delivery) (bool, error) {
	late := s.cfg.Now().Sub(*d.SlotAt)
	if late > s.cfg.Grace || late <= punctual {
		return late > s.cfg.Grace, nil
	}
	var another bool
	err := s.cfg.Pool.QueryRow(ctx, startedSinceSQL, d.ChannelID, d.DraftID, *d.SlotAt).Scan(&another)
	return another, err
}

// deliver sends, and after the refusal of a picture or of markup once more
// without it.
func (s *Service) deliver(ctx context.Context, job *queue.Job[PublishArgs], d *delivery) error {
	left := forms(d)
	f, left := left[0], left[1:]
	if d.State == editorial.Publishing { // this send was begun: it goes on as it was
		f, left = d.Form, after(d.Form, forms(d))
	}
	for {
		refused, err := s.attempt(ctx, job, d, f, left)
		switch {
		case errors.Is(err, errStale):
			return nil
		case refused == nil:
			return err
		}
		next, again := fallback(f, left, *refused)
		if !again {
			return s.afterRefusal(ctx, job, d, *refused)
		}
		if len(left) > 0 && next == left[0] {
			left = left[1:]
		}
		f = next
	}
}

// after returns the forms that come after f.
func after(f form, all []form) []form {
	if i := slices.Index(all, f); i >= 0 {
		return all[i+1:]
	}
	return nil
}

// attempt makes one send through the ledger. A certain refusal comes back as
// such; every other end is in err (nil: published, and the job is done).
func (s *Service) attempt(ctx context.Context, job *queue.Job[PublishArgs], d *delivery, f form, left []form) (*telegram.Refused, error) {
	var refused *telegram.Refused
	var ids []int64
	_, err := job.Perform(ctx, queue.Effect{
		Key:     d.effectKey(),
		Request: d.request(f),
		Timeout: s.cfg.Timeout,
		Before: func(ctx context.Context, tx pgx.Tx) error {
			return s.begin(ctx, tx, d, job.Args.Transition, f)
		},
		Call: func(ctx context.Context) queue.Outcome {
			var out telegram.Outcome
			ids, out = s.send(ctx, d, f)
			s.counted.WithLabelValues(telegram.Name(out)).Inc()
			if r, is := out.(telegram.Refused); is {
				refused = &r
			}
			return ledgerOutcome(out, ids)
		},
		After: func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
			switch o := o.(type) {
			case queue.Confirmed:
				return s.published(ctx, tx, d, confirmedIDs(o, ids))
			case queue.Unknown:
				return s.unconfirmed(ctx, tx, d.DraftID)
			case queue.Refused:
				if _, again := fallback(f, left, *refused); again {
					return nil
				}
				return s.refused(ctx, tx, d, *refused)
			}
			return nil
		},
		Completes: true,
	})
	if refused != nil && err != nil && !errors.Is(err, queue.ErrLeaseLost) {
		return refused, nil
	}
	return nil, err
}

// ledgerOutcome puts the ids of the posts into the ledger, so that a lost outcome can be read again.
func ledgerOutcome(out telegram.Outcome, ids []int64) queue.Outcome {
	if len(ids) == 0 {
		return telegram.ToQueue(out, "", nil)
	}
	detail, _ := json.Marshal(map[string]any{"message_ids": ids}) // numbers always encode
	return telegram.ToQueue(out, strconv.FormatInt(ids[0], 10), detail)
}

// confirmedIDs are the ids of the posts, from the answer or, where the ledger
// knew already, from there.
func confirmedIDs(o queue.Confirmed, ids []int64) []int64 {
	if len(ids) > 0 {
		return ids
	}
	var detail struct {
		MessageIDs []int64 `json:"message_ids"`
	}
	if json.Unmarshal(o.Detail, &detail) == nil && len(detail.MessageIDs) > 0 {
		return detail.MessageIDs
	}
	if id, err := strconv.ParseInt(o.ExternalID, 10, 64); err == nil {
		return []int64{id}
	}
	return []int64{0}
}

// afterRefusal ends the job: a refusal that passes leaves the draft scheduled,
// and a further job tries it; any other left it failed.
func (s *Service) afterRefusal(ctx context.Context, job *queue.Job[PublishArgs], d *delivery, r telegram.Refused) error {
	if !passes(r) {
		return nil
	}
	next := PublishArgs{DraftID: d.DraftID, Transition: job.Args.Transition + 2, Tries: job.Args.Tries + 1}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := s.publish.EnqueueTx(ctx, tx, next, queue.After(wait(r, job.Args.Tries)))
		return err
	})
}

// passes reports whether the same post may be taken later.
func passes(r telegram.Refused) bool { return r.Temporary() || r.Kind == telegram.ChatMigrated }

// wait is the other side's delay, or grows: 1, 4, 16 s … up to slowest.
func wait(r telegram.Refused, tries int) time.Duration {
	switch {
	case r.Kind == telegram.ChatMigrated:
		return 0
	case r.RetryAfter > 0:
		return r.RetryAfter
	}
	return min(time.Second<<(2*min(tries, 10)), slowest)
}

// begin is the precondition, in the intent's transaction: the draft is
// scheduled with the text that was approved, its channel takes posts, and no
// other send to it is under way.
func (s *Service) begin(ctx context.Context, tx pgx.Tx, d *delivery, transition int, f form) error {
	if err := lockChannel(ctx, tx, d.ChannelID); err != nil {
		return err
	}
	now, err := readDelivery(ctx, tx, d.DraftID)
	if err != nil {
		return queue.Transient(err)
	}
	if now.State == editorial.Publishing && now.Transition == transition+1 && now.EffectKey == d.effectKey() {
		return s.sendingAs(ctx, tx, d, f) // another form of the same send, or this job after its lease ran out
	}
	switch {
	case now.State != editorial.Scheduled || now.Transition != transition,
		now.Paused || now.ChannelState != editorial.ChannelActive:
		return errStale
	case !now.Approved || string(now.Hash) != string(d.Hash) || now.ChatID != d.ChatID || now.Attempt != d.Attempt:
		return queue.Later(time.Second, "the draft changed while it was read")
	}
	if s.cfg.Held != nil {
		if held, err := s.cfg.Held(ctx, tx, d.ChannelID); err != nil || held {
			return errors.Join(err, staleUnless(!held))
		}
	}
	busy, err := s.busyUntil(ctx, tx, d)
	if err != nil {
		return err
	}
	if busy > 0 {
		return queue.Later(busy, "another send to the channel may be under way")
	}
	if _, ok, err := s.cfg.Change(ctx, tx, DraftChange{
		DraftID: d.DraftID, From: []editorial.DraftState{editorial.Scheduled}, Transition: transition, To: editorial.Publishing,
	}); err != nil || !ok {
		return errors.Join(err, staleUnless(ok))
	}
	return s.sending(ctx, tx, d, f)
}

func staleUnless(ok bool) error {
	if ok {
		return nil
	}
	return errStale
}

const channelLockSQL = `
SELECT id
  FROM channels
 WHERE id = $1
   FOR NO KEY UPDATE`

// lockChannel makes sends of one channel begin one after the other. The order
// is always channel, then draft.
func lockChannel(ctx context.Context, tx pgx.Tx, id int64) error {
	var got int64
	if err := tx.QueryRow(ctx, channelLockSQL, id).Scan(&got); err != nil {
		return fmt.Errorf("lock channel %d: %w", id, err)
	}
	return nil
}

const busyUntilSQL = `
SELECT greatest(
       CASE WHEN p.state = 'sending' THEN interval '0' ELSE e.deadline_at - clock_timestamp() END,
       interval '0'
       ),
       p.state = 'sending'
  FROM publications p
  LEFT JOIN effects e ON e.effect_key = p.effect_key
 WHERE p.channel_id = $1
   AND p.draft_id <> $2
   AND p.state IN ('sending', 'unconfirmed')
   AND (p.state = 'sending' OR e.deadline_at > clock_timestamp())
 LIMIT 1`

// busyUntil says how long to wait for another send to the channel: while it is
// in flight, and after a doubt until its request cannot be under way any more.
func (s *Service) busyUntil(ctx context.Context, tx pgx.Tx, d *delivery) (time.Duration, error) {
	var left time.Duration
	var sending bool
	err := tx.QueryRow(ctx, busyUntilSQL, d.ChannelID, d.DraftID).Scan(&left, &sending)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("other sends of channel %d: %w", d.ChannelID, err)
	case sending:
		return otherSend, nil
	}
	return left + time.Second, nil
}

// isUnique reports a violation of a unique constraint.
func isUnique(err error, name string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505" && pg.ConstraintName == name
}
