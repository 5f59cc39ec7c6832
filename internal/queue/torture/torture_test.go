package torture_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/migrations"
)

// plan is one run.
type plan struct {
	jobs      int
	processes int
	lease     time.Duration
	die       float64
	freeze    float64
	cut       float64
	control   bool
	seed      uint64
	kick      time.Duration // how often sessions are ended
	restart   time.Duration // how often Postgres is stopped at once
	attack    time.Duration // afterwards nothing dies any more and what is left is worked off; 0: to the end
	limit     time.Duration
}

func shortPlan() plan {
	return plan{
		jobs: 120, processes: 3, lease: 900 * time.Millisecond, die: .006, freeze: .004, cut: .003, seed: 1,
		kick: 700 * time.Millisecond, restart: 4 * time.Second, limit: 3 * time.Minute,
	}
}

func TestTortureLeavesNothingTwiceAndNothingLost(t *testing.T) {
	p := shortPlan()
	if n, _ := strconv.Atoi(os.Getenv("TORTURE_JOBS")); n > 0 {
		p = plan{
			jobs: n, processes: 4, lease: 1500 * time.Millisecond, die: .02, freeze: .01, cut: .004, seed: uint64(time.Now().UnixNano()),
			kick: 500 * time.Millisecond, restart: 20 * time.Second, limit: 55 * time.Minute,
		}
		p.attack, _ = time.ParseDuration(os.Getenv("TORTURE_FOR"))
		if seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64); err == nil {
			p.seed = seed
		}
		t.Logf("seed %d", p.seed)
	}
	r := newRig(t, p)
	r.run()
	for _, wrong := range check(t, r.pool, r.world) {
		t.Error(wrong)
	}
	r.tell()
	if r.count("die") == 0 || r.count("freeze") == 0 || r.count("cut") == 0 {
		t.Error("nothing was attacked: the run proves nothing")
	}
}

// TestTortureControl shows that the attack bites: without the ledger's refusals and with rescue by age only,
// effects repeat.
func TestTortureControl(t *testing.T) {
	p := shortPlan()
	p.control, p.die, p.freeze, p.restart, p.lease, p.jobs = true, .01, .03, 0, 600*time.Millisecond, 75
	r := newRig(t, p)
	r.run()
	r.tell()
	twice := r.world.twice()
	t.Logf("without fencing %d effects happened twice or more", len(twice))
	if len(twice) == 0 {
		t.Error("the control run found nothing: the torture test proves nothing")
	}
}

// rig is one server, one world, and the processes under attack.
type rig struct {
	t      *testing.T
	plan   plan
	dir    string
	binary string
	url    string
	pool   *pgxpool.Pool
	world  *world
	web    *httptest.Server

	mu     sync.Mutex
	server *embedded.Server // guarded by mu
	counts map[string]int   // what the processes said; guarded by mu
	born   atomic.Uint64
	ending atomic.Bool
	calm   atomic.Bool // processes that start now live
}

func newRig(t *testing.T, p plan) *rig {
	t.Helper()
	r := &rig{t: t, plan: p, dir: serverDir(t), counts: map[string]int{}, world: newWorld(p.seed, 2*p.lease)}
	r.binary = filepath.Join(t.TempDir(), "worker")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", r.binary, "./testdata/worker")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the worker: %v\n%s", err, out)
	}
	r.startServer()
	if r.server == nil {
		t.FailNow()
	}
	r.migrate()
	r.web = httptest.NewServer(r.world)
	t.Cleanup(func() {
		r.web.CloseClientConnections()
		r.web.Close()
		r.pool.Close()
		r.server.Stop()
	})
	return r
}

// serverDir is short and open enough for the account that the server drops to.
func serverDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "torture-") //nolint:usetesting // short, and open to the server's account
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // traversed by the server's account
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// startServer: fsync may be off, as only processes die here and not the machine; synchronous_commit may not.
func (r *rig) startServer() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := embedded.Start(ctx, r.dir, "fsync=off", "max_connections=150")
	for err != nil && ctx.Err() == nil { // the processes of the last one are still going
		time.Sleep(50 * time.Millisecond)
		s, err = embedded.Start(ctx, r.dir, "fsync=off", "max_connections=150")
	}
	if err != nil {
		r.t.Errorf("start Postgres: %v", err)
		return
	}
	r.mu.Lock()
	r.server, r.url = s, s.URL
	r.mu.Unlock()
}

func (r *rig) migrate() {
	r.t.Helper()
	ctx := context.Background()
	m, err := postgres.NewMigrator(r.url, migrations.FS)
	if err == nil {
		_, err = m.Up(ctx)
		_ = m.Close()
	}
	if err == nil {
		r.pool, err = pgxpool.New(ctx, r.url)
	}
	if err == nil {
		_, err = r.pool.Exec(ctx, `CREATE TABLE torture_posts (n int PRIMARY KEY, state text NOT NULL);
			CREATE TABLE torture_rows (n int NOT NULL); CREATE TABLE torture_submitted (kind text, n int)`)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// run submits, attacks until the table of jobs is empty, and stops the processes.
func (r *rig) run() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), r.plan.limit)
	defer cancel()
	var attackers, processes sync.WaitGroup
	attack, calm := context.WithCancel(ctx)
	defer calm()
	for range r.plan.processes {
		processes.Go(func() { r.processes(ctx) })
	}
	attackers.Go(func() { r.kick(attack) })
	attackers.Go(func() { r.restart(attack) })
	if r.plan.attack > 0 {
		time.AfterFunc(r.plan.attack, func() { r.calm.Store(true); calm() })
	}
	r.submit(ctx)
	left := r.drain(ctx)
	calm()
	attackers.Wait()
	r.ending.Store(true)
	cancel()
	processes.Wait()
	if left != 0 {
		r.t.Fatalf("%d jobs are left after %v", left, r.plan.limit)
	}
}

// submit hands every key in twice, at the same time.
func (r *rig) submit(ctx context.Context) {
	kinds := map[string]queue.Tier{"post": queue.Default, "pure": queue.Bulk, "talk": queue.Critical}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range r.plan.jobs {
				kind := []string{"post", "pure", "talk"}[i%3]
				r.insist(ctx, func(tx pgx.Tx) error { return submitOne(ctx, tx, kind, kinds[kind], i) })
			}
		})
	}
	wg.Wait()
}

type task struct {
	N    int    `json:"n"`
	Chat string `json:"chat,omitempty"`
}

func submitOne(ctx context.Context, tx pgx.Tx, kind string, tier queue.Tier, n int) error {
	k := queue.Kind[task]{Name: kind, Tier: tier, Key: func(a task) string { return strconv.Itoa(a.N) }}
	a := task{N: n}
	if kind == "talk" {
		a.Chat = strconv.Itoa(n % 7)
		k.Ordering = func(a task) string { return "chat:" + a.Chat }
	}
	if _, err := k.EnqueueTx(ctx, tx, a); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO torture_submitted (kind, n) VALUES ($1, $2)", kind, n)
	return err
}

// insist repeats until a transaction is known to have committed; the key makes a repetition harmless.
func (r *rig) insist(ctx context.Context, fn func(pgx.Tx) error) {
	for ctx.Err() == nil {
		if pgx.BeginFunc(ctx, r.pool, fn) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// drain waits until nothing may run any more.
func (r *rig) drain(ctx context.Context) int {
	left := -1
	for ctx.Err() == nil && left != 0 {
		time.Sleep(100 * time.Millisecond)
		if err := r.pool.QueryRow(ctx, "SELECT count(*) FROM jobs").Scan(&left); err != nil {
			left = -1
		}
	}
	if left == 0 {
		time.Sleep(4 * r.plan.lease) // frozen processes wake up and try what they can
	}
	return left
}

// processes keeps one process alive, again and again.
func (r *rig) processes(ctx context.Context) {
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the process ends
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		number := r.born.Add(1)
		cmd := exec.Command(r.binary)
		cmd.Env = append(os.Environ(), "DATABASE_URL="+r.url, "WORLD_URL="+r.web.URL,
			fmt.Sprintf("FAILPOINT_SEED=%d", r.plan.seed+number),
			fmt.Sprintf("FAILPOINT_LEASE_MS=%d", r.plan.lease.Milliseconds()))
		if !r.calm.Load() {
			cmd.Env = append(cmd.Env,
				fmt.Sprintf("FAILPOINT_DIE=%g", r.plan.die), fmt.Sprintf("FAILPOINT_FREEZE=%g", r.plan.freeze),
				fmt.Sprintf("FAILPOINT_CUT=%g", r.plan.cut))
		}
		if r.plan.control {
			cmd.Env = append(cmd.Env, "FAILPOINT_CONTROL=1")
		}
		cmd.Stderr = os.Stderr
		dieWithTest(cmd)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			r.t.Errorf("start a process: %v", err)
			return
		}
		stop := context.AfterFunc(ctx, func() {
			_ = cmd.Process.Signal(syscall.SIGCONT)
			_ = cmd.Process.Signal(syscall.SIGTERM)
			time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		})
		for scan := bufio.NewScanner(out); scan.Scan(); {
			r.say(scan.Text())
		}
		_ = cmd.Wait()
		stop()
	}
}

func (r *rig) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[line]++
	word, _, _ := strings.Cut(line, " ")
	if word != line {
		r.counts[word]++
	}
}

func (r *rig) count(word string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[word]
}

// kick ends one session of the processes at a time.
func (r *rig) kick(ctx context.Context) {
	for every(ctx, r.plan.kick) {
		_, err := r.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`)
		if err == nil {
			r.say("kick session")
		}
	}
}

// restart stops Postgres at once, as a crash would, and starts it again.
func (r *rig) restart(ctx context.Context) {
	for every(ctx, r.plan.restart) {
		r.mu.Lock()
		s := r.server
		r.mu.Unlock()
		_ = syscall.Kill(s.PID(), syscall.SIGQUIT)
		<-s.Done()
		s.Stop()
		r.startServer()
		r.say("restart server")
	}
}

func every(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// tell prints the run's numbers.
func (r *rig) tell() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Logf("%d jobs: %d deaths, %d freezes, %d connections cut, %d sessions ended, %d crashes of Postgres, %d processes",
		r.plan.jobs, r.counts["die"], r.counts["freeze"], r.counts["cut"], r.counts["kick"], r.counts["restart"], r.born.Load())
	points := []string{}
	for line, n := range r.counts {
		if strings.HasPrefix(line, "die ") || strings.HasPrefix(line, "freeze ") {
			points = append(points, fmt.Sprintf("%s %d", line, n))
		}
	}
	r.t.Log(strings.Join(points, ", "))
	ctx := context.Background()
	for what, sql := range map[string]string{
		"archive":  "SELECT kind, reason, count(*) FROM job_archive GROUP BY 1, 2",
		"history":  "SELECT kind, count(*), sum(expiries) AS returned FROM job_history GROUP BY 1",
		"effects":  "SELECT class, state, count(*) FROM effects GROUP BY 1, 2",
		"attempts": "SELECT outcome, count(*) FROM job_attempts GROUP BY 1",
	} {
		r.t.Log(what, lines(ctx, r.t, r.pool, sql))
	}
}
