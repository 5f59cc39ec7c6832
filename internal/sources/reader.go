package sources

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/discover"
	"github.com/postonce/postonce/internal/sources/preview"
)

// Reader fetches and reads sources. It needs no database and is safe for
// concurrent use.
type Reader struct {
	web     *fetch.Client
	preview string
	now     func() time.Time
	parses  chan struct{} // bounds the documents that are parsed at once
}

// NewReader returns a Reader. previewURL is where public Telegram channels are
// read ("" = https://t.me/s); now is the clock that dates are judged by.
func NewReader(web *fetch.Client, previewURL string, now func() time.Time) *Reader {
	if previewURL == "" {
		previewURL = address.Preview
	}
	return &Reader{web: web, preview: previewURL, now: now, parses: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// reading is one read of one source.
type reading struct {
	resp      *fetch.Response
	doc       *decode.Document // nil when unchanged
	unchanged bool
	partial   *Problem // the document is incomplete; its entries count
}

// validators are what a conditional request is made with.
type validators struct{ etag, modified string }

// read asks for a source once, in the way of its kind. The error is a
// *Problem.
func (r *Reader) read(ctx context.Context, kind address.Kind, url string, v validators, newest int) (*reading, error) {
	if kind == address.Telegram {
		return r.readTelegram(ctx, url, v, newest)
	}
	return r.readHashed(ctx, kind, url, v, nil)
}

// readHashed is read for everything but Telegram; a body whose digest is hash
// counts as unchanged and is not parsed.
func (r *Reader) readHashed(ctx context.Context, kind address.Kind, url string, v validators, hash []byte) (*reading, error) {
	resp, err := r.web.Get(ctx, fetch.Request{URL: url, ETag: v.etag, LastModified: v.modified})
	if err != nil {
		return nil, problemOf(err)
	}
	out := &reading{resp: resp}
	if p := statusProblem(resp, kind, r.now()); p != nil {
		return out, p
	}
	if resp.Status == http.StatusNotModified && v == (validators{}) {
		return out, &Problem{Code: CodeStatus, Status: resp.Status, Detail: "HTTP 304 to a request without conditions"}
	}
	if resp.Status == http.StatusNotModified || sameBody(resp, hash) {
		out.unchanged = true
		return out, nil
	}
	if kind == address.Site {
		out.doc, err = r.readSite(ctx, resp)
	} else {
		out.doc, err = r.decode(ctx, resp)
	}
	if err != nil {
		if resp.Cut {
			err = &Problem{Code: CodeCutBody, Detail: err.Error()}
		}
		return out, problemOf(err)
	}
	if resp.Cut || out.doc.Cut {
		out.partial = &Problem{Code: CodeCutBody, Detail: "the end is missing"}
	}
	return out, nil
}

// decode reads a fetched document, few at a time and within the budget.
func (r *Reader) decode(ctx context.Context, resp *fetch.Response) (*decode.Document, error) {
	select {
	case r.parses <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-r.parses }()
	ctx, cancel := context.WithTimeout(ctx, decode.Budget)
	defer cancel()
	return decode.Decode(ctx, decode.Input{Body: resp.Body, ContentType: resp.ContentType(), URL: resp.FinalURL, Now: r.now()})
}

// readSite reads a site without a feed: its sitemap, or the links on the page.
func (r *Reader) readSite(ctx context.Context, resp *fetch.Response) (*decode.Document, error) {
	doc, nested, err := discover.Sitemap(ctx, resp.Body, resp.FinalURL, r.now())
	if err != nil {
		body, _ := decode.ToUTF8(resp.Body, resp.ContentType())
		if doc = discover.Articles(body, resp.FinalURL); len(doc.Entries) == 0 {
			return nil, &Problem{Code: CodeNoFeed, Detail: "no articles on the page"}
		}
		return doc, nil
	}
	return r.nested(ctx, doc, nested)
}

// nested reads the first sitemap that an index without entries of its own names.
func (r *Reader) nested(ctx context.Context, index *decode.Document, names []string) (*decode.Document, error) {
	if len(index.Entries) > 0 || len(names) == 0 {
		return index, nil
	}
	sub, err := r.web.Get(ctx, fetch.Request{URL: names[0]})
	if err != nil {
		return nil, err
	}
	doc, _, err := discover.Sitemap(ctx, sub.Body, sub.FinalURL, r.now())
	return doc, err
}

// maxPages bounds paging back over a gap in a channel.
const maxPages = 5

// readTelegram reads the preview page of a channel, and earlier pages while a
// gap to the newest known post remains.
func (r *Reader) readTelegram(ctx context.Context, url string, v validators, newest int) (*reading, error) {
	resp, page, err := r.telegramPage(ctx, url, v)
	out := &reading{resp: resp}
	if err != nil || page == nil {
		out.unchanged = err == nil
		return out, err
	}
	out.doc = page.Doc
	for n := 1; n < maxPages && newest > 0 && page.Oldest > newest+1; n++ {
		_, earlier, err := r.telegramPage(ctx, preview.Before(url, page.Oldest), validators{})
		if err != nil {
			out.partial = problemOf(err)
			break
		}
		if earlier == nil || len(earlier.Doc.Entries) == 0 || earlier.Oldest >= page.Oldest {
			break
		}
		out.doc.Entries = append(out.doc.Entries, earlier.Doc.Entries...)
		page = earlier
	}
	return out, nil
}

// Posts returns the texts on the public page of a channel, plain, newest first.
func (r *Reader) Posts(ctx context.Context, username string) ([]string, error) {
	_, page, err := r.telegramPage(ctx, r.preview+"/"+username, validators{})
	if err != nil || page == nil {
		return nil, err
	}
	out := make([]string, 0, len(page.Doc.Entries))
	for i := range page.Doc.Entries {
		out = append(out, page.Doc.Entries[i].Text())
	}
	return out, nil
}

func (r *Reader) telegramPage(ctx context.Context, url string, v validators) (*fetch.Response, *preview.Page, error) {
	resp, err := r.web.Get(ctx, fetch.Request{
		URL: url, ETag: v.etag, LastModified: v.modified, Accept: "text/html", NoRedirects: true,
	})
	if err != nil {
		return nil, nil, problemOf(err)
	}
	switch {
	case resp.Status == http.StatusNotModified && v != (validators{}):
		return resp, nil, nil
	case resp.Status >= 300 && resp.Status < 400:
		return resp, nil, &Problem{Code: CodePreviewOff, Status: resp.Status}
	}
	if p := statusProblem(resp, address.Telegram, r.now()); p != nil {
		return resp, nil, p
	}
	body, _ := decode.ToUTF8(resp.Body, resp.ContentType())
	page, err := preview.Parse(body, lastSegment(url), r.now())
	if err != nil {
		return resp, nil, problemOf(err)
	}
	return resp, page, nil
}

// lastSegment is the channel's name in the address of its preview.
func lastSegment(url string) string {
	end := len(url)
	for i := len(url) - 1; i >= 0; i-- {
		switch url[i] {
		case '?', '#':
			end = i
		case '/':
			return url[i+1 : end]
		}
	}
	return url[:end]
}
