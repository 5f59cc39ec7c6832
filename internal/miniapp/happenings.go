package miniapp

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/desk"
)

// statusWire is what goes on, with drafts in the page's shape.
type statusWire struct {
	Pending     []desk.JobView `json:"pending"`
	Running     []desk.JobView `json:"running"`
	Failing     []desk.JobView `json:"failing"`
	Archived    []desk.JobView `json:"archived"`
	Unconfirmed []draftWire    `json:"unconfirmed"`
	Failed      []draftWire    `json:"failed"`
	Proposed    int            `json:"proposed"`
	Scheduled   int            `json:"scheduled"`
	Next        time.Time      `json:"next,omitzero"`
	Sick        []sourceWire   `json:"sick"`
}

func (s *Server) status(c *call, id int64) (reply, error) {
	v, err := s.cfg.Desk.Status(c.Context(), c.by, id)
	if err != nil {
		return reply{}, err
	}
	w := statusWire{
		Pending: list(v.Pending), Running: list(v.Running), Failing: list(v.Failing), Archived: list(v.Archived),
		Unconfirmed: draftsOf(v.Unconfirmed), Failed: draftsOf(v.Failed), Proposed: v.Proposed, Scheduled: v.Scheduled, Next: v.Next, Sick: []sourceWire{},
	}
	for _, src := range v.Sick {
		w.Sick = append(w.Sick, sourceOf(src))
	}
	return ok(w), nil
}

// activity lists events, the newest first; `next` goes into `before`.
func (s *Server) activity(c *call, id int64) (reply, error) {
	limit, err := c.number("limit", pageSize, 1, largestPage)
	if err != nil {
		return reply{}, err
	}
	var before time.Time
	if raw := c.URL.Query().Get("before"); raw != "" {
		if before, err = time.Parse(time.RFC3339Nano, raw); err != nil {
			return reply{}, badRequest("before has to be a time, RFC 3339.")
		}
	}
	events, err := s.cfg.Desk.Activity(c.Context(), c.by, id, before, int(limit))
	if err != nil {
		return reply{}, err
	}
	page := map[string]any{"events": list(events)}
	if len(events) == int(limit) {
		page["next"] = events[len(events)-1].At.Format(time.RFC3339Nano)
	}
	return ok(page), nil
}

// life tells the way of one item: ref is a link or a draft's number.
func (s *Server) life(c *call) (reply, error) {
	v, err := s.cfg.Desk.Why(c.Context(), c.by, c.URL.Query().Get("ref"))
	v.Events, v.Waiting = list(v.Events), list(v.Waiting)
	return ok(v), err
}

func (s *Server) dropped(c *call, id int64) (reply, error) {
	v, err := s.cfg.Desk.Dropped(c.Context(), c.by, id, c.URL.Query().Get("day"))
	for i := range v {
		v[i].Reasons = list(v[i].Reasons)
	}
	return ok(map[string]any{"stories": list(v)}), err
}

func (s *Server) rescue(c *call, id int64) (reply, error) {
	story, err := c.id("story")
	if err != nil {
		return reply{}, err
	}
	return submitted(s.cfg.Desk.Rescue(c.Context(), c.by, id, story))
}

// statDays is how far back the charts go.
const statDays = 30

// Skipped for a missed slot is no judgement of a person, so it is not counted.
const channelStatsSQL = `
WITH scored AS (
  SELECT (s.scored_at AT TIME ZONE $2)::date AS day,
         count(*) FILTER (WHERE s.verdict IN ('proposed', 'explore', 'rescued')) AS proposed,
         count(*) FILTER (WHERE s.verdict IN ('below', 'ruled_out')) AS below,
         round(avg(s.score) FILTER (WHERE s.verdict <> 'ruled_out'))::int AS score
    FROM scores s
   WHERE s.channel_id = $1
     AND s.scored_at > $3
   GROUP BY 1
), decided AS (
  SELECT (d.decided_at AT TIME ZONE $2)::date AS day,
         count(*) FILTER (WHERE d.state IN ('scheduled', 'publishing', 'published', 'unconfirmed')) AS approved,
         count(*) FILTER (WHERE d.state = 'skipped' AND d.skip_reason <> 'missed') AS skipped
    FROM drafts d
   WHERE d.channel_id = $1
     AND d.decided_at > $3
   GROUP BY 1
), published AS (
  SELECT (p.published_at AT TIME ZONE $2)::date AS day,
         count(*) AS published
    FROM publications p
   WHERE p.channel_id = $1
     AND p.published_at > $3
   GROUP BY 1
)
SELECT to_char(day, 'YYYY-MM-DD'),
       coalesce(s.proposed, 0),
       coalesce(s.below, 0),
       coalesce(s.score, -1),
       coalesce(d.approved, 0),
       coalesce(d.skipped, 0),
       coalesce(p.published, 0)
  FROM scored s
  FULL JOIN decided d USING (day)
  FULL JOIN published p USING (day)
 ORDER BY day`

type statDay struct {
	Day       string `json:"day"`
	Proposed  int    `json:"proposed"`
	Below     int    `json:"below"`
	Score     int    `json:"score"` // mean of the day; -1: nothing was scored
	Approved  int    `json:"approved"`
	Skipped   int    `json:"skipped"`
	Published int    `json:"published"`
}

// stats answers the local days of the last month on which anything happened.
func (s *Server) stats(c *call, id int64) (reply, error) {
	ch, err := s.cfg.Desk.Channel(c.Context(), c.by, id)
	if err != nil {
		return reply{}, err
	}
	rows, err := s.cfg.Pool.Query(c.Context(), channelStatsSQL, id, zone(ch.TimeZone).String(), s.cfg.Now().Add(-statDays*24*time.Hour))
	if err != nil {
		return reply{}, err
	}
	days := []statDay{}
	var d statDay
	_, err = pgx.ForEachRow(rows, []any{&d.Day, &d.Proposed, &d.Below, &d.Score, &d.Approved, &d.Skipped, &d.Published}, func() error {
		days = append(days, d)
		return nil
	})
	return ok(map[string]any{"today": s.cfg.Now().In(zone(ch.TimeZone)).Format(time.DateOnly), "span": statDays, "days": days}), err
}
