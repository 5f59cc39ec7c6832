package miniapp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/miniapp"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
)

// world is the API over the real desk and a real database: Ann's channel, with
// Vic as its viewer, and Eve, who has a channel of her own.
type world struct {
	tb      testing.TB
	pool    *pgxpool.Pool
	desk    *desk.Desk
	handler http.Handler
	srv     *httptest.Server
	channel int64
	ahead   atomic.Int64 // how far its clock is ahead, in nanoseconds
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

type everybodyMay struct{}

func (everybodyMay) Look(_ context.Context, chatID, _ int64) (channels.Look, error) {
	return channels.Look{ChatID: chatID, IsChannel: true, Title: "News", Username: fmt.Sprintf("news%d", -chatID), BotIsAdmin: true, BotCanPost: true, PersonAdmin: true}, nil
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{tb: tb, pool: dbtest.New(tb)}
	ctx, nop := tb.Context(), zerolog.Nop()
	registry := queue.NewRegistry()
	reader := sources.NewReader(fetch.New(fetch.Config{}), "https://t.me/s", time.Now)
	features := desk.Config{
		Pool: w.pool, Now: time.Now, Logger: nop, Open: true, Registry: registry,
		Channels:   channels.New(channels.Config{Pool: w.pool, Rights: everybodyMay{}}),
		Planning:   planning.New(time.Now),
		Sources:    sources.New(sources.Config{Pool: w.pool, Reader: reader, Logger: nop}),
		Scoring:    scoring.New(scoring.Config{Pool: w.pool}),
		Drafting:   drafting.New(drafting.Config{Pool: w.pool}),
		Publishing: publishing.New(publishing.Config{Pool: w.pool, Now: time.Now, Logger: nop}),
	}
	w.desk = desk.New(features)
	for chat, person := range map[int64]int64{-1001: ann, -1002: eve} {
		w.seen(person)
		res, err := w.desk.Link(ctx, person, chat)
		if err != nil {
			tb.Fatal(err)
		}
		if person == ann {
			w.channel = res.Channel.ID
		}
	}
	w.seen(vic)
	token, err := w.desk.Invite(ctx, ann, w.channel, editorial.Viewer, "")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.desk.AcceptInvitation(ctx, vic, token); err != nil {
		tb.Fatal(err)
	}
	s, err := miniapp.New(miniapp.Config{Desk: w.desk, Pool: w.pool, Token: botToken, Now: w.now, Logger: zerolog.New(zerolog.NewTestWriter(tb))})
	if err != nil {
		tb.Fatal(err)
	}
	w.handler = s.API()
	w.srv = httptest.NewServer(w.handler)
	tb.Cleanup(func() { s.Close(); w.srv.CloseClientConnections(); w.srv.Close() })
	return w
}

func (w *world) seen(person int64) {
	w.tb.Helper()
	if _, err := w.desk.Seen(w.tb.Context(), desk.Profile{ID: person, FirstName: fmt.Sprint("P", person), Language: "en"}); err != nil {
		w.tb.Fatal(err)
	}
}

// fill gives Ann's channel sources with twenty items each, and drafts of which
// the newest 40 wait, 20 more are planned and the rest is posted or skipped.
func (w *world) fill(drafts, followed int) {
	w.tb.Helper()
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO sources (address, url, host, kind, title, last_poll_at, last_success_at, last_new_at)
			SELECT 'https://s' || i || '.example/feed', 'https://s' || i || '.example/feed', 's' || i || '.example', 'feed', 'Source ' || i, now(), now(), now() - i * interval '1 minute'
			  FROM generate_series(1, $1::int) i`, []any{followed}},
		{`INSERT INTO subscriptions (channel_id, source_id, created_by) SELECT $1, id, $2 FROM sources`, []any{w.channel, ann}},
		{`INSERT INTO items (source_id, url, canonical, title, first_seen_at)
			SELECT s.id, 'https://s' || s.id || '.example/' || i, 'https://s' || s.id || '.example/' || i, 'News ' || i || ' of ' || s.id, now() - (s.id * 7 + i * 900) * interval '1 minute'
			  FROM sources s, generate_series(1, 20) i`, nil},
		{`INSERT INTO stories (lead_item_id, title) SELECT id, title FROM items ORDER BY id LIMIT $1`, []any{drafts}},
		{`INSERT INTO story_items (item_id, story_id, how, certain) SELECT lead_item_id, id, 'lead', true FROM stories`, nil},
		{`INSERT INTO scores (channel_id, story_id, score, verdict, reasons, source_id, scored_at)
			SELECT $1, t.id, 40 + t.id % 60, 'proposed', '[{"code":"look_for","words":["port"],"points":12}]', i.source_id, now() - t.id * interval '40 minutes'
			  FROM stories t JOIN items i ON i.id = t.lead_item_id`, []any{w.channel}},
		{`INSERT INTO drafts (channel_id, story_id, kind, subject, state, score, slot_at, approved_hash, decided_at, decided_by, skip_reason, created_at)
			SELECT $1, id, 'post', 'story:' || id,
			       CASE WHEN n <= 40 THEN 'proposed' WHEN n <= 60 THEN 'scheduled' WHEN n % 5 = 0 THEN 'skipped' ELSE 'published' END,
			       40 + id % 60,
			       CASE WHEN n BETWEEN 41 AND 60 THEN date_trunc('hour', now()) + n * interval '3 hours' END,
			       CASE WHEN n > 40 THEN '\x01'::bytea END,
			       CASE WHEN n > 40 THEN now() - n * interval '30 minutes' END,
			       CASE WHEN n > 40 THEN $2::bigint END,
			       CASE WHEN n > 60 AND n % 5 = 0 THEN 'old' ELSE '' END,
			       now() - n * interval '40 minutes'
			  FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM stories) s ORDER BY id`, []any{w.channel, ann}},
		{`INSERT INTO draft_revisions (draft_id, revision, html, html_hash, link, composer)
			SELECT id, 1, '<b><a href="https://example.org/' || id || '">Harbour opens pier ' || id || '</a></b>' || E'\n\n' || repeat('The pier opens on Sunday at noon. ', 12), '\x01', 'https://example.org/' || id, 'extractive' FROM drafts`, nil},
		{`INSERT INTO slots (channel_id, at, draft_id) SELECT channel_id, slot_at, id FROM drafts WHERE state = 'scheduled'`, nil},
		{`INSERT INTO publications (draft_id, channel_id, chat_id, state, effect_key, form, html_hash, message_id, started_at, published_at, settled_how)
			SELECT id, channel_id, -1001, 'published', 'publish:draft:' || id, 'preview', '\x01', id, decided_at, decided_at, 'answer' FROM drafts WHERE state = 'published'`, nil},
		{`ANALYZE`, nil},
	} {
		if _, err := w.pool.Exec(w.tb.Context(), step.sql, step.args...); err != nil {
			w.tb.Fatalf("%v\n%s", err, step.sql)
		}
	}
}

// at reads one time.
func (w *world) at(query string, args ...any) (at time.Time) {
	w.tb.Helper()
	if err := w.pool.QueryRow(w.tb.Context(), query, args...).Scan(&at); err != nil {
		w.tb.Fatal(err)
	}
	return at
}

// one reads one number.
func (w *world) one(query string, args ...any) (id int64) {
	w.tb.Helper()
	if err := w.pool.QueryRow(w.tb.Context(), query, args...).Scan(&id); err != nil {
		w.tb.Fatal(err)
	}
	return id
}
