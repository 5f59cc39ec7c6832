package chat_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox/play"
	"github.com/postonce/postonce/internal/telegram"
)

// outside starts no workers in the test's process: a child has them.
func outside(b *bundle) { b.outside = true }

// The child's surroundings.
const (
	childDSN   = "POSTONCE_TEST_CHAT_DSN"
	childBase  = "POSTONCE_TEST_CHAT_BASE"
	childToken = "POSTONCE_TEST_CHAT_TOKEN"
)

// TestChild is no test: it is the process that TestNothingIsSaidOrDecidedTwice
// kills. Alone it does nothing.
func TestChild(t *testing.T) {
	dsn := os.Getenv(childDSN)
	if dsn == "" {
		return
	}
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, pool: pool, open: true, now: time.Now, log: zerolog.Nop(), stage: play.New(os.Getenv(childBase)), paper: &paper{}}
	b.client, err = telegram.New(telegram.Config{Token: telegram.Token(os.Getenv(childToken)), BaseURL: b.stage.Base, Logger: b.log, Limits: telegram.NewLimits(hasty())})
	if err != nil {
		t.Fatal(err)
	}
	registry := queue.NewRegistry()
	b.wire(registry)
	b.work(registry)
	fmt.Println("at work")
	select {}
}

// killer stands before the stand-in and kills the child at one call, just
// before Telegram takes it or just after.
type killer struct {
	inner http.Handler
	mu    sync.Mutex
	left  int // calls until the kill; 0: none
	after bool
	kill  func()
}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !k.now(r.URL.Path) {
		k.inner.ServeHTTP(w, r)
		return
	}
	if k.after {
		k.inner.ServeHTTP(discard{}, r)
	}
	k.kill()
	panic(http.ErrAbortHandler)
}

// now counts the calls that people see.
func (k *killer) now(path string) bool {
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	if !strings.HasPrefix(path, "/bot") || !strings.HasPrefix(name, "send") && !strings.HasPrefix(name, "edit") && !strings.HasPrefix(name, "answer") {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left--
	return k.left == 0
}

func (k *killer) at(call int, after bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.after = call, after
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// child is a process with the chat's workers.
type child struct {
	b   *bundle
	mu  sync.Mutex
	cmd *exec.Cmd
}

func (c *child) start() {
	c.b.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(c.b.t.Context()), os.Args[0], "-test.run", "^TestChild$", "-test.timeout", "10m")
	cmd.Env = append(os.Environ(), childDSN+"="+c.b.pool.Config().ConnString(), childBase+"="+c.b.stage.Base, childToken+"="+string(c.b.token))
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.b.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "at work") {
		c.b.t.Fatalf("the child said %q, %v", line, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cmd = cmd
}

func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// heal starts a killed child anew, and lets what it held expire.
func (c *child) heal() {
	c.b.t.Helper()
	c.mu.Lock()
	dead := c.cmd == nil
	c.mu.Unlock()
	if !dead {
		return
	}
	c.b.exec(`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second' WHERE state = 'leased'`)
	c.start()
}

// TestNothingIsSaidOrDecidedTwice kills the process with the chat's handlers
// before and after each call that a conversation makes, with double taps on the
// way. Afterwards each thing was said at most once and decided exactly once.
func TestNothingIsSaidOrDecidedTwice(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live, outside)
	c := &child{b: b}
	b.killer.kill = c.kill
	t.Cleanup(c.kill)
	ann := b.person("Ann", "en")
	c.start()
	ann.works("Space Daily", "space_daily")
	rounds := []struct {
		step, call int
		after      bool
	}{{1, 1, true}, {1, 1, false}, {2, 1, true}, {2, 2, true}, {2, 3, true}, {2, 3, false}, {3, 1, true}, {3, 2, true}}
	if os.Getenv("POSTONCE_LONG") == "" {
		rounds = []struct {
			step, call int
			after      bool
		}{{1, 1, true}, {2, 2, true}, {3, 1, true}}
	}
	for i, r := range rounds {
		arm := func(step int) {
			if step == r.step {
				b.killer.at(r.call, r.after)
			}
		}
		arm(1)
		m, err := ann.Send(t.Context(), fmt.Sprintf("Probe number %d reached orbit.", i))
		if err != nil {
			t.Fatal(err)
		}
		c.calm(ann)
		arm(2)
		ann.injectSlowly(c, fmt.Sprintf("xd:1:%s", base36(m.ID)))
		if n := b.count(`SELECT count(*) FROM drafts`); n != i+1 {
			t.Fatalf("round %d: %d drafts of %d texts", i, n, i+1)
		}
		draft := b.count(`SELECT max(id) FROM drafts`)
		arm(3)
		ann.injectSlowly(c, fmt.Sprintf("ap:%s:1", base36(draft)))
		if n := b.count(`SELECT transition FROM drafts WHERE id = $1`, draft); n != 2 {
			t.Errorf("round %d: two taps decided %d times", i, n-1)
		}
	}
	said := map[string]int{}
	for _, m := range ann.messages() {
		if m.FromBot() {
			said[strings.SplitN(m.Says(), " (job", 2)[0]]++
		}
	}
	for i := range rounds {
		for text, n := range said {
			if strings.HasPrefix(text, fmt.Sprintf("Probe number %d ", i)) && n > 1 {
				t.Errorf("said %d times: %s", n, text)
			}
		}
	}
	questions := said["📝 Drafting"] + said["Draft a post for Space Daily from this text?"]
	if questions > len(rounds) {
		t.Errorf("%d questions about %d texts", questions, len(rounds))
	}
	if slots := b.count(`SELECT count(*) FROM slots`); slots != len(rounds) {
		t.Errorf("%d slots for %d approved drafts", slots, len(rounds))
	}
	if n := b.count(`SELECT count(*) FROM job_archive WHERE needs_reconcile`); n != 0 {
		t.Errorf("%d lost replies wake an operator", n)
	}
}

func base36(n int) string { return strings.TrimPrefix(chat.Data("x", n), "x:") }

// calm waits until the bot is done, with a killed child healed.
func (c *child) calm(a *actor) {
	for deadline := time.Now().Add(4 * patience); ; time.Sleep(50 * time.Millisecond) {
		c.heal()
		var queued struct{ Pending int }
		if err := a.b.stage.Do(a.b.t.Context(), http.MethodGet, "/sandbox/api/updates", nil, &queued); err != nil {
			a.b.t.Fatal(err)
		}
		busy := a.b.count(`SELECT count(*) FROM jobs WHERE state = 'leased' OR run_at < clock_timestamp() + interval '1 minute'`)
		if busy == 0 && queued.Pending == 0 {
			return
		}
		if time.Now().After(deadline) {
			a.b.t.Fatal("the bot did not finish")
		}
	}
}

// injectSlowly taps twice at once, through a kill and the new start after it.
func (a *actor) injectSlowly(c *child, data string) {
	a.b.t.Helper()
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			in := map[string]any{"callback_query": map[string]any{
				"id": fmt.Sprintf("k-%d-%s-%d", time.Now().UnixNano(), data, i), "from": map[string]any{"id": a.ID, "is_bot": false, "first_name": a.Name, "language_code": a.Lang},
				"message":       map[string]any{"message_id": a.last().ID, "date": 1, "chat": map[string]any{"id": a.ID, "type": "private", "first_name": a.Name}},
				"chat_instance": "1", "data": data,
			}}
			if err := a.b.stage.Do(a.b.t.Context(), http.MethodPost, "/sandbox/api/updates", in, nil); err != nil {
				a.b.t.Error(err)
			}
		})
	}
	all.Wait()
	c.calm(a)
}
