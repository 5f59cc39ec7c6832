package sources

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/queue"
)

// The child of the kill test polls what is due, and stops for good at the
// point that killAtEnv names, for its parent to kill it there.
const (
	killAtEnv = "POSTONCE_KILL_AT"
	killDBEnv = "POSTONCE_KILL_DB"
)

const handedInsertSQL = `INSERT INTO handed (item) SELECT unnest($1::bigint[])`

func stopAt(point string) {
	if os.Getenv(killAtEnv) == point {
		fmt.Println(point)
		select {}
	}
}

// pollDue runs an engine that polls what is due.
func pollDue(ctx context.Context, pool *pgxpool.Pool, told chan<- string) (*queue.Engine, error) {
	web := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	svc := New(Config{
		Pool: pool, Reader: NewReader(web, "", time.Now), HostGap: -1, PollUnfollowed: true,
		OnNew: func(ctx context.Context, tx pgx.Tx, ids []int64) error {
			_, err := tx.Exec(ctx, handedInsertSQL, ids)
			stopAt("in the transaction")
			return err
		},
		OnPoll: func(result string, _ map[string]int) {
			stopAt("after the commit")
			told <- result
		},
	})
	r := queue.NewRegistry()
	svc.Register(r)
	e := queue.New(queue.Config{Pool: pool, Registry: r, Logger: zerolog.Nop(), PollEvery: 50 * time.Millisecond, ReapEvery: 50 * time.Millisecond})
	return e, e.Start(ctx)
}

func killedChild() {
	pool, err := pgxpool.New(context.Background(), os.Getenv(killDBEnv))
	if err != nil {
		panic(err)
	}
	if _, err := pollDue(context.Background(), pool, make(chan string, 100)); err != nil {
		panic(err)
	}
	select {}
}

// TestAKilledPollLosesNothingAndRepeatsNothing kills the process that polls:
// while it waits for the answer, before the commit and after it; with news to
// record, and with a poll that changed nothing.
func TestAKilledPollLosesNothingAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"while asking", "in the transaction", "after the commit", "after the commit of an unchanged poll"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *Config) { c.Clock = time.Now; c.Reader = NewReader(c.Reader.web, "", time.Now) })
			b.exec("CREATE TABLE handed (item bigint)")
			f := newFeedServer(t)
			f.show("a", "b")
			id := b.add(f.url)
			b.poll(id)
			asked, quiet := make(chan struct{}, 9), strings.HasSuffix(point, "unchanged poll")
			body := feedOf("c", "a", "b")
			if quiet {
				body = feedOf("a", "b")
			}
			release := make(chan struct{})
			f.handle(func(w http.ResponseWriter, _ *http.Request) {
				asked <- struct{}{}
				if point == "while asking" {
					<-release
				}
				fmt.Fprint(w, body)
			})
			b.due(id)
			kill := startKillable(t, b, strings.TrimSuffix(point, " of an unchanged poll"))
			if point == "while asking" {
				<-asked
			}
			kill()
			close(release)
			// What time would do: the lease and the hold of the host end.
			b.exec("UPDATE jobs SET lease_until = clock_timestamp() WHERE state = 'leased'; UPDATE hosts SET busy_until = '-infinity', rests_until = '-infinity'")
			told := make(chan string, 9)
			e, err := pollDue(t.Context(), b.pool, told)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(point, "after") { // else the poll is done, and must not run again
				<-told
			}
			b.until("SELECT NOT EXISTS (SELECT FROM jobs WHERE state = 'leased')")
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_ = e.Stop(ctx)
			want := map[string]int{"items": 3, "handed": 1, "handed once": 1, "recorded polls": 2, "next polls": 1, "archived": 0}
			if quiet {
				want["items"], want["handed"], want["handed once"] = 2, 0, 0
			}
			if diff := cmp.Diff(want, map[string]int{
				"items":          value[int](b, "SELECT count(*) FROM items"),
				"handed":         value[int](b, "SELECT count(*) FROM handed"),
				"handed once":    value[int](b, "SELECT count(DISTINCT item) FROM handed"),
				"recorded polls": value[int](b, "SELECT count(*) FROM polls"),
				"next polls":     value[int](b, "SELECT count(*) FROM jobs j JOIN sources s ON j.run_at = s.next_poll_at WHERE j.kind = 'poll'"),
				"archived":       value[int](b, "SELECT count(*) FROM job_archive"),
			}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// startKillable starts a process that polls, waits until it says that it has
// reached the point (or not, where the parent knows by itself), and returns
// what kills it.
func startKillable(t *testing.T, b *bench, point string) func() {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // this test binary
	cmd.Env = append(os.Environ(), killAtEnv+"="+point, killDBEnv+"="+b.pool.Config().ConnString())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	if point != "while asking" {
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != point {
			t.Fatalf("the process said %q, %v", line, err)
		}
	}
	return kill
}

func (b *bench) exec(sql string) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatal(err)
	}
}

// due makes the next poll of a source due now.
func (b *bench) due(id int64) {
	b.t.Helper()
	b.exec("DELETE FROM jobs; DELETE FROM job_keys; DELETE FROM hosts")
	b.tx(func(tx pgx.Tx) error { return b.svc.pollAt(b.t.Context(), tx, id, time.Now().Add(-time.Second)) })
}

// until waits for other connections, which give no signal.
func (b *bench) until(sql string) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !value[bool](b, sql); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("timed out: %s", sql)
		}
	}
}
