package drafting_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
)

// A channel that was linked today has its past: what it told is not proposed, and is not lost either.
func TestAStoryThatStandsInTheChannelIsNotProposed(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(c *drafting.Config) {
		c.Posts = func(context.Context, string) ([]string, error) {
			return []string{"Good morning, everyone who reads us over coffee today!", rocketTitle + "\n\n" + rocketText}, nil
		}
		c.KeepVoice = func(context.Context, pgx.Tx, int64, []byte, []byte) (bool, error) { return true, nil }
	})
	ch := b.channel("en")
	b.exec(`UPDATE channels SET username = 'rockets' WHERE id = $1`, ch)
	for _, cause := range []string{"linked", "again"} { // the same page twice is kept once
		b.tx(func(ctx context.Context, tx pgx.Tx) error {
			_, err := b.svc.LearnVoiceTx(ctx, tx, ch, cause)
			return err
		})
		b.quiet()
	}
	if n := b.id(`SELECT count(*) FROM channel_posts`); n != 2 {
		t.Fatalf("%d posts kept", n)
	}
	b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle, rocketText), Score: 77})
	b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, "Council votes on tram line nine", "The council votes on tram line nine on Monday. It would cost 300 million and take four years."), Score: 60})
	told := b.toldOf(1)
	b.quiet()
	if len(told) != 1 || b.text(`SELECT state || ' ' || skip_reason FROM drafts WHERE score = 77`) != "skipped duplicate" || b.text(`SELECT state FROM drafts WHERE score = 60`) != "proposed" {
		t.Errorf("told of %v; the old story is %s", told, b.text(`SELECT state FROM drafts WHERE score = 77`))
	}
}
