package restore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

// house stands for the features around the service: it does to the tables what
// they would do, and notes what it was asked for.
type house struct {
	t        *testing.T
	pool     *pgxpool.Pool
	service  *restore.Service
	registry *queue.Registry
	look     restore.Look
	lookErr  error
	asked    []string
	after    int64
	reports  []restore.Report
}

const (
	draftStateSQL = `
UPDATE drafts
   SET state = $2,
       skip_reason = CASE WHEN $2 = 'skipped' THEN 'duplicate' ELSE '' END,
       transition = transition + 1
 WHERE id = $1`

	channelAddSQL = `
INSERT INTO channels (chat_id, title, last_message_id, created_by)
VALUES ($1, 'Night news', 100, 1)
RETURNING id`

	draftAddSQL = `
WITH d AS (
  INSERT INTO drafts (channel_id, kind, subject, state, slot_at, approved_hash, created_at)
  VALUES ($1, 'own', 'own:' || $2, $3,
          CASE WHEN $3 = 'scheduled' THEN now() + $4::interval END,
          CASE WHEN $3 = 'scheduled' THEN '\x00'::bytea END,
          now())
  RETURNING id
)
INSERT INTO draft_revisions (draft_id, revision, html, html_hash, link, composer)
SELECT id,
       1,
       $2,
       '\x00',
       $5,
       'person'
  FROM d
RETURNING draft_id`

	draftStatesSQL = `
SELECT d.subject || ' ' || d.state
  FROM drafts d
 ORDER BY d.id`

	restoresSQL = `
SELECT how || ' ' || said_by || ' ' || suspended || ' ' || (closed_at IS NOT NULL)
  FROM restores
 ORDER BY id`

	spoilMarkSQL = `
UPDATE database_marks
   SET system_id = system_id + $1,
       timeline = timeline + $2,
       noted_at = noted_at - $3::interval`
)

func newHouse(t *testing.T, pool *pgxpool.Pool) *house {
	t.Helper()
	h := &house{t: t, pool: pool, registry: queue.NewRegistry()}
	state := func(to string) func(context.Context, pgx.Tx, int64) error {
		return func(ctx context.Context, tx pgx.Tx, id int64) error {
			_, err := tx.Exec(ctx, draftStateSQL, id, to)
			return err
		}
	}
	h.service = restore.New(restore.Config{
		Pool: pool, Log: zerolog.Nop(),
		Suspend: func(ctx context.Context, tx pgx.Tx, why string) (int, error) {
			h.asked = append(h.asked, "suspend")
			return queue.SuspendTx(ctx, tx, why, "publish")
		},
		Rebaseline: func(context.Context, pgx.Tx) error { h.asked = append(h.asked, "rebaseline"); return nil },
		Look: func(_ context.Context, _, after int64) (restore.Look, error) {
			h.after = after
			return h.look, h.lookErr
		},
		PlainText: func(html string) string { return strings.NewReplacer("<b>", "", "</b>", "").Replace(html) },
		Published: func(ctx context.Context, tx pgx.Tx, id int64, post restore.Post) error {
			h.asked = append(h.asked, fmt.Sprint("found ", post.ID))
			return state("published")(ctx, tx, id)
		},
		Duplicate: state("skipped"),
		Return:    state("proposed"),
		Notify: func(_ context.Context, _ pgx.Tx, r restore.Report) error {
			h.reports = append(h.reports, r)
			return nil
		},
		FirstLook: time.Millisecond,
	})
	queue.Register(h.registry, h.service.Kind())
	queue.Register(h.registry, h.service.CheckKind())
	return h
}

func (h *house) check() {
	h.t.Helper()
	if err := h.service.Check(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) one(query string, args ...any) (id int64) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), query, args...).Scan(&id); err != nil {
		h.t.Fatal(err)
	}
	return id
}

func (h *house) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.pool.Exec(h.t.Context(), query, args...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) list(query string) []string {
	h.t.Helper()
	rows, err := h.pool.Query(h.t.Context(), query)
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *house) draft(channel int64, text, state string, in time.Duration, link string) {
	h.t.Helper()
	h.one(draftAddSQL, channel, text, state, in, link)
}

func (h *house) held(channel int64) (held bool) {
	h.t.Helper()
	err := pgx.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) (err error) {
		held, err = h.service.Held(h.t.Context(), tx, channel)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return held
}

// work lets the queue run until nothing of a restore is left in it.
func (h *house) work() {
	h.t.Helper()
	engine := queue.New(queue.Config{Pool: h.pool, Registry: h.registry, PollEvery: 20 * time.Millisecond})
	if err := engine.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	for range 1000 {
		if h.one("SELECT count(*) FROM jobs WHERE kind = 'restore-look'") == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond) // another connection's work has no signal
	}
	if err := engine.Stop(context.WithoutCancel(h.t.Context())); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) same(what string, want, got []string) {
	h.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAnUntouchedDatabaseIsNoRestore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	c := h.one(channelAddSQL, -1)
	if !h.held(c) {
		t.Error("a database without a mark publishes")
	}
	h.check()
	h.check()
	if h.held(c) {
		t.Error("held")
	}
	h.same("restores", []string{}, h.list(restoresSQL))
}

func TestATornHistoryHoldsEveryChannel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		system, timeline int
		silent           time.Duration
		restores, asked  []string
	}{
		{"another server", 1, 0, 0, []string{"other_server  0 false"}, []string{"suspend", "rebaseline"}},
		{"point-in-time recovery", 0, 1, time.Hour, []string{"other_timeline  0 false"}, []string{"suspend", "rebaseline"}},
		{"a promoted standby", 0, 1, time.Minute, []string{"other_timeline  0 false"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.New(t))
			c := h.one(channelAddSQL, -1)
			h.check()
			h.exec(spoilMarkSQL, tt.system, tt.timeline, tt.silent)
			if tt.timeline > 0 && !h.held(c) {
				t.Error("a process that lives through a failover publishes before the next check")
			}
			h.check()
			h.check() // a second process finds it begun
			if !h.held(c) {
				t.Error("the channel is not held")
			}
			h.same("restores", tt.restores, h.list(restoresSQL))
			h.same("asked of others", tt.asked, h.asked)
		})
	}
}

func TestALookSettlesWhatStandsInTheChannel(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	h.check()
	c := h.one(channelAddSQL, -1)
	h.draft(c, "<b>Posted</b> in time", "scheduled", -time.Hour, "")
	h.draft(c, "Approved after the backup", "proposed", 0, "")
	h.draft(c, "Edited before it went out", "scheduled", time.Hour, "https://a.example/1")
	h.draft(c, "Missed its slot", "scheduled", -time.Minute, "https://a.example/2")
	h.draft(c, "Still to come", "scheduled", time.Hour, "https://a.example/3")
	h.draft(c, "Nobody decided", "proposed", 0, "https://a.example/4")
	if err := restore.Declare(t.Context(), h.pool, "ann"); err != nil {
		t.Fatal(err)
	}
	if !h.held(c) {
		t.Error("not held from the word on")
	}
	h.check()
	h.look = restore.Look{Complete: true, Posts: []restore.Post{
		{ID: 101, Text: "Posted\n  in time"},
		{ID: 102, Text: "Approved after the backup"},
		{ID: 103, Text: "Something else", Links: []string{"https://a.example/1"}},
	}}
	h.work()
	h.same("drafts", []string{
		"own:<b>Posted</b> in time published", "own:Approved after the backup published",
		"own:Edited before it went out skipped", "own:Missed its slot proposed",
		"own:Still to come scheduled", "own:Nobody decided proposed",
	}, h.list(draftStatesSQL))
	slices.Sort(h.asked)
	h.same("asked", []string{"found 101", "found 102", "rebaseline", "suspend"}, h.asked)
	if h.after != 100 || h.held(c) || len(h.reports) != 1 || !h.reports[0].Released {
		t.Errorf("read after %d, held %t, reports %+v", h.after, h.held(c), h.reports)
	}
	h.same("restores", []string{"command ann 0 true"}, h.list(restoresSQL))
}

func TestAChannelThatCannotBeReadWaitsForAPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	h.check()
	c := h.one(channelAddSQL, -1)
	h.draft(c, "Still to come", "scheduled", time.Hour, "")
	if err := restore.Declare(t.Context(), h.pool, "ann"); err != nil {
		t.Fatal(err)
	}
	if !h.held(c) {
		t.Error("not held from the word on")
	}
	h.check()
	var told []int64
	tell := func(_ context.Context, _ pgx.Tx, _, channelID int64) error {
		told = append(told, channelID)
		return nil
	}
	if n, waiting, err := restore.Release(t.Context(), h.pool, 0, "ann", tell); n != 0 || waiting != 1 || err != nil {
		t.Errorf("released before anybody looked: %d, %d, %v", n, waiting, err)
	}
	h.look = restore.Look{Why: "its preview is off"}
	h.work()
	h.same("drafts", []string{"own:Still to come proposed"}, h.list(draftStatesSQL))
	open, err := restore.Open(t.Context(), h.pool)
	if err != nil || len(open) != 1 || open[0].Note != "its preview is off" || open[0].Returned != 1 || !h.held(c) {
		t.Fatalf("open: %+v, %v", open, err)
	}
	if n, waiting, err := restore.Release(t.Context(), h.pool, c, "ann", tell); n != 1 || waiting != 0 || err != nil {
		t.Errorf("release: %d, %d, %v", n, waiting, err)
	}
	if n, _, err := restore.Release(t.Context(), h.pool, c, "bob", tell); n != 0 || err != nil {
		t.Errorf("a second release: %d, %v", n, err)
	}
	if h.held(c) {
		t.Error("held after the release")
	}
	h.same("people who were told", []string{fmt.Sprint([]int64{c})}, []string{fmt.Sprint(told)})
	h.same("restores", []string{"command ann 0 true"}, h.list(restoresSQL))
}
