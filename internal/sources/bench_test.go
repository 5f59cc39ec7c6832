package sources

import (
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
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/mmcdole/gofeed"
	"github.com/rs/zerolog"

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
	os.Exit(m.Run())
}

// serveBench answers on plain and TLS ports of all loopback addresses: 304 to
// a conditional request, else a feed of 30 entries whose head changes.
func serveBench() {
	var n atomic.Int64
	body := benchFeed(30)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" && strings.HasPrefix(r.URL.Path, "/same") {
			w.WriteHeader(http.StatusNotModified)
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

// benchSources adds n sources and polls each once.
func benchSources(b testing.TB, scheme, port, path string, n int) (*bench, []*row) {
	b.Helper()
	web := benchClient(b)
	k := newBench(b, func(c *Config) {
		c.Reader = NewReader(web, "", time.Now)
		c.Clock = time.Now
	})
	var rows []*row
	for i := range n {
		id := k.add(fmt.Sprintf("%s://%s:%s%s", scheme, hostOf(i), port, path))
		src, err := scanRow(k.pool.QueryRow(b.Context(), sourceFindSQL, id))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := k.svc.pollRow(b.Context(), src); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, src)
	}
	return k, rows
}

// pollOnce does what the job does.
func pollOnce(b testing.TB, k *bench, id int64) {
	ctx := b.Context()
	src, ok, err := k.svc.claimSource(ctx, pollArgs{id, time.Now().Add(24 * time.Hour).Unix()})
	if err != nil || !ok {
		b.Fatal("host not free", err)
	}
	out := k.svc.ask(ctx, src)
	if out.problem != nil {
		b.Fatal(out.problem)
	}
	if err := pgx.BeginFunc(ctx, k.pool, func(tx pgx.Tx) error { return k.svc.record(ctx, tx, id, out) }); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkUnchanged(b *testing.B) {
	s := startBenchServer(b)
	for _, v := range []struct{ scheme, port string }{{"http", s.plain}, {"https", s.secure}} {
		c := bare(b)
		b.Run(v.scheme+"/bare conditional GET", func(b *testing.B) {
			measure(b, func(i int) { bareGet(b, c, fmt.Sprintf("%s://%s:%s/same", v.scheme, hostOf(i%50), v.port), `"x"`) })
		})
		web := benchClient(b)
		b.Run(v.scheme+"/fetch", func(b *testing.B) {
			measure(b, func(i int) {
				if _, err := web.Get(b.Context(), fetch.Request{URL: fmt.Sprintf("%s://%s:%s/same", v.scheme, hostOf(i%200), v.port), ETag: `"x"`}); err != nil {
					b.Fatal(err)
				}
			})
		})
		k, rows := benchSources(b, v.scheme, v.port, "/same", 200)
		b.Run(v.scheme+"/poll", func(b *testing.B) {
			measure(b, func(i int) { pollOnce(b, k, rows[i%len(rows)].id) })
		})
	}
}

func BenchmarkKnown30(b *testing.B) {
	s := startBenchServer(b)
	for _, v := range []struct{ scheme, port string }{{"http", s.plain}, {"https", s.secure}} {
		k, rows := benchSources(b, v.scheme, v.port, "/changes", 200)
		c := bare(b)
		parser := gofeed.NewParser()
		b.Run(v.scheme+"/bare GET, gofeed, one lookup", func(b *testing.B) {
			measure(b, func(i int) {
				feed, err := parser.ParseString(string(bareGet(b, c, fmt.Sprintf("%s://%s:%s/changes", v.scheme, hostOf(i%50), v.port), "")))
				if err != nil {
					b.Fatal(err)
				}
				keys := make([][]byte, 0, len(feed.Items))
				for range feed.Items {
					key := make([]byte, 16)
					_, _ = rand.Read(key)
					keys = append(keys, key)
				}
				r, err := k.pool.Query(b.Context(), keysKnownSQL, rows[0].id, keys)
				if err != nil {
					b.Fatal(err)
				}
				r.Close()
			})
		})
		b.Run(v.scheme+"/poll", func(b *testing.B) {
			measure(b, func(i int) { pollOnce(b, k, rows[i%len(rows)].id) })
		})
	}
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

// TestTenThousandDue has 10,000 sources due at once; it is measured, not
// asserted, and only on request.
func TestTenThousandDue(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("set POSTONCE_BENCH=1 to measure")
	}
	s := startBenchServer(t)
	web := benchClient(t)
	k := newBench(t, func(c *Config) {
		c.Reader, c.Clock, c.MinInterval = NewReader(web, "", time.Now), time.Now, 3*time.Hour
	})
	const n = 10_000
	for i := 0; i < n; i += 500 {
		k.tx(func(tx pgx.Tx) error {
			for j := i; j < i+500; j++ {
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
		t.Logf("%s: %.1f s, %.0f polls/s, %d µs of CPU a poll, resident at most %s", what, took.Seconds(), n/took.Seconds(), (used / n).Microseconds(), status("VmHWM"))
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
