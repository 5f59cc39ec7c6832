package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/telegram"
)

// town is the stand-in for Telegram: what was posted stays there whatever
// happens to the database.
type town struct {
	t      *testing.T
	world  *sandbox.Sandbox
	server *httptest.Server
}

// plant is a publisher with the guard on one database.
type plant struct {
	t       *testing.T
	pool    *pgxpool.Pool
	pub     *publishing.Service
	guard   *restore.Service
	engine  *queue.Engine
	reports []restore.Report
}

func newTown(t *testing.T) *town {
	t.Helper()
	w, err := sandbox.New(sandbox.Config{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	tw := &town{t: t, world: w, server: httptest.NewServer(w)}
	t.Cleanup(func() { tw.server.CloseClientConnections(); tw.server.Close(); _ = w.Close() })
	return tw
}

func (tw *town) ask(method, path string, in, out any) {
	tw.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		tw.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(tw.t.Context(), method, tw.server.URL+path, bytes.NewReader(body))
	if err != nil {
		tw.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		tw.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		tw.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, raw, err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			tw.t.Fatal(err)
		}
	}
}

// posts returns the channel's id and the texts in it.
func (tw *town) posts() (chat int64, texts []string) {
	tw.t.Helper()
	var got struct {
		Chat     struct{ ID int64 }
		Messages []struct{ Text string }
	}
	tw.ask("GET", "/sandbox/api/chats/@harbour_notes/messages", nil, &got)
	for _, m := range got.Messages {
		if m.Text != "" {
			texts = append(texts, m.Text)
		}
	}
	return got.Chat.ID, texts
}

func (tw *town) plant(url string) *plant {
	t := tw.t
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	client, err := telegram.New(telegram.Config{Token: tw.world.Token(), BaseURL: tw.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	p := &plant{t: t, pool: pool}
	plan := planning.New(time.Now)
	told := func(context.Context, pgx.Tx, int64) error { return nil }
	p.pub = publishing.New(publishing.Config{
		Pool: pool, Telegram: client, Now: time.Now, Logger: zerolog.Nop(),
		Change: func(ctx context.Context, tx pgx.Tx, c publishing.DraftChange) (int, bool, error) {
			res, err := drafting.Transition(ctx, tx, drafting.Change{DraftID: c.DraftID, Transition: c.Transition, From: c.From, To: c.To, Failure: c.Failure})
			return res.Draft.Transition, res.Done, err
		},
		Missed: func(context.Context, pgx.Tx, int64, int) error { t.Error("a slot was missed"); return nil },
		KnowMessage: func(ctx context.Context, tx pgx.Tx, id, message int64) error {
			_, err := tx.Exec(ctx, `UPDATE channels SET last_message_id = greatest(last_message_id, $2) WHERE id = $1`, id, message)
			return err
		},
		Held:        func(ctx context.Context, tx pgx.Tx, id int64) (bool, error) { return p.guard.Held(ctx, tx, id) },
		OnPublished: told, OnUnconfirmed: told,
		PreviewURL: tw.server.URL + "/s",
		Get: func(ctx context.Context, address string) ([]byte, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
			if err != nil {
				return nil, err
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			defer func() { _ = resp.Body.Close() }()
			return io.ReadAll(resp.Body)
		},
	})
	p.guard = newRestore(&App{db: &Database{Pool: pool}, log: zerolog.Nop()}, p.pub, plan,
		func(ctx context.Context, tx pgx.Tx, r restore.Report) error {
			p.reports = append(p.reports, r)
			return notifyRestored(ctx, tx, r)
		})
	registry := queue.NewRegistry()
	p.pub.Register(registry)
	registerRestore(registry, p.guard)
	p.engine = queue.New(queue.Config{Pool: pool, Registry: registry, PollEvery: 30 * time.Millisecond})
	return p
}

func (p *plant) exec(query string, args ...any) {
	p.t.Helper()
	if _, err := p.pool.Exec(p.t.Context(), query, args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) text(query string, args ...any) (s string) {
	p.t.Helper()
	if err := p.pool.QueryRow(p.t.Context(), query, args...).Scan(&s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *plant) until(want, query string, args ...any) {
	p.t.Helper()
	for range 2000 {
		if p.text(query, args...) == want {
			return
		}
		time.Sleep(10 * time.Millisecond) // another process's work has no signal
	}
	p.t.Fatalf("%s: %s, want %s", query, p.text(query, args...), want)
}

const draftAddTest = `
WITH d AS (
  INSERT INTO drafts (channel_id, kind, subject, state, slot_at, approved_hash)
  VALUES (1, 'own', 'own:' || $1, $2, $3, CASE WHEN $2 = 'scheduled' THEN $4::bytea END)
  RETURNING id
), r AS (
  INSERT INTO draft_revisions (draft_id, revision, html, html_hash, link, composer)
  SELECT id, 1, $1, $4, $5, 'person' FROM d
)
INSERT INTO slots (channel_id, at, draft_id)
SELECT 1, $3, id FROM d WHERE $2 = 'scheduled'`

// draft adds one; a scheduled one gets its publish job.
func (p *plant) draft(html, state string, at time.Time, link string) {
	p.t.Helper()
	sum := sha256.Sum256([]byte(html))
	var slot *time.Time
	if state == "scheduled" {
		slot = &at
	}
	p.exec(draftAddTest, html, state, slot, sum[:], link)
	if slot == nil {
		return
	}
	err := pgx.BeginFunc(p.t.Context(), p.pool, func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(p.t.Context(), `SELECT max(id) FROM drafts`).Scan(&id); err != nil {
			return err
		}
		_, err := p.pub.EnqueueTx(p.t.Context(), tx, id, 1, at)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) start() {
	p.t.Helper()
	if err := p.guard.Check(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	if err := p.engine.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) stop() {
	p.t.Helper()
	if err := p.engine.Stop(context.WithoutCancel(p.t.Context())); err != nil {
		p.t.Fatal(err)
	}
}

func pgTool(t *testing.T, name string, args ...string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if p, err := exec.LookPath(name); err == nil {
		found = append(found, p)
	}
	if len(found) == 0 {
		t.Fatalf("%s is not installed", name)
	}
	if out, err := exec.CommandContext(t.Context(), found[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// The drill with the real publisher, the real preview and the real states of
// drafts: a backup is made, two posts go out, the database is lost and restored.
func TestNothingIsPostedTwiceAfterARestore(t *testing.T) {
	t.Parallel()
	tw := newTown(t)
	chat, _ := tw.posts()
	tw.ask("POST", fmt.Sprintf("/sandbox/api/channels/%d", chat), map[string]any{"bot_status": "administrator"}, nil)
	before, dump := dbtest.URL(t), filepath.Join(t.TempDir(), "backup.dump")
	p := tw.plant(before)
	p.exec(`INSERT INTO people (id) VALUES (1)`)
	p.exec(`INSERT INTO channels (chat_id, title, username, created_by) VALUES ($1, 'Harbour', 'harbour_notes', 1)`, chat)
	p.exec(`INSERT INTO memberships (channel_id, person_id, role) VALUES (1, 1, 'owner')`)
	p.draft("Known before the backup", "scheduled", time.Now(), "")
	p.start()
	p.until("1", `SELECT count(*)::text FROM drafts WHERE state = 'published'`)
	p.draft("<b>Ferry</b> is back", "scheduled", time.Now().Add(2*time.Second), "https://a.example/ferry")
	p.draft("Tide tables", "scheduled", time.Now().Add(time.Hour), "https://a.example/tides")
	p.draft("Approved later", "proposed", time.Time{}, "")
	pgTool(t, "pg_dump", "-Fc", "-f", dump, "-d", before)

	p.until("2", `SELECT count(*)::text FROM drafts WHERE state = 'published'`)
	p.exec(`UPDATE drafts SET state = 'scheduled', slot_at = now(), approved_hash = r.html_hash, transition = 7
		FROM draft_revisions r WHERE r.draft_id = drafts.id AND drafts.state = 'proposed'`)
	err := pgx.BeginFunc(t.Context(), p.pool, func(tx pgx.Tx) error {
		_, err := p.pub.EnqueueTx(t.Context(), tx, 4, 7, time.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.until("3", `SELECT count(*)::text FROM drafts WHERE state = 'published'`)
	p.stop()
	p.pool.Close()

	after := dbtest.URL(t)
	pgTool(t, "pg_restore", "--clean", "--if-exists", "--exit-on-error", "-d", after, dump)
	p = tw.plant(after)
	p.start()
	p.exec(`UPDATE jobs SET run_at = now() WHERE kind = 'restore-look'`) // its two minutes are over
	p.until("1", `SELECT count(*)::text FROM restores WHERE closed_at IS NOT NULL`)
	p.until("0", `SELECT count(*)::text FROM jobs WHERE kind = 'publish' AND run_at <= now()`)
	p.stop()
	_, texts := tw.posts()
	if want := []string{"Known before the backup", "Ferry is back", "Approved later"}; !slices.Equal(texts, want) {
		t.Errorf("in the channel: %q", texts)
	}
	got := strings.Split(p.text(`SELECT string_agg(subject || ' ' || state, ', ' ORDER BY id) FROM drafts`), ", ")
	want := []string{
		"own:Known before the backup published", "own:<b>Ferry</b> is back published", "own:Tide tables scheduled", "own:Approved later published",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drafts (-want +got):\n%s", diff)
	}
	if told := p.text(`SELECT coalesce(string_agg(key || ' ' || (payload->>'code'), ', '), '') FROM jobs WHERE kind = 'notice'`); told != "restore:1:1:1 notice.restored" {
		t.Errorf("told: %s", told)
	}
	if len(p.reports) != 1 || !p.reports[0].Released || len(p.reports[0].Found) != 2 {
		t.Errorf("reports: %+v", p.reports)
	}
}
