package drafting_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

const (
	rocketTitle = "Rocket Lab launches tenth satellite"
	rocketText  = "Rocket Lab put its tenth radar satellite into orbit on Tuesday. The launch took place from Mahia at 09:15 local time. " +
		`"It was a flawless flight from start to end," said chief executive Peter Beck. The company plans 16 launches this year. Read more at https://news.example/x.`
)

func TestADraftWithoutAModel(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ch := b.channel("en")
	story := b.story(ch, rocketTitle, rocketText)
	for range 3 {
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: story, Score: 77})
	}
	if told := b.toldOf(1); len(told) != 1 {
		t.Errorf("told of %v", told)
	}
	b.quiet()
	if n := b.id(`SELECT count(*) FROM drafts`); n != 1 {
		t.Fatalf("%d drafts", n)
	}
	html := b.text(`SELECT html FROM draft_revisions`)
	want := `<b><a href="https://news.example/item/1">Rocket Lab launches tenth satellite</a></b>` + "\n\n" +
		"Rocket Lab put its tenth radar satellite into orbit on Tuesday. The launch took place from Mahia at 09:15 local time."
	if !strings.HasPrefix(html, want) || strings.Contains(html, "Read more") {
		t.Errorf("drafted %s", html)
	}
}

func (b *bundle) drafted() editorial.Draft {
	b.t.Helper()
	ch := b.channel("en")
	b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle, rocketText), Score: 77})
	b.toldOf(1)
	b.quiet()
	d, err := drafting.Get(b.t.Context(), b.pool, b.id(`SELECT max(id) FROM drafts`))
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *bundle) change(c drafting.Change) drafting.Result {
	b.t.Helper()
	var res drafting.Result
	b.tx(func(ctx context.Context, tx pgx.Tx) (err error) {
		res, err = drafting.Transition(ctx, tx, c)
		return err
	})
	return res
}

func TestALatePressIsToldWhatHappened(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	d := b.drafted()
	slot := time.Now().Add(time.Hour).Truncate(time.Second)
	approve := drafting.Change{DraftID: d.ID, Transition: d.Transition, To: editorial.Scheduled, SlotAt: slot, By: 7}
	if res := b.change(approve); !res.Done || res.Draft.State != editorial.Scheduled || !res.Draft.SlotAt.Equal(slot) || res.Draft.DecidedBy != 7 {
		t.Fatalf("approve: %+v", res)
	}
	if b.text(`SELECT (d.approved_hash = r.html_hash)::text FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id`) != "true" {
		t.Error("the approval is not bound to the text")
	}
	if res := b.change(approve); res.Done || res.Draft.State != editorial.Scheduled {
		t.Errorf("second press: %+v", res)
	}
	if res := b.change(drafting.Change{DraftID: d.ID, Transition: 2, To: editorial.Proposed, By: 7}); !res.Done || res.Draft.Transition != 3 || !res.Draft.SlotAt.IsZero() {
		t.Errorf("undo: %+v", res)
	}
	if res := b.change(approve); res.Done {
		t.Error("an old button worked after an undo")
	}
	if res := b.change(drafting.Change{DraftID: d.ID, To: editorial.Published}); res.Done {
		t.Error("proposed became published")
	}
	err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		_, err := drafting.Transition(t.Context(), tx, drafting.Change{DraftID: 999, To: editorial.Skipped})
		return err
	})
	if !errors.Is(err, drafting.ErrNotFound) {
		t.Errorf("unknown draft: %v", err)
	}
}

func TestOfTwentyPressesOneCounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	d := b.drafted()
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 20 {
		wg.Go(func() {
			c := drafting.Change{DraftID: d.ID, Transition: 1, To: editorial.Skipped, Skip: editorial.SkipOld, By: int64(i + 1)}
			if i%2 == 0 {
				c = drafting.Change{DraftID: d.ID, Transition: 1, To: editorial.Scheduled, SlotAt: time.Now(), By: int64(i + 1)}
			}
			if res := b.change(c); res.Done {
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d presses counted", done)
	}
}

func TestAnEditIsCheckedAndRebindsTheApproval(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	d := b.drafted()
	edit := func(e drafting.Edit) (drafting.RevisionResult, error) {
		var res drafting.RevisionResult
		err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) (err error) {
			res, err = drafting.AddRevision(t.Context(), tx, e)
			return err
		})
		return res, err
	}
	var syntax *render.SyntaxError
	if _, err := edit(drafting.Edit{DraftID: d.ID, HTML: "<script>x</script>"}); !errors.As(err, &syntax) {
		t.Errorf("a script: %v", err)
	}
	var long *drafting.TooLongError
	if _, err := edit(drafting.Edit{DraftID: d.ID, HTML: strings.Repeat("x", 4097)}); !errors.As(err, &long) || long.Units != 4097 {
		t.Errorf("too long: %v", err)
	}
	if _, err := edit(drafting.Edit{DraftID: d.ID, HTML: " <b> </b> "}); !errors.Is(err, drafting.ErrEmpty) {
		t.Errorf("empty: %v", err)
	}
	b.change(drafting.Change{DraftID: d.ID, To: editorial.Scheduled, SlotAt: time.Now(), By: 7})
	res, err := edit(drafting.Edit{DraftID: d.ID, Transition: 2, HTML: " <strong>New</strong> text ", By: 7})
	if err != nil || !res.Done || res.Draft.Revision != 2 || res.Draft.Transition != 3 || res.Revision.HTML != "<b>New</b> text" {
		t.Fatalf("%+v, %v", res, err)
	}
	if b.text(`SELECT (d.approved_hash = r.html_hash)::text FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision`) != "true" {
		t.Error("the edited text of a scheduled draft is not the approved one")
	}
	if res, err := edit(drafting.Edit{DraftID: d.ID, Transition: 2, HTML: "late"}); err != nil || res.Done {
		t.Errorf("a late edit: %+v, %v", res, err)
	}
	b.change(drafting.Change{DraftID: d.ID, To: editorial.Publishing})
	if res, err := edit(drafting.Edit{DraftID: d.ID, HTML: "while it is sent"}); err != nil || res.Done {
		t.Errorf("an edit while it is sent: %+v, %v", res, err)
	}
}

func TestOwnDraftsAndDigests(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(c *drafting.Config) {
		c.Article = func(_ context.Context, url string) (drafting.Article, error) {
			return drafting.Article{URL: url, Title: "A page", Text: rocketText, Site: "Site"}, nil
		}
	})
	ch := b.channel("en")
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		for _, a := range []drafting.OwnArgs{{URL: "https://page.example/1"}, {URL: "https://page.example/1"}, {Text: rocketText}, {HTML: "<b>My</b> post"}} {
			a.ChannelID, a.By = ch, 7
			if _, err := b.svc.OwnTx(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	b.toldOf(3)
	b.quiet()
	if n := b.id(`SELECT count(*) FROM drafts WHERE kind = 'own' AND created_by = 7`); n != 3 {
		t.Errorf("%d own drafts, want 3", n)
	}
	if got := b.text(`SELECT r.html FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id WHERE r.composer = 'person'`); got != "<b>My</b> post" {
		t.Errorf("%q", got)
	}
	for i := range 4 {
		story := b.story(ch, strings.Repeat("News ", i+1)+"of the day", "Text.")
		b.exec(`INSERT INTO scores (channel_id, story_id, score, verdict) VALUES ($1, $2, $3, 'proposed')`, ch, story, 50+i)
	}
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for i := range 2 {
		b.tx(func(ctx context.Context, tx pgx.Tx) error {
			done, err := b.svc.DigestTx(ctx, tx, ch, day, time.Now().Add(-time.Hour))
			if done != (i == 0) {
				t.Errorf("digest %d: %t", i, done)
			}
			return err
		})
	}
	if html := b.text(`SELECT r.html FROM drafts d JOIN draft_revisions r ON r.draft_id = d.id WHERE d.kind = 'digest'`); strings.Count(html, "• <a href=") != 4 {
		t.Errorf("digest %s", html)
	}
}
