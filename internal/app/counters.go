package app

import "github.com/prometheus/client_golang/prometheus"

// counters are the metrics of what happens between features.
type counters struct {
	items *prometheus.CounterVec
	polls *prometheus.CounterVec
}

func newCounters(reg prometheus.Registerer) *counters {
	c := &counters{
		items: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_items_total", Help: "Entries by what became of them: new, known, story, baseline, old, over_cap.",
		}, []string{"result"}),
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_polls_total", Help: "Polls by result: ok, unchanged, or the code of an error.",
		}, []string{"result"}),
	}
	reg.MustRegister(c.items, c.polls)
	for _, result := range []string{"new", "known", "story"} {
		c.items.WithLabelValues(result)
	}
	for _, result := range []string{"ok", "unchanged"} {
		c.polls.WithLabelValues(result)
	}
	return c
}

// item counts where stories placed an item.
func (c *counters) item(result string) { c.items.WithLabelValues(result).Inc() }

// poll counts a poll and what its entries were.
func (c *counters) poll(result string, items map[string]int) {
	c.polls.WithLabelValues(result).Inc()
	for what, n := range items {
		c.items.WithLabelValues(what).Add(float64(n))
	}
}
