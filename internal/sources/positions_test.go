package sources

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// numbered is a feed of entries "id title", or "id title link" where the link
// is not the title's.
func numbered(links bool, entries ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>T</title>`)
	for _, e := range entries {
		f := strings.Fields(e)
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">%s</guid><title>%s</title>`, f[0], f[1])
		if links {
			fmt.Fprintf(&b, `<link>https://e.org/%s</link>`, f[len(f)-1])
		}
		b.WriteString(`</item>`)
	}
	b.WriteString(`</channel></rss>`)
	return b.String()
}

// TestIdsThatCountPositions: an id that goes over to another entry is no name,
// and one that only looks like a position is.
func TestIdsThatCountPositions(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]struct {
		links    bool
		docs     []string // entries, separated by commas
		want     []string // the new titles, after the first document
		distrust bool
	}{
		"the feed grows":                  {true, []string{"1 b,2 a", "1 c,2 b,3 a", "1 d,2 c,3 b,4 a"}, []string{"c", "d"}, true},
		"the window slides":               {true, []string{"1 c,2 b,3 a", "1 d,2 c,3 b", "1 f,2 e,3 d"}, []string{"d", "e f"}, true},
		"no links":                        {false, []string{"item-0 b,item-1 a", "item-0 c,item-1 b,item-2 a", "item-0 d,item-1 c"}, []string{"c", "d"}, true},
		"no links, two at once":           {false, []string{"0 c,1 b,2 a", "0 e,1 d,2 c,3 b,4 a"}, []string{"d e"}, true},
		"no links, and one is edited":     {false, []string{"0 c,1 b,2 a", "0 d,1 c,2 b2,3 a"}, []string{"d"}, true},
		"an edited title and a new one":   {true, []string{"1 b,2 a", "1 c,2 b2 b,3 a"}, []string{"c"}, true},
		"a new one below":                 {true, []string{"1 a,2 b", "1 a,2 b,3 c"}, []string{"c"}, false},
		"a site's own numbers":            {true, []string{"2 b,1 a", "3 c,2 b,1 a"}, []string{"c"}, false},
		"own numbers, title and link new": {true, []string{"2 b,1 a", "2 b2,1 a"}, []string{""}, false},
		"own numbers, in another order":   {false, []string{"1 a,2 b,3 c", "3 c,2 b,1 a"}, []string{""}, false},
		"own numbers, old words again":    {false, []string{"3 c,2 b,1 a", "4 c,3 c2,2 b,1 a"}, []string{"c"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, f := newBench(t), newFeedServer(t)
			id := int64(0)
			for i, doc := range v.docs {
				body := numbered(v.links, strings.Split(doc, ",")...)
				f.handle(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
				if i == 0 {
					id = b.add(f.url)
				}
				b.pass(time.Hour)
				_, got := b.poll(id)
				if i == 0 {
					continue
				}
				var titles []string
				for _, line := range got {
					title, _, _ := strings.Cut(line, "\n")
					titles = append(titles, title)
				}
				slices.Sort(titles)
				if diff := cmp.Diff(v.want[i-1], strings.Join(titles, " ")); diff != "" {
					t.Errorf("document %d: %s", i+1, diff)
				}
			}
			if got := value[bool](b, "SELECT distrust_ids FROM sources"); got != v.distrust {
				t.Errorf("ids are distrusted: %v", got)
			}
		})
	}
}
