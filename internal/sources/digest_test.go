package sources

import (
	"bytes"
	"testing"

	"github.com/postonce/postonce/internal/sources/decode"
)

// TestTheDigestOfEntriesKnowsNoOrder: the same entries in another order are the same; what moves from one entry to
// another, or comes a second time, is a change.
func TestTheDigestOfEntriesKnowsNoOrder(t *testing.T) {
	t.Parallel()
	of := func(entries ...decode.Entry) []byte { return entriesHash(&decode.Document{Entries: entries}) }
	a, b := decode.Entry{ID: "1", Link: "https://a.example/1", Title: "A"}, decode.Entry{ID: "2", Link: "https://a.example/2", Title: "B"}
	if !bytes.Equal(of(a, b), of(b, a)) {
		t.Error("another order is another digest")
	}
	swapped, other := a, b
	swapped.ID, other.ID = b.ID, a.ID
	for what, got := range map[string][]byte{
		"ids that changed places": of(swapped, other),
		"one entry less":          of(a),
		"one entry twice":         of(a, a, b),
		"text that moved on":      of(decode.Entry{ID: "1", Link: "https://a.example/1A"}, b),
	} {
		if bytes.Equal(got, of(a, b)) {
			t.Errorf("%s: the digest is the same", what)
		}
	}
}
