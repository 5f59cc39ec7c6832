package miniapp

import (
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// slotWire is a slot of the week. Its kind says what can be done with it.
type slotWire struct {
	At    time.Time  `json:"at"`   // in the channel's zone, as all times of the plan: the page shows them as they stand
	Kind  string     `json:"kind"` // free, taken, capped, past
	Gap   bool       `json:"gap"`  // free, though a later slot is taken
	Extra bool       `json:"extra"`
	Draft *slotDraft `json:"draft,omitempty"`
}

type slotDraft struct {
	ID         int64                `json:"id"`
	Title      string               `json:"title"`
	State      editorial.DraftState `json:"state"`
	Transition int                  `json:"transition"`
}

type planDay struct {
	Date  string     `json:"date"` // local, YYYY-MM-DD
	Slots []slotWire `json:"slots"`
}

type planWire struct {
	TimeZone   string    `json:"time_zone"`
	Today      string    `json:"today"`
	Days       []planDay `json:"days"`
	LastsUntil time.Time `json:"lasts_until,omitzero"` // the last post before the first gap
	EndsAt     time.Time `json:"ends_at,omitzero"`     // the last post of all
	Gaps       int       `json:"gaps"`
	Free       int       `json:"free"`
	Scheduled  int       `json:"scheduled"`
	Waiting    int       `json:"waiting"`
}

const (
	weekDays    = 7
	longestPlan = 42
)

// plan answers days from a local date of the channel, today if none is given.
func (s *Server) plan(c *call, id int64) (reply, error) {
	n, err := c.number("days", weekDays, 1, longestPlan)
	if err != nil {
		return reply{}, err
	}
	res, err := s.planOf(c, id, c.URL.Query().Get("from"), int(n))
	return ok(res), err
}

func (s *Server) planOf(c *call, id int64, first string, n int) (planWire, error) {
	ch, err := s.cfg.Desk.Channel(c.Context(), c.by, id)
	if err != nil {
		return planWire{}, err
	}
	loc := zone(ch.TimeZone)
	today := s.cfg.Now().In(loc).Format(time.DateOnly)
	if first == "" {
		first = today
	}
	day, err := time.Parse(time.DateOnly, first)
	if err != nil || day.Year() < 1970 || day.Year() > 9000 {
		return planWire{}, badRequest("from has to look like 2026-11-30.")
	}
	view, err := s.cfg.Desk.Plan(c.Context(), c.by, id, midnight(day, loc), midnight(day.AddDate(0, 0, n), loc))
	if err != nil {
		return planWire{}, err
	}
	res := planWire{TimeZone: ch.TimeZone, Today: today, Waiting: ch.Waiting, LastsUntil: view.LastsUntil}
	var end *time.Time
	if err := s.cfg.Pool.QueryRow(c.Context(), planEndSQL, id).Scan(&end); err != nil {
		return planWire{}, err
	}
	if end != nil {
		res.EndsAt = end.In(loc)
	}
	res.fill(view, day, n)
	return res, nil
}

const planEndSQL = `
SELECT max(s.at)
  FROM slots s
 WHERE s.channel_id = $1
   AND s.at > clock_timestamp()`

// fill sorts the slots into their local days; every day is there, also an empty one.
func (p *planWire) fill(view desk.PlanView, first time.Time, days int) {
	at := map[string]int{}
	for i := range days {
		date := first.AddDate(0, 0, i).Format(time.DateOnly)
		at[date] = i
		p.Days = append(p.Days, planDay{Date: date, Slots: []slotWire{}})
	}
	for _, v := range view.Slots {
		if v.DraftID != 0 && !v.Past && v.At.After(p.EndsAt) {
			p.EndsAt = v.At // taken since the end was read
		}
	}
	for _, v := range view.Slots {
		i, known := at[v.At.Format(time.DateOnly)]
		w := slotOf(v, p.EndsAt)
		if !known || (w.Kind == "past" && w.Draft == nil) {
			continue // an empty slot that is over tells nobody anything
		}
		p.Days[i].Slots = append(p.Days[i].Slots, w)
		switch {
		case w.Gap:
			p.Gaps++
			p.Free++
		case w.Kind == "free":
			p.Free++
		case w.Kind == "taken":
			p.Scheduled++
		}
	}
}

func slotOf(v desk.SlotView, ends time.Time) slotWire {
	w := slotWire{At: v.At, Extra: v.Extra}
	switch {
	case v.Past:
		w.Kind = "past"
	case v.DraftID != 0:
		w.Kind = "taken"
	case v.Capped:
		w.Kind = "capped"
	default:
		w.Kind = "free"
		w.Gap = v.At.Before(ends)
	}
	if v.DraftID != 0 {
		w.Draft = &slotDraft{ID: v.DraftID, Title: v.Title, State: v.State, Transition: v.Transition}
	}
	return w
}

func zone(name string) *time.Location {
	if loc, err := time.LoadLocation(name); err == nil {
		return loc
	}
	return time.UTC
}

// midnight is the start of a local day, also where summer time begins at midnight.
func midnight(day time.Time, loc *time.Location) time.Time {
	y, m, d := day.Date()
	return editorial.Clock(0).On(time.Date(y, m, d, 12, 0, 0, 0, loc), loc)
}

// wallIn is the instant of a wall-clock time in a zone, by the rules of editorial.Clock.
func wallIn(wall time.Time, name string) time.Time {
	loc := zone(name)
	y, m, d := wall.Date()
	return editorial.Clock(wall.Hour()*60+wall.Minute()).On(time.Date(y, m, d, 12, 0, 0, 0, loc), loc)
}

const mostFreeSlots = 50

func (s *Server) freeSlots(c *call, id int64) (reply, error) {
	n, err := c.number("n", 12, 1, mostFreeSlots)
	if err != nil {
		return reply{}, err
	}
	slots, err := s.cfg.Desk.FreeSlots(c.Context(), c.by, id, int(n))
	return ok(map[string]any{"slots": list(slots)}), err
}
