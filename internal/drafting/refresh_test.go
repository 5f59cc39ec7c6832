package drafting_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// edited changes an item as a poll does and hands the edit over.
func (b *bundle) edited(item int64, title, text string) {
	b.t.Helper()
	b.exec(`UPDATE items SET title = $2, text = $3, updated_at = clock_timestamp() WHERE id = $1`, item, title, text)
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return b.svc.EditedTx(ctx, tx, []int64{item}) })
	b.quiet()
}

func (b *bundle) leadOf(draft int64) int64 {
	return b.id(`SELECT s.lead_item_id FROM drafts d JOIN stories s ON s.id = d.story_id WHERE d.id = $1`, draft)
}

func TestAnEditedItemRefreshesTheDraftThatWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	d := b.drafted()
	item := b.leadOf(d.ID)
	b.edited(item, rocketTitle, strings.Replace(rocketText, "on Tuesday", "on Wednesday", 1))
	if got := b.text(`SELECT revision || ' ' || (html LIKE '%Wednesday%')::text FROM draft_revisions ORDER BY revision DESC LIMIT 1`); got != "2 true" {
		t.Errorf("after an edit: %s", got)
	}
	if b.refreshed() != 1 || len(b.toldOf(1)) != 1 {
		t.Errorf("%d refreshed, told of %v: the card changes, nobody is called", b.refreshed(), b.told)
	}
	b.edited(item, rocketTitle, strings.Replace(rocketText, "on Tuesday", "on Wednesday", 1)+"\n\n#space")
	if n := b.id(`SELECT count(*) FROM draft_revisions`); n != 2 {
		t.Errorf("%d revisions after an edit that changes nothing of the post", n)
	}
}

func TestAnEditLeavesAloneWhatAPersonTouched(t *testing.T) {
	t.Parallel()
	touch := map[string]func(b *bundle, d editorial.Draft){
		"edited by hand": func(b *bundle, d editorial.Draft) {
			b.tx(func(ctx context.Context, tx pgx.Tx) error {
				_, err := drafting.AddRevision(ctx, tx, drafting.Edit{DraftID: d.ID, HTML: "My words", By: 7})
				return err
			})
		},
		"approved": func(b *bundle, d editorial.Draft) {
			b.change(drafting.Change{DraftID: d.ID, To: editorial.Scheduled, SlotAt: time.Now(), By: 7})
		},
		"approved and undone": func(b *bundle, d editorial.Draft) {
			b.change(drafting.Change{DraftID: d.ID, To: editorial.Scheduled, SlotAt: time.Now(), By: 7})
			b.change(drafting.Change{DraftID: d.ID, To: editorial.Proposed, By: 7})
		},
		"published": func(b *bundle, d editorial.Draft) { b.publish(d.ID) },
	}
	for name, fn := range touch {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			d := b.drafted()
			fn(b, d)
			before := b.text(`SELECT max(revision) || ' ' || (SELECT html FROM draft_revisions ORDER BY revision DESC LIMIT 1) FROM draft_revisions`)
			b.edited(b.leadOf(d.ID), "Another headline", "Another text of the item that says something else altogether, at some length.")
			if after := b.text(`SELECT max(revision) || ' ' || (SELECT html FROM draft_revisions ORDER BY revision DESC LIMIT 1) FROM draft_revisions`); after != before {
				t.Errorf("was %s, is %s", before, after)
			}
		})
	}
}

func TestAModelWritesARefreshedTextAFewTimesOnly(t *testing.T) {
	t.Parallel()
	m := newModel(t, func(n int, _ string) (int, string) {
		return 200, says(post("Satellite text "+string(rune('A'+n-1)), goodBody))
	})
	b := newBundle(t, withModel(m.srv.URL))
	d := b.drafted()
	for i := range 5 {
		b.edited(b.leadOf(d.ID), rocketTitle, "A new first sentence number "+strings.Repeat("x", i+1)+" about the tenth satellite. "+rocketText)
	}
	if m.calls() != 3 {
		t.Errorf("%d calls of the model, want 3", m.calls())
	}
	if n := b.id(`SELECT count(*) FROM model_calls GROUP BY draft_id, revision HAVING count(*) = 1 LIMIT 1`); n != 1 || b.refreshed() != 5 {
		t.Errorf("%d calls a revision, %d refreshed", n, b.refreshed())
	}
	if got := b.text(`SELECT composer FROM draft_revisions ORDER BY revision DESC LIMIT 1`); got != "extractive" {
		t.Errorf("the last edit was written by %s", got)
	}
}

func (b *bundle) publish(draft int64) {
	b.t.Helper()
	for _, c := range []drafting.Change{
		{To: editorial.Scheduled, SlotAt: time.Now(), By: 7}, {To: editorial.Publishing}, {To: editorial.Published},
	} {
		c.DraftID = draft
		if res := b.change(c); !res.Done {
			b.t.Fatalf("to %s: %+v", c.To, res)
		}
	}
}

func TestAGrownStoryGivesOneMarkedFollowUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	d := b.drafted()
	grow := func() (asked bool) {
		b.tx(func(ctx context.Context, tx pgx.Tx) (err error) {
			asked, err = b.svc.FollowUpTx(ctx, tx, d.ChannelID, d.StoryID)
			return err
		})
		return asked
	}
	if grow() {
		t.Error("a follow-up of what was never posted")
	}
	b.publish(d.ID)
	item := b.id(`INSERT INTO items (source_id, url, title, text)
		SELECT i.source_id, 'https://news.example/more', 'Satellite sends its first images', 'The tenth satellite has sent its first radar images of New Zealand, the company said on Friday.'
		  FROM items i LIMIT 1 RETURNING id`)
	b.exec(`INSERT INTO story_items (item_id, story_id, how, certain) VALUES ($1, $2, 'likeness', false)`, item, d.StoryID)
	if !grow() || grow() {
		t.Error("want one follow-up")
	}
	b.toldOf(2)
	b.quiet()
	got := b.text(`SELECT r.html FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id WHERE d.kind = 'follow_up'`)
	if !strings.Contains(got, "Update: Satellite sends its first images") {
		t.Errorf("the follow-up is %s", got)
	}
	if n := b.id(`SELECT count(*) FROM drafts`); n != 2 {
		t.Errorf("%d drafts", n)
	}
	err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		_, err := b.svc.FollowUpTx(t.Context(), tx, d.ChannelID, 999)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
