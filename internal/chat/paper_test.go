package chat_test

import (
	"fmt"
	"html"
	"image"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// paper is a source whose entries a test writes.
type paper struct {
	base string

	mu      sync.Mutex
	entries []entry
}

type entry struct {
	title, text, image string
	at                 time.Time
}

// prints adds an entry, a minute older than the one after it.
func (p *paper) prints(title, text, image string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.entries {
		p.entries[i].at = p.entries[i].at.Add(-time.Minute)
	}
	p.entries = append(p.entries, entry{title, text, image, time.Now().Add(-time.Minute)})
}

// ServeHTTP serves the feed at any address below the base.
func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/picture.png") {
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 320, 200)))
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/feed.xml") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	fmt.Fprintf(w, `<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>The Paper</title><link>%s/</link><description>All of it</description>`, p.base)
	for i, e := range p.entries {
		picture := ""
		if e.image != "" {
			picture = fmt.Sprintf(`<enclosure url="%s" type="image/png" length="1000"/>`, html.EscapeString(e.image))
		}
		fmt.Fprintf(w, `<item><title>%s</title><link>%s/%d</link><guid isPermaLink="false">p%d</guid><pubDate>%s</pubDate><content:encoded>%s</content:encoded>%s</item>`,
			html.EscapeString(e.title), p.base, i+1, i+1, e.at.UTC().Format(time.RFC1123Z), html.EscapeString("<p>"+e.text+"</p>"), picture)
	}
	_, _ = w.Write([]byte(`</channel></rss>`))
}

// Texts long enough to make a post of.
const (
	rocketText = "The new rocket lifted off at dawn on Tuesday and reached its orbit after nine minutes. Both boosters landed on the ships that waited for them. The next launch is planned for March, the company said."
	bridgeText = "The old bridge over the river opens again on Monday after two years of repairs. Trams cross it first, cars follow in May. The city paid 12 million for the work."
	fishText   = "The fish market moves to the northern quay next week. Stalls open at five in the morning as before. Prices stay as they are, the traders promise."
	museumText = "The town museum shows letters of sailors from today on. They were found behind a wall of the attic last winter. Entry is free on the first Tuesday of a month."
)

// reads gives a person a channel that follows the paper; what it printed so far
// is proposed at once.
func (a *actor) reads(title, username string) int64 {
	a.b.t.Helper()
	_, channel := a.works(title, username)
	if _, err := a.b.pool.Exec(a.b.t.Context(), `DELETE FROM subscriptions`); err != nil {
		a.b.t.Fatal(err)
	}
	if _, err := a.b.desk.AddSource(a.b.t.Context(), a.ID, channel, a.b.paper.base+"/feed.xml"); err != nil {
		a.b.t.Fatal(err)
	}
	a.settled()
	return channel
}

// polls lets the paper be looked at again.
func (a *actor) polls() {
	a.b.t.Helper()
	var channel, source int64
	if err := a.b.pool.QueryRow(a.b.t.Context(), `SELECT channel_id, source_id FROM subscriptions LIMIT 1`).Scan(&channel, &source); err != nil {
		a.b.t.Fatal(err)
	}
	// As if the last look were long ago: people may ask for another one then.
	if _, err := a.b.pool.Exec(a.b.t.Context(), `UPDATE sources SET last_poll_at = clock_timestamp() - interval '1 hour' WHERE id = $1`, source); err != nil {
		a.b.t.Fatal(err)
	}
	if _, err := a.b.desk.RetrySource(a.b.t.Context(), a.ID, channel, source); err != nil {
		a.b.t.Fatal(err)
	}
	// A site is not asked twice within a few seconds.
	deadline := time.Now().Add(patience)
	for a.b.count(`SELECT count(*) FROM jobs WHERE kind = 'poll' AND run_at < clock_timestamp() + interval '1 minute'`) > 0 {
		if time.Now().After(deadline) {
			a.b.t.Fatal("the paper was not looked at again")
		}
		time.Sleep(20 * time.Millisecond)
	}
	a.settled()
}

// forgets leaves what was said so far out of the transcript.
func (a *actor) forgets() {
	for _, m := range a.messages() {
		a.seen[m.ID] = m
	}
}

// exec changes the database behind everybody's back.
func (b *bundle) exec(query string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), query, args...); err != nil {
		b.t.Fatal(err)
	}
}

func TestThePaperIsRead(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	b.paper.prints("Rocket reaches orbit", rocketText, "")
	ann := b.person("Ann", "en")
	ann.reads("Space Daily", "space_daily")
	if n := b.count(`SELECT count(*) FROM drafts`); n != 1 {
		t.Fatalf("%d drafts of one entry", n)
	}
	b.paper.prints("Bridge opens again", bridgeText, "")
	ann.polls()
	if n := b.count(`SELECT count(*) FROM items`); n != 2 {
		t.Errorf("%d items after another look", n)
	}
}
