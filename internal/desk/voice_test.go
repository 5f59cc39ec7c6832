package desk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/queue"
)

// learning runs the jobs of drafting, wired to channels as the program does.
func learning(t *testing.T, page []string) *bundle {
	t.Helper()
	var svc *drafting.Service
	reg := queue.NewRegistry()
	b := newBundle(t, func(c *desk.Config) {
		svc = drafting.New(drafting.Config{
			Pool: c.Pool, Logger: zerolog.Nop(), KeepVoice: c.Channels.LearnVoice,
			Posts: func(_ context.Context, name string) ([]string, error) {
				if name != "news1001" {
					return nil, fmt.Errorf("no page of %s", name)
				}
				return page, nil
			},
		})
		svc.Register(reg)
		c.Drafting, c.Registry = svc, reg
	})
	engine := queue.New(queue.Config{Pool: b.pool, Registry: reg, Logger: zerolog.Nop(), PollEvery: 20 * time.Millisecond})
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = engine.Stop(ctx)
	})
	return b
}

// holds waits until the voice of Ann's channel contains a JSON object.
func (b *bundle) holds(part string) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if b.count(`SELECT count(*) FROM channels WHERE id = $1 AND voice @> $2::jsonb`, b.channel, part) == 1 {
			return
		}
	}
	var voice string
	_ = b.pool.QueryRow(b.t.Context(), `SELECT voice::text FROM channels WHERE id = $1`, b.channel).Scan(&voice)
	b.t.Fatalf("the voice is %s, want %s in it", voice, part)
}

func pagePosts() []string {
	var out []string
	for i := range 6 {
		out = append(out, fmt.Sprintf("⚡ Ferry number %d sails again after the storm\n\nThe crew checked every line and the harbour opened at %d o'clock.\n\n#harbour\n\nRead us: @news1001", i, i+5))
	}
	return out
}

// A linked channel's page teaches its voice; what its owner empties is not
// learned back.
func TestAVoiceIsLearnedFromTheChannelsPage(t *testing.T) {
	t.Parallel()
	b := learning(t, pagePosts())
	b.holds(`{"posts": 6, "opens": "emoji", "lead": "⚡", "hashtags": ["harbour"], "always_tags": true, "footer": "Read us: @news1001", "forgotten": []}`)
	if n := b.count(`SELECT count(*) FROM channels WHERE id <> $1 AND voice ? 'posts'`, b.channel); n != 0 {
		t.Error("a channel without a page learned something")
	}
	for range 2 {
		if _, err := b.desk.Update(t.Context(), ann, b.channel, desk.ChannelChange{Footer: new(string)}); err != nil {
			t.Fatal(err)
		}
	}
	b.holds(`{"footer": "Read us: @news1001", "forgotten": ["footer"]}`)
	if n := b.count(`SELECT jsonb_array_length(voice->'forgotten') FROM channels WHERE id = $1`, b.channel); n != 1 {
		t.Errorf("%d things are forgotten", n)
	}
}

// What the owner makes of drafts teaches once two edits agree, each edit in a job
// of its own; the habits from posts stay beside it.
func TestEditsTeachTheVoice(t *testing.T) {
	t.Parallel()
	b := learning(t, pagePosts())
	b.holds(`{"posts": 6}`)
	long := strings.Repeat("The ferry sails again! 🚢 ", 20)
	for i := range 2 {
		id := b.draft()
		if _, err := b.pool.Exec(t.Context(), `UPDATE draft_revisions SET composer = 'extractive', html = $2 WHERE draft_id = $1`, id, long); err != nil {
			t.Fatal(err)
		}
		if _, err := b.desk.Edit(t.Context(), ann, id, 1, "The ferry sails again after the storm, says the harbour."); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			b.holds(`{"posts": 6, "edits": {}}`)
		}
	}
	b.holds(`{"posts": 6, "footer": "Read us: @news1001", "edits": {"units": 56, "emoji": "none", "sober": true}}`)
	if n := b.count(`SELECT count(*) FROM job_keys WHERE kind = 'learn_voice' AND key LIKE $1 || ':edit:%'`, fmt.Sprint(b.channel)); n != 2 {
		t.Errorf("%d jobs for two edits", n)
	}
}

// The list is the owner's: a stranger sees and changes nothing, a line that was
// taken out stays out when the page is read again, and learning anew brings it back.
func TestTheOwnerKeepsTheListOfTheVoice(t *testing.T) {
	t.Parallel()
	b := learning(t, pagePosts())
	b.holds(`{"posts": 6}`)
	if _, err := b.desk.Voice(t.Context(), stranger, b.channel); desk.CodeOf(err) != desk.CodeNotYours {
		t.Errorf("a stranger reads the list: %v", err)
	}
	if _, err := b.desk.ForgetVoice(t.Context(), stranger, b.channel, desk.VoiceAll); desk.CodeOf(err) != desk.CodeNotYours {
		t.Errorf("a stranger forgets: %v", err)
	}
	for i, want := range []bool{true, false} {
		if done, err := b.desk.ForgetVoice(t.Context(), ann, b.channel, "footer"); err != nil || done != want {
			t.Errorf("forget %d: %t, %v", i, done, err)
		}
	}
	if done, err := b.desk.ForgetVoice(t.Context(), ann, b.channel, "nonsense"); done || err != nil {
		t.Errorf("forget nonsense: %t, %v", done, err)
	}
	lines := func() (keys string) {
		list, err := b.desk.Voice(t.Context(), ann, b.channel)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			keys += l.Key + " "
		}
		return keys
	}
	if got := lines(); strings.Contains(got, "footer") || !strings.Contains(got, "hashtags") {
		t.Errorf("the lines are %s", got)
	}
	sub, err := b.desk.RelearnVoice(t.Context(), ann, b.channel)
	if err != nil || !sub.Fresh {
		t.Fatalf("learn anew: %+v, %v", sub, err)
	}
	b.holds(`{"posts": 6, "forgotten": []}`)
	if got := lines(); !strings.Contains(got, "footer") {
		t.Errorf("after learning anew the lines are %s", got)
	}
}
