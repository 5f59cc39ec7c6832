package chaos_test

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/play"
)

// world is everything around the processes: the database behind its proxy,
// Telegram, the press and the people.
type world struct {
	t     *testing.T
	dir   string
	seed  uint64
	proxy *proxy
	pool  *pgxpool.Pool // past the proxy: the checker's own eyes
	stand *sandbox.Sandbox
	stage *play.Stage
	press *press
	crew  []*actor

	mu     sync.Mutex
	server *embedded.Server
}

const (
	crewSize     = 3
	feedsPerCrew = 2
)

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, seed: seed, dir: dbtest.ServerDir(t)}
	w.startDatabase()
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.server.Stop()
	})
	w.proxy = newProxy(t, filepath.Join(w.dir, "run", ".s.PGSQL.5432"))
	pool, err := pgxpool.New(t.Context(), w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.pool = pool
	t.Cleanup(pool.Close)

	if w.stand, err = sandbox.New(sandbox.Config{Empty: true}); err != nil {
		t.Fatal(err)
	}
	telegram := httptest.NewServer(w.stand)
	t.Cleanup(func() {
		telegram.CloseClientConnections()
		telegram.Close()
		_ = w.stand.Close()
	})
	w.stage = play.New(telegram.URL)
	w.press = newPress(seed, crewSize*feedsPerCrew)
	papers := httptest.NewUnstartedServer(w.press)
	if papers.Listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil {
		t.Fatal(err)
	}
	papers.Start()
	t.Cleanup(papers.Close)
	w.press.port = papers.Listener.Addr().(*net.TCPAddr).Port
	return w
}

func (w *world) startDatabase() {
	server, err := embedded.Start(context.Background(), w.dir, "fsync=off", "max_connections=150", "jit=off")
	if err != nil {
		w.t.Fatalf("start Postgres: %v", err)
	}
	w.server = server
}

// restartDatabase ends Postgres as a crash does, and starts it again.
func (w *world) restartDatabase(away time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = syscall.Kill(w.server.PID(), syscall.SIGQUIT)
	<-w.server.Done()
	w.server.Stop()
	time.Sleep(away)
	w.startDatabase()
}

// env is what the processes are configured with.
func (w *world) env() []string {
	return []string{
		"TELEGRAM_BOT_TOKEN=" + string(w.stand.Token()),
		"TELEGRAM_API_URL=" + w.stage.Base,
		"TELEGRAM_PREVIEW_URL=" + w.stage.Base + "/s",
		fmt.Sprintf("DATABASE_URL=postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", w.proxy.port()),
		"DATABASE_CONNS=8", "DATA_DIR=" + w.dir,
		"ACCESS=open", "FETCH_ALLOW_NETS=127.0.0.0/8",
		"POLL_INTERVAL_MIN=1s", "POLL_INTERVAL_MAX=2s",
		"LOG_LEVEL=warn", "SHUTDOWN_GRACE=5s",
	}
}

// build makes the program, changed by a mutation or not.
func build(t *testing.T, m *mutation) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "postonce")
	args := []string{"build", "-o", path}
	if m != nil {
		args = append(args, "-overlay", m.overlay(t))
	}
	cmd := exec.Command("go", append(args, "../../cmd/postonce")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// settlers sets the scene while nothing is attacked: people with a channel and
// two feeds each, who want everything that comes, at short slots.
func (w *world) settlers() {
	t := w.t
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := range crewSize {
		person, err := w.stage.NewPerson(ctx, fmt.Sprintf("Actor%d", i), "en")
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		if i == 0 {
			name = "actor0news" // one has a public page, by which doubts settle themselves
		}
		channel, err := person.NewChannel(ctx, fmt.Sprintf("Channel %d", i), name)
		if err != nil {
			t.Fatal(err)
		}
		a := newActor(w.stage, person, channel, w.seed+uint64(i))
		a.link(t, ctx)
		a.say(ctx, "/add "+w.press.address(2*i)+" "+w.press.address(2*i+1))
		if _, err := w.stage.Await(ctx, person.ID, 0, func(m play.Message) bool { _, ok := m.Button("Approve"); return ok }); err != nil {
			t.Fatal(err)
		}
		w.crew = append(w.crew, a)
	}
	const everything = `
UPDATE channels SET threshold = 0, week = (
  SELECT jsonb_object_agg(d, (SELECT jsonb_agg(to_char(make_time(h, m, 0), 'HH24:MI')) FROM generate_series(0, 23) AS h, generate_series(0, 59, 2) AS m))
    FROM unnest(ARRAY['mon','tue','wed','thu','fri','sat','sun']) AS d)`
	if _, err := w.pool.Exec(ctx, everything); err != nil {
		t.Fatal(err)
	}
	// What a week of measuring would come to, for jobs that take milliseconds.
	if _, err := w.pool.Exec(ctx, `UPDATE job_kinds SET measured_lease = '10 s'`); err != nil {
		t.Fatal(err)
	}
}

// ageLeases lets the time pass that leases and deadlines would take to end.
// Nobody is alive when it is called, so nothing is under way that they protect.
func (w *world) ageLeases(ctx context.Context) {
	for _, statement := range []string{
		`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 s' WHERE state = 'leased'`,
		`UPDATE jobs SET run_at = least(run_at, clock_timestamp()) WHERE state = 'ready' AND run_at < clock_timestamp() + interval '10 minutes'`,
		`UPDATE effects SET deadline_at = least(deadline_at, clock_timestamp()) WHERE state = 'intent'`,
	} {
		if _, err := w.pool.Exec(ctx, statement); err != nil {
			w.t.Fatal(err)
		}
	}
}

// busySQL counts what is due or under way, and what an item or an update still
// has to go through however late; polls and schedules never end.
const busySQL = `
SELECT count(*), coalesce(min(kind || ' ' || key), '')
  FROM jobs
 WHERE (state = 'leased' OR run_at < clock_timestamp() + interval '2 s' OR kind IN ('article', 'match', 'score', 'draft', 'card', 'update'))
   AND kind <> 'poll'
   AND NOT EXISTS (SELECT FROM schedules AS s WHERE s.kind = jobs.kind)`

// quiet waits until nothing is left to do but polling and what stands in slots,
// and everything that was published and said is known. What is not known after
// so long is the checker's to report; quiet returns what it waited for.
func (w *world) quiet(within time.Duration) (problems []string) {
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	var late string
	for ctx.Err() == nil {
		var n int
		var which string
		err := w.pool.QueryRow(ctx, busySQL).Scan(&n, &which)
		if err == nil && n == 0 && w.allKnown(ctx) {
			return nil
		}
		late = fmt.Sprintf("%d jobs left, such as %q (%v)", n, which, err)
		pause(ctx, 200*time.Millisecond)
	}
	return []string{fmt.Sprintf("the program did not come to rest within %s: %s", within, late)}
}

// allKnown reports whether every entry that was published is an item, and
// everything that people did is an update.
func (w *world) allKnown(ctx context.Context) bool {
	missing, err := w.unread(ctx)
	if err != nil || len(missing) > 0 {
		return false
	}
	for _, a := range w.crew {
		unheard, err := a.unheard(ctx, w)
		if err != nil || len(unheard) > 0 {
			return false
		}
	}
	return true
}

func (w *world) unread(ctx context.Context) (missing []string, err error) {
	rows, err := w.pool.Query(ctx, `SELECT l FROM unnest($1::text[]) AS l WHERE NOT EXISTS (SELECT FROM items WHERE url = l)`, w.press.links())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// healthy waits until one process answers the bot's tasks: the schema is there.
func (w *world) healthy() {
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	defer cancel()
	for {
		var n int
		if err := w.pool.QueryRow(ctx, `SELECT count(*) FROM update_pollers WHERE lease_until > clock_timestamp()`).Scan(&n); err == nil && n > 0 {
			return
		}
		if ctx.Err() != nil {
			w.t.Fatal("no process began to poll for updates")
		}
		pause(ctx, 100*time.Millisecond)
	}
}
