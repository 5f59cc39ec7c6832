package miniapp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/postgres"
)

// changesWire tells two moments apart: a stamp differs when its part changed.
type changesWire struct {
	Drafts   string `json:"drafts"`
	Plan     string `json:"plan"`
	Sources  string `json:"sources"`
	Settings string `json:"settings"`
}

// The newest drafts and all that wait are read through their indexes, so that
// a look costs the same in a channel with a long past.
const channelStampsSQL = `
SELECT coalesce((
         SELECT md5(string_agg(concat_ws(':', d.id, d.transition, d.revision), ',' ORDER BY d.id))
           FROM (
             SELECT n.id, n.transition, n.revision
               FROM (SELECT x.id, x.transition, x.revision FROM drafts x WHERE x.channel_id = $1 ORDER BY x.id DESC LIMIT 100) n
              UNION
             SELECT w.id, w.transition, w.revision
               FROM drafts w
              WHERE w.channel_id = $1
                AND w.state IN ('proposed', 'scheduled', 'failed', 'unconfirmed')
           ) d
       ), '') || coalesce((
         SELECT md5(string_agg(concat_ws(':', p.id, p.state, p.edited_at, p.deleted_at, p.settled_how), ',' ORDER BY p.id))
           FROM (SELECT y.id, y.state, y.edited_at, y.deleted_at, y.settled_how FROM publications y WHERE y.channel_id = $1 ORDER BY y.id DESC LIMIT 50) p
       ), ''),
       coalesce((
         SELECT md5(string_agg(concat_ws(':', s.draft_id, s.at), ',' ORDER BY s.at))
           FROM slots s
          WHERE s.channel_id = $1
            AND s.at > clock_timestamp() - interval '1 day'
       ), ''),
       coalesce((
         SELECT md5(string_agg(concat_ws(':', f.source_id, f.weight, f.paused_at, f.rests_at, f.must_words, f.never_words, f.pattern, o.state, o.error_code, o.last_new_at, o.last_success_at IS NULL, o.title), ',' ORDER BY f.source_id))
           FROM subscriptions f
           LEFT JOIN sources o ON o.id = f.source_id
          WHERE f.channel_id = $1
       ), ''),
       coalesce((
         SELECT concat_ws(':', c.version, c.state, c.paused_at, c.rests_at, c.title, (
                SELECT string_agg(concat_ws(':', m.person_id, m.role), ',' ORDER BY m.person_id) FROM memberships m WHERE m.channel_id = c.id
              ))
           FROM channels c
          WHERE c.id = $1
       ), '')`

// stamps remembers each watched channel's stamps for a moment, so that many
// open pages cost one look of half a second.
type stamps struct {
	pool  postgres.Querier
	now   func() time.Time
	mu    sync.Mutex // guards known
	known map[int64]*stamp
}

type stamp struct {
	mu   sync.Mutex // held while one looks: the others wait for its answer
	at   time.Time
	wire changesWire
}

const (
	stampAge  = 450 * time.Millisecond
	mostStamp = 10_000
)

func (st *stamps) of(ctx context.Context, channel int64) (changesWire, error) {
	st.mu.Lock()
	if len(st.known) > mostStamp {
		clear(st.known)
	}
	one := st.known[channel]
	if one == nil {
		one = &stamp{}
		st.known[channel] = one
	}
	st.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if now := st.now(); now.Sub(one.at) < stampAge && !now.Before(one.at) {
		return one.wire, nil
	}
	var w changesWire
	err := st.pool.QueryRow(ctx, channelStampsSQL, channel).Scan(&w.Drafts, &w.Plan, &w.Sources, &w.Settings)
	if err != nil {
		return w, fmt.Errorf("stamps of channel %d: %w", channel, err)
	}
	one.wire, one.at = w, st.now()
	return w, nil
}

// mostStreams bounds the open streams of one person. A page that nobody looks at
// hangs up by itself, so this meets programs, not people.
const mostStreams = 16

// streams counts the open streams of each person in this process.
type streams struct {
	mu   sync.Mutex // guards open
	open map[int64]int
}

// take counts one more, unless there are too many.
func (st *streams) take(person int64) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.open[person] >= mostStreams {
		return false
	}
	st.open[person]++
	return true
}

// give takes one back that take counted.
func (st *streams) give(person int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.open[person]--; st.open[person] == 0 {
		delete(st.open, person)
	}
}

// changes is for those whose network lets no stream through.
func (s *Server) changes(c *call, id int64) (reply, error) {
	if _, err := s.cfg.Desk.Channel(c.Context(), c.by, id); err != nil {
		return reply{}, err
	}
	w, err := s.stamps.of(c.Context(), id)
	return ok(w), err
}

const (
	lookEvery = 500 * time.Millisecond
	heartbeat = 15 * time.Second
	// streamLasts bounds a stream, so that the session and the rights behind it are asked again.
	streamLasts = 10 * time.Minute
)

// events streams the stamps of a channel: at once, then whenever they change
// (text/event-stream). The page reads anew what it shows.
func (s *Server) events(c *call) (reply, error) {
	id, err := c.number("channel", 0, 0, 1<<62)
	if err != nil {
		return reply{}, err
	}
	if _, err := s.cfg.Desk.Channel(c.Context(), c.by, id); err != nil {
		return reply{}, err
	}
	last, err := s.stamps.of(c.Context(), id)
	if err != nil {
		return reply{}, err
	}
	if !s.streams.take(c.by) {
		c.w.Header().Set("Retry-After", "60")
		return reply{}, problem{
			Status: http.StatusTooManyRequests, Code: "streams", Title: "Too many streams of yours are open.",
			Detail: fmt.Sprintf("Close one, or ask %schannels/%d/changes instead.", prefix, id),
		}
	}
	defer s.streams.give(c.by)
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold the events back
	out := stream{w: c.w, flush: http.NewResponseController(c.w)}
	out.send(last)
	s.follow(c, id, last, &out)
	return reply{done: true}, nil
}

// follow writes until the reader goes, the process stops or the time is over.
func (s *Server) follow(c *call, id int64, last changesWire, out *stream) {
	ctx, cancel := context.WithTimeout(c.Context(), streamLasts)
	defer cancel()
	look, beat := time.NewTicker(lookEvery), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beat.Stop()
	for out.err == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.closed:
			return
		case <-beat.C:
			if _, err := s.cfg.Desk.Channel(ctx, c.by, id); err != nil {
				return // no longer a member: the next attempt is told so
			}
			out.write(": still here\n\n")
		case <-look.C:
			now, err := s.stamps.of(ctx, id)
			if err != nil {
				return // the page asks again, and is told then
			}
			if now != last {
				out.send(now)
				last = now
			}
		}
	}
}

// stream keeps the first error: after it nobody reads.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	err   error
}

func (o *stream) send(w changesWire) {
	b, _ := json.Marshal(w) // four strings
	o.write("event: changes\ndata: " + string(b) + "\n\n")
}

func (o *stream) write(text string) {
	if _, o.err = o.w.Write([]byte(text)); o.err == nil {
		o.err = o.flush.Flush()
	}
}
