package watch

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	keepFigures   = 10 * time.Second // several scrapers cost one look
	scrapePatient = 5 * time.Second
)

// Collector offers the figures as metrics, beside those of the queue's own
// collector (depth, age, archive, dead rows, snapshots). They describe the database, so that
// every replica shows the same ones.
type Collector struct {
	db     Reader
	budget int64
	descs  map[string]*prometheus.Desc
	// Trouble is what keeps updates from coming to this very process, "" for
	// nothing: a database that takes no rows, on a full disk, cannot be told. Set
	// it before the collector is registered; nil asks the database alone.
	Trouble func() string

	mu     sync.Mutex // guards what follows; held while the database is asked
	last   Figures
	lastAt time.Time
	lastOK bool
}

// NewCollector returns a collector to register; budget as in Config.
func NewCollector(db Reader, budget int64) *Collector {
	c := &Collector{db: db, budget: budget, descs: map[string]*prometheus.Desc{}}
	for _, d := range []struct{ name, help, label string }{
		{"watch_up", "1 when the database could be read for these figures.", ""},
		{"database_size_bytes", "Size of the database.", ""},
		{"effects_in_doubt", "Outside effects whose outcome is not known: strict ones with an open archive row, courtesies of the last day.", "class"},
		{"sources", "Sources by state: healthy, failing (three failures in a row), paused, gone.", "state"},
		{"drafts", "Drafts that wait, by state; counted up to 10000.", "state"},
		{"model_tokens_today", "Tokens used and reserved since midnight UTC.", ""},
		{"model_budget_tokens", "The day's budget; 0 is unlimited.", ""},
		{"updates_stopped", "1 while Telegram's updates do not come.", ""},
		{"clock_ahead_seconds", "How far the database's clock is ahead of this machine's.", ""},
		{"channels_held", "Channels that publish nothing until they are reconciled after a restore.", ""},
	} {
		var labels []string
		if d.label != "" {
			labels = []string{d.label}
		}
		c.descs[d.name] = prometheus.NewDesc("postonce_"+d.name, d.help, labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A database that cannot be read shows
// as postonce_watch_up 0 and no further figures.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	f, ok := c.figures()
	put := func(name string, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(c.descs[name], prometheus.GaugeValue, v, labels...)
	}
	if !ok {
		put("watch_up", 0)
		return
	}
	put("watch_up", 1)
	put("database_size_bytes", float64(f.DatabaseBytes))
	put("effects_in_doubt", float64(f.StrictInDoubt), "strict")
	put("effects_in_doubt", float64(f.CourtesyInDoubt), "courtesy")
	for _, s := range []string{"healthy", "failing", "paused", "gone"} {
		put("sources", float64(f.Sources[s]), s)
	}
	for s, n := range f.Drafts {
		put("drafts", float64(n), s)
	}
	put("model_tokens_today", float64(f.ModelTokensToday))
	put("model_budget_tokens", float64(c.budget))
	put("clock_ahead_seconds", f.ClockAhead.Seconds())
	put("channels_held", float64(f.ChannelsHeld))
	stopped := 0.0
	if f.UpdatesStopped != "" || c.Trouble != nil && c.Trouble() != "" {
		stopped = 1
	}
	put("updates_stopped", stopped)
}

func (c *Collector) figures() (Figures, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The wall clock serves: this is no rule, only a cache.
	if !c.lastAt.IsZero() && time.Since(c.lastAt) < keepFigures {
		return c.last, c.lastOK
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapePatient)
	defer cancel()
	f, err := Read(ctx, c.db)
	c.last, c.lastAt, c.lastOK = f, time.Now(), err == nil
	return f, c.lastOK
}
