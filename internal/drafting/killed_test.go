package drafting_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/llm"
	"github.com/postonce/postonce/internal/queue"
)

// reaper kills its own process, without a word, at the n-th step: the end of a
// statement that belongs to a draft, or one side of a call.
type reaper struct {
	at    int64
	steps atomic.Int64
}

func (r *reaper) step() {
	if r.steps.Add(1) == r.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// TraceQueryStart counts the statements of drafts; what the engine does by itself is none.
func (r *reaper) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	for _, w := range []string{"draft", "model_calls", "model_spend", "effects", "job_history", "told"} {
		if strings.Contains(d.SQL, w) && !strings.Contains(d.SQL, "EXISTS (SELECT FROM jobs WHERE kind") {
			return context.WithValue(ctx, r, true)
		}
	}
	if d.SQL == "commit" {
		return context.WithValue(ctx, r, true)
	}
	return ctx
}

func (r *reaper) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(r) != nil {
		r.step()
	}
}

// TestTheChildThatIsKilled is the process under test: it works until nothing is left,
// or until its step comes. It does nothing by itself.
func TestTheChildThatIsKilled(t *testing.T) {
	url := os.Getenv("POSTONCE_CHILD_DATABASE")
	if url == "" {
		t.Skip("a part of TestAProcessKilledBetweenAnyTwoSteps")
	}
	at, _ := strconv.ParseInt(os.Getenv("POSTONCE_CHILD_KILL"), 10, 64)
	r := &reaper{at: at}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.Tracer = r
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	svc := drafting.New(drafting.Config{
		Pool: pool, Logger: zerolog.Nop(), Secret: []byte("test"), ModelTimeout: 20 * time.Second,
		Model: llm.New(llm.Config{BaseURL: os.Getenv("POSTONCE_CHILD_MODEL"), Model: "m"}),
		OnDraft: func(ctx context.Context, tx pgx.Tx, id int64, rev int) error {
			_, err := tx.Exec(ctx, `INSERT INTO told VALUES ($1, $2)`, id, rev)
			return err
		},
	})
	reg := queue.NewRegistry()
	svc.Register(reg)
	engine := queue.New(queue.Config{
		Pool: pool, Registry: reg, Logger: zerolog.Nop(),
		PollEvery: 20 * time.Millisecond, ReapEvery: 50 * time.Millisecond, KeepEvery: 50 * time.Millisecond,
	})
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; time.Sleep(20 * time.Millisecond) {
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE run_at < clock_timestamp() + interval '1 minute'`).Scan(&left); err != nil {
			t.Fatal(err)
		}
	}
	_ = engine.Stop(t.Context())
	fmt.Println("steps", r.steps.Load())
}

// work runs one child and says whether it died, and how many steps it took otherwise.
func (b *bundle) work(model string, kill int) (died bool, steps int) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), os.Args[0], "-test.run", "^TestTheChildThatIsKilled$", "-test.v")
	cmd.Env = append(os.Environ(), "POSTONCE_CHILD_DATABASE="+b.pool.Config().ConnString(),
		"POSTONCE_CHILD_MODEL="+model, "POSTONCE_CHILD_KILL="+strconv.Itoa(kill))
	out, err := cmd.CombinedOutput()
	// A dead process renews nothing: its leases run out now instead of in a minute.
	b.exec(`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second' WHERE state = 'leased'`)
	if err == nil {
		_, rest, _ := strings.Cut(string(out), "steps ")
		n, _, _ := strings.Cut(rest, "\n")
		steps, _ = strconv.Atoi(n)
		return false, steps
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		b.t.Fatalf("the child failed: %v\n%s", err, out)
	}
	return true, 0
}

// TestAProcessKilledBetweenAnyTwoSteps kills real processes (SIGKILL) while each writes
// a draft with a repair turn, at another step each time; whoever comes next goes on.
// POSTONCE_KILLS=all takes every step, else each fourth.
func TestAProcessKilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	m := newModel(t, func(_ int, body string) (int, string) {
		word := body[strings.Index(body, "Quux"):]
		word = word[:strings.IndexFunc(word, func(r rune) bool { return r < 'A' })]
		repair := strings.Contains(body, "Not usable")
		mu.Lock()
		asked[fmt.Sprintf("%s repair %t", word, repair)]++
		mu.Unlock()
		if !repair {
			return 200, says(post("H", goodBody+" 99 more."))
		}
		return 200, says(post("Tenth satellite", goodBody))
	})
	b := newBundle(t, func(c *drafting.Config) { c.Logger = zerolog.Nop() })
	b.stop()
	b.exec(`CREATE TABLE told (draft_id bigint, revision int)`)
	ch := b.channel("en")
	stride, from := 4, 2
	if os.Getenv("POSTONCE_KILLS") == "all" {
		stride, from = 1, 1
	}
	b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle+" Quuxwhole", rocketText)})
	died, steps := b.work(m.srv.URL, 0)
	if died || steps < 20 {
		t.Fatalf("an undisturbed draft took %d steps, died %t", steps, died)
	}
	deaths := 0
	for n := from; n <= steps; n += stride {
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle+" Quux"+letters(n), rocketText)})
		if died, _ := b.work(m.srv.URL, n); died {
			deaths++
		}
	}
	for range 2 { // once for what is left, once for those who look whether a text came
		if died, _ := b.work(m.srv.URL, 0); died {
			t.Fatal("the last process died")
		}
		b.exec(`UPDATE jobs SET run_at = clock_timestamp()`)
	}
	if died, _ := b.work(m.srv.URL, 0); died {
		t.Fatal("the last process died")
	}
	stories := b.id(`SELECT count(*) FROM stories`)
	t.Logf("%d steps, %d processes killed, %d drafts", steps, deaths, stories)
	if deaths < int(stories)/2 {
		t.Errorf("%d of %d processes died: the run proves little", deaths, stories)
	}
	b.nothingTwice(stories)
	for what, n := range asked {
		if n != 1 {
			t.Errorf("the model was asked %d times for %s", n, what)
		}
	}
}

// nothingTwice holds the tables against the promise after a run with deaths.
func (b *bundle) nothingTwice(stories int64) {
	b.t.Helper()
	for what, sql := range map[string]string{
		"stories with two drafts": `SELECT count(*) FROM (SELECT FROM drafts GROUP BY story_id HAVING count(*) > 1) AS twice`,
		// A job that was taken down by two processes is put aside, and shows.
		"stories without a draft or a row that says why": `SELECT count(*) FROM stories s WHERE NOT EXISTS (SELECT FROM drafts d WHERE d.story_id = s.id)
			AND NOT EXISTS (SELECT FROM job_archive a WHERE a.kind = 'draft' AND a.key = '1:' || s.id AND a.reason = 'lease_lost_twice')`,
		"drafts that people were not told of once":     `SELECT count(*) FROM drafts d WHERE (SELECT count(*) FROM told WHERE draft_id = d.id) <> 1`,
		"calls that were made more than once":          `SELECT count(*) FROM model_calls WHERE tries > 1`,
		"calls left open":                              `SELECT count(*) FROM model_calls WHERE state = 'reserved' AND NOT EXISTS (SELECT FROM job_archive a WHERE a.kind = 'compose' AND a.reason = 'unconfirmed')`,
		"drafts by nobody, without the reason":         `SELECT count(*) FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision WHERE r.composer <> 'model' AND r.fallback = ''`,
		"revisions of the model without its two turns": `SELECT count(*) FROM draft_revisions r WHERE r.composer = 'model' AND (SELECT count(*) FROM model_calls c WHERE c.draft_id = r.draft_id AND c.state = 'answered') <> 2`,
		"jobs that are left":                           `SELECT count(*) FROM jobs`,
	} {
		if n := b.id(sql); n != 0 {
			b.t.Errorf("%d %s", n, what)
		}
	}
	model, lost := b.id(`SELECT count(*) FROM draft_revisions WHERE composer = 'model'`), b.id(`SELECT count(*) FROM draft_revisions WHERE fallback = 'answer_lost'`)
	b.t.Logf("%d by the model, %d marked as lost", model, lost)
	if drafts := b.id(`SELECT count(*) FROM drafts`); model == 0 || lost == 0 || model+lost != drafts || drafts*2 < stories {
		b.t.Errorf("%d texts by the model, %d marked as lost, %d drafts, %d stories", model, lost, drafts, stories)
	}
}

// letters writes a number in letters, so that no check takes it for one of the text.
func letters(n int) string {
	raw, _ := json.Marshal(n)
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, string(raw))
}
