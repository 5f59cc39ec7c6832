package sources

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// itemOf is one entry as a feed shows it: "title|link|guid|date|text", the
// rest left out.
func itemOf(line string) string {
	var b strings.Builder
	b.WriteString("<item>")
	for i, part := range strings.Split(line, "|") {
		if part != "" {
			name := [...]string{"title", "link", "guid", "pubDate", "description"}[i]
			fmt.Fprintf(&b, "<%s>%s</%s>", name, strings.ReplaceAll(part, "&", "&amp;"), name)
		}
	}
	return b.String() + "</item>"
}

// showing is one poll: what the feed shows, and the titles that are new.
type showing struct {
	shown []string
	fresh []string
}

// TestEntriesThroughSeveralPolls plays what feeds do with their entries from
// one fetch to the next, each on a source of its own.
func TestEntriesThroughSeveralPolls(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFeedServer(t)
	const d = "Mon, 04 May 2026 07:00:00 GMT"
	long := strings.Repeat("The council met in the harbour hall and spoke about the bridge. ", 4)
	start := func(lines ...string) showing {
		var f []string
		for _, l := range lines {
			title, _, _ := strings.Cut(l, "|")
			f = append(f, title)
		}
		return showing{lines, f}
	}
	for name, polls := range map[string][]showing{
		"ids rotate from the second poll": {
			start("A|http://e.org/a|1", "B|http://e.org/b|2", "C|http://e.org/c|3"),
			{[]string{"A|http://e.org/a|x1", "B|http://e.org/b|x2", "C|http://e.org/c|x3"}, nil},
			{[]string{"D|http://e.org/d|y4", "A|http://e.org/a|y1", "B|http://e.org/b|y2", "C|http://e.org/c|y3"}, []string{"D"}},
		},
		"one entry whose id rotates": {
			start("A|http://e.org/a|1"),
			{[]string{"A|http://e.org/a|2"}, nil},
			{[]string{"B|http://e.org/b|4", "A|http://e.org/a|3"}, []string{"B"}},
		},
		"ids are dropped, then come back": {
			start("A|http://e.org/a|1", "B|http://e.org/b|2"),
			{[]string{"A|http://e.org/a", "B|http://e.org/b"}, nil},
			{[]string{"A|http://e.org/a|1", "C|http://e.org/c|3"}, []string{"C"}},
		},
		"links rotate under fixed ids": {
			start("A|http://e.org/a?sid=1|1", "B|http://e.org/b?sid=1|2", "C|http://e.org/c?sid=1|3"),
			{[]string{"A|http://e.org/a?sid=2|1", "B|http://e.org/b?sid=2|2", "C|http://e.org/c?sid=2|3"}, nil},
			{[]string{"D|http://e.org/d?sid=3|4", "A|http://e.org/a?sid=3|1"}, []string{"D"}},
		},
		"id and link change, the text stays": {
			start("A|http://e.org/a|1|" + d + "|" + long + "1"),
			{[]string{"A|http://e.org/2026/a|9|" + d + "|" + long + "1"}, nil},
			{[]string{"B|http://e.org/2026/b|10|" + d + "|" + long + "2"}, []string{"B"}},
		},
		"https, www and a slash": {
			start("A|http://e.org/a|http://e.org/?p=1", "B|http://e.org/b|http://e.org/?p=2"),
			{[]string{"A|https://e.org/a|https://e.org/?p=1", "B|https://e.org/b|https://e.org/?p=2"}, nil},
			{[]string{"A|https://www.e.org/a/|https://www.e.org/?p=1", "B|https://www.e.org/b/|https://www.e.org/?p=2"}, nil},
			{[]string{"C|https://www.e.org/c|https://www.e.org/?p=3", "A|http://m.e.org:80/a#c|http://e.org/?p=1"}, []string{"C"}},
		},
		"another domain, same ids": {
			start("A|http://old.org/a|http://old.org/?p=1", "B|http://old.org/b|http://old.org/?p=2"),
			{[]string{"A|https://new.example/a|https://new.example/?p=1", "B|https://new.example/b|https://new.example/?p=2"}, nil},
		},
		"tracking": {
			start("A|http://e.org/a?id=1"),
			{[]string{"A|http://e.org/a?utm_source=x&id=1&utm_medium=y"}, nil},
			{[]string{"A|http://e.org/a?id=1&fbclid=zzz#utm_source=q", "B|http://e.org/a?id=2&utm_source=x"}, []string{"B"}},
			{[]string{"A|http://e.org/a?UTM_Source=x&id=1&gclid=1&mc_cid=2&yclid=3&_openstat=4"}, nil},
		},
		"parameters change places": {
			start("A|http://e.org/v?a=1&b=2"),
			{[]string{"A|http://e.org/v?b=2&a=1"}, nil},
		},
		"case of ids": {
			start("A|http://e.org/a|ABC-1", "B|http://e.org/b|ABC-2"),
			{[]string{"A|http://e.org/a|abc-1", "B|http://e.org/b|abc-2"}, nil},
		},
		"case alone tells ids apart": {
			start("A|http://e.org/a|xAy"),
			{[]string{"A|http://e.org/a|xAy", "B|http://e.org/b|xay"}, []string{"B"}},
		},
		"escaping of ids": {
			start("A||http://e.org/?a=1&#038;b=2"),
			{[]string{"A||http://e.org/?a=1&b=2"}, nil},
			{[]string{"A||http://e.org/?a=1&amp;b=2", "B||http://e.org/?a=1&b=3"}, []string{"B"}},
		},
		"order": {
			start("A|http://e.org/a", "B|http://e.org/b", "C|http://e.org/c"),
			{[]string{"C|http://e.org/c", "A|http://e.org/a", "B|http://e.org/b"}, nil},
			{[]string{"B|http://e.org/b", "D|http://e.org/d", "C|http://e.org/c"}, []string{"D"}},
		},
		"counter in titles": {
			start("A (1)|http://e.org/a|1|" + d),
			{[]string{"A (2)|http://e.org/a|1|" + d}, nil},
			{[]string{"A (17 comments)|http://e.org/a|1|" + d}, nil},
		},
		"counter in titles without ids": {
			start("A (1)|http://e.org/a", "B (0)|http://e.org/b"),
			{[]string{"A (2)|http://e.org/a", "B (5)|http://e.org/b"}, nil},
		},
		"dates move": {
			start("A|http://e.org/a|1|"+d, "B|http://e.org/b|2|"+d),
			{[]string{"A|http://e.org/a|1|Mon, 04 May 2026 09:00:00 GMT", "B|http://e.org/b|2"}, nil},
			{[]string{"A|http://e.org/a|1|Tue, 04 May 2027 09:00:00 GMT", "B|http://e.org/b|2|nonsense"}, nil},
		},
		"one link, many entries": {
			start("A|http://e.org/status|1", "B|http://e.org/status|2", "C|http://e.org/status|3"),
			{[]string{"D|http://e.org/status|4", "A|http://e.org/status|1", "B|http://e.org/status|2"}, []string{"D"}},
			{[]string{"E|http://e.org/status|5"}, []string{"E"}},
		},
		"one link, no ids": {
			start("A|http://e.org/status|||one", "B|http://e.org/status|||two", "C|http://e.org/status|||three"),
			{[]string{"D|http://e.org/status|||four", "A|http://e.org/status|||one", "B|http://e.org/status|||two"}, []string{"D"}},
		},
		"one id, many links": {
			start("A|http://e.org/a|1", "B|http://e.org/b|1", "C|http://e.org/c|1"),
			{[]string{"D|http://e.org/d|1", "A|http://e.org/a|1", "B|http://e.org/b|1"}, []string{"D"}},
		},
		"one id, no links": {
			start("A||1||one", "B||1||two", "C||1||three"),
			{[]string{"D||1||four", "A||1||one", "B||1||two"}, []string{"D"}},
		},
		"home page as link, no ids": {
			start("A|http://e.org/", "B|http://e.org"),
			{[]string{"C|http://e.org/", "A|http://e.org/"}, []string{"C"}},
		},
		"home page as link and id": {
			start("A|http://e.org/|http://e.org/", "B|http://e.org/|http://e.org/"),
			{[]string{"C|http://e.org/|http://e.org/", "A|http://e.org/|http://e.org/"}, []string{"C"}},
		},
		"single entry with the home page": {
			start("A|http://e.org/"),
			{[]string{"B|http://e.org/"}, []string{"B"}},
			{[]string{"A|http://e.org/"}, nil},
		},
		"empty ids": {
			start("A|http://e.org/a| ", "B|http://e.org/b| "),
			{[]string{"C|http://e.org/c| ", "A|http://e.org/a| "}, []string{"C"}},
		},
		"ids that say nothing": {
			start("A|http://e.org/a|null", "B|http://e.org/b|null"),
			{[]string{"C|http://e.org/c|null", "A|http://e.org/a|null"}, []string{"C"}},
		},
		"twice in a document": {
			{[]string{"A|http://e.org/a|1", "A|http://e.org/a|1", "B|http://e.org/b|2"}, []string{"A", "B"}},
			{[]string{"C|http://e.org/c|3", "C|http://e.org/c|3", "C|https://e.org/c?utm_source=x|3", "A|http://e.org/a|1"}, []string{"C"}},
		},
		"window slides back": {
			start("A|http://e.org/a|1|"+d, "B|http://e.org/b|2|"+d),
			{[]string{"C|http://e.org/c|3|" + d, "B|http://e.org/b|2|" + d}, []string{"C"}},
			{nil, nil},
			{[]string{"B|http://e.org/b|2|" + d, "A|http://e.org/a|1|" + d}, nil},
			{[]string{"D|http://e.org/d|4|" + d, "C|http://e.org/c|3|" + d}, []string{"D"}},
		},
		"neither id nor link": {
			start("A||||one", "B||||two"),
			{[]string{"C||||three", "B||||two", "A||||one"}, []string{"C"}},
			{[]string{"A||||another", "C||||three"}, []string{"A"}},
		},
		"text only": {
			{[]string{"||||one", "||||two"}, []string{"", ""}},
			{[]string{"||||three", "||||one"}, []string{""}},
		},
		"same title, other entries": {
			start("Daily|http://e.org/1|1", "Daily|http://e.org/2|2"),
			{[]string{"Daily|http://e.org/3|3", "Daily|http://e.org/2|2"}, []string{"Daily"}},
		},
		"same text, other entries": {
			start("Daily|http://e.org/1|1||" + long),
			{[]string{"Daily|http://e.org/2|2||" + long, "Daily|http://e.org/1|1||" + long}, []string{"Daily"}},
		},
		"a number in the query changes, no ids": {
			start("A|http://e.org/a?r=11", "B|http://e.org/b?r=11"),
			{[]string{"A|http://e.org/a?r=22", "B|http://e.org/b?r=22"}, nil},
			{[]string{"C|http://e.org/c?r=33", "A|http://e.org/a?r=33", "B|http://e.org/b?r=33"}, []string{"C"}},
			{[]string{"C|http://e.org/c?r=44", "A|http://e.org/a?r=44", "B|http://e.org/b?r=44"}, nil},
			{[]string{"D|http://e.org/d?r=55", "C|http://e.org/c?r=55", "A|http://e.org/a?r=55"}, []string{"D"}},
		},
		"a number in the only link changes": {
			start("A|http://e.org/a?r=11|||some words"),
			{[]string{"A|http://e.org/a?r=22|||some words"}, nil},
			{[]string{"A|http://e.org/a?r=33|||some words"}, nil},
			{[]string{"B|http://e.org/a?r=44|||some words"}, []string{"B"}},
		},
		"numbers in the query tell entries apart": {
			start("Photo|http://e.org/v?id=1", "Photo|http://e.org/v?id=2"),
			{[]string{"Photo|http://e.org/v?id=3", "Photo|http://e.org/v?id=2"}, []string{"Photo"}},
			{[]string{"Photo|http://e.org/v?id=4", "Photo|http://e.org/v?id=3"}, []string{"Photo"}},
		},
		"ids tell entries apart, titles and paths do not": {
			start("Photo|http://e.org/v?id=1|1"),
			{[]string{"Photo|http://e.org/v?id=2|2"}, []string{"Photo"}},
		},
		"two entries of many share an id": {
			start("A|http://e.org/a|1", "B|http://e.org/b|1", "C|http://e.org/c|3", "D|http://e.org/d|4"),
			{[]string{"E|http://e.org/e|5", "A|http://e.org/a|1", "B|http://e.org/b|1", "C|http://e.org/c|3"}, []string{"E"}},
			{[]string{"F|http://e.org/f|1", "A|http://e.org/a|1", "B|http://e.org/b|1"}, []string{"F"}},
		},
		"a new entry takes a known id": {
			start("A|http://e.org/a|1", "C|http://e.org/c|3", "D|http://e.org/d|4"),
			{[]string{"B|http://e.org/b|1", "A|http://e.org/a|1", "C|http://e.org/c|3", "D|http://e.org/d|4"}, []string{"B"}},
		},
		"a new entry takes a known link": {
			start("A|http://e.org/a|1", "C|http://e.org/c|3"),
			{[]string{"B|http://e.org/a|2", "A|http://e.org/a|1", "C|http://e.org/c|3"}, []string{"B"}},
		},
		"dated ahead, then corrected": {
			start("A|http://e.org/a|1|Fri, 04 May 2029 07:00:00 GMT", "B|http://e.org/b|2|"+d),
			{[]string{"C|http://e.org/c|3|" + d, "A|http://e.org/a|1|" + d, "B|http://e.org/b|2|" + d}, []string{"C"}},
		},
		"announced for tomorrow": {
			start("B|http://e.org/b|2|" + d),
			{[]string{"A|http://e.org/a|1|Tue, 05 May 2026 07:00:00 GMT", "B|http://e.org/b|2|" + d}, []string{"A"}},
			{[]string{"A|http://e.org/a|1|Tue, 05 May 2026 07:00:00 GMT", "B|http://e.org/b|2|" + d}, nil},
		},
		"nothing for a while": {
			start("A|http://e.org/a|1|"+d, "B|http://e.org/b|2|"+d),
			{nil, nil},
			{[]string{"C|http://e.org/c|3|" + d}, []string{"C"}},
			{[]string{"C|http://e.org/c|3|" + d, "B|http://e.org/b|2|" + d, "A|http://e.org/a|1|" + d}, nil},
		},
		"everything about an entry is edited but its id": {
			start("A|http://e.org/a|1|"+d+"|one", "B|http://e.org/b|2"),
			{[]string{"A2|http://e.org/a-2|1|Mon, 04 May 2026 09:00:00 GMT|two", "B|http://e.org/b|2"}, nil},
		},
		"everything about an entry is edited but its link": {
			start("A|http://e.org/a|1|"+d+"|one", "B|http://e.org/b|2"),
			{[]string{"A2|http://e.org/a|9|Mon, 04 May 2026 09:00:00 GMT|two", "B|http://e.org/b|2"}, nil},
		},
		"ids with and without a slash": {
			start("A||http://e.org/a/", "B||http://e.org/b"),
			{[]string{"A||http://e.org/a", "B||https://www.e.org/b/", "C||http://e.org/c"}, []string{"C"}},
		},
		"spelling of links": {
			start("A|http://e.org/%D0%B0?x=1&y=2", "B|http://E.org:80/~b/"),
			{[]string{"A|http://e.org/а?y=2&x=1", "B|http://e.org/%7Eb"}, nil},
			{[]string{"A|http://e.org/%d0%b0?x=1&y=2#top", "B|https://m.e.org/~b/amp/", "C|http://e.org/~c"}, []string{"C"}},
		},
		"sessions in links": {
			start("A|http://e.org/a;jsessionid=0A1B", "B|http://e.org/t.php?t=5&sid=0123456789abcdef0123456789abcdef"),
			{[]string{"A|http://e.org/a;jsessionid=9F9F", "B|http://e.org/t.php?t=5&sid=ffffffffffffffffffffffffffffffff"}, nil},
		},
		"fragments": {
			start("A|http://e.org/log#1", "B|http://e.org/log#2"),
			{[]string{"C|http://e.org/log#3", "B|http://e.org/log#2", "A|http://e.org/log#1"}, []string{"C"}},
		},
	} {
		b.set(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
		id := int64(0)
		for i, p := range polls {
			body := `<rss version="2.0"><channel><title>Wire</title><link>http://e.org/</link>`
			for _, line := range p.shown {
				body += itemOf(line)
			}
			body += "</channel></rss>"
			f.handle(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
			if id == 0 {
				id = b.add(strings.Replace(f.url, "feed.xml", url.PathEscape(name), 1))
			}
			rep, fresh := b.poll(id)
			got, want := titlesOf(fresh), slices.Clone(p.fresh)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: poll %d: new %q, want %q (%s)", name, i+1, got, want, rep.Note)
			}
			b.pass(time.Hour)
		}
	}
}
