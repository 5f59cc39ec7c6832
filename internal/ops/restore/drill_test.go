package restore_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

type draftRef struct {
	Draft int64 `json:"draft"`
}

// channel is the outside world: posts stay in it whatever happens to the database.
type channel struct {
	posts []restore.Post
}

// publisher is the least that publishes as publishing does: it asks Held before
// the intent and records the post with the outcome.
func (h *house) publisher(out *channel, id int64) queue.Kind[draftRef] {
	return queue.Kind[draftRef]{
		Name: "publish", Tier: queue.Critical, Policy: queue.Ledger,
		Key:      func(d draftRef) string { return fmt.Sprint(d.Draft) },
		Ordering: func(draftRef) string { return "channel" },
		Work: func(ctx context.Context, job *queue.Job[draftRef]) error {
			var held bool
			var state, html string
			err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) (err error) {
				if held, err = h.service.Held(ctx, tx, id); err != nil || held {
					return err
				}
				return tx.QueryRow(ctx, "SELECT d.state, r.html FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id WHERE d.id = $1", job.Args.Draft).Scan(&state, &html)
			})
			switch {
			case err != nil:
				return err
			case held:
				return queue.Later(50*time.Millisecond, "held after a restore")
			case state != "scheduled":
				return nil
			}
			_, err = job.Perform(ctx, queue.Effect{
				Key: fmt.Sprint("publish:draft:", job.Args.Draft), Request: []byte(html), Timeout: time.Second,
				Call: func(context.Context) queue.Outcome {
					n := int64(101 + len(out.posts))
					out.posts = append(out.posts, restore.Post{ID: n, Text: html})
					return queue.Confirmed{ExternalID: fmt.Sprint(n)}
				},
				After: func(ctx context.Context, tx pgx.Tx, _ queue.Outcome) error {
					_, err := tx.Exec(ctx, draftStateSQL, job.Args.Draft, "published")
					return err
				},
				Completes: true,
			})
			return err
		},
	}
}

func (h *house) publish(out *channel, c int64) (stop func()) {
	h.t.Helper()
	queue.Register(h.registry, h.publisher(out, c))
	engine := queue.New(queue.Config{Pool: h.pool, Registry: h.registry, PollEvery: 20 * time.Millisecond})
	if err := engine.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := engine.Stop(context.WithoutCancel(h.t.Context())); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) until(query string, want int64) {
	h.t.Helper()
	for range 1000 {
		if h.one(query) == want {
			return
		}
		time.Sleep(10 * time.Millisecond) // another process's work has no signal
	}
	h.t.Fatalf("timed out: %s", query)
}

// tool finds a program of Postgres beside the ones that the server runs.
func tool(t *testing.T, name string) string {
	t.Helper()
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Fatalf("%s is not installed", name)
	}
	slices.Sort(found)
	return found[len(found)-1]
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// The whole drill: a backup, posts after it, the loss of the database, the
// restore, and then nothing is posted a second time. The control shows that
// without the hold it would be.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	t.Run("nothing is posted twice", func(t *testing.T) {
		t.Parallel()
		if got := drill(t, true); !slices.Equal(got, []string{"first", "second", "third"}) {
			t.Errorf("in the channel: %q", got)
		}
	})
	t.Run("the control, which takes the restored database for the old one, posts twice", func(t *testing.T) {
		t.Parallel()
		if got := drill(t, false); !slices.Equal(got, []string{"first", "second", "first", "second", "third"}) {
			t.Errorf("in the channel: %q", got)
		}
	})
}

const dueSoonSQL = `
UPDATE drafts
   SET slot_at = now() + $2::interval
 WHERE id = $1`

func drill(t *testing.T, guarded bool) []string {
	t.Helper()
	dump, out := filepath.Join(t.TempDir(), "backup.dump"), &channel{}
	before := dbtest.URL(t)
	h := open(t, before)
	h.check()
	c := h.one(channelAddSQL, -1)
	ids := []int64{}
	for _, text := range []string{"first", "second", "third"} {
		ids = append(ids, h.one(draftAddSQL, c, text, "scheduled", -time.Minute, ""))
	}
	h.exec(dueSoonSQL, ids[2], time.Hour) // its slot is still to come after the restore
	kind := h.publisher(out, c)
	enqueue(t, h, kind, ids)
	run(t, "pg_dump", "-Fc", "-f", dump, "-d", before)

	stop := h.publish(out, c)
	h.until("SELECT count(*) FROM drafts WHERE state = 'published'", 2)
	stop()
	h.pool.Close()

	// The database is lost; the backup goes into an empty one.
	after := dbtest.URL(t)
	run(t, "pg_restore", "--clean", "--if-exists", "--exit-on-error", "-d", after, dump)
	h = open(t, after)
	if guarded {
		h.check()
	} else {
		h.exec("DELETE FROM database_marks")
		h.check() // sees a new database
	}
	h.look = restore.Look{Complete: true, Posts: slices.Clone(out.posts)}
	stop = h.publish(out, c)
	h.until("SELECT count(*) FROM drafts WHERE state = 'published'", 2)
	h.until("SELECT count(*) FROM restore_holds WHERE released_at IS NULL", 0)
	if h.one("SELECT count(*) FROM drafts WHERE state = 'scheduled'") != 1 {
		t.Error("the draft whose slot is to come lost it")
	}
	h.until("SELECT count(*) FROM jobs WHERE kind = 'publish' AND run_at <= now()", 0)
	h.exec("UPDATE jobs SET run_at = now() WHERE kind = 'publish'") // its slot comes
	h.until("SELECT count(*) FROM drafts WHERE state = 'published'", 3)
	stop()
	var texts []string
	for _, p := range out.posts {
		texts = append(texts, p.Text)
	}
	return texts
}

func open(t *testing.T, url string) *house {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return newHouse(t, pool)
}

func enqueue(t *testing.T, h *house, k queue.Kind[draftRef], ids []int64) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		for i, id := range ids {
			in := time.Duration(0)
			if i == len(ids)-1 {
				in = time.Hour
			}
			if _, err := k.EnqueueTx(t.Context(), tx, draftRef{id}, queue.After(in)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
