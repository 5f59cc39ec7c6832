package sources

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// TestQuietPollsAreRecordedTogether polls five unchanged sources through the
// queue: two share a host, one is paused while it is asked, one is scheduled
// anew meanwhile.
func TestQuietPollsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	ended := make(chan string, 10)
	b := newBench(t, func(c *Config) {
		c.Clock, c.OnPoll = time.Now, func(result string, _ map[string]int) { ended <- result }
		c.Reader = NewReader(c.Reader.web, "", time.Now)
	})
	during := map[string]func(){}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			if f := during[r.URL.Path]; f != nil {
				f()
			}
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"x"`)
		fmt.Fprint(w, feedOf("a", "b"))
	}))
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	port := l.Addr().(*net.TCPAddr).Port
	ids := map[string]int64{}
	for i, name := range []string{"plain", "shares", "paused", "hurried", "other"} {
		host := map[bool]int{true: 1, false: i + 1}[name == "shares"]
		ids[name] = b.add(fmt.Sprintf("http://127.0.9.%d:%d/%s", host, port, name))
		b.poll(ids[name])
		<-ended
	}
	soon := time.Now().Add(time.Hour).Truncate(time.Second)
	during["/paused"] = func() { b.tx(func(tx pgx.Tx) error { return b.svc.Pause(t.Context(), tx, ids["paused"]) }) }
	during["/hurried"] = func() {
		b.tx(func(tx pgx.Tx) error { return b.svc.pollAt(t.Context(), tx, ids["hurried"], soon) })
	}
	if _, err := b.pool.Exec(t.Context(), "DELETE FROM jobs; DELETE FROM job_keys; DELETE FROM polls; DELETE FROM hosts"); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		b.tx(func(tx pgx.Tx) error { return b.svc.pollAt(t.Context(), tx, id, time.Now().Add(-time.Second)) })
	}
	r := queue.NewRegistry()
	b.svc.Register(r)
	e := queue.New(queue.Config{Pool: b.pool, Registry: r, Logger: zerolog.Nop(), PollEvery: 50 * time.Millisecond})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range ids {
		if got := <-ended; got != "unchanged" {
			t.Errorf("a poll ended with %s", got)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.Stop(ctx); err != nil {
		t.Error(err)
	}
	const jobsAtDueSQL = `SELECT count(*) FROM jobs j JOIN sources s ON s.id = (j.payload->>'source_id')::bigint
		WHERE j.kind = 'poll' AND s.id = $1 AND j.run_at = s.next_poll_at AND j.key = s.id || ':' || extract(epoch FROM s.next_poll_at)::bigint`
	got := map[string][]any{}
	for name, id := range ids {
		got[name] = []any{
			value[string](b, "SELECT state FROM sources WHERE id = $1", id),
			value[int](b, "SELECT count(*) FROM polls WHERE source_id = $1 AND result = 'unchanged'", id),
			value[int](b, jobsAtDueSQL, id),
			value[int](b, "SELECT count(*) FROM jobs WHERE kind = 'poll' AND (payload->>'source_id')::bigint = $1", id),
		}
	}
	want := map[string][]any{
		"plain": {"active", 1, 1, 1}, "shares": {"active", 1, 1, 1}, "other": {"active", 1, 1, 1},
		"paused": {"paused", 1, 0, 0}, "hurried": {"active", 1, 1, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if at := value[time.Time](b, "SELECT next_poll_at FROM sources WHERE id = $1", ids["hurried"]); !at.Equal(soon) {
		t.Errorf("the hurried source is due at %v, want %v", at, soon)
	}
	if n := value[int](b, "SELECT count(*) FROM hosts WHERE busy_until > clock_timestamp()"); n != 0 {
		t.Errorf("%d hosts are held still", n)
	}
}
