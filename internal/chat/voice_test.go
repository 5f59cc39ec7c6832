package chat_test

import (
	"fmt"
	"testing"
	"time"
)

// TestWhatWasLearnedIsAList shows what three posts taught, and takes it apart.
func TestWhatWasLearnedIsAList(t *testing.T) {
	t.Parallel()
	b := newBundle(t, learns)
	ann := b.person("Ann", "en")
	_, id := ann.works("Space Daily", "")
	b.until(`SELECT count(*) = 0 FROM jobs WHERE kind = 'learn_voice'`) // of the link
	for i := range 3 {
		_, err := b.pool.Exec(t.Context(), `WITH d AS (INSERT INTO drafts (channel_id, kind, subject, state) VALUES ($1, 'own', $2, 'published') RETURNING id)
			INSERT INTO draft_revisions (draft_id, revision, html, html_hash, composer) SELECT id, 1, $3, '', 'person' FROM d`, id, fmt.Sprint("own:", i),
			fmt.Sprintf("🚀 Rocket number %d is in orbit after a calm night.\n\nThe crew &lt;of four&gt; is well. #space\n\nMore at Space Daily", i))
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func() {
		ann.quiet = true
		ann.says("/channels")
		ann.taps("✓ Space Daily")
		ann.quiet = false
		ann.taps("Tone")
		ann.taps("Learned from posts")
	}
	open()
	ann.taps("🔄 Learn anew")
	b.until(`SELECT voice ? 'posts' FROM channels WHERE id = $1`, id)
	open()
	ann.taps("✕ 2")
	ann.taps("✕ Forget all")
	b.golden("voice")
}

// TestForwardedPostsTeachTheVoice is the way of a private channel, which has no page.
func TestForwardedPostsTeachTheVoice(t *testing.T) {
	t.Parallel()
	b := newBundle(t, learns)
	ann := b.person("Ann", "en")
	ch, id := ann.works("Space Daily", "")
	for i := range 3 {
		post, err := ann.Post(t.Context(), ch.ID, fmt.Sprintf("Rocket number %d is in orbit after a <calm> night?\n\nMore at Space Daily", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := ann.Forward(t.Context(), ch.ID, post.ID); err != nil {
			t.Fatal(err)
		}
	}
	b.until(`SELECT voice @> '{"posts": 3, "footer": "More at Space Daily", "emoji": "none", "closes": "question"}' FROM channels WHERE id = $1`, id)
}

// until waits for a query to say yes.
func (b *bundle) until(query string, args ...any) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var yes bool
		if err := b.pool.QueryRow(b.t.Context(), query, args...).Scan(&yes); err != nil {
			b.t.Fatal(err)
		}
		if yes {
			return
		}
	}
	b.t.Fatalf("not in time: %s", query)
}
