package watch_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postonce/postonce/internal/ops/watch"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

// everything is wrong in it: each rule has to be true of it.
func bad() (watch.Figures, watch.History) {
	f := watch.Figures{
		Lanes: []watch.Lane{
			{Tier: queue.Critical, Depth: 40, OldestAge: 6 * time.Minute},
			{Tier: queue.Default, Depth: 40, OldestAge: 6 * time.Minute},
			{Tier: queue.Bulk, Depth: 40, OldestAge: time.Minute},
		},
		OldestSnapshot: 20 * time.Minute, Completed: 100, Archived: 3, LeasesLost: 3, StrictInDoubt: 1,
		Sources: map[string]int{"failing": 4, "healthy": 6}, ModelTokensToday: 90, ChannelsHeld: 1, ClockAhead: -time.Minute,
		UpdatesStopped: "another program polls with the same token",
	}
	rising := [3]int{30, 20, 10}
	return f, watch.History{queue.Critical: {30, 20, 20}, queue.Default: rising, queue.Bulk: rising}
}

func names(list []watch.Condition) []string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimSuffix(c.Name+"/"+c.Subject, "/"))
	}
	slices.Sort(out)
	return out
}

func TestJudgeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	f, h := bad()
	want := []string{
		"PostonceArchiveInflow", "PostonceChannelsHeld", "PostonceClockSkew", "PostonceLeasesLost", "PostonceModelBudget", "PostonceOldSnapshot",
		"PostonceQueueGrowing/default", "PostonceQueueStuck/critical", "PostonceSourcesFailing", "PostonceUnconfirmed", "PostonceUpdatesStopped",
	}
	if diff := cmp.Diff(want, names(watch.Judge(f, h, 100))); diff != "" {
		t.Error(diff)
	}
}

func TestJudgeIsQuietWhereAllIsWell(t *testing.T) {
	t.Parallel()
	f := watch.Figures{
		Lanes: []watch.Lane{
			{Tier: queue.Critical, Depth: 40, OldestAge: 29 * time.Second},
			{Tier: queue.Default, Depth: 9_000, OldestAge: 30 * time.Minute}, // deep and old, but draining
			{Tier: queue.Bulk, Depth: 40, OldestAge: time.Minute},
		},
		OldestSnapshot: 10 * time.Minute, Completed: 1000, Archived: 9, LeasesLost: 2,
		Sources: map[string]int{"failing": 2, "healthy": 3}, ModelTokensToday: 1e9, ClockAhead: 20 * time.Second,
	}
	h := watch.History{queue.Critical: {3, 2, 1}, queue.Default: {9_100, 9_200, 9_300}, queue.Bulk: {-1, -1, -1}}
	if got := names(watch.Judge(f, h, 0)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// Prometheus and the chat must speak of the same things by the same names, and
// the runbook must know each of them.
func TestAlertRulesTwinsAndRunbookAgree(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../../docs/deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	book, err := os.ReadFile("../../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	outside := []string{"PostonceDown", "PostonceDatabaseUnreachable"} // nobody is left to tell the chat
	var alerts []string
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(book), "\n### "+m[1]+"\n") {
			t.Errorf("docs/operating.md has no section ### %s", m[1])
		}
		if !slices.Contains(outside, m[1]) {
			alerts = append(alerts, m[1])
		}
	}
	slices.Sort(alerts)
	f, h := bad()
	var twins []string
	for _, c := range watch.Judge(f, h, 100) {
		twins = append(twins, c.Name)
	}
	slices.Sort(twins)
	if diff := cmp.Diff(alerts, twins); diff != "" {
		t.Errorf("alerts.yml and the watch's rules differ (-alerts +watch):\n%s", diff)
	}
	for _, reason := range queue.Reasons() {
		if !strings.Contains(string(book), "\n### Archived: "+string(reason)+"\n") {
			t.Errorf("docs/operating.md has no section ### Archived: %s", reason)
		}
	}
}

const (
	ageConditionsSQL = `
UPDATE incidents
   SET first_true_at = first_true_at - $1::interval,
       last_true_at = last_true_at - $1::interval
 WHERE closed_at IS NULL`

	ageSamplesSQL = `
UPDATE watch_samples
   SET at = at - $1::interval`

	jobAddSQL = `
INSERT INTO jobs (id, run_at, tier, kind, key, payload)
SELECT nextval('job_id_seq'),
       now() - $2::interval,
       'default',
       'poll',
       gen_random_uuid()::text,
       '{}'
  FROM generate_series(1, $1)`

	pauseSQL = `
INSERT INTO job_kinds (name, tier, policy, class, paused, paused_at)
VALUES ('poll', 'default', 'db', 'strict', true, now())`
)

// teller collects what the operators hear.
type teller struct{ heard []string }

func (l *teller) notify(_ context.Context, _ pgx.Tx, i watch.Incident) error {
	if i.ClosedAt.IsZero() {
		l.heard = append(l.heard, "start "+i.Name)
	} else {
		l.heard = append(l.heard, "end "+i.Name)
	}
	return nil
}

func check(t *testing.T, pool *pgxpool.Pool, w *watch.Watch, f watch.Figures) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return w.CheckTx(t.Context(), tx, f) })
	if err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, pool *pgxpool.Pool, query string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func TestAnIncidentIsToldOnceAtItsStartAndOnceAtItsEnd(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &teller{}
	w := watch.New(watch.Config{Pool: pool, Notify: l.notify})
	doubt, fine := watch.Figures{StrictInDoubt: 1}, watch.Figures{}

	check(t, pool, w, doubt)
	if len(l.heard) > 0 {
		t.Fatalf("told at once: %v", l.heard)
	}
	exec(t, pool, ageConditionsSQL, 6*time.Minute)
	for range 3 {
		check(t, pool, w, doubt)
	}
	open, err := watch.Open(t.Context(), pool)
	if err != nil || len(open) != 1 || open[0].Name != "PostonceUnconfirmed" {
		t.Errorf("open: %v, %v", open, err)
	}
	check(t, pool, w, fine) // it flickers
	check(t, pool, w, doubt)
	exec(t, pool, ageConditionsSQL, 6*time.Minute)
	for range 3 {
		check(t, pool, w, fine)
	}
	want := []string{"start PostonceUnconfirmed", "end PostonceUnconfirmed"}
	if diff := cmp.Diff(want, l.heard); diff != "" {
		t.Errorf("heard:\n%s", diff)
	}
}

func TestAPassingConditionIsNoIncident(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &teller{}
	w := watch.New(watch.Config{Pool: pool, Notify: l.notify})
	check(t, pool, w, watch.Figures{StrictInDoubt: 1})
	check(t, pool, w, watch.Figures{})
	exec(t, pool, ageConditionsSQL, time.Hour)
	check(t, pool, w, watch.Figures{StrictInDoubt: 1})
	if len(l.heard) > 0 {
		t.Errorf("heard %v", l.heard)
	}
}

func TestGrowthIsSeenAgainstTheSamplesOfBefore(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &teller{}
	w := watch.New(watch.Config{Pool: pool, Notify: l.notify})
	for range 4 {
		exec(t, pool, jobAddSQL, 5, 10*time.Minute)
		f, err := watch.Read(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		check(t, pool, w, f)
		exec(t, pool, ageSamplesSQL, 5*time.Minute)
	}
	if diff := cmp.Diff([]string{"start PostonceQueueGrowing"}, l.heard); diff != "" {
		t.Error(diff)
	}
}

func TestReadCountsWhatCouldRun(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	exec(t, pool, jobAddSQL, 7, time.Minute)
	f, err := watch.Read(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Lanes[1]; l.Depth != 7 || l.OldestAge < time.Minute || l.OldestAge > 2*time.Minute {
		t.Errorf("default lane: %+v", l)
	}
	exec(t, pool, pauseSQL)
	if f, err = watch.Read(t.Context(), pool); err != nil || f.Lanes[1].Depth != 0 || f.Lanes[1].OldestAge != 0 {
		t.Errorf("a paused kind counts: %+v, %v", f.Lanes[1], err)
	}
}

// gather returns every family's number of series, and the value of watch_up.
func gather(t *testing.T, pool *pgxpool.Pool) (map[string]int, float64) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(watch.NewCollector(pool, 7))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series, up := map[string]int{}, -1.0
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
		if f.GetName() == "postonce_watch_up" {
			up = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return series, up
}

// On a full disk everything can be read and nothing be written, the trouble included.
func TestTheCollectorKnowsTheTroubleOfItsOwnProcess(t *testing.T) {
	t.Parallel()
	c := watch.NewCollector(dbtest.New(t), 0)
	for said, want := range map[string]float64{"": 0, "updates do not come: no space left on device": 1} {
		c.Trouble = func() string { return said }
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(c)
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "postonce_updates_stopped" && f.GetMetric()[0].GetGauge().GetValue() != want {
				t.Errorf("trouble %q: %v, want %v", said, f.GetMetric()[0].GetGauge().GetValue(), want)
			}
		}
	}
}

func TestTheCollectorSaysWhenItCannotRead(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	series, up := gather(t, pool)
	if up != 1 || len(series) != 10 || series["postonce_sources"] != 4 || series["postonce_effects_in_doubt"] != 2 {
		t.Errorf("up %v, series %v", up, series)
	}
	pool.Close()
	if series, up = gather(t, pool); up != 0 || len(series) != 1 {
		t.Errorf("without a database: up %v, series %v", up, series)
	}
}
