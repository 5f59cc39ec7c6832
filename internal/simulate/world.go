package simulate

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/ops/watch"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/stories"
)

const (
	known     = 30 // entries of a feed
	followers = 3  // channels that follow each of the polled sources
)

// world is the product's middle on the loaded database, with feeds to read.
type world struct {
	cfg    Config
	pool   *pgxpool.Pool
	began  time.Time
	size   Size // of the background
	feeds  *newsroom
	src    *sources.Service
	engine *queue.Engine
	urls   []string
}

func (w *world) now() time.Time { return w.cfg.Now() }

func newWorld(ctx context.Context, cfg Config, pool *pgxpool.Pool) (*world, error) {
	w := &world{cfg: cfg, pool: pool, began: cfg.Now(), feeds: newNewsroom()}
	web := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	registry := queue.NewRegistry()
	score := scoring.New(scoring.Config{
		Pool: pool, Now: cfg.Now, Logger: zerolog.Nop(),
		OnProposal: func(context.Context, pgx.Tx, scoring.Proposal) error { return nil },
	})
	story := stories.New(stories.Config{
		Pool: pool, Logger: zerolog.Nop(),
		OnStory: func(ctx context.Context, tx pgx.Tx, o stories.Offer) error {
			return score.Story(ctx, tx, o.ChannelID, o.StoryID, o.Baseline)
		},
		BaselineDone: func(context.Context, pgx.Tx, int64, int64) (bool, error) { return false, nil },
	})
	w.src = sources.New(sources.Config{
		Pool: pool, Reader: sources.NewReader(web, "", cfg.Now), Logger: zerolog.Nop(), Clock: cfg.Now,
		HostGap: -1, PollUnfollowed: true, OnNew: story.Items,
	})
	w.src.Register(registry)
	story.Register(registry)
	score.Register(registry)
	w.engine = queue.New(queue.Config{Pool: pool, Registry: registry, PollEvery: 200 * time.Millisecond})
	if err := w.addChannels(ctx); err != nil {
		return nil, err
	}
	if err := w.addSources(ctx); err != nil {
		return nil, err
	}
	return w, w.engine.Start(ctx)
}

func (w *world) close() {
	stop, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_ = w.engine.Stop(stop)
	w.feeds.server.Close()
}

// addChannels copies the channels in, each with an owner and topics.
func (w *world) addChannels(ctx context.Context) error {
	n := w.cfg.Size.Channels
	err := w.copyIn(ctx, "people", []string{"id", "first_name"}, 0, n, func(i int) []any {
		return []any{int64(i + 1), fmt.Sprint("Person ", i)}
	})
	if err != nil {
		return fmt.Errorf("load people: %w", err)
	}
	err = w.copyIn(ctx, "channels", []string{"chat_id", "title", "look_for", "created_by"}, 0, n, func(i int) []any {
		return []any{-int64(i + 1), fmt.Sprint("Channel ", i), title(i), int64(i + 1)}
	})
	if err != nil {
		return fmt.Errorf("load channels: %w", err)
	}
	return nil
}

// addSources adds the ones that are really polled, each followed by a few channels.
func (w *world) addSources(ctx context.Context) error {
	for i := range w.cfg.Polled {
		url := w.feeds.url(i)
		var added sources.Added
		found, err := w.src.Reader().Look(ctx, url)
		if err != nil {
			return fmt.Errorf("look at %s: %w", url, err)
		}
		err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) (err error) {
			added, err = w.src.Add(ctx, tx, found)
			return err
		})
		if err != nil {
			return fmt.Errorf("add %s: %w", url, err)
		}
		w.urls = append(w.urls, url)
		err = w.copyIn(ctx, "subscriptions", []string{"channel_id", "source_id", "created_by", "baseline_done_at"}, 0, followers, func(k int) []any {
			return []any{int64((i*followers+k)%w.cfg.Size.Channels + 1), added.ID, int64(1), w.now()}
		})
		if err != nil {
			return fmt.Errorf("follow %s: %w", url, err)
		}
	}
	return nil
}

const (
	dryJobsSQL = `
SELECT count(*)
  FROM jobs
 WHERE kind IN ('match', 'score')`

	sizeSQL = `
SELECT pg_database_size(current_database())`
)

func (w *world) measureAt(ctx context.Context, share int) (Cost, error) {
	part := func(n int) int { return n * share / 100 }
	c := Cost{Share: share, Size: Size{Channels: w.cfg.Size.Channels, Sources: part(w.cfg.Size.Sources), Items: part(w.cfg.Size.Items)}}
	w.cfg.Say("loading %d %%", share)
	from := w.now()
	if err := w.grow(ctx, c.Size); err != nil {
		return c, err
	}
	c.Load = w.now().Sub(from)
	if err := w.pool.QueryRow(ctx, sizeSQL).Scan(&c.Bytes); err != nil {
		return c, err
	}
	c.PerItem = c.Bytes / int64(max(c.Size.Items, 1))
	w.cfg.Say("measuring")
	if _, err := w.round(ctx, true); err != nil { // warms what is cold after the load
		return c, err
	}
	var idle, fresh, chain []time.Duration
	began, items := w.now(), 0
	for range w.cfg.Rounds {
		took, err := w.round(ctx, true)
		if err != nil {
			return c, err
		}
		fresh = append(fresh, took.polls...)
		chain = append(chain, took.drain/time.Duration(w.cfg.Polled))
		items += w.cfg.Polled
	}
	c.Through = float64(items) / w.now().Sub(began).Seconds()
	took, err := w.round(ctx, false)
	if err != nil {
		return c, err
	}
	idle = took.polls
	c.Idle, c.Fresh, c.Chain = median(idle), median(fresh), median(chain)
	c.Headroom = c.Through * 24 * 3600 / 2
	at := w.now()
	if _, err := watch.Read(ctx, w.pool); err != nil {
		return c, err
	}
	c.Figures = w.now().Sub(at)
	return c, nil
}

// took is one round over all real sources.
type took struct {
	polls []time.Duration
	drain time.Duration // until every new item is placed and scored
}

// round lets every feed show one more entry (or none), polls all of them, and
// waits until the queue has placed and scored what is new.
func (w *world) round(ctx context.Context, news bool) (took, error) {
	if news {
		w.feeds.publish()
	}
	var t took
	began := w.now()
	for _, url := range w.urls {
		at := w.now()
		rep, err := w.src.PollNow(ctx, url)
		if err != nil {
			return t, fmt.Errorf("poll %s: %w", url, err)
		}
		if rep.Result != "ok" && rep.Result != "unchanged" {
			return t, fmt.Errorf("poll %s: %s %s", url, rep.Result, rep.Error)
		}
		t.polls = append(t.polls, w.now().Sub(at))
	}
	for {
		var left int
		if err := w.pool.QueryRow(ctx, dryJobsSQL).Scan(&left); err != nil {
			return t, err
		}
		if left == 0 {
			t.drain = w.now().Sub(began)
			return t, nil
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// newsroom serves feeds from this process.
type newsroom struct {
	server *httptest.Server
	mu     sync.Mutex
	issue  int // guarded by mu; each one adds an entry to every feed
}

func newNewsroom() *newsroom {
	n := &newsroom{issue: known}
	n.server = httptest.NewServer(n)
	return n
}

func (n *newsroom) url(i int) string { return fmt.Sprintf("%s/feed/%d.xml", n.server.URL, i) }

func (n *newsroom) publish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.issue++
}

// ServeHTTP writes the newest entries of one feed.
func (n *newsroom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	issue := n.issue
	n.mu.Unlock()
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/feed/"), ".xml")
	var b strings.Builder
	fmt.Fprintf(&b, `<rss version="2.0"><channel><title>Feed %s</title><link>http://feed-%s.example/</link>`, name, name)
	for k := issue; k > issue-known-1 && k > 0; k-- {
		fmt.Fprintf(&b, `<item><guid>feed-%s-%d</guid><link>http://feed-%s.example/%d</link><title>%s</title><description>%s</description></item>`,
			name, k, name, k, title(1_000_000*(k+1)+len(name)*7919+atoi(name)), strings.Repeat(title(k*31+atoi(name))+". ", 12))
	}
	b.WriteString(`</channel></rss>`)
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = w.Write([]byte(b.String()))
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}
