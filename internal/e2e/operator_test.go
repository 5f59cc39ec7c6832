package e2e_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/sandbox/play"
)

// fixed are the metrics that dashboards and alerts of others hold on to, with
// their labels; they are there from the start, before anything happened.
func fixed() map[string]string {
	return map[string]string{
		"postonce_jobs_depth":                       "gauge kind tier",
		"postonce_jobs_oldest_age_seconds":          "gauge tier",
		"postonce_job_wait_seconds":                 "histogram kind tier",
		"postonce_job_duration_seconds":             "histogram kind tier",
		"postonce_jobs_total":                       "counter kind outcome tier",
		"postonce_job_lease_overruns_total":         "counter kind",
		"postonce_archive_open":                     "gauge reason",
		"postonce_items_total":                      "counter result",
		"postonce_polls_total":                      "counter result",
		"postonce_publications_total":               "counter outcome",
		"postonce_model_tokens_total":               "counter direction",
		"postonce_updates_total":                    "counter result via",
		"postonce_telegram_call_seconds":            "histogram method outcome",
		"postonce_intents_refused_total":            "counter kind",
		"postonce_leases_expired_total":             "counter",
		"postonce_updates_stopped":                  "gauge",
		"postonce_effects_in_doubt":                 "gauge class",
		"postonce_sources":                          "gauge state",
		"postonce_model_budget_tokens":              "gauge",
		"postonce_model_tokens_today":               "gauge",
		"postonce_channels_held":                    "gauge",
		"postonce_clock_ahead_seconds":              "gauge",
		"postonce_watch_up":                         "gauge",
		"postonce_build_info":                       "gauge commit version",
		"postonce_database_size_bytes":              "gauge",
		"postonce_jobs_dead_rows":                   "gauge",
		"postonce_drafts":                           "gauge state",
		"postonce_database_oldest_snapshot_seconds": "gauge",
	}
}

var (
	typeLine = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	label    = regexp.MustCompile(`(\w+)="`)
)

// exported reads an exposition: each metric's type and labels, as in fixed.
func exported(text string) map[string]string {
	out := map[string]string{}
	for _, m := range typeLine.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
		series := regexp.MustCompile(`(?m)^` + m[1] + `(?:_bucket)?(?:\{([^\n]*)\})? `).FindStringSubmatch(text)
		if series == nil {
			continue
		}
		var labels []string
		for _, l := range label.FindAllStringSubmatch(series[1], -1) {
			if l[1] != "le" {
				labels = append(labels, l[1])
			}
		}
		slices.Sort(labels)
		out[m[1]] = strings.TrimSpace(m[2] + " " + strings.Join(labels, " "))
	}
	return out
}

// named are the metrics that a file of docs/deploy names, without what a
// histogram appends.
func named(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range regexp.MustCompile(`\bpostonce_[a-z_]+`).FindAllString(string(text), -1) {
		out = append(out, regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""))
	}
	if slices.Sort(out); len(out) < 10 {
		t.Fatalf("%s names only %v", file, out)
	}
	return slices.Compact(out)
}

// bounds are the finite buckets of a histogram.
func bounds(text, name string) (first, last float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+name+`_bucket\{[^\n]*le="([0-9.e+]+)"`).FindAllStringSubmatch(text, -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		if first == 0 || v < first {
			first = v
		}
		last = max(last, v)
	}
	return first, last
}

// What operators hold on to is exported by the running program on its private
// address and nowhere else, and one person's request can be followed by its
// numbers from the log to the job and to what came of it.
func TestOperatorsSeeMetricsAndFollowARequest(t *testing.T) {
	t.Parallel()
	tw, database := newTown(t, nil), dbtest.URL(t)
	env := tw.env(database)
	r := serve(t, env...)
	people, err := tw.stage.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ann := people[0]
	asked := say(t, ann, "/start")
	waitBot(t, tw.stage, ann, asked, func(m play.Message) bool { return m.Says() != "" })

	text, err := body(t, r.ops+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	have := exported(text)
	for name, want := range fixed() {
		if have[name] != want {
			t.Errorf("%s is %q, want %q", name, have[name], want)
		}
	}
	for _, file := range []string{"alerts.yml", "grafana/postonce.json"} {
		for _, name := range named(t, "../../docs/deploy/"+file) {
			if _, there := have[name]; !there {
				t.Errorf("docs/deploy/%s asks for %s, which nobody exports", file, name)
			}
		}
	}
	// From a tap's milliseconds to a job that waited for an hour.
	if first, last := bounds(text, "postonce_job_wait_seconds"); first > .015 || last < 3600 {
		t.Errorf("waits are told apart from %v to %v s", first, last)
	}
	// From a statement's milliseconds to the longest lease.
	if first, last := bounds(text, "postonce_job_duration_seconds"); first > .005 || last < 300 {
		t.Errorf("durations are told apart from %v to %v s", first, last)
	}
	// A request to Telegram may last 90 s (an album with its pictures).
	if first, last := bounds(text, "postonce_telegram_call_seconds"); first > .025 || last < 90 {
		t.Errorf("calls are told apart from %v to %v s", first, last)
	}
	for path, private := range map[string]bool{"/metrics": true, "/debug/pprof/": true, "/debug/pprof/goroutine?debug=1": true, "/healthz": false} {
		if _, err := body(t, r.http+path); (err != nil) != private {
			t.Errorf("%s on the public address: %v", path, err)
		}
		if private {
			if _, err := body(t, r.ops+path); err != nil {
				t.Error(err)
			}
		}
	}

	followed(t, env, r, ann.ID)
}

// followed goes from a log line to the job and from there to what came of it.
func followed(t *testing.T, env []string, r *replica, person int64) {
	t.Helper()
	line := regexp.MustCompile(`"update":(\d+)[^\n]*"job":(\d+)|"job":(\d+)[^\n]*"update":(\d+)`)
	var m []string
	for range 100 {
		if m = line.FindStringSubmatch(r.log.String()); m != nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // another process's log has no signal
	}
	if m == nil {
		t.Fatal("no log line names an update and its job")
	}
	update, job := m[1]+m[4], m[2]+m[3]
	code, out, errs := run(t, env, "jobs", "show", job)
	if code != 0 {
		t.Fatalf("jobs show %s: %d %s", job, code, errs)
	}
	for _, want := range []string{"job         " + job, "kind        update", fmt.Sprintf("person %d, update %s", person, update), "state       completed"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}
