package torture_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
)

// TestMain turns this test binary into the process that gets killed.
func TestMain(m *testing.M) {
	if os.Getenv("PUBLISHING_CHILD_DB") != "" {
		if err := child(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// steps are the places where a process dies, in the order of a publication:
// see internal/queue/failpoint.
func steps() []string {
	return []string{
		"claim-committed", "handler-start", "intent-commit", "intent-committed", "before-request", "request-written",
		"answer-read", "outcome-commit", "outcome-committed", "completion-commit", "completion-committed", "ack-commit", "ack-committed",
	}
}

// TestNothingIsPublishedTwice kills processes at each step. PUBLISHING_TORTURE
// names how many publications to play, in rounds with seeds of their own.
func TestNothingIsPublishedTwice(t *testing.T) {
	total, _ := strconv.Atoi(os.Getenv("PUBLISHING_TORTURE"))
	seed, _ := strconv.ParseUint(os.Getenv("PUBLISHING_TORTURE_SEED"), 10, 64)
	if total == 0 {
		r := newRig(t, 24, max(seed, 1))
		r.run(len(steps()))
		r.tell()
		return
	}
	deaths, hurt := map[string]int{}, 0
	for played := 0; played < total && !t.Failed(); played += 240 {
		seed++
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := newRig(t, 240, seed)
			r.run(3 * len(steps()))
			for at, n := range r.deaths {
				deaths[at] += n
			}
			hurt += r.world.hurt
		})
	}
	t.Logf("%d publications, %d calls went wrong, deaths: %v", total, hurt, deaths)
	for _, at := range steps() {
		if deaths[at] == 0 {
			t.Errorf("nobody died at %s: that step is not tested", at)
		}
	}
}

// TestWithoutTheLedgerPostsRepeat shows that the attack bites: a build that asks
// for no intent and returns jobs by age posts things twice.
func TestWithoutTheLedgerPostsRepeat(t *testing.T) {
	r := newRig(t, 30, 7)
	r.control = true
	r.play(len(steps()))
	twice := 0
	for text, n := range r.world.applied().sends {
		if strings.HasPrefix(text, "Post") && n > 1 {
			twice++
		}
	}
	t.Logf("%d of 30 posts were sent twice or more", twice)
	if twice == 0 {
		t.Error("the control run found nothing: the torture test proves nothing")
	}
}

// draft is one post to be published, and what comes after.
type draft struct {
	id, channel, chat int64
	text              string
}

type rig struct {
	t       *testing.T
	seed    uint64
	control bool
	stage   *stage
	world   *world
	binary  string
	env     []string
	drafts  []draft

	mu     sync.Mutex
	deaths map[string]int // guarded by mu
}

// build compiles this package with failpoints, once per test process.
var build = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // one binary per test process
	dir, err := os.MkdirTemp("", "publishing-torture-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "child.test")
	if out, err := exec.Command("go", "test", "-c", "-tags", "failpoints", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func newRig(t *testing.T, posts int, seed uint64) *rig {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, seed: seed, world: newWorld(t, seed), binary: binary, deaths: map[string]int{}}
	database := dbtest.URL(t)
	if r.stage, err = newStage(t.Context(), database, r.world.web.URL, time.Now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stage.pool.Close)
	r.env = append(os.Environ(), "PUBLISHING_CHILD_DB="+database, "PUBLISHING_CHILD_API="+r.world.web.URL)
	r.fill(posts)
	return r
}

// fill schedules two posts per channel: texts, captions and albums, in public
// and in private channels.
func (r *rig) fill(posts int) {
	r.t.Helper()
	for i := range posts / 2 {
		name := fmt.Sprintf("torture_%d", i)
		if i%4 == 3 {
			name = "" // a private one: only the probe can look
		}
		person, chat := r.world.channel(i, name)
		r.exec(`INSERT INTO people (id, first_name) VALUES ($1, 'Owner')`, person)
		var channel int64
		r.query(&channel, `INSERT INTO channels (chat_id, title, username, created_by, image_style, last_message_id) VALUES ($1, 'Channel', $2, $3, 'photo', 1) RETURNING id`, chat, name, person)
		for k := range 2 {
			n := 2*i + k
			picture := fmt.Sprintf("%s/picture/%d.png", r.world.web.URL, n)
			images := []string{"", "", picture, picture + "\n" + picture + "2"}[n%4]
			r.schedule(draft{channel: channel, chat: chat, text: fmt.Sprintf("Post %d of run %d", n, r.seed)}, images)
		}
	}
}

func (r *rig) schedule(d draft, images string) {
	r.t.Helper()
	sum := sha256.Sum256([]byte(d.text + "\x00" + images))
	r.query(&d.id, `INSERT INTO drafts (channel_id, kind, subject, state, slot_at, approved_hash)
		VALUES ($1, 'own', 'own:' || gen_random_uuid(), 'scheduled', 'epoch', $2) RETURNING id`, d.channel, sum[:])
	r.revision(d.id, 1, d.text, images, sum[:])
	r.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := r.stage.pub.EnqueueTx(ctx, tx, d.id, 1, time.Now())
		return err
	})
	r.drafts = append(r.drafts, d)
}

func (r *rig) revision(id int64, n int, text, images string, sum []byte) {
	r.t.Helper()
	r.exec(`INSERT INTO draft_revisions (draft_id, revision, html, html_hash, image, composer) VALUES ($1, $2, $3, $4, $5, 'person')`, id, n, text, sum, images)
}

// run plays a round and checks it, lets people settle what is in doubt, and
// checks again.
func (r *rig) run(deaths int) {
	r.t.Helper()
	r.play(deaths)
	r.check()
	r.change()
	r.play(deaths / 2)
	r.check()
	r.decide()
	r.play(0)
	r.check()
	r.checkDecided()
}

// play lets processes work and die, and then one in peace, until no job is left.
func (r *rig) play(deaths int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Minute)
	defer cancel()
	var next int
	var wg sync.WaitGroup
	dice := rand.New(rand.NewPCG(r.seed, uint64(deaths)))
	plan := make([]string, deaths)
	for i := range plan {
		plan[i] = fmt.Sprintf("%s:%d", steps()[i%len(steps())], 1+dice.IntN(max(1, len(r.drafts)/40+1)))
	}
	for range 3 {
		wg.Go(func() {
			for {
				r.mu.Lock()
				i := next
				next++
				r.mu.Unlock()
				if i >= len(plan) || ctx.Err() != nil {
					return
				}
				r.process(ctx, plan[i])
			}
		})
	}
	wg.Wait()
	r.process(ctx, "")
	if ctx.Err() != nil {
		r.t.Fatalf("jobs are left after 20 minutes:\n%s", strings.Join(r.lines(`SELECT kind || ' ' || key || ' ' || state || ' ' || run_at || ' ' || coalesce(last_error, '') FROM jobs LIMIT 20`), "\n"))
	}
}

// process runs one until it dies at its step; one without a step works until
// nothing is left. What a dead process held is free at once: nobody has to wait
// for a lease whose holder is known to be dead.
func (r *rig) process(ctx context.Context, die string) {
	cmd := exec.Command(r.binary)
	cmd.Env = append(slices.Clone(r.env), "FAILPOINT_AT="+die)
	if r.control {
		cmd.Env = append(cmd.Env, "FAILPOINT_CONTROL=1")
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		r.t.Error(err)
		return
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Error(err)
		return
	}
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	if die != "" {
		defer time.AfterFunc(10*time.Second, cancel).Stop()
	}
	go func() { // ends with the process
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if at, ok := strings.CutPrefix(scan.Text(), "die "); ok {
				r.mu.Lock()
				r.deaths[at]++
				r.mu.Unlock()
			}
		}
		cancel() // it died at its step
	}()
	r.attend(live)
	_ = stdin.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.exec(`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second'
		 WHERE state = 'leased' AND leased_by IN (SELECT id FROM workers WHERE pid = $1)`, cmd.Process.Pid)
}

// attend waits until nothing is left to do, and has the sweep run often.
func (r *rig) attend(ctx context.Context) {
	sweep := queue.Kind[publishing.SweepArgs]{
		Name: "publish_sweep", Tier: queue.Default, Key: func(a publishing.SweepArgs) string { return fmt.Sprint(a.FireAt.UnixNano()) },
	}
	for ctx.Err() == nil {
		r.tx(func(ctx context.Context, tx pgx.Tx) error {
			_, err := sweep.EnqueueTx(ctx, tx, publishing.SweepArgs{FireAt: time.Now()})
			return err
		})
		left := 1
		r.query(&left, `SELECT (SELECT count(*) FROM jobs WHERE kind <> 'publish_sweep') + (SELECT count(*) FROM publications WHERE state = 'sending')
			+ (SELECT count(*) FROM (`+draftsLostSQL+`) AS lost WHERE NOT $1)`, r.control)
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(150 * time.Millisecond):
		}
	}
}

// change edits a third of what was published and deletes another third.
func (r *rig) change() {
	r.t.Helper()
	for i, d := range r.published() {
		switch i % 3 {
		case 0:
			text := "Edited " + d.text
			sum := sha256.Sum256([]byte(text))
			r.revision(d.id, 2, text, "", sum[:])
			r.tx(func(ctx context.Context, tx pgx.Tx) error { _, err := r.stage.pub.EditTx(ctx, tx, d.id, 2); return err })
		case 1:
			r.tx(func(ctx context.Context, tx pgx.Tx) error { _, err := r.stage.pub.DeleteTx(ctx, tx, d.id); return err })
		}
	}
}

// published are the posts whose id is known.
func (r *rig) published() []draft {
	r.t.Helper()
	known := map[string]bool{}
	for _, id := range r.lines(`SELECT draft_id::text FROM publications WHERE state = 'published' AND message_id > 0`) {
		known[id] = true
	}
	var out []draft
	for _, d := range r.drafts {
		if known[fmt.Sprint(d.id)] {
			out = append(out, d)
		}
	}
	return out
}

// decide is the person who looks into the channel and says what stands there.
func (r *rig) decide() {
	r.t.Helper()
	r.exec(`UPDATE effects SET deadline_at = clock_timestamp() - interval '1 second' WHERE deadline_at > clock_timestamp()`)
	there := r.world.applied().sends
	for _, d := range r.drafts {
		if r.state(d) != editorial.Unconfirmed {
			continue
		}
		finding := publishing.NotThere
		if there[d.text] > 0 {
			finding = publishing.There
		}
		r.tx(func(ctx context.Context, tx pgx.Tx) error {
			if err := r.stage.pub.SettleTx(ctx, tx, publishing.Settlement{DraftID: d.id, Finding: finding, By: logChat}); err != nil || finding == publishing.There {
				return err
			}
			n, _, err := changeDraft(ctx, tx, publishing.DraftChange{DraftID: d.id, From: []editorial.DraftState{editorial.Failed}, To: editorial.Scheduled})
			if err == nil {
				_, err = r.stage.pub.EnqueueTx(ctx, tx, d.id, n, time.Now())
			}
			return err
		})
	}
}

func (r *rig) state(d draft) (s editorial.DraftState) {
	r.t.Helper()
	r.query(&s, `SELECT state FROM drafts WHERE id = $1`, d.id)
	return s
}

// tell prints the run's numbers.
func (r *rig) tell() {
	r.t.Helper()
	r.t.Logf("seed %d: %d publications, %d calls went wrong, deaths: %v", r.seed, len(r.drafts), r.world.hurt, slices.Sorted(maps.Keys(r.deaths)))
	r.t.Log(r.lines(`SELECT state || ' ' || settled_how || ' ' || count(*) FROM publications GROUP BY state, settled_how`))
	r.t.Log(r.lines(`SELECT class || ' ' || state || ' ' || count(*) FROM effects GROUP BY class, state`))
}

func (r *rig) tx(fn func(ctx context.Context, tx pgx.Tx) error) {
	r.t.Helper()
	ctx := context.WithoutCancel(r.t.Context())
	if err := pgx.BeginFunc(ctx, r.stage.pool, func(tx pgx.Tx) error { return fn(ctx, tx) }); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.stage.pool.Exec(context.WithoutCancel(r.t.Context()), sql, args...); err != nil {
		r.t.Errorf("%s: %v", sql, err)
	}
}

func (r *rig) query(into any, sql string, args ...any) {
	r.t.Helper()
	if err := r.stage.pool.QueryRow(context.WithoutCancel(r.t.Context()), sql, args...).Scan(into); err != nil {
		r.t.Errorf("%s: %v", sql, err)
	}
}

func (r *rig) lines(sql string) []string {
	r.t.Helper()
	rows, err := r.stage.pool.Query(context.WithoutCancel(r.t.Context()), sql)
	if err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return out
}
