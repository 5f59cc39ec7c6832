package sources

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestAfterARestoreTheNextDocumentIsNoNews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := newFeedServer(t)
	f.show("a")
	id := b.add(f.url)
	b.poll(id)
	b.tx(func(tx pgx.Tx) error { return RebaselineTx(t.Context(), tx) })
	f.show("c", "b", "a") // b and c were proposed before the database was lost
	b.pass(time.Hour)
	b.poll(id)
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'new'"); n != 0 {
		t.Errorf("%d items are news", n)
	}
	f.show("d", "c", "b", "a")
	b.pass(time.Hour)
	b.poll(id)
	if n := value[int](b, "SELECT count(*) FROM items WHERE result = 'new'"); n != 1 {
		t.Errorf("%d items are news afterwards", n)
	}
}
