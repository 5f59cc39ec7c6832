package sources

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestLongValuesCostNoPoll: what no index and no column was made for is cut or
// left out, and the other entries are taken.
func TestLongValuesCostNoPoll(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), newFeedServer(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	long := func(n int) string { // nothing that compresses
		var s strings.Builder
		for s.Len() < n {
			fmt.Fprintf(&s, "%016x", rnd.Uint64())
		}
		return s.String()[:n]
	}
	for name, v := range map[string]struct {
		head string // of the channel
		item string
		want string // the title that must be among the new
	}{
		"link":         {"", "<title>x</title><guid>1</guid><link>http://e.org/" + long(3900) + "</link>", "x"},
		"longer link":  {"", "<title>x</title><guid>1</guid><link>http://e.org/" + long(100_000) + "</link>", "x"},
		"query":        {"", "<title>x</title><link>http://e.org/?a=" + long(3900) + "</link>", "x"},
		"id":           {"", "<title>x</title><guid>" + long(200_000) + "</guid><link>http://e.org/1</link>", "x"},
		"id alone":     {"", "<title>x</title><guid>" + long(200_000) + "</guid>", "x"},
		"author":       {"", "<title>x</title><guid>1</guid><author>" + long(200_000) + "</author>", "x"},
		"picture":      {"", `<title>x</title><guid>1</guid><enclosure type="image/png" url="http://e.org/` + long(60_000) + `"/>`, "x"},
		"date":         {"", "<title>x</title><guid>1</guid><pubDate>" + long(100_000) + "</pubDate>", "x"},
		"text":         {"", "<title>x</title><guid>1</guid><description>" + long(1_000_000) + "</description>", "x"},
		"words":        {"", "<title>x</title><guid>1</guid><description>" + strings.Repeat("слово ", 200_000) + "</description>", "x"},
		"language":     {"<language>" + long(100_000) + "</language>", "<title>x</title><guid>1</guid>", "x"},
		"title":        {"<title>" + long(100_000) + "</title>", "<title>x</title><guid>1</guid>", "x"},
		"home":         {"<link>http://e.org/" + long(3900) + "</link>", "<title>x</title><guid>1</guid>", "x"},
		"ttl":          {"<ttl>99999999999999999999</ttl>", "<title>x</title><guid>1</guid>", "x"},
		"negative ttl": {"<ttl>-5</ttl>", "<title>x</title><guid>1</guid>", "x"},
	} {
		b.set(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
		id := b.add(strings.Replace(f.url, "feed.xml", strings.ReplaceAll(name, " ", "-"), 1))
		for n, items := range []string{"<item><title>y</title><guid>y</guid></item>", "<item>" + v.item + "</item><item><title>y</title><guid>y</guid></item>"} {
			f.handle(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `<rss version="2.0"><channel>`+v.head+items+`</channel></rss>`)
			})
			rep, fresh := b.poll(id)
			if rep.Result != "ok" {
				t.Errorf("%s: poll %d: %s (%s)", name, n+1, rep.Result, rep.Note)
			}
			if n == 1 && strings.Join(titlesOf(fresh), " ") != v.want {
				t.Errorf("%s: new %q (%s)", name, titlesOf(fresh), rep.Note)
			}
			if wait := rep.NextPoll.Sub(*b.at.Load()); wait < 4*time.Minute || wait > 25*time.Hour {
				t.Errorf("%s: next poll in %v", name, wait)
			}
			b.pass(time.Hour)
		}
		if _, fresh := b.poll(id); len(fresh) > 0 {
			t.Errorf("%s: again new: %q", name, titlesOf(fresh))
		}
	}
	// An address that grew too long for the source's own.
	b.set(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
	id, to := b.add(f.url), "/to?x="+long(3500)
	f.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/to" {
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, feedOf("a"))
	})
	for n := range 3 {
		if rep, _ := b.poll(id); rep.Error != "" {
			t.Errorf("moved to a long address, poll %d: %s (%s)", n+1, rep.Result, rep.Note)
		}
		b.pass(time.Hour)
	}
}
