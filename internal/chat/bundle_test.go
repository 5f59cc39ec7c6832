package chat_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/play"
	"github.com/postonce/postonce/internal/sandbox/samples"
	"github.com/postonce/postonce/internal/telegram"
)

var update = flag.Bool("update", false, "write the transcripts anew") //nolint:gochecknoglobals // a test's flag

// bundle is the chat at work: the sandbox behind a socket, the intake, the
// queue on a real database, desk and what it needs.
type bundle struct {
	t      testing.TB
	stage  *play.Stage
	pool   *pgxpool.Pool
	hints  *queue.Hints // of a benchmark
	chat   *chat.Chat
	desk   *desk.Desk
	client *telegram.Client
	log    zerolog.Logger
	open   bool
	now    func() time.Time
	more   []func(*queue.Registry) // further kinds
	paper  *paper
	token  telegram.Token
	killer *killer
	// outside: another process has the workers.
	outside bool
	// learn: the channel's voice is learned.
	learn  bool
	shop   chat.Billing
	drafts *drafting.Service
	// script collects the transcript.
	script strings.Builder
}

// clock stands still on a Wednesday morning, so that transcripts stay as they
// are; in a year to come, as the queue's clock is the database's and runs.
func clock() time.Time { return time.Date(2037, 12, 2, 10, 0, 0, 0, time.UTC) }

// hasty is a clock that runs a thousand times too fast: nobody waits for
// Telegram's limits of one message a second.
func hasty() func() time.Time {
	began := time.Now()
	return func() time.Time { return began.Add(1000 * time.Since(began)) }
}

type option func(*bundle)

// invited closes the bot to people without an invitation.
func invited(b *bundle) { b.open = false }

// learns lets channels' voices be learned from the posts in the database.
func learns(b *bundle) { b.learn = true }

// live lets time pass, so that posts go out.
func live(b *bundle) { b.now = time.Now }

func newBundle(t testing.TB, opts ...option) *bundle {
	t.Helper()
	b := &bundle{t: t, open: true, now: clock}
	b.connect()
	for _, o := range opts {
		o(b)
	}
	b.log = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	box, err := sandbox.New(sandbox.Config{Empty: true, Logger: b.log})
	if err != nil {
		t.Fatal(err)
	}
	face := http.NewServeMux()
	server := httptest.NewServer(face)
	b.killer, b.token = &killer{inner: box}, box.Token()
	face.Handle("/", b.killer)
	news, err := samples.New(samples.Config{Base: server.URL + "/samples"})
	if err != nil {
		t.Fatal(err)
	}
	face.Handle("/samples/", http.StripPrefix("/samples", news))
	b.paper = &paper{base: server.URL + "/paper"}
	face.Handle("/paper/", b.paper)
	b.stage = play.New(server.URL)
	if b.client, err = telegram.New(telegram.Config{Token: box.Token(), BaseURL: server.URL, Logger: b.log, Limits: telegram.NewLimits(hasty())}); err != nil {
		t.Fatal(err)
	}
	registry := queue.NewRegistry()
	for _, k := range b.more {
		k(registry)
	}
	b.wire(registry)
	t.Cleanup(func() {
		_ = box.Close()
		server.CloseClientConnections()
		server.Close()
	})
	if !b.outside {
		b.work(registry)
	}
	return b
}

// connect opens the database: for a benchmark as the program does.
func (b *bundle) connect() {
	b.t.Helper()
	if _, measures := b.t.(*testing.B); !measures {
		b.pool = dbtest.New(b.t)
		return
	}
	b.hints = queue.NewHints()
	pool, err := postgres.Open(b.t.Context(), postgres.Config{URL: dbtest.URL(b.t), OnConnect: b.hints.ShareWith})
	if err != nil {
		b.t.Fatal(err)
	}
	b.pool = pool
	b.t.Cleanup(pool.Close)
}

// work starts the intake and the workers, and stops them when the test ends.
func (b *bundle) work(registry *queue.Registry) {
	t := b.t
	t.Helper()
	intake, err := telegram.NewIntake(telegram.IntakeConfig{Client: b.client, Pool: b.pool, Mode: telegram.Polling, Handle: b.chat.Handle, Logger: b.log, LongPoll: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	intake.Register(registry)
	queues := queue.Config{Pool: b.pool, Registry: registry, Logger: b.log, Hints: b.hints}
	if b.hints != nil { // as the program starts it
		queues.Workers = map[queue.Tier]int{queue.Critical: 8, queue.Default: 16, queue.Bulk: 4}
	}
	engine := queue.New(queues)
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := intake.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = intake.Stop(ctx)
		_ = engine.Stop(ctx)
	})
}

// actor is a person in a conversation.
type actor struct {
	*play.Person
	b    *bundle
	seen map[int]play.Message // what was shown of the chat, by message number
	// quiet leaves the person out of the transcript.
	quiet bool
}

func (b *bundle) person(name, lang string) *actor {
	b.t.Helper()
	p, err := b.stage.NewPerson(b.t.Context(), name, lang)
	if err != nil {
		b.t.Fatal(err)
	}
	return &actor{Person: p, b: b, seen: map[int]play.Message{}}
}

const patience = 15 * time.Second

// settled waits until no update of the person is unfinished.
func (a *actor) settled() {
	a.b.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		// The stand-in first: what it no longer holds is stored, with its job.
		var queued struct{ Pending int }
		if err := a.b.stage.Do(a.b.t.Context(), http.MethodGet, "/sandbox/api/updates", nil, &queued); err != nil {
			a.b.t.Fatal(err)
		}
		var pending int
		err := a.b.pool.QueryRow(a.b.t.Context(), `SELECT count(*) FROM jobs WHERE state = 'leased' OR kind IN ('update', 'card', 'recard', 'notice') AND run_at < clock_timestamp() + interval '1 minute' OR run_at <= clock_timestamp()`).Scan(&pending)
		if err != nil {
			a.b.t.Fatal(err)
		}
		if pending == 0 && queued.Pending == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.b.t.Fatalf("the bot did not finish; transcript so far:\n%s", a.b.script.String())
}

// says writes to the bot and notes what came of it.
func (a *actor) says(text string) {
	a.b.t.Helper()
	if _, err := a.Send(a.b.t.Context(), text); err != nil {
		a.b.t.Fatal(err)
	}
	a.note("%s: %s", a.Name, text)
	a.hears()
}

// taps presses the newest button with these words.
func (a *actor) taps(words string) play.Answer {
	a.b.t.Helper()
	answer, err := a.tap(words)
	if err != nil {
		a.b.t.Fatalf("%s taps %q: %v; transcript so far:\n%s", a.Name, words, err, a.b.script.String())
	}
	return answer
}

func (a *actor) tap(words string) (play.Answer, error) {
	list := a.messages()
	for i := len(list) - 1; i >= 0; i-- {
		if _, ok := list[i].Button(words); ok {
			return a.tapAt(list[i].ID, words)
		}
	}
	return play.Answer{}, fmt.Errorf("there is no such button")
}

func (a *actor) tapAt(id int, words string) (play.Answer, error) {
	answer, err := a.Tap(a.b.t.Context(), id, words, patience)
	if err != nil {
		return answer, err
	}
	a.note("%s taps [%s]", a.Name, words)
	if answer.Text != "" {
		a.note("   (%s)", answer.Text)
	}
	a.hears()
	return answer, nil
}

// inject sends taps with any data under a message of the person's chat, all at
// once: late ones, double ones and ones that no button offers.
//
// It returns what each was answered with, in no order.
func (a *actor) inject(message int, data ...string) []string {
	a.b.t.Helper()
	before := a.b.answers(0)
	var all sync.WaitGroup
	for i, d := range data {
		all.Go(func() {
			in := map[string]any{"callback_query": map[string]any{
				"id": fmt.Sprintf("%d-%d-%d-%d", a.ID, message, len(before), i), "from": map[string]any{"id": a.ID, "is_bot": false, "first_name": a.Name, "language_code": a.Lang},
				"message":       map[string]any{"message_id": message, "date": 1, "chat": map[string]any{"id": a.ID, "type": "private", "first_name": a.Name}},
				"chat_instance": "1", "data": d,
			}}
			if err := a.b.stage.Do(a.b.t.Context(), http.MethodPost, "/sandbox/api/updates", in, nil); err != nil {
				a.b.t.Error(err)
			}
		})
	}
	all.Wait()
	a.settled()
	var out []string
	for _, answer := range a.b.answers(len(before)) {
		if strings.HasPrefix(answer.CallbackQueryID, fmt.Sprintf("%d-", a.ID)) {
			out = append(out, answer.Text)
		}
	}
	return out
}

// toast is the answer to a tap.
type toast struct {
	CallbackQueryID string `json:"callback_query_id"`
	Text            string `json:"text"`
}

// answers are those to taps, without the first few.
func (b *bundle) answers(after int) []toast {
	b.t.Helper()
	var calls []struct{ Params toast }
	if err := b.stage.Do(b.t.Context(), http.MethodGet, "/sandbox/api/calls?method=answercallbackquery", nil, &calls); err != nil {
		b.t.Fatal(err)
	}
	var out []toast
	for _, c := range calls[after:] {
		out = append(out, c.Params)
	}
	return out
}

// fault orders one at the sandbox.
func (b *bundle) fault(f map[string]any) {
	b.t.Helper()
	if err := b.stage.Do(b.t.Context(), http.MethodPost, "/sandbox/api/faults", f, nil); err != nil {
		b.t.Fatal(err)
	}
}

// count is a number out of the database.
func (b *bundle) count(query string, args ...any) int {
	b.t.Helper()
	var n int
	if err := b.pool.QueryRow(b.t.Context(), query, args...).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (a *actor) messages() []play.Message {
	a.b.t.Helper()
	var out struct{ Messages []play.Message }
	if err := a.b.stage.Do(a.b.t.Context(), http.MethodGet, fmt.Sprintf("/sandbox/api/chats/%d/messages", a.ID), nil, &out); err != nil {
		a.b.t.Fatal(err)
	}
	return out.Messages
}

// last is the newest message of the bot.
func (a *actor) last() play.Message {
	list := a.messages()
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].FromBot() {
			return list[i]
		}
	}
	return play.Message{}
}

// hears notes what the bot said and what it changed.
func (a *actor) hears() {
	a.b.t.Helper()
	a.settled()
	for _, m := range a.messages() {
		was, known := a.seen[m.ID]
		a.seen[m.ID] = m
		if !m.FromBot() || known && cmp.Equal(was, m) {
			continue
		}
		what := "bot"
		if known {
			what = "bot (edited)"
		}
		a.note("%s: %s%s", what, indent(m.Says()), buttons(m))
	}
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n     ") }

func buttons(m play.Message) string {
	var out strings.Builder
	for _, row := range m.Markup.Rows {
		out.WriteString("\n    ")
		for _, b := range row {
			out.WriteString(" [" + b.Text + "]")
		}
	}
	return out.String()
}

func (a *actor) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(&a.b.script, format+"\n", args...)
	}
}

// golden compares the transcript with the file of its name; what changes from
// run to run is blurred.
func (b *bundle) golden(name string) {
	b.t.Helper()
	got := b.script.String()
	if clock().Sub(b.now()).Abs() > time.Minute { // time passes: whatever names it changes
		days := `(today|tomorrow|yesterday|сегодня|завтра|вчера|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Пн|Вт|Ср|Чт|Пт|Сб|Вс)`
		got = regexp.MustCompile(`(new|новое) .*, (next look|опрос) .*`).ReplaceAllString(got, "$1 …, $2 …")
		got = regexp.MustCompile(days+`( \d+ \pL+\.?)? \d\d:\d\d`).ReplaceAllString(got, "WHEN")
		got = regexp.MustCompile(days+` \d+ \pL+\.?`).ReplaceAllString(got, "DAY")
		got = regexp.MustCompile(`, (in \d+ \pL+|\d+ \pL+ ago|just now)`).ReplaceAllString(got, ", SINCE")
	}
	for _, blur := range []struct{ find, put string }{
		{`start=[A-Za-z0-9_-]+`, "start=TOKEN"},
		{`/start [A-Za-z0-9_-]{20,}`, "/start TOKEN"},
		{`(job |задача )\d+`, "${1}N"},
		{`127\.0\.0\.1:\d+`, "SITE"},
	} {
		got = regexp.MustCompile(blur.find).ReplaceAllString(got, blur.put)
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatalf("%v: run with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		b.t.Errorf("the conversation differs (run with -update to accept):\n%s", diff)
	}
}

func (a *actor) picks(ch play.Chat) {
	a.b.t.Helper()
	in := map[string]any{"request_id": 1, "chat_id": ch.ID}
	if err := a.b.stage.Do(a.b.t.Context(), http.MethodPost, fmt.Sprintf("/sandbox/api/people/%d/pick", a.ID), in, nil); err != nil {
		a.b.t.Fatal(err)
	}
	a.note("%s picks %s", a.Name, ch.Title)
	a.hears()
}

// tokenIn is the token of an invitation's link.
func tokenIn(text string) string {
	_, token, _ := strings.Cut(text, "start=")
	return strings.TrimSpace(token)
}
