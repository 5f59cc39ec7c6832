package desk

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
)

const plannedDraftsSQL = `
SELECT d.id,
       d.state,
       d.transition,
       r.html
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
 WHERE d.id = ANY($1)
   AND d.channel_id = $2`

// Plan returns a stretch of the plan, held and free slots in order, all times in
// the channel's zone; at most 60 days. For members.
func (d *Desk) Plan(ctx context.Context, by, channelID int64, from, to time.Time) (PlanView, error) {
	ch, _, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return PlanView{}, err
	}
	if to.Sub(from) > planning.Horizon {
		to = from.Add(planning.Horizon)
	}
	plan, err := d.planning.Plan(ctx, d.pool, ch, from, to)
	if err != nil {
		return PlanView{}, err
	}
	view := PlanView{Channel: brief(ch), From: from, To: to, LastsUntil: plan.LastsUntil, Slots: make([]SlotView, len(plan.Slots))}
	for i, day := range ch.Week {
		view.Week[i] = len(day)
	}
	held := map[int64]*SlotView{}
	var ids []int64
	for i, p := range plan.Slots {
		view.Slots[i] = SlotView{At: p.At, DraftID: p.DraftID, Past: p.Past, Capped: p.Capped, Extra: p.Extra}
		if p.DraftID != 0 {
			held[p.DraftID] = &view.Slots[i]
			ids = append(ids, p.DraftID)
		} else if !p.Past && !p.Capped {
			view.Gaps++
		}
	}
	rows, err := d.pool.Query(ctx, plannedDraftsSQL, ids, channelID)
	if err != nil {
		return PlanView{}, err
	}
	var id int64
	var slot SlotView
	var html string
	_, err = pgx.ForEachRow(rows, []any{&id, &slot.State, &slot.Transition, &html}, func() error {
		s := held[id]
		s.State, s.Transition, s.Title = slot.State, slot.Transition, titleOf(html)
		return nil
	})
	return view, err
}

// FreeSlots returns the next n free slots, at most 50, in the channel's zone. For members.
func (d *Desk) FreeSlots(ctx context.Context, by, channelID int64, n int) ([]time.Time, error) {
	ch, _, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return nil, err
	}
	const most = 50
	return d.planning.FreeSlots(ctx, d.pool, ch, max(0, min(n, most)))
}
