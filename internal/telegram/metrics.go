package telegram

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count calls and updates. Call fits Config.Observe, Update fits
// IntakeConfig.Observe.
type Metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	updates *prometheus.CounterVec
}

// NewMetrics registers the counters of the Bot API's use.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_telegram_calls_total", Help: "Calls of the Bot API by method and outcome.",
		}, []string{"method", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "postonce_telegram_call_seconds", Help: "From asking for a turn to the whole answer, long polls left out.",
			Buckets: []float64{.02, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 90},
		}, []string{"method"}),
		updates: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_updates_total", Help: "Updates by how they came and what they were: new, known, dead.",
		}, []string{"via", "result"}),
	}
	r.MustRegister(m.calls, m.seconds, m.updates)
	return m
}

// Call counts one finished call.
func (m *Metrics) Call(method, outcome string, took time.Duration) {
	m.calls.WithLabelValues(method, outcome).Inc()
	if method != "getUpdates" {
		m.seconds.WithLabelValues(method).Observe(took.Seconds())
	}
}

// Update counts one update.
func (m *Metrics) Update(via, result string) { m.updates.WithLabelValues(via, result).Inc() }
