package publishing_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
)

// pictures serves any number of them.
func pictures(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 20, 10)))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// sent are the calls that changed the channel, with their parameters.
func (b *bundle) sent(method string) (out []map[string]string) {
	b.t.Helper()
	for _, c := range b.tg.Calls(0, method) {
		var p map[string]string
		if err := json.Unmarshal(c.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestFormsOfAPost: how a post goes out follows from its pictures, its length
// and the channel's wish, before it is sent.
func TestFormsOfAPost(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("🏟", 513) // 1026 UTF-16 units: too long for a caption
	fits := strings.Repeat("🏟", 512)
	tests := []struct {
		name, style, text string
		pictures          int
		method, form      string
		messages          int
	}{
		{"no picture", "photo", "Calm sea", 0, "sendmessage", "text", 1},
		{"a photo", "photo", "Calm <b>sea</b>", 1, "sendphoto", "photo", 1},
		{"a caption that just fits", "photo", "<b>" + fits + "</b>", 1, "sendphoto", "photo", 1},
		{"a caption that is too long", "photo", long, 1, "sendmessage", "preview", 1},
		{"an album", "photo", "Three views", 3, "sendmediagroup", "album", 3},
		{"an album with a text that is too long", "photo", long, 3, "sendmessage", "preview", 1},
		{"more pictures than an album takes", "photo", "Many views", 12, "sendmediagroup", "album", 10},
		{"a link preview above", "preview", "Calm sea", 1, "sendmessage", "preview", 1},
		{"pictures are not wanted", "none", "Calm sea", 1, "sendmessage", "text", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			base := pictures(t)
			b.exec(`UPDATE channels SET image_style = $1`, tt.style)
			var list []string
			for i := range tt.pictures {
				list = append(list, base+"/"+string(rune('a'+i))+".png")
			}
			id := b.schedule(tt.text, strings.Join(list, "\n"))
			b.start()
			b.waitState(id, editorial.Published)
			calls := b.sent(tt.method)
			if len(calls) != 1 || len(b.tg.Calls(0, "")) != len(calls) {
				t.Fatalf("calls: %v", b.tg.Calls(0, ""))
			}
			if posts := b.posts(b.chat); len(posts) != tt.messages {
				t.Errorf("%d messages, want %d", len(posts), tt.messages)
			}
			if got := value[string](b, `SELECT form FROM publications`); got != tt.form {
				t.Errorf("recorded as %s, want %s", got, tt.form)
			}
			if n := value[int](b, `SELECT cardinality(message_ids) FROM publications`); n != tt.messages {
				t.Errorf("%d ids are recorded, want %d", n, tt.messages)
			}
			options := calls[0]["link_preview_options"]
			switch tt.form {
			case "preview":
				if !strings.Contains(options, `"show_above_text":true`) || !strings.Contains(options, list[0]) {
					t.Errorf("preview options %s", options)
				}
			case "text":
				if !strings.Contains(options, `"is_disabled":true`) {
					t.Errorf("preview options %s", options)
				}
			}
		})
	}
}

// TestEachFormCanBeEditedAndDeleted: with what belongs to the form, and whole.
func TestEachFormCanBeEditedAndDeleted(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"text": 0, "photo": 1, "album": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			base := pictures(t)
			b.exec(`UPDATE channels SET image_style = 'photo'`)
			var list []string
			for i := range n {
				list = append(list, base+"/"+string(rune('a'+i))+".png")
			}
			id := b.schedule("A tpyo", strings.Join(list, "\n"))
			b.start()
			b.waitState(id, editorial.Published)
			b.amend(id, 2, "A <i>typo</i>")
			b.wait("edited", `SELECT edited_at IS NOT NULL FROM publications`)
			if posts := b.posts(b.chat); posts[0].Text+posts[0].Caption != "A typo" {
				t.Errorf("the channel has %+v", posts)
			}
			// The same text again is no error: the post says it already.
			b.amend(id, 3, "A <i>typo</i>")
			b.wait("edited once more", `SELECT count(*) = 2 FROM effects WHERE effect_key LIKE 'edit:%' AND state = 'done'`)
			b.remove(id)
			b.wait("deleted", `SELECT deleted_at IS NOT NULL FROM publications`)
			if posts := b.posts(b.chat); len(posts) != 0 {
				t.Errorf("the channel has %+v", posts)
			}
		})
	}
}

// amend edits the published post.
func (b *bundle) amend(id int64, revision int, text string) {
	b.t.Helper()
	sum := sha256.Sum256([]byte(text))
	b.exec(`INSERT INTO draft_revisions (draft_id, revision, html, html_hash, composer) VALUES ($1, $2, $3, $4, 'person')`, id, revision, text, sum[:])
	b.exec(`UPDATE drafts SET revision = $2 WHERE id = $1`, id, revision)
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.pub.EditTx(ctx, tx, id, revision)
		return err
	})
}

func (b *bundle) remove(id int64) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.pub.DeleteTx(ctx, tx, id)
		return err
	})
}

// TestAChangeInDoubtIsNotRepeated: neither an edit nor a deletion, whatever
// became of the request; a person may ask for another one.
func TestAChangeInDoubtIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandbox.Fault{
		"request lost": {Kind: sandbox.FaultLost}, "answer lost": {Kind: sandbox.FaultLost, Apply: true},
		"500": {Kind: sandbox.FaultStatus, Status: 500, Apply: true}, "never answered": {Kind: sandbox.FaultHang},
		"half an answer": {Kind: sandbox.FaultCut, Apply: true}, "a page": {Kind: sandbox.FaultHTML},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			id := b.schedule("A tpyo", "")
			b.start()
			b.waitState(id, editorial.Published)
			fault.Method = "editMessageText"
			b.tg.AddFault(fault)
			b.amend(id, 2, "A typo")
			b.wait("the edit is in doubt", `SELECT EXISTS (SELECT FROM job_archive WHERE kind = 'post_edit' AND reason = 'unconfirmed' AND needs_reconcile)`)
			fault.Method = "deleteMessage"
			b.tg.AddFault(fault)
			b.remove(id)
			b.wait("the deletion is in doubt", `SELECT EXISTS (SELECT FROM job_archive WHERE kind = 'post_delete' AND reason = 'unconfirmed' AND needs_reconcile)`)
			if n, m := len(b.sent("editmessagetext")), len(b.sent("deletemessage")); n != 1 || m != 1 {
				t.Errorf("asked %d times for the edit, %d times for the deletion", n, m)
			}
			b.remove(id) // a person's word: a new effect
			b.wait("deleted", `SELECT deleted_at IS NOT NULL FROM publications`)
			if n := value[int](b, `SELECT count(*) FROM effects WHERE effect_key LIKE 'delete:%'`); n != 2 {
				t.Errorf("%d deletions in the ledger, want 2", n)
			}
		})
	}
}

// TestOtherDraftsGoOnAfterADoubt: as soon as the request cannot be under way
// any more, and not before.
func TestOtherDraftsGoOnAfterADoubt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage"})
	first := b.schedule("In doubt", "")
	b.start()
	b.waitState(first, editorial.Unconfirmed)
	second := b.schedule("The next one", "")
	b.wait("the next one waits", `SELECT EXISTS (SELECT FROM jobs WHERE kind = 'publish' AND last_error LIKE '%may be under way%')`)
	b.waitState(second, editorial.Published)
	if early := value[bool](b, `SELECT e2.intent_at < e1.deadline_at FROM effects e1, effects e2 WHERE e1.state = 'unknown' AND e2.state = 'done'`); early {
		t.Error("the next one went out while the first could still be under way")
	}
	if got := value[editorial.DraftState](b, `SELECT state FROM drafts WHERE id = $1`, first); got != editorial.Unconfirmed {
		t.Errorf("the first is %s", got)
	}
}

// TestAWorkerThatDiedIsNoticed: a publication and an edit whose process is gone
// are told by the sweep.
func TestAWorkerThatDiedIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.schedule("A tpyo", "")
	b.start()
	b.waitState(id, editorial.Published)
	b.exec(`INSERT INTO job_archive (job_id, kind, tier, key, payload, generation, reason, needs_reconcile, failures, expiries, enqueued_at)
		VALUES (777, 'post_edit', 1, $1::bigint || ':2', '{}', 0, 'lease_lost_twice', false, 0, 1, now())`, id)
	sweep := queue.Kind[publishing.SweepArgs]{Name: "publish_sweep", Tier: queue.Default, Key: func(publishing.SweepArgs) string { return "now" }}
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := sweep.EnqueueTx(ctx, tx, publishing.SweepArgs{})
		return err
	})
	b.wait("the sweep ran", `SELECT EXISTS (SELECT FROM job_history WHERE kind = 'publish_sweep' AND key = 'now')`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.events[len(b.events)-1]; !strings.HasSuffix(last, "archived:777") {
		t.Errorf("told %v", b.events)
	}
}
