package telegram

import "github.com/prometheus/client_golang/prometheus"

// CountUpdates registers postonce_updates_total and returns what counts in it;
// it fits IntakeConfig.Observe. Results: new, known, dead.
func CountUpdates(r prometheus.Registerer) func(via, result string) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "postonce_updates_total", Help: "Updates by how they came and what they were: new, known, dead.",
	}, []string{"via", "result"})
	r.MustRegister(c)
	return func(via, result string) { c.WithLabelValues(via, result).Inc() }
}
