package sources

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Texts go after their time and do not come back with an edit; the keys stay, so
// that nothing is news twice.
func TestTextsAreForgottenAndKeysAreNot(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.KeepTexts = 10 * 24 * time.Hour })
	f := newFeedServer(t)
	f.show("a", "b")
	id := b.add(f.url)
	b.poll(id)
	if _, err := b.pool.Exec(t.Context(), `UPDATE items SET text = 'body of ' || title, first_seen_at = $1::timestamptz - CASE title WHEN 'a' THEN interval '11 days' ELSE interval '9 days' END`,
		*b.at.Load()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE polls SET at = $1::timestamptz - interval '31 days'`, *b.at.Load()); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Hour)
	b.poll(id)
	b.tx(func(tx pgx.Tx) error { return b.svc.forgetTx(t.Context(), tx, *b.at.Load()) })
	if got := value[string](b, "SELECT string_agg(title || ':' || text || ':' || (purged_at IS NOT NULL), ' ' ORDER BY title) FROM items"); got != "a::true b:body of b:false" {
		t.Errorf("items: %s", got)
	}
	if n := value[int](b, "SELECT count(*) FROM polls"); n != 1 {
		t.Errorf("%d polls are kept, want the one of today", n)
	}
	f.show("c", "b", "a|Mon, 04 May 2026 06:00:00 GMT") // a comes once more, edited
	b.pass(time.Hour)
	if _, got := b.poll(id); len(got) != 1 {
		t.Errorf("new after the texts were forgotten: %q", got)
	}
	if n := value[int](b, "SELECT count(*) FROM items WHERE title = 'a' AND text <> ''"); n != 0 {
		t.Error("a forgotten text came back")
	}
}
