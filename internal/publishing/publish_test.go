package publishing_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
)

func TestADraftIsPublishedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.schedule("<b>Ferry is back</b>\n\nIt runs again from Monday.", "")
	b.enqueue(id) // a second submission of the same decision
	b.start()
	b.waitState(id, editorial.Published)
	b.idle()
	posts := b.posts(b.chat)
	if len(posts) != 1 || posts[0].Text != "Ferry is back\n\nIt runs again from Monday." {
		t.Fatalf("the channel has %+v", posts)
	}
	got := value[int64](b, `SELECT message_id FROM publications WHERE draft_id = $1 AND state = 'published' AND settled_how = 'answer'`, id)
	known := value[int64](b, `SELECT last_message_id FROM channels`)
	if got != posts[0].ID || known != got {
		t.Errorf("publication has message %d, the channel knows %d, the post is %d", got, known, posts[0].ID)
	}
}

// TestOutcomes plays every way in which a send may end, through a real socket:
// what is certain leads on, what is not is never sent again.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault sandbox.Fault
		want  editorial.DraftState
		posts int
		fails string
		lost  editorial.ChannelState
	}{
		{name: "request lost", fault: sandbox.Fault{Kind: sandbox.FaultLost}, want: editorial.Unconfirmed, posts: 0},
		{name: "answer lost", fault: sandbox.Fault{Kind: sandbox.FaultLost, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "reset before it ran", fault: sandbox.Fault{Kind: sandbox.FaultReset}, want: editorial.Unconfirmed, posts: 0},
		{name: "reset after it ran", fault: sandbox.Fault{Kind: sandbox.FaultReset, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "never answered, not run", fault: sandbox.Fault{Kind: sandbox.FaultHang}, want: editorial.Unconfirmed, posts: 0},
		{name: "never answered, run", fault: sandbox.Fault{Kind: sandbox.FaultHang, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "500, not run", fault: sandbox.Fault{Kind: sandbox.FaultStatus, Status: 500}, want: editorial.Unconfirmed, posts: 0},
		{name: "502 page, run", fault: sandbox.Fault{Kind: sandbox.FaultHTML, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "a page with 403, not run", fault: sandbox.Fault{Kind: sandbox.FaultHTML, Status: 403}, want: editorial.Unconfirmed, posts: 0},
		{name: "half an answer", fault: sandbox.Fault{Kind: sandbox.FaultCut, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "result null", fault: sandbox.Fault{Kind: sandbox.FaultNull, Apply: true}, want: editorial.Unconfirmed, posts: 1},
		{name: "429, then taken", fault: sandbox.Fault{Kind: sandbox.FaultTooMany, RetryAfter: 1}, want: editorial.Published, posts: 1},
		{
			name: "the token was revoked, then mended", fault: sandbox.Fault{Kind: sandbox.FaultStatus, Status: 401, Description: "Unauthorized"},
			want: editorial.Published, posts: 1,
		},
		{name: "message id 0 is a success", fault: sandbox.Fault{Kind: sandbox.FaultZeroID}, want: editorial.Published, posts: 1},
		{
			name: "no rights", fault: sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: need administrator rights in the channel chat"},
			want: editorial.Failed, fails: "no_rights", lost: editorial.ChannelNoRights,
		},
		{
			name: "kicked", fault: sandbox.Fault{Kind: sandbox.FaultStatus, Status: 403, Description: "Forbidden: bot was kicked from the channel chat"},
			want: editorial.Failed, fails: "kicked", lost: editorial.ChannelKicked,
		},
		{
			name: "refused for what it says", fault: sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: something else"},
			want: editorial.Failed, fails: "bad_request", lost: editorial.ChannelActive,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			tt.fault.Method = "sendMessage"
			b.tg.AddFault(tt.fault)
			id := b.schedule("Tide tables for June are out", "")
			b.start()
			b.waitState(id, tt.want)
			b.idle()
			if n := len(b.posts(b.chat)); n != tt.posts {
				t.Errorf("the channel has %d posts, want %d\n%s", n, tt.posts, b.dump())
			}
			if got := value[string](b, `SELECT failure FROM drafts`); got != tt.fails {
				t.Errorf("failed with %q, want %q", got, tt.fails)
			}
			if tt.lost != "" {
				if got := value[editorial.ChannelState](b, `SELECT state FROM channels`); got != tt.lost {
					t.Errorf("the channel is %s, want %s", got, tt.lost)
				}
			}
			if tt.want == editorial.Unconfirmed {
				if n := value[int](b, `SELECT count(*) FROM job_archive WHERE reason = 'unconfirmed' AND needs_reconcile`); n != 1 {
					t.Errorf("the archive has %d doubts, want 1\n%s", n, b.dump())
				}
			}
		})
	}
}

func TestAMigratedChatIsFollowed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultMigrated, Method: "sendMessage", ChatID: b.chat, MigrateTo: b.logChat})
	id := b.schedule("We moved", "")
	b.start()
	b.waitState(id, editorial.Published)
	if n, m := len(b.posts(b.chat)), len(b.posts(b.logChat)); n != 0 || m != 1 {
		t.Errorf("the old chat has %d posts, the new one %d", n, m)
	}
	if chat := value[int64](b, `SELECT chat_id FROM publications`); chat != b.logChat {
		t.Errorf("the publication is in chat %d, want %d", chat, b.logChat)
	}
}

func TestAPictureThatTelegramCannotUseIsLeftOut(t *testing.T) {
	t.Parallel()
	picture := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "gone", http.StatusNotFound)
	}))
	defer picture.Close()
	b := newBundle(t)
	b.exec(`UPDATE channels SET image_style = 'photo'`)
	id := b.schedule("Two ships in the night", picture.URL+"/a.jpg")
	b.start()
	b.waitState(id, editorial.Published)
	b.idle()
	posts := b.posts(b.chat)
	if len(posts) != 1 || posts[0].Photo != nil {
		t.Errorf("the channel has %+v, want one post without a picture", posts)
	}
	if form := value[string](b, `SELECT form FROM publications`); form != "text" {
		t.Errorf("recorded as %s, want text", form)
	}
}

func TestMarkupThatTelegramCannotReadIsSentPlainOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.schedule("Low <water>tide</water> &amp; calm", "")
	b.start()
	b.waitState(id, editorial.Published)
	if posts := b.posts(b.chat); len(posts) != 1 || posts[0].Text != "Low tide & calm" {
		t.Errorf("the channel has %+v", posts)
	}
}

func TestOneSendInFlightPerChannel(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultSlow, Method: "sendMessage", DelayMS: 300, Times: -1})
	for i := range 3 {
		b.schedule(fmt.Sprintf("Post %d", i), "")
	}
	b.start()
	var most int
	deadline := time.Now().Add(1200 * time.Millisecond)
	for time.Now().Before(deadline) {
		most = max(most, value[int](b, `SELECT count(*) FROM publications WHERE state = 'sending'`))
	}
	if most != 1 {
		t.Errorf("%d sends were in flight at once, want 1", most)
	}
}

func TestWhatIsNotUpForPublicationIsNotSent(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"paused":              `UPDATE channels SET paused_at = now()`,
		"channel lost":        `UPDATE channels SET state = 'kicked'`,
		"taken back":          `UPDATE drafts SET state = 'proposed', transition = transition + 1, slot_at = NULL`,
		"moved":               `UPDATE drafts SET transition = transition + 1`,
		"another text":        `UPDATE draft_revisions SET html = 'Changed', html_hash = '\x00'`,
		"an hour late":        `UPDATE drafts SET slot_at = now() - interval '1 hour'`,
		"late, and not alone": `WITH s AS (UPDATE drafts SET slot_at = now() - interval '5 minutes') INSERT INTO publications (draft_id, channel_id, chat_id, state, effect_key, form, html_hash, message_id, published_at) SELECT 999, id, chat_id, 'published', 'x', 'text', '', 7, now() FROM channels`,
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			id := b.schedule("Not now", "")
			b.exec(change)
			b.start()
			b.wait("the job was looked at", `SELECT EXISTS (SELECT FROM job_history WHERE kind = 'publish') OR EXISTS (SELECT FROM jobs WHERE kind = 'publish' AND last_error <> '')`)
			if n := len(b.posts(b.chat)); n != 0 {
				t.Errorf("%d posts went out\n%s", n, b.dump())
			}
			if got := value[editorial.DraftState](b, `SELECT state FROM drafts WHERE id = $1`, id); got == editorial.Published {
				t.Errorf("draft is %s", got)
			}
		})
	}
}

func TestResumingTakesUpWhatWasMissed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.schedule("While we slept", "")
	b.exec(`UPDATE channels SET paused_at = now()`)
	b.start()
	b.wait("the job was looked at", `SELECT EXISTS (SELECT FROM job_history WHERE kind = 'publish')`)
	b.exec(`UPDATE channels SET paused_at = NULL`)
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return b.pub.ResumeTx(ctx, tx, b.channel) })
	b.waitState(id, editorial.Skipped) // the test's Missed skips
}

func TestAPersonSettlesWhatEvidenceDoesNot(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage"})
	id := b.schedule("Did it arrive?", "")
	b.start()
	b.waitState(id, editorial.Unconfirmed)
	settle := func(f publishing.Finding) error {
		return b.try(func(ctx context.Context, tx pgx.Tx) error {
			return b.pub.SettleTx(ctx, tx, publishing.Settlement{DraftID: id, Finding: f, By: 1})
		})
	}
	if err := settle(publishing.NotThere); !errors.Is(err, publishing.ErrInFlight) {
		t.Errorf("settled while the request may be under way: %v", err)
	}
	b.exec(`UPDATE effects SET deadline_at = now() - interval '1 minute'`)
	// Two people press at once: one of them decides.
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 4 {
		wg.Go(func() {
			err := settle(publishing.NotThere)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.Is(err, publishing.ErrNotUnconfirmed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("settled %d times, want once", done)
	}
	if got := value[editorial.DraftState](b, `SELECT state FROM drafts`); got != editorial.Failed {
		t.Fatalf("draft is %s, want failed\n%s", got, b.dump())
	}
	b.exec(`UPDATE drafts SET state = 'scheduled', slot_at = now(), transition = transition + 1`)
	b.enqueue(id)
	b.waitState(id, editorial.Published)
	if posts := b.posts(b.chat); len(posts) != 1 {
		t.Errorf("the channel has %+v", posts)
	}
	want := fmt.Sprintf("publish:draft:%d:after-review:1", id)
	if n := value[int](b, `SELECT count(*) FROM effects WHERE effect_key = $1 AND state = 'done'`, want); n != 1 {
		t.Errorf("no effect %s\n%s", want, b.dump())
	}
	if n := value[int](b, `SELECT count(*) FROM publication_reviews WHERE how = 'person' AND finding = 'not_there' AND person_id = 1`); n != 1 {
		t.Errorf("%d reviews, want 1", n)
	}
}

func TestItsThereIsTakenForAnAnswer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage", Apply: true})
	id := b.schedule("I saw it", "")
	b.start()
	b.waitState(id, editorial.Unconfirmed)
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		return b.pub.SettleTx(ctx, tx, publishing.Settlement{DraftID: id, Finding: publishing.There, By: 1})
	})
	if got := value[string](b, `SELECT settled_how FROM publications WHERE state = 'published'`); got != "person" {
		t.Errorf("settled by %q", got)
	}
	if n := value[int](b, `SELECT count(*) FROM job_archive WHERE status = 'open'`); n != 0 {
		t.Errorf("%d archive rows are still open\n%s", n, b.dump())
	}
}

// TestTheDeskSettlesThePublicationWithTheJob: what an operator says of a doubt
// holds for the draft and the publication at once, not after the next sweep.
func TestTheDeskSettlesThePublicationWithTheJob(t *testing.T) {
	t.Parallel()
	for says, want := range map[queue.Evidence]editorial.DraftState{queue.EvidenceDone: editorial.Published, queue.EvidenceNotDone: editorial.Failed} {
		t.Run(string(says), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage", Apply: says == queue.EvidenceDone})
			id := b.schedule("The operator looks", "")
			b.start()
			b.waitState(id, editorial.Unconfirmed)
			job := value[int64](b, `SELECT job_id FROM job_archive`)
			b.exec(`UPDATE effects SET deadline_at = now() - interval '1 minute'`)
			var err error
			if says == queue.EvidenceDone {
				_, err = b.desk.Confirm(t.Context(), job, "ann")
			} else {
				_, err = b.desk.Replay(t.Context(), job, "ann", says)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := value[editorial.DraftState](b, `SELECT state FROM drafts WHERE id = $1`, id); got != want {
				t.Errorf("right after the decision the draft is %s, want %s\n%s", got, want, b.dump())
			}
			if n := value[int](b, `SELECT count(*) FROM publications WHERE state = 'unconfirmed'`); n != 0 {
				t.Error("the publication is still in doubt")
			}
		})
	}
}

func TestEditingAndDeletingAPost(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.schedule("A tpyo", "")
	b.start()
	b.waitState(id, editorial.Published)
	b.exec(`INSERT INTO draft_revisions (draft_id, revision, html, html_hash, composer) VALUES ($1, 2, 'A <i>typo</i>', '\x02', 'person')`, id)
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.pub.EditTx(ctx, tx, id, 2)
		return err
	})
	b.wait("edited", `SELECT edited_at IS NOT NULL FROM publications`)
	if posts := b.posts(b.chat); len(posts) != 1 || posts[0].Text != "A typo" {
		t.Errorf("the channel has %+v", posts)
	}
	for range 2 { // pressed twice
		b.tx(func(ctx context.Context, tx pgx.Tx) error {
			_, err := b.pub.DeleteTx(ctx, tx, id)
			return err
		})
	}
	b.wait("deleted", `SELECT deleted_at IS NOT NULL FROM publications`)
	if posts := b.posts(b.chat); len(posts) != 0 {
		t.Errorf("the channel has %+v", posts)
	}
	err := b.try(func(ctx context.Context, tx pgx.Tx) error {
		_, err := b.pub.EditTx(ctx, tx, id, 2)
		return err
	})
	if !errors.Is(err, publishing.ErrNotPublished) {
		t.Errorf("a deleted post can be edited: %v", err)
	}
}

// TestLeaveItIsRecordedOnceAndClosesTheArchive: pressed by many at once, and
// then settled after all.
func TestLeaveItIsRecordedOnceAndClosesTheArchive(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage", Apply: true})
	id := b.schedule("Who knows?", "")
	b.start()
	b.waitState(id, editorial.Unconfirmed)
	settle := func(f publishing.Finding) error {
		return b.try(func(ctx context.Context, tx pgx.Tx) error {
			return b.pub.SettleTx(ctx, tx, publishing.Settlement{DraftID: id, Finding: f, By: 1})
		})
	}
	taps := func(f publishing.Finding, before error) (done int) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 5 {
			wg.Go(func() {
				err := settle(f)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done++
				} else if !errors.Is(err, before) {
					t.Errorf("%s: %v", f, err)
				}
			})
		}
		wg.Wait()
		return done
	}
	if n := taps(publishing.Leave, publishing.ErrLeft); n != 1 {
		t.Errorf("left %d times, want once", n)
	}
	if got := value[string](b, `SELECT status || ' ' || resolved_by || ' ' || resolution || ' ' || needs_reconcile FROM job_archive`); got != "closed person:1 left as it is false" {
		t.Errorf("the archive says %q", got)
	}
	if n := value[int](b, `SELECT count(*) FROM publication_reviews WHERE how = 'person' AND finding = 'leave' AND person_id = 1`); n != 1 {
		t.Errorf("%d reviews, want 1", n)
	}
	if got := value[string](b, `SELECT d.state || ' ' || p.state || ' ' || e.state FROM drafts d JOIN publications p ON p.draft_id = d.id JOIN effects e ON e.effect_key = p.effect_key`); got != "unconfirmed unconfirmed unknown" {
		t.Errorf("left as %q", got)
	}
	if n := taps(publishing.There, publishing.ErrNotUnconfirmed); n != 1 {
		t.Errorf("settled %d times, want once", n)
	}
	b.waitState(id, editorial.Published)
	if got := value[string](b, `SELECT e.state || ' ' || a.status || ' ' || a.resolved_by FROM effects e JOIN job_archive a ON a.job_id = e.job_id WHERE e.effect_key LIKE 'publish:%'`); got != "done closed person:1" {
		t.Errorf("after it's there: %q", got)
	}
}
