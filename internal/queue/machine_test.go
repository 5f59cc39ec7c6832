package queue

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// refJob and refEffect are what the reference model knows; both are compared with the tables after every step.
type refJob struct {
	id                             int64
	key, state, reason, status     string
	generation, failures, expiries int
	token                          int64 // of the last claim
	expired                        bool
}

type refEffect struct {
	state     string
	token     int64
	job       int64
	performed int // how often the world did it
}

// machine is the queue seen as a state machine: what executions, the reaper and the desk may do in any order,
// with executions that died, froze, or come too late.
type machine struct {
	*quiet
	desk   *Desk
	jobs   map[int64]*refJob
	latest map[string]*refJob
	fx     map[string]*refEffect
	hand   []*run // executions that may still do something, stale ones too
	newest int64  // the greatest token so far
}

func (m *machine) job(r *run) *refJob { return m.jobs[r.id] }

func (m *machine) current(r *run) bool {
	j := m.job(r)
	return j.state == "leased" && j.token == r.token
}

func (m *machine) draw(rt *rapid.T) *run {
	if len(m.hand) == 0 {
		rt.Skip()
	}
	return rapid.SampledFrom(m.hand).Draw(rt, "execution")
}

func (m *machine) drop(r *run) {
	m.hand = slices.DeleteFunc(m.hand, func(other *run) bool { return other == r })
}

func (m *machine) of(state string) (jobs []*refJob) {
	for _, j := range m.jobs {
		if j.state == state {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *refJob) int { return int(a.id - b.id) })
	return jobs
}

func (m *machine) add(key string, id int64, generation int) {
	j := &refJob{id: id, key: key, state: "ready", generation: generation}
	m.jobs[id], m.latest[key] = j, j
}

func (m *machine) archive(j *refJob, reason Reason) {
	j.state, j.reason, j.status = "archived", string(reason), "open"
	if e := m.fx[j.key]; e.state == "intent" && e.job == j.id {
		e.state = "unknown"
	}
}

func (m *machine) doEnqueue(rt *rapid.T) {
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
	sub := m.enqueue(key)
	if known := m.latest[key]; known != nil {
		if sub.Fresh || sub.JobID != known.id {
			rt.Fatalf("key %s: got %+v, want the known job %d", key, sub, known.id)
		}
		return
	}
	if !sub.Fresh {
		rt.Fatalf("key %s is new and was found", key)
	}
	m.add(key, sub.JobID, 0)
}

func (m *machine) doClaim(rt *rapid.T) {
	n := rapid.IntRange(1, 3).Draw(rt, "slots")
	m.exec(`UPDATE jobs SET run_at = clock_timestamp() - interval '1 s' WHERE state = 'ready'`) // time passes
	runs := m.claim(n)
	if want := min(n, len(m.of("ready"))); len(runs) != want {
		rt.Fatalf("claimed %d, want %d", len(runs), want)
	}
	before := m.newest
	for _, r := range runs {
		j := m.job(r)
		if j.state != "ready" || r.token <= before {
			rt.Fatalf("claimed job %d, which is %s, under token %d after %d", r.id, j.state, r.token, before)
		}
		j.state, j.token, j.expired = "leased", r.token, false
		m.newest = max(m.newest, r.token)
		m.hand = append(m.hand, r)
	}
}

func (m *machine) doComplete(rt *rapid.T) {
	r := m.draw(rt)
	mine := m.current(r) && !r.inDoubt.Load()
	before := m.job(r).state == "done" && m.job(r).token == r.token && !r.inDoubt.Load()
	err := r.complete(context.Background(), nil)
	if (err == nil) != (mine || before) {
		rt.Fatalf("complete job %d: %v, want success: %v", r.id, err, mine || before)
	}
	if mine {
		m.job(r).state = "done"
	}
}

func (m *machine) doFail(rt *rapid.T) {
	r := m.draw(rt)
	if r.finished.Load() {
		rt.Skip()
	}
	class := rapid.SampledFrom([]string{"transient", "later", "permanent", "unknown"}).Draw(rt, "class")
	why, mine, j := errors.New(class), m.current(r), m.job(r)
	if r.inDoubt.Load() {
		class = "unknown"
	}
	switch class {
	case "transient":
		r.fail(Transient(why))
	case "later":
		r.fail(Later(time.Second, class))
	case "permanent":
		r.fail(Permanent(why))
	case "unknown":
		r.fail(Unknown{Err: why})
	}
	switch {
	case !mine:
	case class == "transient" && j.failures < m.engine.kinds[r.kind].maxFailures:
		j.state, j.failures = "ready", j.failures+1
	case class == "transient":
		m.archive(j, ReasonExhausted)
	case class == "later":
		j.state = "ready"
	case class == "permanent":
		m.archive(j, ReasonPermanent)
	default:
		m.archive(j, ReasonUnconfirmed)
	}
}

func (m *machine) doExpire(rt *rapid.T) {
	leased := m.of("leased")
	if len(leased) == 0 {
		rt.Skip()
	}
	j := rapid.SampledFrom(leased).Draw(rt, "job")
	m.exec(`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 s' WHERE id = $1`, j.id)
	j.expired = true
}

func (m *machine) doReap(rt *rapid.T) {
	n, err := m.engine.reap(context.Background())
	m.ok(err)
	want := 0
	for _, j := range m.of("leased") {
		if !j.expired {
			continue
		}
		want++
		e := m.fx[j.key]
		switch {
		case e.job == j.id && (e.state == "intent" || e.state == "unknown"):
			m.archive(j, ReasonUnconfirmed)
		case j.expiries == 0:
			j.state, j.expiries = "ready", 1
		default:
			m.archive(j, ReasonLeaseLostTwice)
		}
	}
	if n != want {
		rt.Fatalf("reaped %d, want %d", n, want)
	}
}

func (m *machine) effect(r *run, call func(context.Context) Outcome) Effect {
	return Effect{Key: "fx:" + r.key, Request: []byte(r.key), Timeout: time.Minute, Call: call}
}

// grantable is R2 and the ledger's unique key.
func (m *machine) grantable(r *run) bool {
	e := m.fx[r.key]
	return m.current(r) && !m.job(r).expired && (e.state == "" || e.state == "not_done")
}

func (m *machine) grant(r *run) *refEffect {
	e := m.fx[r.key]
	e.state, e.token, e.job = "intent", r.token, r.id
	return e
}

// doDieInside is a process that dies after its intent; the request may have been on its way.
func (m *machine) doDieInside(rt *rapid.T) {
	r := m.draw(rt)
	if r.finished.Load() || r.inDoubt.Load() {
		rt.Skip()
	}
	e := m.effect(r, nil)
	hash := sha256.Sum256(e.Request)
	granted, err := r.writeIntent(context.Background(), e, hash[:])
	m.ok(err)
	if granted != m.grantable(r) {
		rt.Fatalf("intent of job %d granted: %v, want %v", r.id, granted, m.grantable(r))
	}
	if granted {
		row := m.grant(r)
		if rapid.Bool().Draw(rt, "arrived") {
			row.performed++
		}
		m.drop(r)
	}
}

func (m *machine) doPerform(rt *rapid.T) {
	r := m.draw(rt)
	if r.finished.Load() {
		rt.Skip()
	}
	answer := rapid.SampledFrom([]string{"done", "not_done", "unknown"}).Draw(rt, "answer")
	arrived := answer == "done" || answer == "unknown" && rapid.Bool().Draw(rt, "arrived")
	calls := 0
	effect := m.effect(r, func(context.Context) Outcome {
		calls++
		switch answer {
		case "done":
			return Confirmed{ExternalID: "1"}
		case "not_done":
			return Refused{Err: errors.New("no")}
		}
		return Unknown{Err: errors.New("no answer")}
	})
	effect.Completes = rapid.Bool().Draw(rt, "completes")
	want, prior, mine := m.grantable(r), m.fx[r.key].state == "done", m.current(r)
	_, err := r.perform(context.Background(), effect)
	if (calls == 1) != want {
		rt.Fatalf("the effect of job %d was called %d times, want %v", r.id, calls, want)
	}
	if !want {
		m.performedBefore(rt, r, err, prior, mine && effect.Completes, !effect.Completes || mine)
		return
	}
	e := m.grant(r)
	if e.state = answer; arrived {
		e.performed++
	}
	switch j := m.job(r); {
	case answer == "unknown":
		m.archive(j, ReasonUnconfirmed)
	case answer == "done" && effect.Completes:
		j.state = "done"
	}
	if (err == nil) != (answer == "done") {
		rt.Fatalf("%s came back as %v", answer, err)
	}
}

// performedBefore: the call was not made. Only an effect that is done is no error, and its job may complete.
func (m *machine) performedBefore(rt *rapid.T, r *run, err error, prior, completes, fine bool) {
	if (err == nil) != (prior && fine) {
		rt.Fatalf("job %d: %v; done before: %v", r.id, err, prior)
	}
	if prior && completes {
		m.job(r).state = "done"
	}
}

func (m *machine) doDecide(rt *rapid.T) {
	var open []*refJob
	for _, j := range m.of("archived") {
		if j.status == "open" {
			open = append(open, j)
		}
	}
	if len(open) == 0 {
		rt.Skip()
	}
	j := rapid.SampledFrom(open).Draw(rt, "archived job")
	e := m.fx[j.key]
	doubt := e.job == j.id && (e.state == "intent" || e.state == "unknown")
	truth := EvidenceNotDone
	if e.performed > 0 {
		truth = EvidenceDone
	}
	ctx := context.Background()
	switch rapid.SampledFrom([]string{"replay", "blind replay", "confirm", "dismiss"}).Draw(rt, "decision") {
	case "replay":
		m.exec(`UPDATE effects SET deadline_at = clock_timestamp() WHERE job_id = $1`, j.id) // nothing is under way any more
		d, err := m.desk.Replay(ctx, j.id, "ann", truth)
		m.ok(err)
		m.settle(e, doubt, string(truth))
		m.replayed(j, d)
	case "blind replay":
		d, err := m.desk.Replay(ctx, j.id, "ann", NoEvidence)
		if errors.Is(err, ErrUnsettled) != doubt {
			rt.Fatalf("a replay without a word: %v, in doubt: %v", err, doubt)
		}
		if err == nil {
			m.replayed(j, d)
		}
	case "confirm":
		if doubt && truth != EvidenceDone {
			rt.Skip() // the operator does not lie
		}
		_, err := m.desk.Confirm(ctx, j.id, "ann")
		m.ok(err)
		m.settle(e, doubt, "done")
		j.status = "reconciled"
	case "dismiss":
		_, err := m.desk.Dismiss(ctx, j.id, "ann")
		m.ok(err)
		j.status = "closed"
	}
}

func (m *machine) settle(e *refEffect, doubt bool, state string) {
	if doubt {
		e.state = state
	}
}

func (m *machine) replayed(j *refJob, d Decision) {
	j.status = "replayed"
	m.add(j.key, d.ReplayJobID, m.latest[j.key].generation+1)
}

const machineJobsSQL = `
SELECT id || ' ' || key || ' ' || state || ' g' || generation || ' f' || failures || ' e' || expiries FROM jobs
 UNION ALL
SELECT id || ' ' || key || ' done' FROM job_history
 UNION ALL
SELECT job_id || ' ' || key || ' archived ' || reason || ' ' || status FROM job_archive`

const machineEffectsSQL = `
SELECT effect_key || ' ' || state || ' ' || job_id || ' ' || lease_token FROM effects`

func (m *machine) check(rt *rapid.T) {
	var jobs, effects []string
	for _, j := range m.jobs {
		switch j.state {
		case "done":
			jobs = append(jobs, fmt.Sprintf("%d %s done", j.id, j.key))
		case "archived":
			jobs = append(jobs, fmt.Sprintf("%d %s archived %s %s", j.id, j.key, j.reason, j.status))
		default:
			jobs = append(jobs, fmt.Sprintf("%d %s %s g%d f%d e%d", j.id, j.key, j.state, j.generation, j.failures, j.expiries))
		}
	}
	for key, e := range m.fx {
		if e.state != "" {
			effects = append(effects, fmt.Sprintf("fx:%s %s %d %d", key, e.state, e.job, e.token))
		}
		if e.performed > 1 {
			rt.Fatalf("effect %s happened %d times", key, e.performed)
		}
	}
	for sql, want := range map[string][]string{machineJobsSQL: jobs, machineEffectsSQL: effects} {
		got := m.text(`SELECT coalesce(string_agg(line, E'\n'), '') FROM (` + sql + `) AS x (line)`)
		if diff := cmp.Diff(lines(strings.Join(want, "\n")), lines(got)); diff != "" {
			rt.Fatalf("model (-) and tables (+) differ:\n%s", diff)
		}
	}
}

func lines(s string) []string {
	l := strings.Split(s, "\n")
	slices.Sort(l)
	return l
}

// TestTheQueueIsTheMachineItIsMeantToBe runs random histories against the reference model; -rapid.checks=5000
// makes it a long run.
func TestTheQueueIsTheMachineItIsMeantToBe(t *testing.T) {
	t.Parallel()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("25") // nobody asked for a number; each history is some thirty steps on a real database
	}
	q := newQuiet(t)
	rapid.Check(t, func(rt *rapid.T) {
		q.exec(`TRUNCATE jobs, job_keys, job_history, job_archive, job_attempts, effects`)
		m := &machine{
			quiet: q, desk: &Desk{Pool: q.pool, Registry: q.engine.registry}, jobs: map[int64]*refJob{}, latest: map[string]*refJob{},
			fx: map[string]*refEffect{"a": {}, "b": {}, "c": {}},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": m.doEnqueue, "claim": m.doClaim, "claim again": m.doClaim, "complete": m.doComplete, "fail": m.doFail,
			"expire": m.doExpire, "reap": m.doReap, "die inside": m.doDieInside, "perform": m.doPerform, "decide": m.doDecide,
			"": m.check,
		})
	})
}
