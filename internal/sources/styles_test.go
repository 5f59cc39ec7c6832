package sources

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEveryStyleOfFeedOverTime plays feeds of every combination of ids, links
// and texts that generators make, over polls at which entries come, go, change
// places and are edited. What is new is told by the play, never by the feed:
// each entry must come once, and none may be missing. POSTONCE_STYLES=n plays n
// seeds.
func TestEveryStyleOfFeedOverTime(t *testing.T) {
	t.Parallel()
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("POSTONCE_STYLES")); err == nil {
		seeds = n
	}
	b, f := newBench(t), newFeedServer(t)
	for seed := range seeds {
		for _, ids := range []string{"own", "address", "rotating", "none", "one for all", "positions", "the link"} {
			for _, links := range []string{"own", "own query", "rotating query", "one for all", "none"} {
				for _, texts := range []string{"none", "short", "long"} {
					p := play{ids: ids, links: links, texts: texts, rnd: rand.New(rand.NewPCG(uint64(seed), 7))}
					if p.clear() {
						p.run(t, b, f, fmt.Sprintf("seed %d, ids %s, links %s, texts %s", seed, ids, links, texts))
					}
				}
			}
		}
	}
}

// play is one feed in one style.
type play struct {
	ids, links, texts string
	rnd               *rand.Rand
	next              int
	shown             []int // entries as the feed shows them, by number
	edited            map[int]int
}

// clear reports whether an entry can be told from the others in this style at all.
func (p *play) clear() bool {
	name := p.ids == "own" || p.ids == "address" || p.links == "own" || p.links == "own query"
	return name || p.texts == "long" || p.links == "rotating query" && p.ids == "none" || p.ids != "rotating" && p.ids != "positions"
}

// stable reports whether an entry keeps a name when its words are edited.
func (p *play) stable() bool {
	return p.ids == "own" || p.ids == "address" || p.ids != "positions" && (p.links == "own" || p.links == "own query")
}

func (p *play) feed(poll int) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>T</title><link>http://e.org/</link>`)
	for i, n := range p.shown {
		fmt.Fprintf(&b, "<item><title>Story %d%s</title>", n, strings.Repeat("!", p.edited[n]))
		switch p.ids {
		case "own":
			fmt.Fprintf(&b, "<guid isPermaLink='false'>id-%d</guid>", n)
		case "address":
			fmt.Fprintf(&b, "<guid>http%s://e.org/?p=%d</guid>", []string{"", "s"}[poll%2], n)
		case "rotating":
			fmt.Fprintf(&b, "<guid isPermaLink='false'>r-%d-%d</guid>", n, poll)
		case "one for all":
			b.WriteString("<guid isPermaLink='false'>feed</guid>")
		case "positions":
			fmt.Fprintf(&b, "<guid isPermaLink='false'>%d</guid>", i+1)
		}
		link := map[string]string{
			"own":            fmt.Sprintf("http://e.org/story-%d?utm_campaign=%d", n, poll),
			"own query":      fmt.Sprintf("http://e.org/view?id=%d", n),
			"rotating query": fmt.Sprintf("http://e.org/story-%d?r=%d", n, poll*7919),
			"one for all":    "http://e.org/news",
		}[p.links]
		if link != "" {
			b.WriteString("<link>" + link + "</link>")
		}
		if p.ids == "the link" {
			b.WriteString("<guid>" + link + "</guid>")
		}
		switch p.texts {
		case "short":
			fmt.Fprintf(&b, "<description>Text of %d</description>", n)
		case "long":
			fmt.Fprintf(&b, "<description>%s</description>", strings.Repeat(fmt.Sprintf("The text of story %d is long enough to be told from others. ", n), 3))
		}
		b.WriteString("</item>")
	}
	return b.String() + "</channel></rss>"
}

// turn lets the next poll differ, and returns the numbers that are new.
func (p *play) turn(first bool) (fresh []int) {
	more := p.rnd.IntN(3)
	if first {
		more = 4
	}
	for range more {
		p.next++
		p.shown = append([]int{p.next}, p.shown...)
		fresh = append(fresh, p.next)
	}
	p.shown = p.shown[:min(len(p.shown), 4+p.rnd.IntN(3))]
	if p.ids != "positions" && p.rnd.IntN(3) == 0 {
		p.rnd.Shuffle(len(p.shown), func(i, j int) { p.shown[i], p.shown[j] = p.shown[j], p.shown[i] })
	}
	if p.stable() && !first && p.rnd.IntN(2) == 0 {
		p.edited[p.shown[p.rnd.IntN(len(p.shown))]]++
	}
	slices.Sort(fresh)
	return fresh
}

func (p *play) run(t *testing.T, b *bench, f *feedServer, name string) {
	t.Helper()
	p.edited = map[int]int{}
	b.set(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
	id := b.add(strings.Replace(f.url, "feed.xml", strings.NewReplacer(" ", "-", ",", "").Replace(name), 1))
	for poll := range 5 {
		fresh := p.turn(poll == 0)
		body := p.feed(poll)
		f.handle(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		rep, got := b.poll(id)
		var want, have []string
		for _, n := range fresh {
			if slices.Contains(p.shown, n) {
				want = append(want, fmt.Sprintf("Story %d", n))
			}
		}
		for _, title := range titlesOf(got) {
			have = append(have, strings.TrimRight(title, "!"))
		}
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			t.Errorf("%s, poll %d: new %q, want %q (%s)", name, poll+1, have, want, rep.Note)
			return
		}
		b.pass(time.Hour)
	}
}
