package publishing_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
)

// withPreview lets the service read the stand-in's public pages.
func withPreview(b **bundle) func(*publishing.Config) {
	return func(c *publishing.Config) {
		c.PreviewURL = "http://preview/s"
		c.Get = func(ctx context.Context, address string) ([]byte, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(address, "http://preview", (*b).server.URL, 1), http.NoBody)
			if err != nil {
				return nil, err
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			defer func() { _ = resp.Body.Close() }()
			return io.ReadAll(resp.Body)
		}
	}
}

func TestReadChannelSaysWhetherItSawEverything(t *testing.T) {
	t.Parallel()
	var b *bundle
	b = newBundle(t, withPreview(&b))
	b.start()
	known := b.schedule("The last one that is known", "")
	b.waitState(known, editorial.Published)
	anchor := value[int64](b, `SELECT last_message_id FROM channels`)
	const ann = 500_100_001 // who owns the channel there
	want := []string{"Ours more"}
	b.waitState(b.schedule(`Ours <a href="https://a.example/1">more</a>`, ""), editorial.Published)
	for i := range 45 { // more than two pages
		want = append(want, "Number "+string(rune('A'+i%26))+strings.Repeat("x", i))
		b.postBy(ann, b.chat, want[i+1])
	}
	posts, complete, why, err := b.pub.ReadChannel(t.Context(), b.channel, anchor)
	if err != nil || !complete {
		t.Fatalf("complete %t (%s), %v", complete, why, err)
	}
	var got []string
	for _, p := range posts {
		got = append(got, strings.Join(strings.Fields(p.Text), " "))
	}
	if len(posts) == 0 || !slices.Contains(posts[0].Links, "https://a.example/1") {
		t.Errorf("the link of our post is not seen")
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %d posts of %d:\n%q", len(got), len(want), got)
	}
	if _, complete, why, err = b.pub.ReadChannel(t.Context(), b.channel, anchor+100000); complete || err != nil {
		t.Errorf("complete without the post that is known (%s), %v", why, err)
	}
	b.exec(`UPDATE channels SET username = ''`)
	if _, complete, why, err = b.pub.ReadChannel(t.Context(), b.channel, anchor); complete || err != nil || why != "the channel is private" {
		t.Errorf("a private one: %t, %q, %v", complete, why, err)
	}
}

func TestAHeldChannelTakesNoPosts(t *testing.T) {
	t.Parallel()
	var held atomic.Bool
	held.Store(true)
	b := newBundle(t, func(c *publishing.Config) {
		c.Held = func(context.Context, pgx.Tx, int64) (bool, error) { return held.Load(), nil }
	})
	b.start()
	id := b.schedule("Not before the look", "")
	b.idle()
	if state := value[string](b, `SELECT state FROM drafts WHERE id = $1`, id); state != "scheduled" || len(b.posts(b.chat)) != 0 {
		t.Errorf("the draft is %s, the channel has %+v", state, b.posts(b.chat))
	}
	held.Store(false)
	other := b.schedule("After the look", "")
	b.waitState(other, editorial.Published)
}

func TestAPostThatTheDatabaseForgotIsRecordedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.draft("Forgotten", "", time.Now().Add(time.Hour))
	for range 2 {
		b.tx(func(ctx context.Context, tx pgx.Tx) error { return b.pub.FoundTx(ctx, tx, id, 77, "preview") })
	}
	if got := value[string](b, `SELECT d.state || ' ' || p.state || ' ' || p.message_id || ' ' || p.settled_how || ' ' || c.last_message_id
		FROM drafts d JOIN publications p ON p.draft_id = d.id JOIN channels c ON c.id = d.channel_id`); got != "published published 77 preview 77" {
		t.Error(got)
	}
	proposed := b.draft("Nobody approved it", "", time.Now())
	b.exec(`UPDATE drafts SET state = 'proposed' WHERE id = $1`, proposed)
	if err := b.try(func(ctx context.Context, tx pgx.Tx) error { return b.pub.FoundTx(ctx, tx, proposed, 78, "preview") }); err == nil {
		t.Error("a proposed draft was found without a word")
	}
}
