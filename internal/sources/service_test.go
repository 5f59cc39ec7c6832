package sources

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources/opml"
)

// feedServer serves one feed that the test changes.
type feedServer struct {
	url   string
	mu    sync.Mutex
	serve http.HandlerFunc // guarded by mu
	hits  atomic.Int64
}

func newFeedServer(t testing.TB) *feedServer {
	t.Helper()
	f := &feedServer{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.hits.Add(1)
		f.mu.Lock()
		h := f.serve
		f.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	f.url = s.URL + "/feed.xml"
	return f
}

func (f *feedServer) handle(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve = h
}

// show serves a feed of these entries: "title" or "title|date".
func (f *feedServer) show(entries ...string) {
	body := feedOf(entries...)
	f.handle(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
}

func (f *feedServer) fail(status int) {
	f.handle(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func feedOf(entries ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Wire</title><link>http://e.org/</link>`)
	for _, e := range entries {
		title, date, _ := strings.Cut(e, "|")
		slug := strings.ReplaceAll(title, " ", "-")
		fmt.Fprintf(&b, "<item><title>%s</title><link>http://e.org/%s</link><guid>id-%s</guid>", title, slug, slug)
		if date != "" {
			fmt.Fprintf(&b, "<pubDate>%s</pubDate>", date)
		}
		b.WriteString("</item>")
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

func titlesOf(lines []string) []string {
	out := []string{}
	for _, l := range lines {
		t, _, _ := strings.Cut(l, "\n")
		out = append(out, t)
	}
	return out
}

func wantTitles(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, titlesOf(got)); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

func TestAddingASourceAsksOnceAndRecordsABaseline(t *testing.T) {
	t.Parallel()
	var baselines []int64
	b := newBench(t, func(c *Config) {
		c.OnBaseline = func(_ context.Context, _ pgx.Tx, id int64) error { baselines = append(baselines, id); return nil }
		c.OnNew = func(context.Context, pgx.Tx, []int64) error { t.Error("a baseline was handed on as news"); return nil }
	})
	f := newFeedServer(t)
	f.show("a", "b")
	found, err := b.svc.Reader().Look(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	var first, second Added
	b.tx(func(tx pgx.Tx) (err error) { first, err = b.svc.Add(t.Context(), tx, found); return err })
	b.tx(func(tx pgx.Tx) (err error) { second, err = b.svc.Add(t.Context(), tx, found); return err })
	if f.hits.Load() != 1 || first.Items != 2 || first.Existed || !second.Existed || second.ID != first.ID {
		t.Errorf("%d requests, %+v, %+v", f.hits.Load(), first, second)
	}
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'baseline'"); n != 2 {
		t.Errorf("%d baseline items", n)
	}
	if n := value[int](b, "SELECT count(*) FROM jobs WHERE kind = 'poll'"); n != 1 || len(baselines) != 1 {
		t.Errorf("%d poll jobs, baselines %v", n, baselines)
	}
}

func TestNewItemsAreHandedOnOnce(t *testing.T) {
	t.Parallel()
	var handed []int64
	b := newBench(t, func(c *Config) {
		c.OnNew = func(_ context.Context, _ pgx.Tx, ids []int64) error { handed = append(handed, ids...); return nil }
	})
	f := newFeedServer(t)
	f.show("a", "b")
	id := b.add(f.url)
	b.poll(id)
	f.show("c", "a", "b")
	for range 3 {
		b.pass(time.Hour)
		b.poll(id)
	}
	if len(handed) != 1 || value[string](b, "SELECT title FROM items WHERE id = $1", handed[0]) != "c" {
		t.Errorf("handed on: %v", handed)
	}
}

func TestAFailureToHandOnKeepsNothing(t *testing.T) {
	t.Parallel()
	fail := true
	b := newBench(t, func(c *Config) {
		c.OnNew = func(context.Context, pgx.Tx, []int64) error {
			if fail {
				return fmt.Errorf("no")
			}
			return nil
		}
	})
	f := newFeedServer(t)
	f.show("a")
	id := b.add(f.url)
	b.poll(id)
	f.show("b", "a")
	b.pass(time.Hour)
	src, err := scanRow(b.pool.QueryRow(t.Context(), sourceFindSQL, id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.svc.pollRow(t.Context(), src); err == nil {
		t.Error("no error")
	}
	fail = false
	b.pass(time.Hour)
	_, fresh := b.poll(id)
	wantTitles(t, "after the failure", fresh, "b")
}

func TestResumeAndLongOutageAreBaselines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	f.show("a")
	id := b.add(f.url)
	b.poll(id)
	b.tx(func(tx pgx.Tx) error { return b.svc.Pause(t.Context(), tx, id) })
	f.show("c", "b", "a")
	b.pass(14 * 24 * time.Hour)
	b.tx(func(tx pgx.Tx) error { return b.svc.Resume(t.Context(), tx, id) })
	rep, fresh := b.poll(id)
	wantTitles(t, "recorded on resume", fresh, "b", "c")
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'new'"); n != 0 {
		t.Errorf("%d items are news: %s", n, rep.Note)
	}
	f.show("e", "d", "c")
	b.pass(10 * 24 * time.Hour)
	b.poll(id)
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'new'"); n != 0 {
		t.Errorf("%d items are news after an outage", n)
	}
	f.show("f", "e")
	b.pass(time.Hour)
	b.poll(id)
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'new'"); n != 1 {
		t.Errorf("%d items are news afterwards", n)
	}
}

func TestOldEntriesThatSlideInAreRecordedNotNews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	f.show("a|Mon, 04 May 2026 07:00:00 GMT", "b|Sun, 03 May 2026 07:00:00 GMT")
	id := b.add(f.url)
	b.poll(id)
	f.show("late|Sat, 02 May 2026 07:00:00 GMT", "a|Mon, 04 May 2026 07:00:00 GMT", "ancient|Tue, 04 May 2021 07:00:00 GMT")
	b.pass(time.Hour)
	rep, _ := b.poll(id)
	got := map[string]string{}
	for _, e := range rep.Entries {
		got[e.Title] = e.Why
	}
	if diff := cmp.Diff(map[string]string{"late": "new", "a": "known", "ancient": "old"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheCapLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.PollCap = 5 })
	f := newFeedServer(t)
	f.show("seed")
	id := b.add(f.url)
	b.poll(id)
	entries := []string{"seed"}
	for i := range 9 {
		entries = append(entries, fmt.Sprintf("n%02d|Mon, 04 May 2026 08:%02d:00 GMT", i, i))
	}
	f.show(entries...)
	b.pass(time.Hour)
	rep, fresh := b.poll(id)
	if len(fresh) != 9 || !strings.Contains(rep.Note, "5 new, 4 over the cap") {
		t.Errorf("%d items, %s", len(fresh), rep.Note)
	}
	if got := value[string](b, "SELECT min(title) FROM items WHERE result = 'new' AND title <> 'seed'"); got != "n04" {
		t.Errorf("the cap keeps from %s on, want the newest", got)
	}
}

func TestEditsUpdateAndRotationStopsGrowing(t *testing.T) {
	t.Parallel()
	var edited []int64
	b := newBench(t, func(c *Config) {
		c.OnEdited = func(_ context.Context, _ pgx.Tx, ids []int64) error { edited = append(edited, ids...); return nil }
	})
	f := newFeedServer(t)
	feed := func(round int, title string) string {
		var s strings.Builder
		s.WriteString("<rss><channel><title>t</title>")
		for i := range 5 {
			fmt.Fprintf(&s, "<item><title>%s %d</title><link>http://e.org/p/%d</link><guid>r%d-%d</guid></item>", title, i, i, round, i)
		}
		return s.String() + "</channel></rss>"
	}
	keys := 0
	id := int64(0)
	for round := range 6 {
		body := feed(round, "title")
		if round == 5 {
			body = feed(round, "better title")
		}
		f.handle(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		if id == 0 {
			id = b.add(f.url)
		}
		_, fresh := b.poll(id)
		if round > 0 {
			wantTitles(t, fmt.Sprint("round ", round), fresh)
		}
		if round == 2 {
			keys = value[int](b, "SELECT count(*) FROM item_keys")
		}
		b.pass(time.Hour)
	}
	if n := value[int](b, "SELECT count(*) FROM item_keys"); n != keys {
		t.Errorf("keys grew from %d to %d", keys, n)
	}
	if len(edited) != 5 || value[string](b, "SELECT min(title) FROM items") != "better title 0" {
		t.Errorf("edited: %v", edited)
	}
}

func TestMovingIntoAKnownSourceMergesThem(t *testing.T) {
	t.Parallel()
	var merges [][2]int64
	b := newBench(t, func(c *Config) {
		c.OnMerged = func(_ context.Context, _ pgx.Tx, from, into int64) error {
			merges = append(merges, [2]int64{from, into})
			return nil
		}
	})
	f := newFeedServer(t)
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/feed.xml" {
			http.Redirect(w, r, "/new.xml", http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, feedOf("a", "b"))
	})
	into := b.add(strings.Replace(f.url, "feed.xml", "new.xml", 1))
	b.poll(into)
	from := b.add(f.url)
	b.poll(from)
	if s := value[string](b, "SELECT state FROM sources WHERE id = $1", from); s != "active" {
		t.Errorf("merged at first sight: %s", s)
	}
	b.pass(time.Hour)
	b.poll(from)
	if diff := cmp.Diff([][2]int64{{from, into}}, merges); diff != "" {
		t.Error(diff)
	}
	if n := value[int](b, "SELECT count(*) FROM jobs WHERE kind = 'poll' AND (payload->>'source_id')::bigint = $1 AND run_at > $2", from, b.at.Load()); n != 0 {
		t.Errorf("%d polls of the merged source are due", n)
	}
	if again := b.add(f.url); again != into {
		t.Errorf("the old address leads to %d, want %d", again, into)
	}
}

func TestTemporaryRedirectsAndPagesChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	for path, status := range map[string]int{"temporary": http.StatusFound, "mixed": http.StatusMovedPermanently, "page": http.StatusMovedPermanently} {
		f.handle(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/to") && path == "mixed":
				http.Redirect(w, r, r.URL.Path+"/to2", http.StatusFound)
			case strings.Contains(r.URL.Path, "/to") && path == "page":
				fmt.Fprint(w, "<!doctype html><title>moved</title>")
			case strings.Contains(r.URL.Path, "/to"):
				fmt.Fprint(w, feedOf("a"))
			default:
				http.Redirect(w, r, r.URL.Path+"/to", status)
			}
		})
		url := strings.Replace(f.url, "feed.xml", path, 1)
		id := b.add(url)
		for range 3 {
			b.poll(id)
			b.pass(time.Hour)
		}
		if got := value[string](b, "SELECT url FROM sources WHERE id = $1", id); got != url {
			t.Errorf("%s: address became %s", path, got)
		}
	}
}

func TestFailuresBackOffAndAreToldOnce(t *testing.T) {
	t.Parallel()
	var told []Trouble
	b := newBench(t, func(c *Config) {
		c.OnTrouble = func(_ context.Context, _ pgx.Tx, tr Trouble) error { told = append(told, tr); return nil }
	})
	f := newFeedServer(t)
	f.show("a")
	id := b.add(f.url)
	b.poll(id)
	f.fail(http.StatusNotFound)
	var waits []time.Duration
	for range 14 {
		rep, _ := b.poll(id)
		waits = append(waits, rep.NextPoll.Sub(*b.at.Load()))
		b.set(rep.NextPoll)
	}
	last := waits[len(waits)-1]
	if len(told) != 1 || told[0].Code != CodeNotFound || last > maxBackoff*2 || last < maxBackoff/2 || waits[3] <= waits[0] {
		t.Errorf("told %v, waits %v", told, waits)
	}
	f.show("b", "a")
	b.poll(id)
	if len(told) != 2 || !told[1].Recovered {
		t.Errorf("told %v", told)
	}
	f.fail(http.StatusGone)
	b.pass(time.Hour)
	b.poll(id)
	if s := value[string](b, "SELECT state FROM sources WHERE id = $1", id); s != stateGone {
		t.Errorf("after 410: %s", s)
	}
	h, err := b.svc.HealthOf(t.Context(), b.pool, []int64{id})
	if err != nil || len(h) != 1 || h[0].Code != CodeGone || h[0].Text == "" {
		t.Errorf("health %+v %v", h, err)
	}
}

func TestAnOutageOfOurNetworkCountsForNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []int64
	for i := range 12 {
		ids = append(ids, b.add(fmt.Sprintf("http://127.0.1.%d:9/feed", i+1)))
	}
	for _, id := range ids {
		b.poll(id)
	}
	if n := value[int](b, "SELECT count(*) FROM sources WHERE failures > 0"); n > 5 {
		t.Errorf("%d sources were blamed", n)
	}
}

func TestValidatorsAreForgottenAfterEightDays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	var sent []string
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("If-Modified-Since"))
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Last-Modified", "Thu, 01 Jan 2041 00:00:00 GMT")
		fmt.Fprint(w, feedOf("a"))
	})
	id := b.add(f.url)
	for range 11 {
		b.poll(id)
		b.pass(24 * time.Hour)
	}
	full := 0
	for _, v := range sent {
		if v == "" {
			full++
		}
	}
	if full != 2 {
		t.Errorf("%d unconditional requests in 11 days: %q", full, sent)
	}
}

func TestForwardedPostsAreItemsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	post := Forward{ChatID: -1001, Username: "Wire", Title: "The Wire", MessageID: 7, Text: "<b>Headline</b>\nmore", Date: *b.at.Load()}
	var ids [2]int64
	var fresh [2]bool
	for i := range 2 {
		b.tx(func(tx pgx.Tx) (err error) {
			ids[i], fresh[i], err = b.svc.AddForwarded(t.Context(), tx, post)
			return err
		})
	}
	if ids[0] != ids[1] || !fresh[0] || fresh[1] {
		t.Errorf("items %v, fresh %v", ids, fresh)
	}
	got := value[string](b, "SELECT title || '|' || url || '|' || result FROM items WHERE id = $1", ids[0])
	if got != "Headline more|https://t.me/Wire/7|new" && got != "Headline|https://t.me/Wire/7|new" {
		t.Errorf("item %q", got)
	}
	if n := value[int](b, "SELECT count(*) FROM jobs"); n != 0 {
		t.Errorf("%d jobs for a source that is never polled", n)
	}
}

func TestListsGoInAndOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list, bad, err := ReadList([]byte("\uFEFF<?xml version='1.1'?><opml><outline text='F' type='rss'><outline xmlurl='http://a.example/feed'/><outline xmlUrl='https://www.a.example/feed/'/><outline xmlUrl='nonsense'/><outline xmlUrl='https://t.me/s/durov' title='D'/></outline>"))
	if err != nil || len(list) != 2 || len(bad) != 2 {
		t.Fatalf("%v %v %v", list, bad, err)
	}
	var ids []int64
	for _, o := range append(list, opml.Outline{URL: "https://t.me/+private"}) {
		b.tx(func(tx pgx.Tx) error {
			in, err := b.svc.ImportLine(t.Context(), tx, o)
			if in.Code == "" {
				ids = append(ids, in.Added.ID)
			} else if in.Code != CodeTelegramPrivate {
				t.Errorf("line %v: %s", o, in.Code)
			}
			return err
		})
	}
	var out bytes.Buffer
	if err := b.svc.Export(t.Context(), b.pool, &out, "mine", ids); err != nil {
		t.Fatal(err)
	}
	again, _, err := ReadList(out.Bytes())
	if err != nil || len(again) != 2 {
		t.Errorf("%v %v\n%s", again, err, &out)
	}
}

// TestEnginesPollEachSourceOnceAtATime runs two engines on one database: one
// chain of polls a source, one request a host at a time, and the next poll
// always queued.
func TestEnginesPollEachSourceOnceAtATime(t *testing.T) {
	t.Parallel()
	f := newFeedServer(t)
	var now, most atomic.Int64
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(5 * time.Millisecond)
		fmt.Fprint(w, feedOf("a", "path-"+strings.TrimPrefix(r.URL.Path, "/")))
		now.Add(-1)
	})
	b := newBench(t, func(c *Config) { c.HostGap, c.Clock, c.MinInterval = 20*time.Millisecond, time.Now, time.Hour })
	const n = 10
	for i := range n {
		b.add(strings.Replace(f.url, "feed.xml", fmt.Sprint("f", i), 1))
	}
	for range 2 {
		r := queue.NewRegistry()
		b.svc.Register(r)
		e := queue.New(queue.Config{Pool: b.pool, Registry: r, Logger: zerolog.Nop(), PollEvery: 20 * time.Millisecond})
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_ = e.Stop(ctx)
		})
	}
	deadline := time.After(90 * time.Second)
	for value[int](b, "SELECT count(*) FROM polls") < n {
		select {
		case <-deadline:
			t.Fatalf("%d of %d polled", value[int](b, "SELECT count(*) FROM polls"), n)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if f.hits.Load() != n || most.Load() != 1 {
		t.Errorf("%d requests for %d polls, %d at once", f.hits.Load(), n, most.Load())
	}
	if got := value[int](b, "SELECT count(*) FROM jobs WHERE kind = 'poll' AND run_at > clock_timestamp()"); got != n {
		t.Errorf("%d next polls for %d sources", got, n)
	}
	b.tx(func(tx pgx.Tx) error { _, err := b.svc.PollSoon(t.Context(), tx, 1); return err })
	for value[int](b, "SELECT count(*) FROM polls") < n+1 {
		select {
		case <-deadline:
			t.Fatal("not polled soon")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestTheSweeperFindsStrandedSources(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	f.show("a")
	id := b.add(f.url)
	b.poll(id)
	if _, err := b.pool.Exec(t.Context(), "DELETE FROM jobs"); err != nil {
		t.Fatal(err)
	}
	b.pass(48 * time.Hour)
	rows, err := b.pool.Query(t.Context(), sourcesStrandedSQL, *b.at.Load())
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("stranded %v %v", ids, err)
	}
}

// TestTelegramGapsArePagedBack shows twenty posts a page; sixty appear between
// two polls.
func TestTelegramGapsArePagedBack(t *testing.T) {
	t.Parallel()
	f := newFeedServer(t)
	newest := 20
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		to := newest
		if b := r.URL.Query().Get("before"); b != "" {
			if _, err := fmt.Sscan(b, &to); err != nil {
				t.Error(err)
			}
			to--
		}
		fmt.Fprint(w, `<html><body><section class="tgme_channel_history">`)
		for i := max(1, to-19); i <= to; i++ {
			fmt.Fprintf(w, `<div class="tgme_widget_message" data-post="wire/%d"><div class="tgme_widget_message_text">Post %d</div></div>`, i, i)
		}
		fmt.Fprint(w, `</section></body></html>`)
	})
	b := newBench(t)
	b.svc.reader.preview = strings.TrimSuffix(f.url, "/feed.xml")
	id := b.add("@wire")
	b.poll(id)
	newest = 80
	b.pass(time.Hour)
	_, fresh := b.poll(id)
	if len(fresh) != 60 || f.hits.Load() != 4 {
		t.Errorf("%d new posts by %d requests", len(fresh), f.hits.Load())
	}
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://t.me/wire", http.StatusFound)
	})
	b.pass(time.Hour)
	if rep, _ := b.poll(id); rep.Result != CodePreviewOff {
		t.Errorf("preview switched off: %s", rep.Result)
	}
}
