package desk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/queue"
)

// flight is a channel under the autopilot, with the jobs at work.
type flight struct {
	*bundle
	pilots []desk.Pilot
	recaps []desk.Recap
	now    time.Time
}

// takeOff starts it; the channel plans after half an hour unless somebody objects.
func takeOff(t *testing.T, now time.Time) *flight {
	t.Helper()
	f := &flight{now: now}
	f.bundle = newBundle(t, func(c *desk.Config) {
		c.Now = func() time.Time { return f.now }
		c.OnPilot = func(_ context.Context, _ pgx.Tx, p desk.Pilot) error { f.pilots = append(f.pilots, p); return nil }
		c.OnRecap = func(_ context.Context, _ pgx.Tx, r desk.Recap) error { f.recaps = append(f.recaps, r); return nil }
	})
	f.exec(`UPDATE channels SET autopilot = 'delay', autopilot_minutes = 30, time_zone = 'Europe/Berlin', username = 'news' WHERE id = $1`, f.channel)
	return f
}

func (f *flight) exec(query string, args ...any) {
	f.t.Helper()
	if _, err := f.pool.Exec(f.t.Context(), query, args...); err != nil {
		f.t.Fatal(err)
	}
}

// proposed makes a draft that the program wrote, under the autopilot.
func (f *flight) proposed(text string) int64 {
	f.t.Helper()
	id := f.draft()
	f.exec(`UPDATE drafts SET kind = 'digest', subject = 'digest:' || id WHERE id = $1`, id)
	f.exec(`UPDATE draft_revisions SET html = $2 WHERE draft_id = $1`, id, text)
	if err := pgx.BeginFunc(f.t.Context(), f.pool, func(tx pgx.Tx) error { return f.desk.AutopilotTx(f.t.Context(), tx, id) }); err != nil {
		f.t.Fatal(err)
	}
	return id
}

// run lets the jobs work that are due by now, and stops again.
func (f *flight) run() {
	f.t.Helper()
	f.exec(`UPDATE jobs SET run_at = clock_timestamp() WHERE kind IN ('autopilot', 'plan') AND run_at <= $1`, f.now)
	registry := queue.NewRegistry()
	f.desk.RegisterPlans(registry)
	engine := queue.New(queue.Config{Pool: f.pool, Registry: registry, Logger: zerolog.Nop()})
	if err := engine.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	done := `SELECT count(*) FROM jobs WHERE kind IN ('autopilot', 'plan', 'digest', 'recap') AND run_at <= clock_timestamp()`
	for deadline := time.Now().Add(20 * time.Second); f.count(done) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatal("the jobs did not finish")
		}
	}
	if err := engine.Stop(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// looksAtTheClock enqueues what the schedule enqueues every few minutes.
func (f *flight) looksAtTheClock() {
	f.t.Helper()
	kind := queue.Kind[map[string]time.Time]{Name: "plan", Tier: queue.Bulk, KeepKeys: 48 * time.Hour, Key: func(map[string]time.Time) string { return fmt.Sprint("test", f.now.UnixNano()) }}
	err := pgx.BeginFunc(f.t.Context(), f.pool, func(tx pgx.Tx) error {
		_, err := kind.EnqueueTx(f.t.Context(), tx, map[string]time.Time{"fire_at": f.now})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.run()
}

func TestTheAutopilotAnnouncesAndIsObjectedTo(t *testing.T) {
	t.Parallel()
	f := takeOff(t, time.Now())
	flown, refused := f.proposed("<b>Ferry</b>"), f.proposed("<b>Bridge</b>")
	if _, err := f.desk.Skip(t.Context(), ann, refused, 1, ""); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(31 * time.Minute)
	f.run()
	if len(f.pilots) != 1 || f.pilots[0].DraftID != flown || f.pilots[0].ChannelID != f.channel || f.pilots[0].Transition != 2 {
		t.Fatalf("announced: %+v", f.pilots)
	}
	if at := f.pilots[0].At; at.Before(f.now.Add(10 * time.Minute)) {
		t.Errorf("planned for %s, which leaves nobody the time to take it back", at)
	}
	res, err := f.desk.Undo(t.Context(), ann, flown, f.pilots[0].Transition)
	if err != nil || !res.Done {
		t.Fatalf("the objection: %+v, %v", res, err)
	}
	f.now = f.now.Add(24 * time.Hour)
	f.run()
	if len(f.pilots) != 1 {
		t.Errorf("what was taken back was planned again: %+v", f.pilots)
	}
	if n := f.count(`SELECT count(*) FROM slots`); n != 0 {
		t.Errorf("%d slots are held", n)
	}
}

func TestTheRecapIsToldOnceADay(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Now().In(berlin).AddDate(0, 0, 2)
	f := takeOff(t, time.Date(noon.Year(), noon.Month(), noon.Day(), 12, 0, 0, 0, berlin))
	posted, waits, mine := f.proposed("<b>Ferry</b> sails"), f.proposed("<b>Bridge</b> opens"), f.proposed("<b>Mine</b>")
	f.now = f.now.Add(31 * time.Minute)
	if _, err := f.desk.Approve(t.Context(), ann, mine, 1); err != nil {
		t.Fatal(err)
	}
	f.run()
	f.exec(`UPDATE drafts SET state = 'published' WHERE id = $1`, posted)
	f.exec(`INSERT INTO publications (draft_id, channel_id, chat_id, state, message_id, effect_key, form, html_hash, started_at, published_at)
		VALUES ($1, $2, -1001, 'published', 77, 'publish:draft:x', 'text', '\x01', $3, $3)`, posted, f.channel, f.now.Add(time.Hour))
	f.now = time.Date(noon.Year(), noon.Month(), noon.Day(), 20, 59, 0, 0, berlin)
	f.looksAtTheClock()
	if len(f.recaps) != 0 {
		t.Fatalf("told too early: %+v", f.recaps)
	}
	for range 3 {
		f.now = f.now.Add(5 * time.Minute)
		f.looksAtTheClock()
	}
	f.now = f.now.Add(4 * time.Hour) // after midnight
	f.looksAtTheClock()
	if len(f.recaps) != 1 {
		t.Fatalf("told %d times", len(f.recaps))
	}
	got := f.recaps[0]
	for i := range got.Lines {
		got.Lines[i].At = time.Time{}
	}
	want := desk.Recap{
		ChannelID: f.channel, Date: noon.Format(time.DateOnly), Published: 1, Planned: 1,
		Lines: []desk.RecapLine{
			{DraftID: posted, Title: "Ferry sails", Post: desk.PostLink{ChatID: -1001, MessageID: 77, URL: "https://t.me/news/77"}},
			{DraftID: waits, Title: "Bridge opens"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAMissedPostStaysItsAuthors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.draft()
	res, err := b.desk.Approve(t.Context(), ann, id, 1)
	if err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error { return b.desk.MissedTx(t.Context(), tx, id, res.Transition) })
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.desk.Draft(t.Context(), ann, id)
	if err != nil || v.DecidedBy != "P11" || v.Draft.State != "scheduled" {
		t.Errorf("after the move: %+v by %q, %v", v.Draft, v.DecidedBy, err)
	}
	if n := b.count(`SELECT count(*) FROM slots`); n != 1 {
		t.Errorf("it holds %d slots", n)
	}
}
