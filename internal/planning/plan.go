package planning

import (
	"context"
	"slices"
	"time"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Plan is a stretch of a channel's plan.
type Plan struct {
	Slots []Planned
	// LastsUntil is the last held slot before the first gap among the slots to
	// come: "the queue lasts until". Zero when the next slot is free.
	LastsUntil time.Time
}

// Planned is a slot in a plan: held by a draft, or free.
type Planned struct {
	At      time.Time
	DraftID int64 // 0: free
	Past    bool
	Capped  bool // free, but the daily cap leaves it empty
	Extra   bool // held, and no slot of the week: a time that a person chose
}

// Plan returns the slots in [from, to), held and free, in order.
func (s *Service) Plan(ctx context.Context, q postgres.Querier, ch editorial.Channel, from, to time.Time) (Plan, error) {
	cal, err := CalendarOf(ch)
	if err != nil {
		return Plan{}, err
	}
	held, err := Taken(ctx, q, ch.ID, cal.Midnight(from), to)
	if err != nil {
		return Plan{}, err
	}
	now := s.now()
	perDay, out := map[string]int{}, map[int64]Planned{}
	for _, h := range held {
		perDay[cal.Day(h.At)]++
		if !h.At.Before(from) {
			out[h.At.UnixMicro()] = Planned{At: h.At, DraftID: h.DraftID, Past: h.At.Before(now), Extra: true}
		}
	}
	for _, at := range cal.Slots(from, to) {
		p, taken := out[at.UnixMicro()]
		if !taken {
			p = Planned{At: at, Past: at.Before(now), Capped: cal.Cap > 0 && perDay[cal.Day(at)] >= cal.Cap}
		}
		p.Extra = false
		out[at.UnixMicro()] = p
	}
	plan := Plan{Slots: make([]Planned, 0, len(out))}
	for _, p := range out {
		p.At = p.At.In(cal.Zone)
		plan.Slots = append(plan.Slots, p)
	}
	slices.SortFunc(plan.Slots, func(a, b Planned) int { return a.At.Compare(b.At) })
	plan.LastsUntil, err = s.lastsUntil(ctx, q, ch, cal)
	return plan, err
}

// lastsUntil looks further than the plan that is shown.
func (s *Service) lastsUntil(ctx context.Context, q postgres.Querier, ch editorial.Channel, cal Calendar) (time.Time, error) {
	now := s.now()
	held, err := Taken(ctx, q, ch.ID, now, now.Add(Farthest))
	if err != nil || len(held) == 0 {
		return time.Time{}, err
	}
	free, err := s.free(ctx, q, ch, time.Time{})
	if err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, h := range held {
		if len(free) > 0 && h.At.After(free[0]) {
			break
		}
		last = h.At
	}
	if last.IsZero() {
		return last, nil
	}
	return last.In(cal.Zone), nil
}
