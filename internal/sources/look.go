package sources

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/discover"
	"github.com/postonce/postonce/internal/sources/opml"
)

// Found is what a pasted address turned out to be.
type Found struct {
	Address  string       // the natural key of the source
	URL      string       // what is polled
	SiteURL  string       // what people open in a browser
	Kind     address.Kind // feed, site, telegram …
	Title    string
	Language string
	Doc      *decode.Document
	Choices  []discover.Candidate // feeds that a page offers, the best first
	List     []opml.Outline       // kind "opml": a list of feeds, to be imported
	Bad      []opml.Bad
	FinalURL string
	resp     *fetch.Response
	short    bool
}

// OPML is the kind of a pasted list of feeds. It is never a source's.
const OPML address.Kind = "opml"

// Look finds out what a person pasted: one request for a feed, two for a page
// that names one. The error is a *Problem; a Found comes with it as far as
// something was seen.
func (r *Reader) Look(ctx context.Context, raw string) (*Found, error) {
	return r.look(ctx, raw, true)
}

// look is Look; short: raw may be a short link that leads to a platform.
func (r *Reader) look(ctx context.Context, raw string, short bool) (*Found, error) {
	t, err := address.Parse(raw, r.preview)
	if err != nil {
		return &Found{}, problemOf(err)
	}
	f := &Found{short: short, Kind: t.Kind, URL: t.URL, SiteURL: t.Site, Address: t.Key(), FinalURL: t.URL}
	if t.Kind == address.Telegram {
		rd, err := r.readTelegram(ctx, t.URL, validators{}, 0)
		if err != nil {
			return f, problemOf(err)
		}
		f.take(rd.doc, rd.resp)
		f.SiteURL = t.Site
		return f, nil
	}
	resp, err := r.web.Get(ctx, fetch.Request{URL: t.URL, Cookie: consent(t)})
	var fe *fetch.Error
	if errors.As(err, &fe) && t.Plain != "" && fe.Code != fetch.CodePrivate && fe.Code != fetch.CodeNoHost {
		f.URL = t.Plain // no https there
		f.Address = address.Normalise(t.Plain)
		resp, err = r.web.Get(ctx, fetch.Request{URL: t.Plain})
	}
	if err != nil {
		return f, problemOf(err)
	}
	f.resp, f.FinalURL = resp, resp.FinalURL
	if p := statusProblem(resp, t.Kind, r.now()); p != nil {
		return f, p
	}
	if t.Lookup {
		return f, r.lookup(ctx, f, resp)
	}
	return f, r.judge(ctx, f, resp)
}

// consent answers YouTube's question about cookies, which stands in front of
// every page in Europe, with the refusal.
func consent(t address.Target) string {
	if t.Kind == address.YouTube && t.Page {
		return "SOCS=CAI"
	}
	return ""
}

// lookup follows the answer of a catalogue that names a podcast's feed.
func (r *Reader) lookup(ctx context.Context, f *Found, resp *fetch.Response) error {
	var found struct {
		Results []struct{ FeedURL, CollectionName string }
	}
	if json.Unmarshal(resp.Body, &found) == nil {
		for _, one := range found.Results {
			if one.FeedURL != "" {
				f.Choices = append(f.Choices, discover.Candidate{URL: one.FeedURL, Title: article.Title(one.CollectionName)})
			}
		}
	}
	if r.tryFeeds(ctx, f, f.Choices, 2) {
		return nil
	}
	return &Problem{Code: CodePodcast}
}

// take keeps a document that can be followed.
func (f *Found) take(doc *decode.Document, resp *fetch.Response) {
	f.Doc, f.resp = doc, resp
	f.Title, f.Language = doc.Title, clipText(doc.Language, 35)
	f.SiteURL = firstOf(doc.Home, f.SiteURL)
	f.FinalURL = resp.FinalURL
}

// judge decides what a fetched address is.
func (r *Reader) judge(ctx context.Context, f *Found, resp *fetch.Response) error {
	doc, err := r.decode(ctx, resp)
	var de *decode.Error
	switch {
	case err == nil:
		f.take(doc, resp)
		if resp.Permanent {
			f.move(resp.FinalURL)
		}
		return nil
	case !errors.As(err, &de):
		return problemOf(err)
	case de.Code == decode.CodeOPML:
		f.Kind = OPML
		list, bad, err := opml.Parse(resp.Body)
		if err != nil {
			return problemOf(err)
		}
		f.List, f.Bad = list, bad
		return nil
	case de.Code == decode.CodeHTML:
		return r.page(ctx, f, resp)
	}
	if sm, nested, serr := discover.Sitemap(ctx, resp.Body, resp.FinalURL, r.now()); serr == nil {
		if sm, err = r.nested(ctx, sm, nested); err != nil {
			return problemOf(err)
		}
		f.Kind = address.Site
		f.take(sm, resp)
		return nil
	}
	return problemOf(err)
}

// move makes another address the one that is polled.
func (f *Found) move(to string) {
	f.URL, f.Address = to, address.Normalise(to)
}

// page follows what a web page offers: its feeds, tested before they are
// offered; then well-known places; then a sitemap; then its own links.
func (r *Reader) page(ctx context.Context, f *Found, resp *fetch.Response) error {
	if resp.Hops > 0 && f.short {
		switch to, err := address.Parse(resp.FinalURL, r.preview); {
		case err != nil:
			return problemOf(err)
		case !to.Page && to.URL != resp.FinalURL && to.URL != f.URL:
			found, err := r.look(ctx, resp.FinalURL, false)
			*f = *found
			return err
		}
	}
	body, _ := decode.ToUTF8(resp.Body, resp.ContentType())
	site := resp.FinalURL
	if f.Kind == address.YouTube {
		if feed := discover.YouTubeFeed(body); feed != "" {
			f.Choices = []discover.Candidate{{URL: feed}}
		}
	}
	f.Choices = append(f.Choices, discover.Feeds(body, site)...)
	if r.tryFeeds(ctx, f, f.Choices, 4) {
		f.SiteURL = firstOf(f.SiteURL, site)
		return nil
	}
	var known []discover.Candidate
	if root, err := url.Parse(site); err == nil && len(f.Choices) == 0 && f.Kind == address.Feed {
		for _, p := range discover.WellKnown(root.Path) {
			known = append(known, discover.Candidate{URL: root.Scheme + "://" + root.Host + p})
		}
	}
	if r.tryFeeds(ctx, f, known, len(known)) {
		f.SiteURL = firstOf(f.SiteURL, site)
		return nil
	}
	return r.site(ctx, f, resp, body)
}

// tryFeeds takes the first candidate that reads as a feed; one without entries
// only if none has any.
func (r *Reader) tryFeeds(ctx context.Context, f *Found, list []discover.Candidate, most int) bool {
	type read struct {
		c    discover.Candidate
		doc  *decode.Document
		resp *fetch.Response
	}
	var best *read
	for _, c := range list[:min(len(list), most)] {
		resp, err := r.web.Get(ctx, fetch.Request{URL: c.URL})
		if err != nil || resp.Status != http.StatusOK {
			continue
		}
		doc, err := r.decode(ctx, resp)
		if err != nil {
			continue
		}
		if best == nil || len(doc.Entries) > 0 {
			best = &read{c, doc, resp}
		}
		if len(doc.Entries) > 0 {
			break
		}
	}
	if best == nil {
		return false
	}
	f.take(best.doc, best.resp)
	f.move(best.c.URL)
	if best.resp.Permanent {
		f.move(best.resp.FinalURL)
	}
	f.Title = firstOf(f.Title, best.c.Title)
	best.doc.Repairs = append([]string{"feed found on the page"}, best.doc.Repairs...)
	return true
}

// site reads a page that has no feed: by its news sitemap or sitemap, else by
// the links on it.
func (r *Reader) site(ctx context.Context, f *Found, resp *fetch.Response, body []byte) error {
	root, err := url.Parse(resp.FinalURL)
	if f.Kind == address.YouTube {
		return &Problem{Code: CodeNoChannel}
	}
	if err != nil || f.Kind != address.Feed {
		return &Problem{Code: CodeNoFeed}
	}
	base := root.Scheme + "://" + root.Host
	links := discover.Articles(body, resp.FinalURL)
	if strings.Trim(root.Path, "/") == "" || len(links.Entries) == 0 {
		var maps []string
		if robots, err := r.web.Get(ctx, fetch.Request{URL: base + "/robots.txt", Accept: "text/plain"}); err == nil && robots.Status == http.StatusOK {
			maps = discover.RobotsSitemaps(robots.Body, base)
		}
		for _, m := range append(maps, base+"/sitemap.xml")[:min(len(maps)+1, 3)] {
			sm, err := r.web.Get(ctx, fetch.Request{URL: m})
			if err != nil || sm.Status != http.StatusOK {
				continue
			}
			doc, err := r.readSite(ctx, sm)
			if err != nil || doc.Format != decode.Sitemap || !dated(doc) {
				continue
			}
			f.Kind = address.Site
			f.take(doc, sm)
			f.move(m)
			f.Title, f.SiteURL = firstOf(links.Title, root.Host), resp.FinalURL
			return nil
		}
	}
	if len(links.Entries) == 0 {
		return &Problem{Code: CodeNoFeed}
	}
	f.Kind = address.Site
	f.take(links, resp)
	f.move(resp.FinalURL)
	return nil
}

// dated reports whether a sitemap says when its pages appeared: without that
// it lists the whole site in no order that news could be told from.
func dated(doc *decode.Document) bool {
	n := 0
	for _, e := range doc.Entries {
		if !e.Published.IsZero() {
			n++
		}
	}
	return n > 0 && 2*n >= len(doc.Entries)
}

func firstOf(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}

// shown is the link of an entry as people see it.
func shown(e *decode.Entry) string { return article.CleanURL(e.Link) }
