package simulate

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/fetch"
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
	share  int
	began  time.Time
	size   Size // of the background
	loaded time.Duration
	opened bool
	feeds  *newsroom
	src    *sources.Service
	engine *queue.Engine
	urls   []string
}

func (w *world) now() time.Time { return w.cfg.Now() }

// newWorld is the middle of the product on pool, stopped: open starts it.
func newWorld(cfg Config, pool *pgxpool.Pool, share int) *world {
	part := func(n int) int { return max(n*share/100, 1) }
	w := &world{
		cfg: cfg, pool: pool, share: share, began: cfg.Now(), feeds: newNewsroom(cfg.Now().Unix()),
		size: Size{Channels: cfg.Size.Channels, Sources: part(cfg.Size.Sources), Items: part(cfg.Size.Items)},
	}
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
	return w
}

// open adds the sources that are really polled and starts the queue.
func (w *world) open(ctx context.Context) error {
	if err := w.addSources(ctx); err != nil {
		return err
	}
	w.opened = true
	return w.engine.Start(ctx)
}

func (w *world) close() {
	stop, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if w.opened {
		_ = w.engine.Stop(stop)
	}
	w.feeds.server.Close()
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
		err = w.copyIn(ctx, "subscriptions", []string{"channel_id", "source_id", "created_by", "baseline_done_at"}, followers, func(k int) []any {
			return []any{int64((i*followers+k)%w.cfg.Size.Channels + 1), added.ID, int64(1), w.now()}
		})
		if err != nil {
			return fmt.Errorf("follow %s: %w", url, err)
		}
	}
	return nil
}

const (
	// pagesSQL counts what was asked of the tables and their indexes, whether it lay in memory or not.
	pagesSQL = `
SELECT coalesce(sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0)
                  + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)
                  + coalesce(toast_blks_hit, 0) + coalesce(toast_blks_read, 0)
                  + coalesce(tidx_blks_hit, 0) + coalesce(tidx_blks_read, 0)), 0)::bigint
  FROM pg_statio_user_tables`

	dryJobsSQL = `
SELECT count(*)
  FROM jobs
 WHERE kind IN ('match', 'score')`

	sizeSQL = `
SELECT pg_database_size(current_database())`
)

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
		case <-time.After(50 * time.Millisecond): // counting reads the queue too
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

// newsroom serves feeds from this process. Its addresses and entries are never
// those of another run on the same database.
type newsroom struct {
	server  *httptest.Server
	edition int64
	mu      sync.Mutex
	issue   int // guarded by mu; each one adds an entry to every feed
}

func newNewsroom(edition int64) *newsroom {
	n := &newsroom{issue: known, edition: edition}
	n.server = httptest.NewServer(n)
	return n
}

func (n *newsroom) url(i int) string {
	return fmt.Sprintf("%s/%d/feed/%d.xml", n.server.URL, n.edition, i)
}

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
	name := strings.TrimSuffix(path.Base(r.URL.Path), ".xml")
	var b strings.Builder
	fmt.Fprintf(&b, `<rss version="2.0"><channel><title>Feed %s</title><link>http://feed-%s.example/</link>`, name, name)
	for k := issue; k > issue-known-1 && k > 0; k-- {
		entry := int(n.edition%1_000_000)*1_000_000 + k*10_000 + atoi(name)
		fmt.Fprintf(&b, `<item><guid>feed-%s-%d</guid><link>http://feed-%s.example/%d</link><title>%s</title><description>%s</description></item>`,
			name, entry, name, entry, title(madeFrom+entry), strings.Repeat(title(entry*31)+". ", 12))
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
