package chaos_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox/play"
)

const (
	soakSources  = 10_000
	soakChannels = 20
	soakInterval = 2 * time.Minute // stands for a quarter of a day: an hour is a week
	soakNews     = 100 * time.Millisecond
)

// TestSoak runs one process for SOAK_MINUTES with ten thousand sources at
// intervals that stand for a week an hour, and prints once a minute what it
// holds. Memory, descriptors, goroutines and the hot tables may not grow from
// the second third to the last.
func TestSoak(t *testing.T) {
	minutes, err := strconv.Atoi(cmp.Or(os.Getenv("SOAK_MINUTES"), "0"))
	if err != nil || minutes == 0 {
		t.Skip("takes as many minutes as SOAK_MINUTES says: make soak")
	}
	w := newWorld(t, 1)
	w.press.mu.Lock()
	w.press.shown = 20
	for len(w.press.entries) < soakSources {
		w.press.entries = append(w.press.entries, nil)
	}
	w.press.mu.Unlock()
	for feed := range soakSources {
		for range 3 {
			w.press.publish(feed)
		}
	}
	ops := freePort(t)
	env := append(w.env(), "OPS_ADDR="+ops, "DATABASE_CONNS=20",
		"POLL_INTERVAL_MIN="+soakInterval.String(), "POLL_INTERVAL_MAX="+soakInterval.String())
	newFleet(t, build(t, nil), 1, env...)
	w.healthy()
	w.follow()

	done := make(chan struct{})
	var news sync.WaitGroup
	news.Go(func() { w.press.grow(done, soakNews) })
	defer func() { close(done); news.Wait() }()

	var seen []holding
	for minute := range minutes {
		pause(t.Context(), time.Minute)
		h, err := w.holding(t.Context(), ops)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, h)
		t.Logf("minute %d: %s", minute+1, h)
	}
	flat(t, seen)
}

// follow makes channels and the sources that they follow, past the chat: ten
// thousand messages would measure something else.
func (w *world) follow() {
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	person, err := w.stage.NewPerson(ctx, "Soaker", "en")
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range soakChannels {
		channel, err := person.NewChannel(ctx, fmt.Sprintf("Channel %d", i), "")
		if err != nil {
			w.t.Fatal(err)
		}
		if i == 0 {
			a := newActor(w.stage, person, channel, 1)
			a.link(w.t, ctx)
			if _, err := w.stage.Await(ctx, person.ID, 0, func(m play.Message) bool { return strings.Contains(m.Says(), channel.Title) }); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		const another = `INSERT INTO channels (chat_id, title, created_by, threshold) VALUES ($1, $2, $3, 100)`
		if _, err := w.pool.Exec(ctx, another, channel.ID, channel.Title, person.ID); err != nil {
			w.t.Fatal(err)
		}
	}
	addresses, hosts := make([]string, soakSources), make([]string, soakSources)
	for i := range addresses {
		addresses[i] = w.press.address(i)
		hosts[i] = strings.TrimPrefix(w.press.host(i), "http://")
	}
	const add = `
INSERT INTO sources (address, url, host, kind, title, next_poll_at)
SELECT a, a, h, 'feed', 'Feed ' || n, date_trunc('second', clock_timestamp()) + n * $3 / $4 * interval '1 second'
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (a, h, n)`
	if _, err := w.pool.Exec(ctx, add, addresses, hosts, int(soakInterval.Seconds()), soakSources); err != nil {
		w.t.Fatal(err)
	}
	const subscribe = `
INSERT INTO subscriptions (channel_id, source_id, created_by, baseline, baseline_done_at)
SELECT c.id, s.id, $1, 'none', clock_timestamp()
  FROM sources AS s
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM channels) AS c ON c.n = s.id % $2`
	if _, err := w.pool.Exec(ctx, subscribe, person.ID, soakChannels); err != nil {
		w.t.Fatal(err)
	}
	const due = `
WITH poll AS (
  INSERT INTO job_keys (job_id, kind, key)
  SELECT nextval('job_id_seq'), 'poll', id || ':' || extract(epoch FROM next_poll_at)::bigint
    FROM sources
  RETURNING job_id, key
)
INSERT INTO jobs (id, kind, tier, key, payload, run_at)
SELECT job_id, 'poll', 'default', key,
       json_build_object('source_id', split_part(key, ':', 1)::bigint, 'due', split_part(key, ':', 2)::bigint),
       to_timestamp(split_part(key, ':', 2)::bigint)
  FROM poll`
	if _, err := w.pool.Exec(ctx, due); err != nil {
		w.t.Fatal(err)
	}
}

// holding is what the process and the database hold at a moment.
type holding struct {
	memory, descriptors, goroutines, heap float64 // bytes, count, count, bytes
	polls, items                          int64
	hot                                   map[string]int64 // bytes of the tables that may not grow
}

func (h holding) String() string {
	var hot []string
	for _, table := range hotTables {
		hot = append(hot, fmt.Sprintf("%s %d kB", table, h.hot[table]>>10))
	}
	return fmt.Sprintf("%.0f MB resident, %.0f MB heap, %.0f descriptors, %.0f goroutines, %d polls, %d items; %s",
		h.memory/(1<<20), h.heap/(1<<20), h.descriptors, h.goroutines, h.polls, h.items, strings.Join(hot, ", "))
}

// hotTables hold what lives, however long the program runs; the others grow
// with what was read and done, until retention.
var hotTables = []string{"jobs", "hosts", "sources"} //nolint:gochecknoglobals // a constant

func (w *world) holding(ctx context.Context, ops string) (h holding, err error) {
	res, err := http.Get("http://" + ops + "/metrics")
	if err != nil {
		return h, err
	}
	defer func() { _ = res.Body.Close() }()
	into := map[string]*float64{
		"process_resident_memory_bytes": &h.memory, "process_open_fds": &h.descriptors,
		"go_goroutines": &h.goroutines, "go_memstats_heap_inuse_bytes": &h.heap,
	}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if to, ok := into[name]; ok {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return h, err
			}
		}
	}
	const counts = `SELECT (SELECT count(*) FROM polls), (SELECT count(*) FROM items)`
	if err := w.pool.QueryRow(ctx, counts).Scan(&h.polls, &h.items); err != nil {
		return h, err
	}
	h.hot = map[string]int64{}
	for _, table := range hotTables {
		var size int64
		if err := w.pool.QueryRow(ctx, `SELECT pg_total_relation_size($1::regclass)`, table).Scan(&size); err != nil {
			return h, err
		}
		h.hot[table] = size
	}
	return h, nil
}

// flat compares the last third with the one before it.
func flat(t *testing.T, seen []holding) {
	t.Helper()
	n := len(seen) / 3
	if n == 0 {
		return
	}
	middle, last := seen[n:2*n], seen[2*n:]
	figures := map[string]func(holding) float64{
		"resident memory": func(h holding) float64 { return h.memory },
		"descriptors":     func(h holding) float64 { return h.descriptors },
		"goroutines":      func(h holding) float64 { return h.goroutines },
	}
	for _, table := range hotTables {
		figures["size of "+table] = func(h holding) float64 { return float64(h.hot[table]) }
	}
	for name, of := range figures {
		before, after := highest(middle, of), highest(last, of)
		t.Logf("%s: highest %.0f, then %.0f (%+.1f %%)", name, before, after, 100*(after/before-1))
		if after > before*1.15 {
			t.Errorf("%s grew from %.0f to %.0f", name, before, after)
		}
	}
}

func highest(list []holding, of func(holding) float64) (most float64) {
	for _, h := range list {
		most = max(most, of(h))
	}
	return most
}

// freePort finds a port for a process that is told its address.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
