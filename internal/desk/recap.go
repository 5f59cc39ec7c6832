package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/queue"
)

// recapAt is when people hear what the autopilot did that day, in the channel's
// zone; quiet hours that cover it bring it forward to their beginning.
const recapAt = editorial.Clock(21 * 60)

// recapLate is how long after its time a recap is still told: until the next
// morning, and never so late that two come together.
const recapLate = 12 * time.Hour

// recapLines is how many posts a recap names; the counts speak of all.
const recapLines = 10

// Recap is what the autopilot did in a channel within a day.
type Recap struct {
	ChannelID int64
	Date      string // local, YYYY-MM-DD
	Published int
	Planned   int
	Lines     []RecapLine // the published ones first, each group in order of time
}

// RecapLine is one post of a recap.
type RecapLine struct {
	DraftID int64
	Title   string
	At      time.Time
	Post    PostLink // zero: not published yet
}

// Pilot is a draft that the autopilot put into the plan.
type Pilot struct {
	DraftID    int64
	ChannelID  int64
	Transition int // what an undo has to name
	At         time.Time
}

type recapArgs struct {
	ChannelID int64     `json:"channel_id"`
	Date      string    `json:"date"` // local, YYYY-MM-DD
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
}

func (d *Desk) recapKind() queue.Kind[recapArgs] {
	return queue.Kind[recapArgs]{
		Name: "recap", Tier: queue.Bulk,
		Key:  func(a recapArgs) string { return fmt.Sprintf("%d:%s", a.ChannelID, a.Date) },
		Work: d.workRecap,
	}
}

// recapDue says whether a recap of the channel is to be told now: that of today,
// or of yesterday where the program was down in the evening.
func recapDue(ch editorial.Channel, now time.Time) (recapArgs, bool) {
	cal, err := planning.CalendarOf(ch)
	if err != nil {
		return recapArgs{}, false // a zone that this machine does not know: no guess
	}
	clock := recapAt
	if ch.Quiet.Covers(clock) {
		clock = ch.Quiet.From
	}
	at := clock.On(now, cal.Zone)
	if now.Before(at) {
		at = clock.On(at.In(cal.Zone).AddDate(0, 0, -1), cal.Zone)
	}
	if now.Sub(at) > recapLate {
		return recapArgs{}, false
	}
	since := clock.On(at.In(cal.Zone).AddDate(0, 0, -1), cal.Zone)
	return recapArgs{ChannelID: ch.ID, Date: cal.Day(at), Since: since, Until: at}, true
}

// recapSQL lists what nobody decided: what the autopilot published within the
// time, and what it planned and is still to come.
const recapSQL = `
SELECT d.id,
       r.html,
       coalesce(p.published_at, d.slot_at),
       coalesce(p.chat_id, 0),
       coalesce(p.message_id, 0)
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
  LEFT JOIN publications p ON p.draft_id = d.id AND p.state = 'published'
 WHERE d.channel_id = $1
   AND d.decided_by IS NULL
   AND d.decided_at IS NOT NULL
   AND (d.state = 'published' AND p.published_at >= $2 AND p.published_at < $3 OR d.state = 'scheduled')
 ORDER BY (p.published_at IS NULL),
       coalesce(p.published_at, d.slot_at),
       d.id`

func (d *Desk) workRecap(ctx context.Context, job *queue.Job[recapArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		ch, err := channels.Get(ctx, tx, job.Args.ChannelID)
		if err != nil {
			return err
		}
		r, err := readRecap(ctx, tx, ch, job.Args)
		if err != nil || r.Published+r.Planned == 0 || d.onRecap == nil {
			return err // a day without the autopilot needs no message
		}
		return d.onRecap(ctx, tx, r)
	})
}

func readRecap(ctx context.Context, tx pgx.Tx, ch editorial.Channel, a recapArgs) (Recap, error) {
	out := Recap{ChannelID: a.ChannelID, Date: a.Date}
	rows, err := tx.Query(ctx, recapSQL, a.ChannelID, a.Since, a.Until)
	if err != nil {
		return out, err
	}
	var line RecapLine
	var html string
	var chatID, messageID int64
	_, err = pgx.ForEachRow(rows, []any{&line.DraftID, &html, &line.At, &chatID, &messageID}, func() error {
		line.Title, line.Post = titleOf(html), PostLink{}
		if chatID != 0 {
			out.Published++
			line.Post = postLink(chatID, messageID, ch.Username)
		} else {
			out.Planned++
		}
		if len(out.Lines) < recapLines {
			out.Lines = append(out.Lines, line)
		}
		return nil
	})
	return out, err
}
