package miniapp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// reads are what the page asks for in a full channel.
func (w *world) reads() []string {
	ch := fmt.Sprintf("channels/%d", w.channel)
	return []string{
		"me", ch, ch + "/plan?days=7", ch + "/free-slots?n=18", ch + "/drafts?state=proposed&limit=20", ch + "/drafts?state=published&limit=20",
		fmt.Sprintf("drafts/%d", w.one(`SELECT max(id) FROM drafts`)), ch + "/sources", ch + "/sources/rhythm", ch + "/status", ch + "/activity?limit=20",
		ch + "/stats", ch + "/dropped", ch + "/changes", fmt.Sprintf("life?ref=%d", w.one(`SELECT max(id) FROM drafts WHERE state = 'published'`)),
	}
}

// TestTheAPIIsQuick reads everything from a channel with 1,000 drafts and 200
// sources, and beside each read, alternating, a bare handler that makes one
// trivial query. POSTONCE_BENCH=1 takes more rounds and holds p95 to 20 ms;
// otherwise, on machines that do other things too, the clock is only printed and
// every read has to answer.
func TestTheAPIIsQuick(t *testing.T) {
	rounds, exact := 12, os.Getenv("POSTONCE_BENCH") != ""
	if exact {
		rounds = 200
	} else {
		t.Parallel()
	}
	w := newWorld(t)
	w.fill(1000, 200)
	token := session(t, w.srv.URL, ann)
	bare := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var n int
		if err := w.pool.QueryRow(r.Context(), `SELECT 1`).Scan(&n); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(out, `{"n":%d}`, n)
	})
	for _, path := range w.reads() {
		var took, least []time.Duration
		var cpu time.Duration
		size := 0
		server := w.serverCPU()
		for range rounds {
			least = append(least, once(t, bare, "/", token, nil))
			w.ahead.Add(int64(50 * time.Millisecond)) // the pace that a person is allowed
			before := usage()
			took = append(took, once(t, w.handler, "/api/v1/"+path, token, &size))
			cpu += usage() - before
		}
		server = w.serverCPU() - server // with the bare handler's, which is next to nothing
		p95, base := percentile(took, 95), percentile(least, 95)
		t.Logf("%-46s p50 %6.2f ms  p95 %6.2f ms  bare p95 %5.2f ms  CPU %5.2f + %5.2f ms (server)  %6d bytes", path, ms(percentile(took, 50)), ms(p95), ms(base), ms(cpu)/float64(rounds), ms(server)/float64(rounds), size)
		if exact && p95 > 20*time.Millisecond {
			t.Errorf("%s: p95 is %.1f ms, want under 20 ms", path, ms(p95))
		}
	}
}

func once(t *testing.T, h http.Handler, path, token string, size *int) time.Duration {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
	req.Header.Set("Authorization", token)
	rec := httptest.NewRecorder()
	began := time.Now()
	h.ServeHTTP(rec, req)
	took := time.Since(began)
	if rec.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, rec.Code, rec.Body)
	}
	if size != nil {
		*size = rec.Body.Len()
	}
	return took
}

// usage is the CPU time of this process; the server is another one.
func usage() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // the kernel knows this process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverCPU is the CPU time of the server's processes for this database, to the
// hundredth of a second that the kernel counts in; 0 where they cannot be seen.
func (w *world) serverCPU() (sum time.Duration) {
	w.tb.Helper()
	rows, err := w.pool.Query(w.tb.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`)
	if err != nil {
		w.tb.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // another machine's
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			sum += time.Duration(user+system) * 10 * time.Millisecond
		}
	}
	return sum
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func percentile(list []time.Duration, p int) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[(len(list)-1)*p/100]
}
