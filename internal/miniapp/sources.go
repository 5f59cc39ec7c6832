package miniapp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/desk"
)

// sourceWire is a source with one word for its health.
type sourceWire struct {
	desk.SourceView
	Health string `json:"health"` // ok, new, failing, paused, gone, resting
}

func sourceOf(v desk.SourceView) sourceWire {
	v.MustWords, v.NeverWords = list(v.MustWords), list(v.NeverWords)
	w := sourceWire{SourceView: v, Health: "ok"}
	switch {
	case v.Rests:
		w.Health = "resting"
	case v.Paused:
		w.Health = "paused"
	case v.State == "gone" || v.State == "paused":
		w.Health = "gone" // whoever owns the source stopped asking: it is to be retried by hand
	case v.Error != "":
		w.Health = "failing"
	case v.LastPollAt.IsZero():
		w.Health = "new"
	}
	return w
}

func (s *Server) sources(c *call, id int64) (reply, error) {
	views, err := s.cfg.Desk.Sources(c.Context(), c.by, id)
	if err != nil {
		return reply{}, err
	}
	out := make([]sourceWire, len(views))
	for i, v := range views {
		out[i] = sourceOf(v)
	}
	return ok(map[string]any{"sources": out}), nil
}

type address struct {
	Address string `json:"address"`
}

// probe says what an address is; it may take as long as the address takes to answer.
func (s *Server) probe(c *call) (reply, error) {
	in, err := decode[address](c)
	if err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.Probe(c.Context(), c.by, in.Address)
	v.Latest, v.Choices = list(v.Latest), list(v.Choices)
	return ok(v), err
}

func (s *Server) addSource(c *call, id int64) (reply, error) {
	in, err := decode[address](c)
	if err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.AddSource(c.Context(), c.by, id, in.Address)
	if err != nil {
		return reply{}, err
	}
	status := http.StatusCreated
	if v.Already {
		status = http.StatusOK
	}
	return reply{status: status, body: sourceOf(v)}, nil
}

// pair reads the channel and the source that a path names.
func (c *call) pair() (int64, int64, error) {
	channel, err := c.id("channel")
	if err != nil {
		return 0, 0, err
	}
	source, err := c.id("source")
	return channel, source, err
}

func (s *Server) changeSource(c *call) (reply, error) {
	channel, source, err := c.pair()
	if err != nil {
		return reply{}, err
	}
	in, err := decode[desk.SourceChange](c)
	if err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.SetSource(c.Context(), c.by, channel, source, in)
	return ok(sourceOf(v)), err
}

// switched runs one of the desk's methods that say whether they changed anything.
func switched(c *call, do func(ctx context.Context, by, channelID, sourceID int64) (bool, error)) (reply, error) {
	channel, source, err := c.pair()
	if err != nil {
		return reply{}, err
	}
	changed, err := do(c.Context(), c.by, channel, source)
	return ok(map[string]bool{"changed": changed}), err
}

func (s *Server) removeSource(c *call) (reply, error) { return switched(c, s.cfg.Desk.RemoveSource) }
func (s *Server) pauseSource(c *call) (reply, error)  { return switched(c, s.cfg.Desk.PauseSource) }
func (s *Server) resumeSource(c *call) (reply, error) { return switched(c, s.cfg.Desk.ResumeSource) }

func (s *Server) retrySource(c *call) (reply, error) {
	channel, source, err := c.pair()
	if err != nil {
		return reply{}, err
	}
	return submitted(s.cfg.Desk.RetrySource(c.Context(), c.by, channel, source))
}

func (s *Server) testSource(c *call) (reply, error) {
	channel, source, err := c.pair()
	if err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.TestSource(c.Context(), c.by, channel, source)
	return ok(map[string]any{"items": list(v.Items)}), err
}

func (s *Server) packs(c *call) (reply, error) {
	language := c.URL.Query().Get("language")
	if language == "" {
		language = c.person.Language
	}
	v, err := s.cfg.Desk.Packs(c.Context(), c.by, language)
	return ok(map[string]any{"packs": list(v)}), err
}

func (s *Server) addPack(c *call, id int64) (reply, error) {
	return submitted(s.cfg.Desk.AddPack(c.Context(), c.by, id, c.PathValue("pack")))
}

func (s *Server) exportOPML(c *call, id int64) (reply, error) {
	file, err := s.cfg.Desk.ExportOPML(c.Context(), c.by, id)
	c.w.Header().Set("Content-Disposition", `attachment; filename="postonce.opml"`)
	return reply{raw: file, kind: "text/x-opml; charset=utf-8"}, err
}

func (s *Server) importOPML(c *call, id int64) (reply, error) {
	file, err := io.ReadAll(c.Body)
	if err != nil {
		return reply{}, bodyProblem(err)
	}
	return submitted(s.cfg.Desk.ImportOPML(c.Context(), c.by, id, file))
}

// rhythmDays is how far back the sparkline of a source goes.
const rhythmDays = 14

// Bounded by the newest 200 items of a source, which the index gives: a
// busier source shows its newest days only.
const sourceRhythmSQL = `
WITH followed AS (
  SELECT s.source_id
    FROM subscriptions s
   WHERE s.channel_id = $1
), fresh AS (
  SELECT f.source_id,
         (i.first_seen_at AT TIME ZONE $2)::date AS day,
         count(*) AS n
    FROM followed f
   CROSS JOIN LATERAL (
     SELECT x.first_seen_at,
            x.result
       FROM items x
      WHERE x.source_id = f.source_id
      ORDER BY x.id DESC
      LIMIT 200
   ) i
   WHERE i.first_seen_at > $3
     AND i.result <> 'baseline'
   GROUP BY 1, 2
), proposed AS (
  SELECT c.source_id,
         (c.scored_at AT TIME ZONE $2)::date AS day,
         count(*) AS n
    FROM scores c
   WHERE c.channel_id = $1
     AND c.scored_at > $3
     AND c.verdict IN ('proposed', 'explore', 'rescued')
   GROUP BY 1, 2
)
SELECT coalesce(f.source_id, p.source_id),
       $4::date - coalesce(f.day, p.day),
       coalesce(f.n, 0),
       coalesce(p.n, 0)
  FROM fresh f
  FULL JOIN proposed p ON p.source_id = f.source_id AND p.day = f.day
 ORDER BY 1, 2 DESC`

type rhythmDay struct {
	Day      string `json:"day"`
	Fresh    int    `json:"fresh"`
	Proposed int    `json:"proposed"`
}

// rhythm answers, by source, the days on which anything was new or proposed.
func (s *Server) rhythm(c *call, id int64) (reply, error) {
	ch, err := s.cfg.Desk.Channel(c.Context(), c.by, id)
	if err != nil {
		return reply{}, err
	}
	today := s.cfg.Now().In(zone(ch.TimeZone))
	rows, err := s.cfg.Pool.Query(c.Context(), sourceRhythmSQL, id, zone(ch.TimeZone).String(), today.Add(-rhythmDays*24*time.Hour), today.Format(time.DateOnly))
	if err != nil {
		return reply{}, err
	}
	out := map[int64][]rhythmDay{}
	var source int64
	var d rhythmDay
	var ago int
	// Thousands of rows name the same few days.
	var names [rhythmDays + 2]string
	for i := range names {
		names[i] = today.AddDate(0, 0, -i).Format(time.DateOnly)
	}
	_, err = pgx.ForEachRow(rows, []any{&source, &ago, &d.Fresh, &d.Proposed}, func() error {
		if ago < 0 || ago >= len(names) {
			return nil // stamped while this was read, after midnight
		}
		d.Day = names[ago]
		out[source] = append(out[source], d)
		return nil
	})
	return ok(map[string]any{"today": names[0], "days": rhythmDays, "sources": out}), err
}
