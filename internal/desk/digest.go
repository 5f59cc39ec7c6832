package desk

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/queue"
)

// planEvery is how often the calendar is looked at for what is due by itself.
const planEvery = 5 * time.Minute

// digestLate is how long after its time a digest is still written: after a
// longer downtime the next one has the news.
const digestLate = 6 * time.Hour

type planArgs struct {
	FireAt time.Time `json:"fire_at"`
}

type digestArgs struct {
	ChannelID int64     `json:"channel_id"`
	Date      string    `json:"date"` // local, YYYY-MM-DD
	Since     time.Time `json:"since"`
}

func (d *Desk) planKind() queue.Kind[planArgs] {
	return queue.Kind[planArgs]{
		Name: "plan", Tier: queue.Bulk, KeepKeys: 48 * time.Hour,
		Key:  func(a planArgs) string { return strconv.FormatInt(a.FireAt.Unix(), 10) },
		Work: d.workPlan,
	}
}

func (d *Desk) digestKind() queue.Kind[digestArgs] {
	return queue.Kind[digestArgs]{
		Name: "digest", Tier: queue.Bulk,
		Key:  func(a digestArgs) string { return fmt.Sprintf("%d:%s", a.ChannelID, a.Date) },
		Work: d.workDigest,
	}
}

// RegisterPlans adds the kinds by which the autopilot, its recaps and digests work, and their schedule.
func (d *Desk) RegisterPlans(r *queue.Registry) {
	queue.Register(r, d.pilotKind())
	queue.Register(r, d.planKind())
	queue.Register(r, d.digestKind())
	queue.Register(r, d.recapKind())
	queue.Schedule(r, "plan", queue.Every(planEvery), queue.CatchUpLast, d.planKind(),
		func(at time.Time) planArgs { return planArgs{FireAt: at} })
}

const planChannelsSQL = `
SELECT id
  FROM channels
 WHERE (digest <> 'off' OR autopilot <> 'off')
   AND state = 'active'
 ORDER BY id`

// workPlan asks for the digests and recaps that are due: each once by its key.
func (d *Desk) workPlan(ctx context.Context, job *queue.Job[planArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, planChannelsSQL)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			ch, err := channels.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			if err := d.planChannel(ctx, tx, ch); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *Desk) planChannel(ctx context.Context, tx pgx.Tx, ch editorial.Channel) error {
	if a, due := digestDue(ch, d.now()); due {
		if _, err := d.digestKind().EnqueueTx(ctx, tx, a); err != nil {
			return err
		}
	}
	if a, due := recapDue(ch, d.now()); due && ch.Autopilot != editorial.AutopilotOff {
		if _, err := d.recapKind().EnqueueTx(ctx, tx, a); err != nil {
			return err
		}
	}
	return nil
}

// digestDue says whether the digest of the channel's local day is to be written
// now: daily, or on Sundays.
func digestDue(ch editorial.Channel, now time.Time) (digestArgs, bool) {
	if ch.Digest == "off" || ch.Paused || ch.Rests {
		return digestArgs{}, false
	}
	cal, err := planning.CalendarOf(ch)
	if err != nil {
		return digestArgs{}, false // a zone that this machine does not know: no guess
	}
	at := ch.DigestAt.On(now, cal.Zone)
	if now.Before(at) || now.Sub(at) > digestLate {
		return digestArgs{}, false
	}
	days := 1
	if ch.Digest == "weekly" {
		days = 7
		if at.In(cal.Zone).Weekday() != time.Sunday {
			return digestArgs{}, false
		}
	}
	return digestArgs{ChannelID: ch.ID, Date: cal.Day(at), Since: at.AddDate(0, 0, -days)}, true
}

func (d *Desk) workDigest(ctx context.Context, job *queue.Job[digestArgs]) error {
	date, err := time.Parse(time.DateOnly, job.Args.Date)
	if err != nil {
		return queue.Permanent(fmt.Errorf("date of a digest: %w", err))
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := d.drafting.DigestTx(ctx, tx, job.Args.ChannelID, date, job.Args.Since)
		return err
	})
}
