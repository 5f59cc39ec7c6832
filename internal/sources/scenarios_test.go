package sources

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/casetest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// bench is a service on a fresh database whose clock the test moves.
type bench struct {
	t    testing.TB
	pool *pgxpool.Pool
	svc  *Service
	at   atomic.Pointer[time.Time]
}

func newBench(t testing.TB, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, pool: dbtest.New(t)}
	b.set(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
	web := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(web.Close)
	now := func() time.Time { return *b.at.Load() }
	cfg := Config{Pool: b.pool, Reader: NewReader(web, "", now), Clock: now, HostGap: -1, PollUnfollowed: true}
	for _, c := range change {
		c(&cfg)
	}
	b.svc = New(cfg)
	return b
}

func (b *bench) set(at time.Time) { b.at.Store(&at) }

func (b *bench) pass(d time.Duration) { b.set(b.at.Load().Add(d)) }

func (b *bench) tx(fn func(tx pgx.Tx) error) {
	b.t.Helper()
	if err := pgx.BeginFunc(b.t.Context(), b.pool, fn); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) add(url string) int64 {
	b.t.Helper()
	var a Added
	b.tx(func(tx pgx.Tx) (err error) { a, err = b.svc.AddAddress(b.t.Context(), tx, url, ""); return err })
	return a.ID
}

// poll polls a source at the bench's time and returns the titles of the items
// that it inserted.
func (b *bench) poll(id int64) (PollReport, []string) {
	b.t.Helper()
	ctx := b.t.Context()
	if _, err := b.pool.Exec(ctx, "DELETE FROM hosts"); err != nil {
		b.t.Fatal(err)
	}
	last := value[int64](b, "SELECT coalesce(max(id), 0) FROM items")
	src, err := scanRow(b.pool.QueryRow(ctx, sourceFindSQL, id))
	if err != nil {
		b.t.Fatal(err)
	}
	rep, err := b.svc.pollRow(ctx, src)
	if err != nil {
		b.t.Fatal(err)
	}
	rows, err := b.pool.Query(ctx, "SELECT title || E'\\n' || url FROM items WHERE id > $1 ORDER BY id", last)
	if err != nil {
		b.t.Fatal(err)
	}
	titles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	return rep, titles
}

func value[T any](b *bench, sql string, args ...any) (v T) {
	b.t.Helper()
	if err := b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

type scenario struct {
	ID         string
	ClockStart time.Time `json:"clock_start"`
	Sources    map[string]struct{ Path, Kind string }
	Items      map[string]struct {
		Match     string
		MatchLink string `json:"match_link"`
	}
	Fetches []struct {
		N      int
		At     string
		Source string
		Expect struct {
			Outcome      string
			New          []string
			NewCount     int               `json:"new_count"`
			MayNew       []string          `json:"may_new"`
			MayNewOther  bool              `json:"may_new_other"`
			MustSend     map[string]string `json:"must_send"`
			MustNotSend  map[string]string `json:"must_not_send"`
			NotBeforeS   int               `json:"not_before_s"`
			NotBefore    time.Time         `json:"not_before"`
			MaxNext      int               `json:"not_before_s_max"`
			Failures     *int              `json:"failure_counter_after"`
			Requested    []string
			SourceURL    string `json:"source_url_after"`
			Candidates   []string
			MustNotHave  string `json:"must_not_contain"`
			BackoffGrows bool   `json:"backoff_grows"`
		}
	}
}

// TestScenarios plays the shared scenarios over HTTP against a service on a
// real database, one poll a step.
func TestScenarios(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays bombs and thousands of entries")
	}
	dir := casetest.Dir(t)
	bin := filepath.Join(t.TempDir(), "replay")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = filepath.Join(dir, "feeds", "replay")
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build replay: %v %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "feeds", "scenarios", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) { playScenario(t, bin, f) })
	}
}

func playScenario(t *testing.T, bin, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var sc scenario
	if err := json.Unmarshal(data, &sc); err != nil {
		t.Fatal(err)
	}
	base := startReplay(t, bin, file)
	b := newBench(t)
	ids := map[string]int64{}
	seen := map[string]bool{}
	var lastWait time.Duration
	for _, step := range sc.Fetches {
		get(t, fmt.Sprintf("%s/__ctl/fetch?n=%d", base, step.N))
		get(t, base+"/__ctl/log")
		b.set(sc.ClockStart.Add(offset(t, step.At)))
		want := step.Expect
		name := fmt.Sprintf("fetch %d (%s)", step.N, want.Outcome)
		if want.Outcome == "discovered" {
			checkDiscovered(t, b, base+sc.Sources[step.Source].Path, want.Candidates)
			continue
		}
		id, ok := ids[step.Source]
		if !ok {
			id = b.add(base + sc.Sources[step.Source].Path)
			ids[step.Source] = id
		}
		// The scenarios bound seconds of a quiet machine. Here other tests run beside
		// them: what bounds a poll is the budget of its parse, which decode's tests hold.
		rep, fresh := b.poll(id)
		requests := get(t, base+"/__ctl/log")
		checkOutcome(t, name, want.Outcome, rep)
		if want.NewCount > 0 {
			if len(fresh) != want.NewCount {
				t.Errorf("%s: %d new, want %d", name, len(fresh), want.NewCount)
			}
		} else {
			got := named(sc, fresh)
			for _, n := range want.New {
				if !slices.Contains(got, n) && !seen[n] {
					t.Errorf("%s: %s is not new; got %v (%s)", name, n, got, rep.Note)
				}
			}
			for _, n := range got {
				if !slices.Contains(want.New, n) && !slices.Contains(want.MayNew, n) && !want.MayNewOther {
					t.Errorf("%s: %s is new (%s)", name, n, rep.Note)
				}
				if seen[n] {
					t.Errorf("%s: %s is new twice", name, n)
				}
				seen[n] = true
			}
		}
		for h, v := range want.MustSend {
			if !strings.Contains(requests, jsonText(t, v)) {
				t.Errorf("%s: %s: %s was not sent: %s", name, h, v, requests)
			}
		}
		for h, v := range want.MustNotSend {
			if strings.Contains(requests, jsonText(t, v)) {
				t.Errorf("%s: %s: %s was sent", name, h, v)
			}
		}
		for _, r := range want.Requested {
			if !strings.Contains(requests, r) {
				t.Errorf("%s: %s was not requested", name, r)
			}
		}
		wait := rep.NextPoll.Sub(*b.at.Load())
		if wait < time.Duration(want.NotBeforeS)*time.Second || !want.NotBefore.IsZero() && rep.NextPoll.Before(want.NotBefore) {
			t.Errorf("%s: next poll in %v", name, wait)
		}
		if want.MaxNext > 0 && wait > time.Duration(want.MaxNext)*time.Second {
			t.Errorf("%s: next poll in %v", name, wait)
		}
		if wait < 5*time.Minute*9/10 {
			t.Errorf("%s: next poll already in %v", name, wait)
		}
		if want.BackoffGrows && wait <= lastWait && lastWait < maxBackoff {
			t.Errorf("%s: back-off %v after %v", name, wait, lastWait)
		}
		lastWait = wait
		if want.Failures != nil {
			if got := value[int](b, "SELECT failures FROM sources WHERE id = $1", id); got != *want.Failures {
				t.Errorf("%s: %d failures", name, got)
			}
		}
		if want.MustNotHave != "" && strings.Contains(strings.Join(fresh, " "), want.MustNotHave) {
			t.Errorf("%s: %v", name, fresh)
		}
		if want.SourceURL != "" {
			got := value[string](b, "SELECT url || ' ' || moved_to FROM sources WHERE id = $1", id)
			if !strings.Contains(got, want.SourceURL) {
				t.Errorf("%s: address %s, want %s", name, got, want.SourceURL)
			}
		}
	}
}

// checkOutcome allows a whole entry of a torn document to be taken while the
// poll counts as failed.
func checkOutcome(t *testing.T, name, want string, rep PollReport) {
	t.Helper()
	failed := rep.Error != ""
	ok := true
	switch want {
	case "ok":
		ok = !failed
	case "not_modified":
		ok = rep.Result == "unchanged"
	case "transient_error":
		ok = failed && rep.Result != CodeGone
	case "rate_limited":
		ok = rep.Result == CodeRateLimited
	case "too_large":
		ok = rep.Result == string(fetch.CodeTooLarge)
	case "too_deep_or_error":
		ok = failed
	}
	if !ok {
		t.Errorf("%s: result %s, %s", name, rep.Result, rep.Note)
	}
}

func checkDiscovered(t *testing.T, b *bench, url string, want []string) {
	t.Helper()
	f, err := b.svc.reader.Look(t.Context(), url)
	if err != nil {
		t.Errorf("discover: %v", err)
		return
	}
	var got []string
	for _, c := range f.Choices {
		got = append(got, c.URL[strings.Index(c.URL[8:], "/")+8:])
	}
	if !slices.Equal(got, want) {
		t.Errorf("candidates %v, want %v", got, want)
	}
}

func named(sc scenario, fresh []string) []string {
	var out []string
	for _, line := range fresh {
		title, link, _ := strings.Cut(line, "\n")
		found := "?" + title
		for name, m := range sc.Items {
			if m.Match != "" && regexp.MustCompile(m.Match).MatchString(title) || m.MatchLink != "" && regexp.MustCompile(m.MatchLink).MatchString(link) {
				found = name
			}
		}
		out = append(out, found)
	}
	return out
}

func startReplay(t *testing.T, bin, file string) string {
	t.Helper()
	cmd := exec.Command(bin, "-scen", file, "-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var hello struct{ Addr string }
	if err := json.Unmarshal([]byte(line), &hello); err != nil {
		t.Fatal(err)
	}
	return "http://" + hello.Addr
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url) //nolint:gosec // a test server
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func jsonText(t *testing.T, v string) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func offset(t *testing.T, at string) time.Duration {
	t.Helper()
	at = strings.TrimPrefix(at, "+")
	if days, ok := strings.CutSuffix(at, "d"); ok {
		var n int
		if _, err := fmt.Sscan(days, &n); err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * 24 * time.Hour
	}
	d, err := time.ParseDuration(at)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
