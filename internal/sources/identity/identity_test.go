package identity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/sources/decode"
)

// known plays documents against a store of keys, as the poller does, and
// returns which titles were new in each.
func known(opt Options, docs ...[]decode.Entry) [][]string {
	seen := map[[16]byte]bool{}
	var out [][]string
	for _, entries := range docs {
		doc := &decode.Document{Entries: entries}
		fresh := []string{}
		ids := Of(doc, opt)
		for i, id := range ids {
			if id.Same >= 0 || len(id.Keys) == 0 {
				continue
			}
			old := false
			for _, k := range id.Keys {
				old = old || seen[k.Sum()]
			}
			if c, ok := ContentKey(&entries[i]); ok && !old {
				old = seen[c.Sum()]
				seen[c.Sum()] = true
			}
			if !old {
				fresh = append(fresh, entries[i].Title)
			}
			for _, k := range id.Keys {
				seen[k.Sum()] = true
			}
		}
		out = append(out, fresh)
	}
	return out
}

func entry(title, id, link string, body ...string) decode.Entry {
	return decode.Entry{Title: title, ID: id, Link: link, Body: strings.Join(body, " ")}
}

func TestOldEntriesStayOldAndNewOnesAreFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Words of a long and quite particular text. ", 5)
	opt := Options{Home: "http://e.org/", Address: "http://e.org/feed.xml"}
	for name, tc := range map[string]struct {
		docs [][]decode.Entry
		want [][]string
	}{
		"a site's own numbers": {
			[][]decode.Entry{
				{entry("b", "2", "", "text b"), entry("a", "1", "", "text a")},
				{entry("c", "3", "", "text c"), entry("b, edited", "2", "", "text b"), entry("a", "1", "", "text a")},
			},
			[][]string{{"b", "a"}, {"c"}},
		},
		"the scheme of ids flips": {
			[][]decode.Entry{{entry("a", "http://e.org/?p=1", "")}, {entry("a", "https://e.org/?p=1", "")}, {entry("a", "https://new.org/?p=1", "")}},
			[][]string{{"a"}, {}, {}},
		},
		"ids rotate": {
			[][]decode.Entry{{entry("a", "v1", "http://e.org/a")}, {entry("a", "v2", "http://e.org/a"), entry("b", "v2b", "http://e.org/b")}},
			[][]string{{"a"}, {"b"}},
		},
		"tracking changes": {
			[][]decode.Entry{{entry("a", "", "http://e.org/a?utm_id=1")}, {entry("a", "", "http://e.org/a?utm_id=2")}, {entry("b", "", "http://e.org/a?id=2")}},
			[][]string{{"a"}, {}, {"b"}},
		},
		"an entry twice in one document": {
			[][]decode.Entry{{entry("a", "1", "http://e.org/a"), entry("a", "1", "http://e.org/a")}}, [][]string{{"a"}},
		},
		"ten share one id": {
			[][]decode.Entry{{entry("a", "1", "http://e.org/a"), entry("b", "1", "http://e.org/b"), entry("c", "1", "http://e.org/c")}},
			[][]string{{"a", "b", "c"}},
		},
		"three share one link": {
			[][]decode.Entry{{entry("a", "", "http://e.org/page"), entry("b", "", "http://e.org/page"), entry("c", "", "http://e.org/page")}},
			[][]string{{"a", "b", "c"}},
		},
		"all link to the home page": {
			[][]decode.Entry{{entry("a", "1", "http://e.org/"), entry("b", "2", "http://www.e.org")}, {entry("c", "3", "https://e.org/")}},
			[][]string{{"a", "b"}, {"c"}},
		},
		"neither id nor link": {
			[][]decode.Entry{{entry("a", "", "", "x"), entry("b", "", "", "y")}, {entry("b", "", "", "y"), entry("a", "", "", "x"), entry("a", "", "", "z")}},
			[][]string{{"a", "b"}, {"a"}},
		},
		"one title for all": {
			[][]decode.Entry{{entry("Photo", "1", "http://e.org/1"), entry("Photo", "2", "http://e.org/2")}, {entry("Photo", "3", "http://e.org/3")}},
			[][]string{{"Photo", "Photo"}, {"Photo"}},
		},
		"a comment counter in the title": {
			[][]decode.Entry{{entry("a (1)", "1", "http://e.org/1")}, {entry("a (2)", "1", "http://e.org/1")}},
			[][]string{{"a (1)"}, {}},
		},
		"anchors on one page": {
			[][]decode.Entry{{entry("a", "", "http://e.org/log#1"), entry("b", "", "http://e.org/log#2")}, {entry("c", "", "http://e.org/log#3"), entry("a", "", "http://e.org/log#1")}},
			[][]string{{"a", "b"}, {"c"}},
		},
		"id and link both change, the text stays": {
			[][]decode.Entry{{entry("a", "1", "http://e.org/1", long)}, {entry("a", "2", "http://new.org/2", long)}},
			[][]string{{"a"}, {}},
		},
		"a video through its life": {
			[][]decode.Entry{{{Title: "Premiere", ID: "x1", Platform: "youtube:AAA"}}, {{Title: "LIVE", ID: "x2", Platform: "youtube:AAA"}}, {{Title: "t", ID: "yt:video:AAA"}}},
			[][]string{{"Premiere"}, {}, {}},
		},
		"empty ids": {
			[][]decode.Entry{{entry("a", "", "http://e.org/a"), entry("b", "", "http://e.org/b")}}, [][]string{{"a", "b"}},
		},
	} {
		if diff := cmp.Diff(tc.want, known(opt, tc.docs...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPlatformIDs(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ&feature=share": "youtube:dQw4w9WgXcQ",
		"https://youtu.be/dQw4w9WgXcQ?si=x":                         "youtube:dQw4w9WgXcQ",
		"https://old.reddit.com/r/golang/comments/abc123/title/":    "reddit:t3_abc123",
		"https://t.me/s/Durov/12":                                   "telegram:durov/12",
		"https://e.org/watch?v=x":                                   "",
	} {
		if got := PlatformOf(link); got != want {
			t.Errorf("PlatformOf(%q) = %q, want %q", link, got, want)
		}
	}
}

func BenchmarkOf30(b *testing.B) {
	doc := &decode.Document{}
	for i := range 30 {
		doc.Entries = append(doc.Entries, entry(fmt.Sprint("title ", i), fmt.Sprintf("http://e.org/?p=%d", i), fmt.Sprintf("http://e.org/2026/%d", i), "text"))
	}
	for b.Loop() {
		for _, e := range Of(doc, Options{Home: "http://e.org/"}) {
			for _, k := range e.Keys {
				_ = k.Sum()
			}
		}
	}
}
