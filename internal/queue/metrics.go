package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of an execution, as counted in postonce_jobs_total.
const (
	outcomeCompleted   = "completed"
	outcomeRetried     = "retried"
	outcomePermanent   = "permanent"
	outcomeExhausted   = "exhausted"
	outcomeUnconfirmed = "unconfirmed"
	outcomeLeaseLost   = "lease_lost"
)

// metrics are named in docs/operating.md; a gauge that needs the database is read when somebody asks.
type metrics struct {
	wait           *prometheus.HistogramVec
	duration       *prometheus.HistogramVec
	total          *prometheus.CounterVec
	overruns       *prometheus.CounterVec
	intentsRefused *prometheus.CounterVec
	expired        prometheus.Counter
	registerer     prometheus.Registerer
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{
		registerer: to,
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "postonce_job_wait_seconds", Help: "From due to claimed.",
			Buckets: []float64{.005, .015, .05, .1, .25, .5, 1, 2.5, 5, 15, 30, 60, 300, 900, 3600},
		}, []string{"tier", "kind"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "postonce_job_duration_seconds", Help: "From the handler's start to the durable end.",
			Buckets: []float64{.001, .005, .02, .1, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"tier", "kind"}),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_jobs_total", Help: "Executions by outcome.",
		}, []string{"tier", "kind", "outcome"}),
		overruns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_job_lease_overruns_total", Help: "Executions that outran their first lease.",
		}, []string{"kind"}),
		intentsRefused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_intents_refused_total", Help: "Effects that were not performed because an earlier try is in doubt.",
		}, []string{"kind"}),
		// Of processes that died: their own counters died with them.
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "postonce_leases_expired_total", Help: "Leases that nobody renewed, as this process found them.",
		}),
	}
	if to != nil {
		to.MustRegister(m.wait, m.duration, m.total, m.overruns, m.intentsRefused, m.expired)
	}
	return m
}

// know lets every counter of a kind begin at zero: a rate sees no first step of a series that was not there.
func (m *metrics) know(s *spec) {
	for _, outcome := range []string{
		outcomeCompleted, outcomeRetried, outcomePermanent, outcomeExhausted, outcomeUnconfirmed, outcomeLeaseLost,
	} {
		m.total.WithLabelValues(string(s.tier), s.name, outcome)
	}
	m.wait.WithLabelValues(string(s.tier), s.name)
	m.duration.WithLabelValues(string(s.tier), s.name)
	m.overruns.WithLabelValues(s.name)
	m.intentsRefused.WithLabelValues(s.name)
}

// ended counts one execution. Children of a vector are looked up once per run's kind.
func (m *metrics) ended(r *run, outcome string, now time.Time) {
	tier := string(r.lane.tier)
	if r.spec != nil {
		c := r.spec.counters(m, tier)
		c.wait.Observe(max(0, r.claimedAt.Sub(r.runAt).Seconds()))
		c.duration.Observe(now.Sub(r.startedAt).Seconds())
		if outcome == outcomeCompleted {
			c.completed.Inc()
			return
		}
	}
	m.total.WithLabelValues(tier, r.kind, outcome).Inc()
}

// kindCounters are the children of the vectors for one kind.
type kindCounters struct {
	wait, duration prometheus.Observer
	completed      prometheus.Counter
}

// counters looks the children up once: the lookup by label costs more than the counting.
func (s *spec) counters(m *metrics, tier string) *kindCounters {
	if c := s.counting.Load(); c != nil {
		return c
	}
	c := &kindCounters{
		wait:      m.wait.WithLabelValues(tier, s.name),
		duration:  m.duration.WithLabelValues(tier, s.name),
		completed: m.total.WithLabelValues(tier, s.name, outcomeCompleted),
	}
	s.counting.Store(c)
	return c
}

// depthLimit: a deep backlog is never counted exactly.
const depthLimit = 10000

const jobDepthSQL = `
SELECT t.tier,
       due.kind,
       count(*)
  FROM unnest($1::text[]) AS t (tier)
 CROSS JOIN LATERAL (
         SELECT kind
           FROM jobs
          WHERE state = 'ready'
            AND tier = t.tier
            AND run_at <= now()
          LIMIT $2
       ) AS due
 GROUP BY t.tier,
          due.kind`

const jobOldestSQL = `
SELECT t.tier,
       coalesce(extract(epoch FROM clock_timestamp() - (
         SELECT run_at
           FROM jobs
          WHERE state = 'ready'
            AND tier = t.tier
            AND run_at <= now()
          ORDER BY run_at,
                   id
          LIMIT 1
       )), 0)::float8
  FROM unnest($1::text[]) AS t (tier)`

const archiveOpenSQL = `
SELECT reason,
       count(*)
  FROM job_archive
 WHERE status = 'open'
 GROUP BY reason`

const databaseHealthSQL = `
SELECT coalesce((SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'jobs'::regclass), 0)::float8,
       coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start))
                   FROM pg_stat_activity
                  WHERE backend_xmin IS NOT NULL), 0)::float8`

// watcher reads gauges from the database when they are scraped.
type watcher struct {
	engine *Engine

	depth, oldest, archive, dead, snapshot *prometheus.Desc
}

func newWatcher(e *Engine) *watcher {
	return &watcher{
		engine:   e,
		depth:    prometheus.NewDesc("postonce_jobs_depth", "Jobs that are due (at most 10000 counted per tier).", []string{"tier", "kind"}, nil),
		oldest:   prometheus.NewDesc("postonce_jobs_oldest_age_seconds", "How long the oldest due job has waited.", []string{"tier"}, nil),
		archive:  prometheus.NewDesc("postonce_archive_open", "Archived jobs that nobody has decided about.", []string{"reason"}, nil),
		dead:     prometheus.NewDesc("postonce_jobs_dead_rows", "Dead rows in the hot table.", nil, nil),
		snapshot: prometheus.NewDesc("postonce_database_oldest_snapshot_seconds", "Age of the oldest snapshot in the database.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (w *watcher) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{w.depth, w.oldest, w.archive, w.dead, w.snapshot} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. What cannot be read within two seconds is left out.
func (w *watcher) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	w.waiting(ctx, ch)
	w.waited(ctx, ch)
	w.archived(ctx, ch)
	var dead, snapshot float64
	if err := w.engine.pool.QueryRow(ctx, databaseHealthSQL).Scan(&dead, &snapshot); err == nil {
		ch <- prometheus.MustNewConstMetric(w.dead, prometheus.GaugeValue, dead)
		ch <- prometheus.MustNewConstMetric(w.snapshot, prometheus.GaugeValue, snapshot)
	}
}

// waiting sends the depth of each kind, zero for those of which nothing waits.
func (w *watcher) waiting(ctx context.Context, ch chan<- prometheus.Metric) {
	rows, err := w.engine.pool.Query(ctx, jobDepthSQL, Tiers(), depthLimit)
	if err != nil {
		return
	}
	type lane struct{ tier, kind string }
	depth := map[lane]float64{}
	for name, s := range w.engine.kinds {
		depth[lane{string(s.tier), name}] = 0
	}
	var of lane
	var n float64
	if _, err := pgx.ForEachRow(rows, []any{&of.tier, &of.kind, &n}, func() error { depth[of] = n; return nil }); err != nil {
		return
	}
	for of, n := range depth {
		ch <- prometheus.MustNewConstMetric(w.depth, prometheus.GaugeValue, n, of.tier, of.kind)
	}
}

// waited sends how long the oldest due job of each tier has waited.
func (w *watcher) waited(ctx context.Context, ch chan<- prometheus.Metric) {
	rows, err := w.engine.pool.Query(ctx, jobOldestSQL, Tiers())
	if err != nil {
		return
	}
	var tier string
	var age float64
	_, _ = pgx.ForEachRow(rows, []any{&tier, &age}, func() error { // what cannot be read is left out
		ch <- prometheus.MustNewConstMetric(w.oldest, prometheus.GaugeValue, age, tier)
		return nil
	})
}

// archived also reports zeroes, so that an alert can be written on the difference; but none unless every row was
// read, as a zero that is none would end an alert.
func (w *watcher) archived(ctx context.Context, ch chan<- prometheus.Metric) {
	rows, err := w.engine.pool.Query(ctx, archiveOpenSQL)
	if err != nil {
		return
	}
	open := map[Reason]float64{}
	var reason Reason
	var n float64
	if _, err := pgx.ForEachRow(rows, []any{&reason, &n}, func() error { open[reason] = n; return nil }); err != nil {
		return
	}
	for _, reason := range Reasons() {
		ch <- prometheus.MustNewConstMetric(w.archive, prometheus.GaugeValue, open[reason], string(reason))
	}
}
