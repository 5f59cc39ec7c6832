package publishing_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/telegram"
)

// bundle is a publisher on its own database, before the local stand-in for
// Telegram, over a real socket.
type bundle struct {
	desk   *queue.Desk
	t      *testing.T
	pool   *pgxpool.Pool
	tg     *sandbox.Sandbox
	server *httptest.Server
	pub    *publishing.Service
	engine *queue.Engine

	channel int64
	chat    int64
	logChat int64

	mu     sync.Mutex
	events []string // what the service told the other features; guarded by mu
	told   chan struct{}
}

func newBundle(t *testing.T, change ...func(*publishing.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, pool: dbtest.New(t), told: make(chan struct{}, 100)}
	var err error
	if b.tg, err = sandbox.New(sandbox.Config{Logger: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	b.server = httptest.NewServer(b.tg)
	t.Cleanup(func() {
		b.server.CloseClientConnections()
		b.server.Close()
		_ = b.tg.Close()
	})
	b.chat = b.findChannel("harbour_notes")
	b.logChat = b.findChannel("severny_den")
	b.standing(b.chat, "administrator")
	b.standing(b.logChat, "administrator")
	b.exec(`INSERT INTO people (id, first_name) VALUES (1, 'Ann')`)
	b.channel = value[int64](b, `INSERT INTO channels (chat_id, title, username, created_by) VALUES ($1, 'Harbour', 'harbour_notes', 1) RETURNING id`, b.chat)

	client, err := telegram.New(telegram.Config{Token: b.tg.Token(), BaseURL: b.server.URL, Logger: zerolog.Nop(), Limits: telegram.NewLimits(nil)})
	if err != nil {
		t.Fatal(err)
	}
	cfg := publishing.Config{
		Pool: b.pool, Telegram: client, Now: time.Now, Logger: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
		Change: b.change, Missed: b.missed, ChannelState: b.channelState, MoveChat: b.moveChat, KnowMessage: b.knowMessage,
		OnPublished: func(_ context.Context, _ pgx.Tx, id int64) error { return b.tell("published %d", id) },
		OnFailed: func(_ context.Context, _ pgx.Tx, id int64, code string) error {
			return b.tell("failed %d %s", id, code)
		},
		OnUnconfirmed: func(_ context.Context, _ pgx.Tx, id int64) error { return b.tell("unconfirmed %d", id) },
		OnChanged: func(_ context.Context, _ pgx.Tx, id int64, code string) error {
			return b.tell("changed %d %s", id, code)
		},
		Timeout: 2 * time.Second, Looks: []time.Duration{100 * time.Millisecond, 200 * time.Millisecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	b.pub = publishing.New(cfg)
	registry := queue.NewRegistry()
	b.pub.Register(registry)
	b.desk = &queue.Desk{Pool: b.pool, Registry: registry}
	b.engine = queue.New(queue.Config{
		Pool: b.pool, Registry: registry, Logger: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel),
		PollEvery: 30 * time.Millisecond, ReapEvery: 100 * time.Millisecond, KeepEvery: 50 * time.Millisecond,
	})
	return b
}

// start lets the engine work.
func (b *bundle) start() {
	b.t.Helper()
	if err := b.engine.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := b.engine.Stop(ctx); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *bundle) tell(format string, args ...any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf(format, args...))
	b.told <- struct{}{}
	return nil
}

const draftChangeTest = `
UPDATE drafts SET state = $3, transition = transition + 1, failure = $4
 WHERE id = $1 AND state = ANY($2) AND ($5 = 0 OR transition = $5) RETURNING transition`

// change stands for drafting.Transition: conditional, like it.
func (b *bundle) change(ctx context.Context, tx pgx.Tx, c publishing.DraftChange) (int, bool, error) {
	var n int
	err := tx.QueryRow(ctx, draftChangeTest, c.DraftID, c.From, c.To, c.Failure, c.Transition).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, err
}

func (b *bundle) missed(ctx context.Context, tx pgx.Tx, id int64, transition int) error {
	_, err := tx.Exec(ctx, `UPDATE drafts SET state = 'skipped', skip_reason = 'missed', transition = transition + 1 WHERE id = $1 AND transition = $2`, id, transition)
	if err != nil {
		return err
	}
	return b.tell("missed %d", id)
}

func (b *bundle) channelState(ctx context.Context, tx pgx.Tx, id int64, state editorial.ChannelState, why string) error {
	_, err := tx.Exec(ctx, `UPDATE channels SET state = $2, state_why = $3 WHERE id = $1`, id, state, why)
	return err
}

func (b *bundle) moveChat(ctx context.Context, tx pgx.Tx, from, to int64) error {
	_, err := tx.Exec(ctx, `UPDATE channels SET chat_id = $2 WHERE chat_id = $1`, from, to)
	return err
}

func (b *bundle) knowMessage(ctx context.Context, tx pgx.Tx, id, message int64) error {
	_, err := tx.Exec(ctx, `UPDATE channels SET last_message_id = greatest(last_message_id, $2) WHERE id = $1`, id, message)
	return err
}

// draft makes a scheduled draft with this text.
func (b *bundle) draft(text, image string, at time.Time) int64 {
	b.t.Helper()
	sum := sha256.Sum256([]byte(text + "\x00" + image))
	id := value[int64](b, `INSERT INTO drafts (channel_id, kind, subject, state, slot_at, approved_hash)
		VALUES ($1, 'own', 'own:' || gen_random_uuid(), 'scheduled', $2, $3) RETURNING id`, b.channel, at, sum[:])
	b.exec(`INSERT INTO draft_revisions (draft_id, revision, html, html_hash, image, composer) VALUES ($1, 1, $2, $3, $4, 'person')`, id, text, sum[:], image)
	return id
}

// schedule makes a draft and its job.
func (b *bundle) schedule(text, image string) int64 {
	b.t.Helper()
	id := b.draft(text, image, time.Now())
	b.enqueue(id)
	return id
}

func (b *bundle) enqueue(id int64) {
	b.t.Helper()
	transition := value[int](b, `SELECT transition FROM drafts WHERE id = $1`, id)
	at := value[time.Time](b, `SELECT slot_at FROM drafts WHERE id = $1`, id)
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.pub.EnqueueTx(ctx, tx, id, transition, at)
		return err
	})
}

// wait blocks until a query answers true.
func (b *bundle) wait(what, query string, args ...any) {
	b.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !value[bool](b, query, args...) {
		if time.Now().After(deadline) {
			b.t.Fatalf("waited in vain for: %s\n%s", what, b.dump())
		}
		select {
		case <-b.told:
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *bundle) waitState(id int64, state editorial.DraftState) {
	b.t.Helper()
	b.wait(fmt.Sprintf("draft %d is %s", id, state), `SELECT EXISTS (SELECT FROM drafts WHERE id = $1 AND state = $2)`, id, state)
}

// idle waits until no job is left to run now.
func (b *bundle) idle() {
	b.t.Helper()
	b.wait("no publish job is left", `SELECT NOT EXISTS (SELECT FROM jobs WHERE kind IN ('publish', 'post_edit', 'post_delete'))`)
}

func (b *bundle) dump() string {
	var out bytes.Buffer
	for _, q := range []string{
		`SELECT id || ' ' || state || ' t' || transition || ' ' || failure FROM drafts`,
		`SELECT 'publication ' || draft_id || ' ' || state || ' ' || effect_key || ' ' || error FROM publications`,
		`SELECT 'effect ' || effect_key || ' ' || state || ' ' || coalesce(error, '') FROM effects`,
		`SELECT 'job ' || kind || ' ' || key || ' ' || state || ' ' || run_at || ' ' || coalesce(last_error, '') FROM jobs`,
		`SELECT 'archive ' || kind || ' ' || key || ' ' || reason || ' ' || status || ' ' || coalesce(last_error, '') FROM job_archive`,
	} {
		rows, err := b.pool.Query(context.Background(), q)
		if err != nil {
			return err.Error()
		}
		lines, _ := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, l := range lines {
			fmt.Fprintln(&out, l)
		}
	}
	return out.String()
}

func (b *bundle) tx(fn func(ctx context.Context, tx pgx.Tx) error) {
	b.t.Helper()
	if err := b.try(fn); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) try(fn func(ctx context.Context, tx pgx.Tx) error) error {
	return pgx.BeginFunc(b.t.Context(), b.pool, func(tx pgx.Tx) error { return fn(b.t.Context(), tx) })
}

func (b *bundle) exec(query string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), query, args...); err != nil {
		b.t.Fatal(err)
	}
}

func value[T any](b *bundle, query string, args ...any) (v T) {
	b.t.Helper()
	if err := b.pool.QueryRow(b.t.Context(), query, args...).Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
	return v
}

// The stand-in's public face.

func (b *bundle) control(method, path string, in, out any) {
	b.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+"/sandbox/api/"+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, raw, err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			b.t.Fatalf("%s: %v: %s", path, err, raw)
		}
	}
}

func (b *bundle) findChannel(username string) int64 {
	b.t.Helper()
	var got struct {
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	}
	b.control("GET", "chats/@"+username+"/messages", nil, &got)
	return got.Chat.ID
}

func (b *bundle) standing(chat int64, status string) {
	b.t.Helper()
	b.control("POST", fmt.Sprintf("channels/%d", chat), map[string]any{"bot_status": status}, nil)
}

type message struct {
	ID      int64  `json:"message_id"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
	Photo   any    `json:"photo"`
	Service any    `json:"channel_chat_created"`
}

// posts returns what stands in a chat, service messages left out.
func (b *bundle) posts(chat int64) []message {
	b.t.Helper()
	var got struct {
		Messages []message `json:"messages"`
	}
	b.control("GET", fmt.Sprintf("chats/%d/messages", chat), nil, &got)
	var out []message
	for _, m := range got.Messages {
		if m.Text+m.Caption != "" || m.Photo != nil {
			out = append(out, m)
		}
	}
	return out
}

// postBy lets the channel's owner post by hand.
func (b *bundle) postBy(person int64, chat int64, text string) {
	b.t.Helper()
	b.control("POST", fmt.Sprintf("people/%d/send", person), map[string]any{"chat_id": chat, "text": text}, nil)
}
