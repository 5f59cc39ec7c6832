package sources

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/mmcdole/gofeed"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/queue"
)

// The benchmarks compare a poll with the least that could do the same, in CPU
// time of this process. The server runs in a child process, so that only the
// client is counted; every source stands on a loopback address of its own, as
// hosts are met in life: each request is a new connection.

const benchServerEnv = "POSTONCE_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(benchServerEnv) != "" {
		serveBench()
		return
	}
	if os.Getenv(killDBEnv) != "" {
		killedChild()
		return
	}
	os.Exit(m.Run())
}

// serveBench answers on plain and TLS ports of all loopback addresses: 304 to
// a conditional request, else a feed of 30 entries whose head changes, or whose
// order does.
func serveBench() {
	var n atomic.Int64
	body := benchFeed(30)
	head, rest, _ := strings.Cut(body, "<item>")
	first, rest, _ := strings.Cut(rest, "<item>")
	turned := head + "<item>" + strings.Replace(rest, "</channel>", "<item>"+first+"</channel>", 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" && strings.HasPrefix(r.URL.Path, "/same") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/turns") {
			_, _ = io.WriteString(w, []string{body, turned}[n.Add(1)/600%2])
			return
		}
		w.Header().Set("ETag", `"x"`)
		_, _ = io.WriteString(w, strings.Replace(body, "BUILD", strconv.FormatInt(n.Add(1), 10), 1))
	})
	plain, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		panic(err)
	}
	secure := httptest.NewUnstartedServer(h)
	secure.Listener, err = net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		panic(err)
	}
	secure.StartTLS()
	fmt.Println(plain.Addr().(*net.TCPAddr).Port, secure.Listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(plain, h))
}

func benchFeed(n int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Wire</title><link>https://wire.example/</link><lastBuildDate>BUILD</lastBuildDate>`)
	para := strings.Repeat("The council met on Monday and agreed on the plan for the harbour bridge. ", 12)
	for i := range n {
		fmt.Fprintf(&b, `<item><title>Story number %d about the harbour &amp; its bridge</title><link>https://wire.example/2026/05/story-%d?utm_source=rss</link><guid isPermaLink="false">https://wire.example/?p=%d</guid><pubDate>Mon, 04 May 2026 %02d:%02d:00 +0000</pubDate><dc:creator>Ann</dc:creator><category>City</category><description><![CDATA[<p>%s</p>]]></description><content:encoded><![CDATA[<p>%s</p><p><img src="https://wire.example/i/%d.jpg"></p>]]></content:encoded></item>`, i, i, i, i/60, i%60, para[:200], para, i)
	}
	b.WriteString(`</channel></rss>`)
	return b.String()
}

type benchServer struct{ plain, secure string }

func startBenchServer(b testing.TB) benchServer {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // this test binary
	cmd.Env = append(os.Environ(), benchServerEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var s benchServer
	if _, err := fmt.Fscan(out, &s.plain, &s.secure); err != nil {
		b.Fatal(err)
	}
	return s
}

// hostOf is a loopback address of its own for source n.
func hostOf(n int) string { return fmt.Sprintf("127.%d.%d.%d", 1+n/62500, n/250%250, 1+n%250) }

// cpu is the time that this process has spent on its processors.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports CPU time per operation.
func measure(b *testing.B, op func(i int)) {
	b.Helper()
	i := 0
	start := cpu()
	for b.Loop() {
		op(i)
		i++
	}
	b.ReportMetric(float64((cpu()-start).Microseconds())/float64(i), "cpu-µs/op")
}

func benchClient(b testing.TB) *fetch.Client {
	b.Helper()
	c := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, TLS: &tls.Config{InsecureSkipVerify: true}}) //nolint:gosec // the server's certificate is a test's
	b.Cleanup(c.Close)
	return c
}

func bare(b testing.TB) *http.Client {
	b.Helper()
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // as above
	return &http.Client{Transport: t}
}

func bareGet(b testing.TB, c *http.Client, url, etag string) []byte {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// pairs are the rounds of a comparison; both sides take turns in each.
const pairs = 9

// beside runs ours and the least that could do the same in turns, in CPU time
// of this process per operation, and logs the medians and the spread of the
// ratio.
func beside(t *testing.T, what string, n int, least, ours func()) {
	t.Helper()
	take := func(f func()) time.Duration {
		runtime.GC()
		before := cpu()
		f()
		return (cpu() - before) / time.Duration(n)
	}
	least()
	ours()
	var a, b []time.Duration
	var ratios []float64
	for range pairs {
		x, y := take(least), take(ours)
		a, b, ratios = append(a, x), append(b, y), append(ratios, float64(y)/float64(x))
	}
	slices.Sort(a)
	slices.Sort(b)
	slices.Sort(ratios)
	t.Logf("%s: least %v, ours %v, ratio %.2f (%.2f to %.2f)", what, a[pairs/2], b[pairs/2], ratios[pairs/2], ratios[0], ratios[pairs-1])
}

// TestPollsBesideTheLeastThatCould compares polls through the queue, as the
// program makes them, with bare requests: measured on request, not asserted.
func TestPollsBesideTheLeastThatCould(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("set POSTONCE_BENCH=1 to measure")
	}
	s := startBenchServer(t)
	for _, v := range []struct{ scheme, port string }{{"https", s.secure}, {"http", s.plain}} {
		for _, path := range []string{"/same", "/changes", "/turns"} {
			t.Run(v.scheme+strings.ReplaceAll(path, "/", " "), func(t *testing.T) { pollsBeside(t, v.scheme, v.port, path) })
		}
	}
}

func pollsBeside(t *testing.T, scheme, port, path string) {
	t.Helper()
	const n = 300
	p := newPolls(t, scheme, port, path, n)
	defer func() { p.stop() }()
	c := bare(t)
	conditional := map[string]string{"/same": `"x"`}[path]
	beside(t, scheme+path, n, func() {
		var wg errgroup.Group
		wg.SetLimit(16)
		for i := range n {
			wg.Go(func() error {
				body := bareGet(t, c, fmt.Sprintf("%s://%s:%s%s", scheme, hostOf(i), port, path), conditional)
				if conditional != "" {
					return nil
				}
				return p.parseAndLookUp(body)
			})
		}
		if err := wg.Wait(); err != nil {
			t.Error(err)
		}
	}, p.drain)
}

// polls are n sources, all polled before, on an engine of their own.
type polls struct {
	*bench
	n    int
	ids  []int64
	done chan string
	stop func()
}

func newPolls(t *testing.T, scheme, port, path string, n int) *polls {
	t.Helper()
	web := benchClient(t)
	p := &polls{n: n, done: make(chan string, n)}
	p.bench = newBench(t, func(c *Config) {
		c.Reader, c.Clock, c.MinInterval = NewReader(web, "", time.Now), time.Now, 3*time.Hour
		c.OnPoll = func(result string, _ map[string]int) { p.done <- result }
	})
	for i := range n {
		p.ids = append(p.ids, p.add(fmt.Sprintf("%s://%s:%s%s", scheme, hostOf(i), port, path)))
	}
	p.run()
	return p
}

// run polls every source that is due until all were polled.
func (p *polls) run() {
	r := queue.NewRegistry()
	p.svc.Register(r)
	e := queue.New(queue.Config{Pool: p.pool, Registry: r, Logger: zerolog.Nop(), Workers: map[queue.Tier]int{queue.Default: 16, queue.Critical: 1, queue.Bulk: 1}})
	if err := e.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = e.Stop(ctx)
	}
	p.wait()
}

func (p *polls) wait() {
	for range p.n {
		if got := <-p.done; got != "ok" && got != "unchanged" {
			p.t.Errorf("a poll ended with %s", got)
		}
	}
}

// drain makes every source due, in the database alone, and waits until all
// were polled.
func (p *polls) drain() {
	const dueSQL = `
		WITH k AS (DELETE FROM job_keys WHERE kind = 'poll'), -- the next due times are on the same grid
		     s AS (UPDATE sources SET next_poll_at = date_trunc('second', clock_timestamp()) - make_interval(secs => (random() * 1e6)::int) RETURNING id, next_poll_at),
		     h AS (UPDATE hosts SET busy_until = '-infinity', rests_until = '-infinity')
		UPDATE jobs SET run_at = clock_timestamp(), payload = json_build_object('source_id', s.id, 'due', extract(epoch FROM s.next_poll_at)::bigint)
		  FROM s WHERE jobs.kind = 'poll' AND (jobs.payload->>'source_id')::bigint = s.id`
	const hintSQL = "SELECT pg_notify('postonce_jobs', 'default')" // as an enqueue does
	for _, sql := range []string{dueSQL, hintSQL} {
		if _, err := p.pool.Exec(p.t.Context(), sql); err != nil {
			p.t.Fatal(err)
		}
	}
	p.wait()
}

// parseAndLookUp is the least that a feed with known entries costs.
func (p *polls) parseAndLookUp(body []byte) error {
	feed, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return err
	}
	keys := make([][]byte, 0, len(feed.Items))
	for range feed.Items {
		key := make([]byte, 16)
		_, _ = rand.Read(key)
		keys = append(keys, key)
	}
	r, err := p.pool.Query(p.t.Context(), keysKnownSQL, p.ids[0], keys)
	if err != nil {
		return err
	}
	r.Close()
	return r.Err()
}

// BenchmarkDecode30 shows decoding alone.
func BenchmarkDecode30(b *testing.B) {
	body := benchFeed(30)
	r := NewReader(benchClient(b), "", time.Now)
	parser := gofeed.NewParser()
	b.Run("gofeed", func(b *testing.B) {
		measure(b, func(int) {
			if _, err := parser.ParseString(body); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("decode", func(b *testing.B) {
		measure(b, func(int) {
			if _, err := r.decode(b.Context(), &fetch.Response{Body: []byte(body)}); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// TestTenThousandDue has 10,000 sources due at once, or POSTONCE_BENCH_SOURCES;
// it is measured, not asserted, and only on request.
func TestTenThousandDue(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("set POSTONCE_BENCH=1 to measure")
	}
	s := startBenchServer(t)
	web := benchClient(t)
	k := newBench(t, func(c *Config) {
		c.Reader, c.Clock, c.MinInterval = NewReader(web, "", time.Now), time.Now, 3*time.Hour
	})
	n := 10_000
	if few, err := strconv.Atoi(os.Getenv("POSTONCE_BENCH_SOURCES")); err == nil && few > 0 {
		n = few
	}
	for i := 0; i < n; i += 500 {
		k.tx(func(tx pgx.Tx) error {
			for j := i; j < min(n, i+500); j++ {
				if _, err := k.svc.AddAddress(t.Context(), tx, fmt.Sprintf("http://%s:%s/same", hostOf(j), s.plain), ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for round, what := range []string{"first polls, 30 new entries each", "unchanged"} {
		if round > 0 {
			for i := range n {
				k.tx(func(tx pgx.Tx) error { return k.svc.pollAt(t.Context(), tx, int64(i+1), time.Now()) })
			}
		}
		r := queue.NewRegistry()
		k.svc.Register(r)
		e := queue.New(queue.Config{Pool: k.pool, Registry: r, Logger: zerolog.Nop(), Workers: map[queue.Tier]int{queue.Default: 16}})
		before, start := cpu(), time.Now()
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for value[int](k, "SELECT count(*) FROM polls") < n*(round+1) {
			time.Sleep(200 * time.Millisecond)
		}
		took, used := time.Since(start), cpu()-before
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_ = e.Stop(ctx)
		cancel()
		t.Logf("%s: %.1f s, %.0f polls/s, %d µs of CPU a poll, resident at most %s", what, took.Seconds(), float64(n)/took.Seconds(), (used / time.Duration(n)).Microseconds(), status("VmHWM"))
	}
}

func status(field string) string {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "?"
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}
