package samples_test

import (
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/postonce/postonce/internal/sandbox/samples"
)

// reply is what a test looks at beside the body.
type reply struct {
	status int
	header http.Header
}

func open(t *testing.T, now *time.Time) (*samples.Newsroom, func(string) (reply, string)) {
	t.Helper()
	var room *samples.Newsroom
	srv := httptest.NewServer(http.StripPrefix("/samples", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { room.ServeHTTP(w, r) })))
	t.Cleanup(srv.Close)
	var err error
	room, err = samples.New(samples.Config{Base: srv.URL + "/samples", Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return room, func(address string) (reply, string) {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return reply{resp.StatusCode, resp.Header}, string(body)
	}
}

func TestEveryFeedReadsAndGrowsByOneEntryAtATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC)
	room, get := open(t, &now)
	for _, s := range room.Sources() {
		_, body := get(room.Feed(s))
		feed, err := gofeed.NewParser().ParseString(body)
		if err != nil {
			t.Fatalf("%s: %v", s.Slug, err)
		}
		if len(feed.Items) != 15 || feed.Title != s.Name {
			t.Errorf("%s: %d items of %q", s.Slug, len(feed.Items), feed.Title)
		}
		titles := map[string]bool{}
		for _, it := range feed.Items {
			if strings.ContainsAny(it.Title+it.Content, "{}") || it.Link == "" || it.PublishedParsed == nil || it.PublishedParsed.After(now) {
				t.Errorf("%s: item %+v", s.Slug, it)
			}
			titles[it.Title] = true
		}
		if len(titles) < 14 {
			t.Errorf("%s: only %d different titles", s.Slug, len(titles))
		}
		now = now.Add(3 * time.Minute)
		_, body = get(room.Feed(s))
		next, err := gofeed.NewParser().ParseString(body)
		if err != nil {
			t.Fatal(err)
		}
		if next.Items[0].GUID == feed.Items[0].GUID || next.Items[1].GUID != feed.Items[0].GUID || next.Items[1].Title != feed.Items[0].Title {
			t.Errorf("%s: after one interval %q follows %q", s.Slug, next.Items[0].GUID, next.Items[1].GUID)
		}
	}
}

func TestSitesNameTheirFeedAndArticlesHavePictures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC)
	room, get := open(t, &now)
	for _, s := range room.Sources() {
		_, front := get(room.Site(s))
		if !strings.Contains(front, `rel="alternate"`) || !strings.Contains(front, s.FeedPath) {
			t.Errorf("%s: the front page names no feed", s.Slug)
		}
		for _, e := range room.Entries(s)[:3] {
			resp, page := get(e.URL)
			if resp.status != http.StatusOK || !strings.Contains(page, "<article>") {
				t.Errorf("%s: %d", e.URL, resp.status)
			}
			if e.Image == "" {
				continue
			}
			resp, pic := get(e.Image)
			if img, err := jpeg.Decode(strings.NewReader(pic)); err != nil || img.Bounds().Dx() != 800 || resp.header.Get("Content-Type") != "image/jpeg" {
				t.Errorf("%s: %v", e.Image, err)
			}
		}
		if resp, _ := get(room.Site(s) + "999999999999"); resp.status != http.StatusNotFound {
			t.Errorf("%s: an article of the future is there: %d", s.Slug, resp.status)
		}
	}
}

func TestAFeedAnswersConditionally(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC)
	room, get := open(t, &now)
	address := room.Feed(room.Sources()[0])
	resp, _ := get(address)
	req, _ := http.NewRequest(http.MethodGet, address, nil)
	req.Header.Set("If-None-Match", resp.header.Get("ETag"))
	again, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("status %d, want 304", again.StatusCode)
	}
}
