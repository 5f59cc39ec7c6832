package jobdesk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/ops/jobdesk"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

type note struct {
	Name string `json:"name"`
}

// desk is one command line on a database with one doubtful post and two jobs
// that failed for certain.
type desk struct {
	t     *testing.T
	jobs  *jobdesk.Desk
	out   bytes.Buffer
	doubt int64
	sure  []int64
}

const archivedSQL = `
SELECT count(*)
  FROM job_archive
 WHERE status = 'open'`

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t}
	pool, registry := dbtest.New(t), queue.NewRegistry()
	key := func(n note) string { return n.Name }
	post := queue.Kind[note]{Name: "post", Policy: queue.Ledger, Key: key, Work: func(ctx context.Context, j *queue.Job[note]) error {
		_, err := j.Perform(ctx, queue.Effect{
			Key: "post:" + j.Args.Name, Request: []byte("x"), Timeout: time.Minute,
			Call: func(context.Context) queue.Outcome { return queue.Unknown{Err: errors.New("the answer was lost")} },
		})
		return err
	}}
	sure := queue.Kind[note]{Name: "sure", Key: key, Work: func(_ context.Context, j *queue.Job[note]) error {
		if j.Generation > 0 {
			return nil
		}
		return queue.Permanent(errors.New("no such thing"))
	}}
	queue.Register(registry, post)
	queue.Register(registry, sure)
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		sub, err := post.EnqueueTx(t.Context(), tx, note{"a"}, queue.CausedBy(queue.Origin{PersonID: 5, UpdateID: 77}))
		d.doubt = sub.JobID
		for _, name := range []string{"b", "c"} {
			if err == nil {
				sub, err = sure.EnqueueTx(t.Context(), tx, note{name})
				d.sure = append(d.sure, sub.JobID)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := queue.New(queue.Config{Pool: pool, Registry: registry, PollEvery: 20 * time.Millisecond})
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		var n int
		if err := pool.QueryRow(t.Context(), archivedSQL).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 3 {
			break
		}
		time.Sleep(10 * time.Millisecond) // another connection's work has no signal
	}
	if err := engine.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	d.jobs = &jobdesk.Desk{Pool: pool, Registry: registry, Out: &d.out, Sleep: func(context.Context, time.Duration) {}}
	return d
}

// run is one command; numbers fill the %d of the line.
func (d *desk) run(line string, numbers ...any) (string, error) {
	d.out.Reset()
	err := d.jobs.Run(d.t.Context(), strings.Fields(fmt.Sprintf(line, numbers...)))
	return d.out.String(), err
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.jobs.Pool.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) want(out string, err error, parts ...string) {
	d.t.Helper()
	if err != nil {
		d.t.Errorf("unexpected: %v", err)
	}
	for _, p := range parts {
		if !strings.Contains(out, p) {
			d.t.Errorf("no %q in:\n%s", p, out)
		}
	}
}

func TestListAndShowTellTheWholeStory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run("list")
	d.want(out, err, "unconfirmed", "permanent", "no such thing")
	out, err = d.run("list --state permanent --kind sure --json")
	var rows []queue.Row
	if err != nil || json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 2 {
		t.Errorf("json: %v, %s", err, out)
	}
	out, err = d.run("list --state replayed --json")
	if err != nil || strings.TrimSpace(out) != "[]" {
		t.Errorf("an empty list: %v, %s", err, out)
	}
	out, err = d.run("show %d", d.doubt)
	d.want(out, err, "post:a", "unknown", "person 5, update 77", `{"name":"a"}`, "the answer was lost", "look outside")
	out, err = d.run("show --json %d", d.doubt)
	var trace queue.Trace
	if err != nil || json.Unmarshal([]byte(out), &trace) != nil || len(trace.Effects) != 1 {
		t.Errorf("json: %v, %s", err, out)
	}
}

func TestADoubtIsNotRunAgainBlindly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.run("replay %d --by ann", d.doubt); err == nil || !strings.Contains(err.Error(), "--outside done or --outside not_done") {
		t.Errorf("a blind replay: %v", err)
	}
	if _, err := d.run("replay %d --outside not_done --by ann", d.doubt); err == nil || !strings.Contains(err.Error(), "may still be under way until ") {
		t.Errorf("while the request may be under way: %v", err)
	}
	d.exec("UPDATE effects SET deadline_at = clock_timestamp()")
	out, err := d.run("replay %d --outside not_done --by ann", d.doubt)
	d.want(out, err, "replayed by ann as job ")
	out, err = d.run("replay --by bob --outside not_done %d", d.doubt)
	d.want(out, err, "replayed by ann", "decided before")
	if _, err := d.run("confirm %d --by bob", d.doubt); err == nil || !strings.Contains(err.Error(), "already decided otherwise: replayed by ann at ") {
		t.Errorf("a confirmation after a replay: %v", err)
	}
}

func TestConfirmAndDismissEndADoubtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run("confirm %d --by ann", d.doubt)
	d.want(out, err, "reconciled by ann")
	out, err = d.run("show %d", d.doubt)
	d.want(out, err, "unconfirmed, reconciled", "settled by ann", "confirmed as done by ann")
	out, err = d.run("dismiss %d --by ann", d.sure[0])
	d.want(out, err, "closed by ann")
}

func TestReplayAllLeavesDoubtsAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run("replay-all --by ann")
	d.want(out, err, "2 replayed, 1 left because they are in doubt")
	out, err = d.run("replay-all --by ann --json")
	d.want(out, err, `"replayed": 0`, `"in_doubt": 1`)
}

const finishTest = `
WITH done AS (
  DELETE FROM jobs
  RETURNING id, kind, key
)
INSERT INTO job_history (id, lease_token, enqueued_at, claimed_at, failures, expiries, kind, key)
SELECT id, 1, now(), now(), 0, 0, kind, key
  FROM done`

const moreArchivedTest = `
WITH more AS (
  INSERT INTO job_keys (job_id, kind, key)
  SELECT nextval('job_id_seq'), 'sure', gen_random_uuid()::text FROM generate_series(1, $1::integer) AS g
  RETURNING job_id, kind, key
)
INSERT INTO job_archive (job_id, kind, tier, key, generation, payload, reason, needs_reconcile, failures, expiries, enqueued_at,
                         status, resolved_at, resolved_by, resolution)
SELECT job_id, kind, 'default', key, 0, '{"name":"more"}', 'exhausted', false, 3, 0, now(),
       CASE WHEN $2 THEN 'open' ELSE 'closed' END, CASE WHEN $2 THEN NULL ELSE now() END,
       CASE WHEN $2 THEN NULL ELSE 'bob' END, CASE WHEN $2 THEN NULL ELSE 'dismissed' END
  FROM more`

func TestTheArchiveIsListedPageByPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(moreArchivedTest, 5, true)
	out, err := d.run("list --limit 4")
	d.want(out, err, "these are 4; older ones: --before ")
	_, before, _ := strings.Cut(out, "--before ")
	older, err := d.run("list --limit 4 --before %s", strings.TrimSpace(before))
	d.want(older, err, "unconfirmed", "no such thing")
	if strings.Contains(older, "these are") || strings.Count(older, "\n") != 5 {
		t.Errorf("8 rows by 4, and the second page is\n%s", older)
	}
}

func TestReplayAllGoesThroughEveryPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(moreArchivedTest, 1500, true)  // more than a page of them
	d.exec(moreArchivedTest, 1500, false) // decided ones in front of them are not in the way
	n := 0
	d.jobs.Sleep = func(ctx context.Context, _ time.Duration) {
		if n++; n == 3 { // another operator is at it too
			if _, err := (&queue.Desk{Pool: d.jobs.Pool, Registry: d.jobs.Registry}).Dismiss(ctx, d.sure[0], "bob"); err != nil {
				t.Error(err)
			}
		}
	}
	out, err := d.run("replay-all --by ann --limit 2")
	d.want(out, err, "2 replayed, 0 left")
	out, err = d.run("replay-all --by ann --state exhausted")
	d.want(out, err, "1498 replayed, 0 left")
	out, err = d.run("replay-all --by ann")
	d.want(out, err, "1 replayed, 1 left because they are in doubt")
}

func TestReplayAllStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(moreArchivedTest, 4, true)
	ctx, stop := context.WithCancel(t.Context())
	d.jobs.Sleep = func(context.Context, time.Duration) { stop() }
	err := d.jobs.Run(ctx, strings.Fields("replay-all --by ann --state exhausted"))
	if err == nil || !strings.Contains(err.Error(), "goes on with the rest") || !strings.Contains(d.out.String(), "1 replayed") {
		t.Errorf("stopped: %v, %s", err, d.out.String())
	}
	d.jobs.Sleep = func(context.Context, time.Duration) {}
	out, err := d.run("replay-all --by ann --state exhausted")
	d.want(out, err, "3 replayed")
}

func TestAKindIsPausedFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	paused := func() (n int) {
		if err := d.jobs.Pool.QueryRow(t.Context(), "SELECT count(*) FROM job_kinds WHERE paused AND paused_by = 'ann'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	out, err := d.run("pause sure --by ann")
	d.want(out, err, "sure is paused")
	out, err = d.run("pause sure --by ann --json")
	if d.want(out, err, `"paused": true`); paused() != 1 {
		t.Error("it is not paused")
	}
	out, err = d.run("resume sure --by bob")
	if d.want(out, err, "sure runs"); paused() != 0 {
		t.Error("it is paused still")
	}
}

func TestWhatIsNotInTheArchiveSaysWhereItIs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run("replay %d --by ann --json", d.sure[0])
	var again struct {
		ID int64 `json:"replay_job_id"`
	}
	if err != nil || json.Unmarshal([]byte(out), &again) != nil {
		t.Fatalf("%v, %s", err, out)
	}
	for _, c := range []struct{ change, want string }{
		{"SELECT", "it is in the queue (ready)"},
		{finishTest, "it completed at "},
		{"DELETE FROM job_history", "it ended longer ago than is kept"},
	} {
		d.exec(c.change)
		for _, verb := range []string{"confirm", "replay", "dismiss"} {
			if _, err := d.run("%s %d --by ann", verb, again.ID); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", verb, err, c.want)
			}
		}
	}
}

func TestAWrongCommandLineIsNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for line, want := range map[string]string{
		"":                                  "usage:",
		"burn 3":                            `no such thing as "burn"`,
		"show":                              "needs one job number",
		"show seven":                        `"seven" is no job number`,
		"list 7":                            `takes no "7"`,
		"pause":                             "needs one kind",
		"pause sure":                        "needs --by NAME",
		"resume pubish --by ann":            `no job is of the kind "pubish"; there are post, sure`,
		"confirm 7":                         "needs --by NAME",
		"replay 7 --by ann --outside late":  "want done or not_done",
		"list --limit many":                 "limit",
		"replay-all --by ann --rate 0":      "--rate is 0",
		"list --state failed":               `--state is "failed": want one of ready, leased, archived, unconfirmed`,
		"list --kind pubish":                `no job is of the kind "pubish"; there are post, sure`,
		"list --limit 0":                    "--limit is 0: want 1 or more",
		"list --outside done":               "jobs list takes no --outside",
		"dismiss 7 --by ann --outside done": "jobs dismiss takes no --outside",
		"replay-all --by ann --state ready": `--state is "ready": want one of open, unconfirmed`,
		"replay-all --by ann --kind pubish": `no job is of the kind "pubish"`,
	} {
		_, err := d.run("%s", line)
		var usage *jobdesk.UsageError
		if !errors.As(err, &usage) || !strings.Contains(usage.Text, want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	if _, err := d.run("dismiss 999999 --by ann"); err == nil || !strings.Contains(err.Error(), "there never was such a job") {
		t.Errorf("a job that never was: %v", err)
	}
}
