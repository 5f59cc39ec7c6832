package drafting_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/llm"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

// bundle is a drafting service with its engine on a fresh database, and what it told others.
type bundle struct {
	t    *testing.T
	pool *pgxpool.Pool
	svc  *drafting.Service

	mu     sync.Mutex
	told   []string // "draft:revision"
	budget int
	anew   int // texts that were refreshed

	// stop ends the engine of this process.
	stop func()
}

func newBundle(t *testing.T, change ...func(*drafting.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, pool: dbtest.New(t)}
	cfg := drafting.Config{
		Pool: b.pool, Logger: zerolog.Nop(), Secret: []byte("test"), ModelTimeout: 3 * time.Second,
		OnDraft: func(_ context.Context, _ pgx.Tx, id int64, rev int) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.told = append(b.told, fmt.Sprintf("%d:%d", id, rev))
			return nil
		},
		OnRefreshed: func(context.Context, pgx.Tx, int64) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.anew++
			return nil
		},
		OnBudget: func(context.Context, pgx.Tx, int64) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.budget++
			return nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	b.svc = drafting.New(cfg)
	reg := queue.NewRegistry()
	b.svc.Register(reg)
	engine := queue.New(queue.Config{
		Pool: b.pool, Registry: reg, Logger: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel),
		PollEvery: 30 * time.Millisecond, ReapEvery: 100 * time.Millisecond, KeepEvery: 50 * time.Millisecond,
	})
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = engine.Stop(ctx)
	})
	t.Cleanup(b.stop)
	return b
}

func (b *bundle) refreshed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.anew
}

func withModel(url string) func(*drafting.Config) {
	return func(c *drafting.Config) { c.Model = llm.New(llm.Config{BaseURL: url, Key: "k", Model: "m"}) }
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) id(sql string, args ...any) int64 {
	b.t.Helper()
	var id int64
	if err := b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&id); err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bundle) text(sql string, args ...any) string {
	b.t.Helper()
	var s string
	if err := b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&s); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return s
}

func (b *bundle) tx(fn func(ctx context.Context, tx pgx.Tx) error) {
	b.t.Helper()
	if err := postgres.InTx(b.t.Context(), b.pool, func(tx pgx.Tx) error { return fn(b.t.Context(), tx) }); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) channel(lang string) int64 {
	n := b.id(`SELECT count(*) + 1 FROM channels`)
	return b.id(`INSERT INTO channels (chat_id, title, language, created_by, hashtags) VALUES ($1, 'C', $2, 1, '{space,money}') RETURNING id`, -n, lang)
}

// story makes a story of one item in a source that the channel follows.
func (b *bundle) story(channel int64, title, text string) int64 {
	n := b.id(`SELECT count(*) + 1 FROM sources`)
	src := b.id(`INSERT INTO sources (address, url, host, kind, title) VALUES ('a' || $1::bigint, 'https://news.example/' || $1::bigint, 'news.example', 'feed', 'The Daily') RETURNING id`, n)
	b.exec(`INSERT INTO subscriptions (channel_id, source_id, created_by) VALUES ($1, $2, 1)`, channel, src)
	item := b.id(`INSERT INTO items (source_id, url, title, text) VALUES ($1, 'https://news.example/item/' || $2::bigint, $3, $4) RETURNING id`, src, n, title, text)
	story := b.id(`INSERT INTO stories (lead_item_id, title) VALUES ($1, $2) RETURNING id`, item, title)
	b.exec(`INSERT INTO story_items (item_id, story_id, how, certain) VALUES ($1, $2, 'lead', true)`, item, story)
	return story
}

func (b *bundle) ask(a drafting.DraftArgs) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.svc.DraftTx(ctx, tx, a)
		return err
	})
}

// toldOf waits until people were told of n texts.
func (b *bundle) toldOf(n int) []string {
	b.t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		told := append([]string(nil), b.told...)
		b.mu.Unlock()
		if len(told) >= n {
			return told
		}
	}
	b.t.Fatalf("people were told of %v, want %d", b.told, n)
	return nil
}

// quiet waits until no job but watches is left.
func (b *bundle) quiet() {
	b.t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b.id(`SELECT count(*) FROM jobs WHERE kind <> 'compose_watch'`) == 0 {
			return
		}
	}
	b.t.Fatal("jobs are left")
}
