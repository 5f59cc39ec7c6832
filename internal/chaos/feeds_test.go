package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// press publishes feeds that grow. Its entries are made of a seed, so that a
// run can be played again, and no two of them look alike.
type press struct {
	port  int
	seed  uint64
	shown int // entries that a feed shows at most; 0 is all

	mu      sync.Mutex
	entries [][]entry // by feed
}

type entry struct {
	link, title, text string
	at                time.Time
}

func newPress(seed uint64, feeds int) *press {
	p := &press{seed: seed, entries: make([][]entry, feeds)}
	for i := range p.entries {
		for range 3 {
			p.publish(i)
		}
	}
	return p
}

// publish adds one entry to a feed.
func (p *press) publish(feed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.entries[feed])
	rng := rand.New(rand.NewPCG(p.seed, uint64(feed)<<32|uint64(n)))
	text := sentence(rng, 18) + ". " + sentence(rng, 16) + "."
	if n%3 > 0 { // every third is a teaser, whose page is read too
		for range 6 {
			text += " " + sentence(rng, 15) + "."
		}
	}
	p.entries[feed] = append(p.entries[feed], entry{
		link: fmt.Sprintf("/feed/%d/entry-%d", feed, n), title: sentence(rng, 7), text: text, at: time.Now(),
	})
}

// grow publishes until done is closed.
func (p *press) grow(done <-chan struct{}, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for feed := 0; ; feed++ {
		select {
		case <-done:
			return
		case <-tick.C:
			p.publish(feed % len(p.entries))
		}
	}
}

// host gives each feed a host of its own, or politeness would let them wait for one another.
func (p *press) host(feed int) string {
	return fmt.Sprintf("http://127.1.%d.%d:%d", feed/250, feed%250+1, p.port)
}

func (p *press) address(feed int) string { return fmt.Sprintf("%s/feed/%d.xml", p.host(feed), feed) }

// links are the addresses of all entries that were ever published.
func (p *press) links() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for feed, list := range p.entries {
		for _, e := range list {
			all = append(all, p.host(feed)+e.link)
		}
	}
	return all
}

func (p *press) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var feed int
	if _, err := fmt.Sscanf(r.URL.Path, "/feed/%d.xml", &feed); err != nil || feed >= len(p.entries) || !strings.HasSuffix(r.URL.Path, ".xml") {
		http.NotFound(w, r)
		return
	}
	base := p.host(feed)
	p.mu.Lock()
	defer p.mu.Unlock()
	tag := fmt.Sprintf(`"%d-%d"`, feed, len(p.entries[feed]))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	last := 0
	if p.shown > 0 {
		last = max(0, len(p.entries[feed])-p.shown)
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = fmt.Fprintf(w, `<rss version="2.0"><channel><title>Feed %d</title><link>%s/feed/%d/</link>`, feed, base, feed)
	for i := len(p.entries[feed]) - 1; i >= last; i-- {
		e := p.entries[feed][i]
		_, _ = fmt.Fprintf(w, `<item><title>%s</title><link>%s%s</link><guid>%s%s</guid><pubDate>%s</pubDate><description>%s</description></item>`,
			e.title, base, e.link, base, e.link, e.at.UTC().Format(time.RFC1123Z), e.text)
	}
	_, _ = w.Write([]byte(`</channel></rss>`))
}

// sentence is n made-up words: pronounceable, and hardly ever the same ones.
func sentence(rng *rand.Rand, n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		for syllable := range 2 + rng.IntN(3) {
			c := consonants[rng.IntN(len(consonants))]
			if i == 0 && syllable == 0 {
				c -= 'a' - 'A'
			}
			b.WriteByte(c)
			b.WriteByte(vowels[rng.IntN(len(vowels))])
		}
	}
	return b.String()
}
