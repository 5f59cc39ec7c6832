package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/telegram"
)

// seen collects what a handler was given.
type seen struct {
	mu    sync.Mutex
	texts []string
	ids   []int64
	came  chan struct{}
}

func (s *seen) handle(ctx context.Context, job *queue.Job[telegram.UpdateArgs], u *models.Update) error {
	return job.Complete(ctx, func(context.Context, pgx.Tx) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ids = append(s.ids, u.ID)
		if u.Message != nil {
			s.texts = append(s.texts, u.Message.Text)
		}
		select {
		case s.came <- struct{}{}:
		default:
		}
		return nil
	})
}

func (s *seen) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.texts...)
}

// station is one process's intake with its queue, inside of a test.
type station struct {
	pool   *pgxpool.Pool
	intake *telegram.Intake
	engine *queue.Engine
	seen   *seen
	logs   *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newStation(t *testing.T, b *bench, pool *pgxpool.Pool, change func(*telegram.IntakeConfig)) *station {
	t.Helper()
	st := &station{pool: pool, seen: &seen{came: make(chan struct{}, 1)}, logs: &syncBuffer{}}
	cfg := telegram.IntakeConfig{
		Client: b.dial(t, b.url), Pool: pool, Handle: st.seen.handle, Logger: zerolog.New(st.logs),
		LongPoll: time.Second, Holder: t.Name(),
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if st.intake, err = telegram.NewIntake(cfg); err != nil {
		t.Fatal(err)
	}
	r := queue.NewRegistry()
	st.intake.Register(r)
	st.engine = queue.New(queue.Config{Pool: pool, Registry: r, Logger: zerolog.New(st.logs)})
	return st
}

func (st *station) start(t *testing.T) {
	t.Helper()
	if err := st.engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := st.intake.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := st.intake.Stop(ctx); err != nil {
			t.Error(err)
		}
		_ = st.engine.Stop(ctx)
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(10 * time.Millisecond) // there is no signal to wait for across two servers
	}
}

func count(t *testing.T, pool *pgxpool.Pool, sql string) (n int) {
	t.Helper()
	if err := pool.QueryRow(context.Background(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (b *bench) say(t *testing.T, text string) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"text": text})
	post(t, b.url+fmt.Sprintf("/sandbox/api/people/%d/send", b.person), string(body))
}

func (b *bench) pending(t *testing.T) int {
	t.Helper()
	resp, err := http.Get(b.url + "/sandbox/api/updates")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v struct{ Pending int }
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v.Pending
}

// A poller that died while the database's clock was an hour ahead must not keep the bot deaf for that hour.
func TestALeaseOfAClockThatWasAheadIsTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st := newStation(t, b, dbtest.New(t), nil)
	const ahead = `INSERT INTO update_pollers (bot_id, holder, token, lease_until) VALUES ($1, 'dead', 41, now() + interval '1 hour')`
	if _, err := st.pool.Exec(t.Context(), ahead, b.client.BotID()); err != nil {
		t.Fatal(err)
	}
	st.start(t)
	b.say(t, "anybody?")
	eventually(t, "heard", func() bool { return slices.Contains(st.seen.list(), "anybody?") })
	if n := count(t, st.pool, "SELECT count(*) FROM update_pollers WHERE token = 42 AND lease_until < now() + interval '10 s'"); n != 1 {
		t.Error("the lease was not taken anew")
	}
}

func TestPollingHandlesUpdatesOfAChatOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st := newStation(t, b, dbtest.New(t), nil)
	b.sand.UpdateFault("redeliver", 3)
	st.start(t)
	want := []string{"/start"}
	for i := range 40 {
		text := fmt.Sprintf("m%02d", i)
		want = append(want, text)
		b.say(t, text)
	}
	eventually(t, "all 41 handled", func() bool { return len(st.seen.list()) >= 41 })
	eventually(t, "all acknowledged", func() bool { return b.pending(t) == 0 })
	if d := cmp.Diff(want, st.seen.list()); d != "" {
		t.Error(d)
	}
	if n := count(t, st.pool, "SELECT count(*) FROM updates WHERE job_id IS NOT NULL"); n != 41 {
		t.Errorf("%d updates with a job, want 41", n)
	}
}

// TestAnUpdateIsAcknowledgedOnceItIsStored: as long as the database takes nothing, Telegram keeps what it has.
func TestAnUpdateIsAcknowledgedOnceItIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st := newStation(t, b, dbtest.New(t), nil)
	exec := func(sql string) {
		t.Helper()
		if _, err := st.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE SEQUENCE refusals`)
	exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('refusals'); RAISE 'not now'; END $$`)
	exec(`CREATE TRIGGER refuse BEFORE INSERT ON updates FOR EACH ROW EXECUTE FUNCTION refuse()`)
	b.say(t, "kept")
	st.start(t)
	eventually(t, "storing failed", func() bool { return count(t, st.pool, "SELECT is_called::int FROM refusals") > 0 })
	if n := b.pending(t); n != 2 {
		t.Errorf("Telegram still has %d updates, want both: none is stored", n)
	}
	exec(`DROP TRIGGER refuse ON updates`)
	eventually(t, "both handled", func() bool { return len(st.seen.list()) >= 2 })
	if d := cmp.Diff([]string{"/start", "kept"}, st.seen.list()); d != "" {
		t.Error(d)
	}
}

func TestAnUpdateThatDoesNotDecodeStopsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st := newStation(t, b, dbtest.New(t), nil)
	b.sand.Inject(map[string]json.RawMessage{"my_chat_member": json.RawMessage(`{"chat":{"id":5,"type":"private"},"from":{"id":5,"is_bot":false,"first_name":"x"},"date":1,"old_chat_member":{"status":"hologram"},"new_chat_member":{"status":"hologram"}}`)})
	b.sand.Inject(map[string]json.RawMessage{"telepathy": json.RawMessage(`{"thought":1}`)})
	b.sand.Inject(map[string]json.RawMessage{"message": json.RawMessage(`"not an object"`)})
	b.say(t, "after")
	st.start(t)
	eventually(t, "what follows is handled", func() bool { l := st.seen.list(); return len(l) > 0 && l[len(l)-1] == "after" })
	eventually(t, "all acknowledged", func() bool { return b.pending(t) == 0 })
	if n := count(t, st.pool, "SELECT count(*) FROM update_dead_letters WHERE update_id > 0 AND error <> ''"); n != 2 {
		t.Errorf("%d dead letters, want 2", n)
	}
	if n := count(t, st.pool, "SELECT count(*) FROM updates WHERE kind = 'telepathy' AND job_id IS NOT NULL"); n != 1 {
		t.Errorf("an update of an unknown kind is no job (%d): its handler decides to ignore it", n)
	}
}

func TestTwoProcessesShareOnePoller(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pool := dbtest.New(t)
	one := newStation(t, b, pool, func(c *telegram.IntakeConfig) { c.Holder = "one" })
	two := newStation(t, b, pool, func(c *telegram.IntakeConfig) { c.Holder = "two" })
	one.start(t)
	two.start(t)
	for i := range 20 {
		b.say(t, fmt.Sprint(i))
	}
	eventually(t, "all handled", func() bool { return len(one.seen.list())+len(two.seen.list()) >= 21 })
	if logs := one.logs.String() + two.logs.String(); strings.Contains(logs, "Conflict") {
		t.Errorf("the two disturbed each other:\n%s", logs)
	}
	if n := len(one.seen.list()) + len(two.seen.list()); n != 21 {
		t.Errorf("handled %d times, want 21", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := one.intake.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	b.say(t, "handed over")
	eventually(t, "the other goes on", func() bool { return len(one.seen.list())+len(two.seen.list()) >= 22 })
}

func TestPollingRemovesAWebhookAndSurvivesAStranger(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	post(t, b.url+"/bot"+string(sandbox.DefaultToken)+"/setWebhook", `{"url":"http://127.0.0.1:1/hook"}`)
	st := newStation(t, b, dbtest.New(t), nil)
	st.start(t)
	eventually(t, "polling works", func() bool { return len(st.seen.list()) == 1 })
	// Somebody else polls with our token: our long poll ends with a conflict.
	post(t, b.url+"/bot"+string(sandbox.DefaultToken)+"/getUpdates", `{"timeout":0}`)
	eventually(t, "the conflict is told", func() bool { return strings.Contains(st.intake.Trouble(), "same token") })
	eventually(t, "the operators can hear of it", func() bool {
		return count(t, st.pool, "SELECT count(*) FROM update_troubles WHERE what LIKE '%same token%'") == 1
	})
	b.say(t, "later")
	eventually(t, "polling goes on", func() bool { return len(st.seen.list()) == 2 })
	eventually(t, "the trouble is over", func() bool {
		return st.intake.Trouble() == "" && count(t, st.pool, "SELECT count(*) FROM update_troubles") == 0
	})
}

func TestAPanicIsOneUpdatesFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st := newStation(t, b, dbtest.New(t), nil)
	inner := st.seen.handle
	again := newStation(t, b, st.pool, func(c *telegram.IntakeConfig) {
		c.Handle = func(ctx context.Context, job *queue.Job[telegram.UpdateArgs], u *models.Update) error {
			if u.Message != nil && u.Message.Text == "/start" && job.Failures == 0 {
				panic("a bug")
			}
			return inner(ctx, job, u)
		}
	})
	again.start(t)
	b.say(t, "next")
	eventually(t, "both are handled in the end, in order", func() bool {
		return cmp.Equal(st.seen.list(), []string{"/start", "next"})
	})
	if !strings.Contains(again.logs.String(), "a bug") {
		t.Error("nobody sees the panic")
	}
}

func TestAPaymentIsAnsweredAheadOfTheQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pool := dbtest.New(t)
	st := newStation(t, b, pool, func(c *telegram.IntakeConfig) {
		c.PreCheckout = func(_ context.Context, q *telegram.PreCheckoutQuery) (string, error) {
			switch q.InvoicePayload {
			case "good":
				return "", nil
			case "bad":
				return "sold out", nil
			case "panic":
				panic("a bug")
			}
			return "", errors.New("the database is away")
		}
		c.Sorry = func(string) string { return "sorry" }
	})
	if err := st.intake.Start(context.WithoutCancel(t.Context())); err != nil { // no queue runs at all
		t.Fatal(err)
	}
	defer func() { _ = st.intake.Stop(context.Background()) }()
	for payload, want := range map[string]string{"good": `"ok":true`, "bad": `"error":"sold out"`, "panic": `"error":"sorry"`, "other": `"error":"sorry"`} {
		link := post(t, b.url+"/bot"+string(sandbox.DefaultToken)+"/createInvoiceLink",
			fmt.Sprintf(`{"title":"Plan","description":"A month","payload":%q,"currency":"XTR","prices":[{"label":"Plan","amount":100}]}`, payload))
		var v struct{ Result string }
		if err := json.Unmarshal([]byte(link), &v); err != nil {
			t.Fatal(err)
		}
		got := post(t, b.url+fmt.Sprintf("/sandbox/api/people/%d/pay", b.person), fmt.Sprintf(`{"url":%q,"wait_ms":8000}`, v.Result))
		if !strings.Contains(got, want) {
			t.Errorf("payload %q: %s, want %s", payload, got, want)
		}
	}
	if n := count(t, pool, "SELECT count(*) FROM updates WHERE kind = 'pre_checkout_query' AND job_id IS NULL"); n != 4 {
		t.Errorf("%d pre-checkouts kept, want 4", n)
	}
}

// hook builds a station in webhook mode behind its own server.
func hook(t *testing.T, b *bench, pool *pgxpool.Pool, through *httptest.Server) (*station, *httptest.Server) {
	t.Helper()
	var st *station
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { st.intake.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	address := srv.URL
	if through != nil {
		address = through.URL
	}
	st = newStation(t, b, pool, func(c *telegram.IntakeConfig) {
		c.Mode, c.WebhookURL = telegram.Webhook, address+"/telegram/webhook"
	})
	return st, srv
}

func TestWebhookChecksItsSecretBeforeAnything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	st, srv := hook(t, b, dbtest.New(t), nil)
	st.start(t)
	eventually(t, "the pending update is delivered", func() bool { return len(st.seen.list()) == 1 })
	for name, secret := range map[string]string{"none": "", "wrong": strings.Repeat("0", 64)} {
		req, _ := http.NewRequest(http.MethodPost, srv.URL, strings.NewReader(`{"update_id":7,"message":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"},"text":"forged"}}`))
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s secret: %d", name, resp.StatusCode)
		}
	}
	if n := count(t, st.pool, "SELECT count(*) FROM updates WHERE update_id = 7"); n != 0 {
		t.Error("a forged update was kept")
	}
}

func TestWebhookBehindABalancerWithTwoProcesses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pool := dbtest.New(t)
	var stations [2]*station
	var mu sync.Mutex
	turn := 0
	balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		turn++
		st := stations[turn%2]
		mu.Unlock()
		st.intake.ServeHTTP(w, r)
	}))
	t.Cleanup(balancer.Close)
	stations[0], _ = hook(t, b, pool, balancer)
	stations[1], _ = hook(t, b, pool, balancer)
	b.sand.UpdateFault("redeliver", 5)
	stations[0].start(t)
	stations[1].start(t)
	want := []string{"/start"}
	for i := range 30 {
		want = append(want, fmt.Sprint(i))
		b.say(t, fmt.Sprint(i))
	}
	total := func() int { return len(stations[0].seen.list()) + len(stations[1].seen.list()) }
	eventually(t, "all handled and acknowledged", func() bool { return total() >= len(want) && b.pending(t) == 0 })
	if total() != len(want) {
		t.Errorf("handled %d times, want %d", total(), len(want))
	}
}

func TestOldUpdatesAreForgotten(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx := t.Context()
	for i, age := range []string{"73 hours", "71 hours"} {
		if _, err := pool.Exec(ctx, `INSERT INTO updates (bot_id, update_id, kind, body, via, received_at) VALUES (1, $1, 'message', '{}', 'polling', clock_timestamp() - $2::text::interval)`, i+1, age); err != nil {
			t.Fatal(err)
		}
	}
	if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return telegram.PruneTx(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "SELECT count(*) FROM updates WHERE update_id = 2"); n != 1 || count(t, pool, "SELECT count(*) FROM updates") != 1 {
		t.Error("want only the younger one kept")
	}
}
