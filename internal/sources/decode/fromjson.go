package decode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/article"
)

// jsonHead holds what a JSON Feed says about itself; values of the wrong type
// are read as far as they go.
type jsonHead struct {
	version, title, home, language string
	items                          bool
	failed                         string
}

// decodeJSON reads a JSON Feed, token by token down to the items, so that a
// hostile document allocates nothing that is not read.
func decodeJSON(ctx context.Context, in Input, body []byte, doc *Document) error {
	doc.Format = JSONFeed
	err := readJSON(ctx, in, body, doc)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeBroken {
		return err
	}
	mended, cut := mendJSON(body)
	again := &Document{Format: JSONFeed, Repairs: doc.Repairs, Cut: cut}
	if err := readJSON(ctx, in, mended, again); err != nil {
		return err
	}
	*doc = *again
	doc.repair("json mended")
	return nil
}

func readJSON(ctx context.Context, in Input, body []byte, doc *Document) error {
	// Not in small pieces: the decoder begins anew with each, in blanks and in long values.
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	tok, err := dec.Token()
	p := xmlParse{ctx: ctx, in: in, doc: doc}
	switch {
	case err == nil && tok == json.Delim('['):
		return p.jsonList(dec)
	case err != nil || tok != json.Delim('{'):
		return fail(CodeNotAFeed, "a JSON value")
	}
	var h jsonHead
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fail(CodeBroken, err.Error())
		}
		name, _ := key.(string)
		if name == "items" {
			if err := p.jsonItems(dec, &h); errors.Is(err, errEnough) {
				return h.judge(doc)
			} else if err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fail(CodeBroken, err.Error())
		}
		h.take(name, raw)
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return fail(CodeBroken, err.Error())
	}
	return h.judge(doc)
}

// errEnough stops reading at the bound of entries.
var errEnough = errors.New("enough entries")

func (h *jsonHead) take(name string, raw json.RawMessage) {
	switch name {
	case "version":
		h.version = jsonText(raw)
	case "title":
		h.title = jsonText(raw)
	case "home_page_url":
		h.home = jsonText(raw)
	case "language":
		h.language = jsonText(raw)
	case "error", "errors", "message", "detail", "status", "code":
		h.failed = first(h.failed, name+": "+jsonText(raw))
	}
}

// judge tells a feed from any other JSON object.
func (h *jsonHead) judge(doc *Document) error {
	isFeed := strings.Contains(h.version, "jsonfeed.org")
	if !isFeed && (!h.items || len(doc.Entries) == 0) {
		if h.failed != "" {
			return fail(CodeJSONError, article.Title(h.failed))
		}
		return fail(CodeNotAFeed, "a JSON object without entries")
	}
	doc.Version = h.version[strings.LastIndexByte(h.version, '/')+1:]
	doc.Title, doc.Home, doc.Language = article.Title(h.title), article.Resolve("", h.home), h.language
	return nil
}

func (p *xmlParse) jsonItems(dec *json.Decoder, h *jsonHead) error {
	tok, err := dec.Token()
	if err != nil {
		return fail(CodeBroken, err.Error())
	}
	if tok != json.Delim('[') {
		if _, nested := tok.(json.Delim); nested {
			return fail(CodeNotAFeed, "items is no list")
		}
		return nil
	}
	h.items = true
	_, err = p.jsonEntries(dec)
	return err
}

// jsonList reads a list of items without the feed around it. The meaning is
// certain when each has an address and the fields are those of JSON Feed;
// lists of anything else are not read.
func (p *xmlParse) jsonList(dec *json.Decoder) error {
	own, err := p.jsonEntries(dec)
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for _, e := range p.doc.Entries {
		own = own && e.Link != "" && (e.Title != "" || e.Body != "")
	}
	if !own || p.doc.Dropped > 0 {
		return fail(CodeNotAFeed, "a list of JSON values")
	}
	p.doc.repair("no root element")
	return nil
}

// jsonEntries reads a list up to its end. own: a field was seen that items of
// JSON Feed alone have.
func (p *xmlParse) jsonEntries(dec *json.Decoder) (own bool, err error) {
	for dec.More() {
		if p.ctx.Err() != nil {
			return own, fail(CodeTimeout, "its list takes too long to read")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return own, fail(CodeBroken, err.Error())
		}
		if len(p.doc.Entries) >= maxEntries || p.doc.Dropped >= maxEntries {
			p.doc.repair("more entries than are read")
			return own, errEnough
		}
		if e, its, ok := p.jsonItem(raw); ok {
			p.doc.Entries = append(p.doc.Entries, e)
			own = own || its
		} else {
			p.doc.Dropped++
			p.doc.repair("unreadable entries left out")
		}
	}
	if _, err = dec.Token(); err != nil {
		return own, fail(CodeBroken, err.Error())
	}
	return own, nil
}

// jsonRaw is an item with every field left open.
type jsonRaw struct {
	ID, URL, Title, Summary, Image, Author, Authors, Language, Attachments json.RawMessage
	ExternalURL                                                            json.RawMessage `json:"external_url"`
	ContentHTML                                                            json.RawMessage `json:"content_html"`
	ContentText                                                            json.RawMessage `json:"content_text"`
	BannerImage                                                            json.RawMessage `json:"banner_image"`
	DatePublished                                                          json.RawMessage `json:"date_published"`
	DateModified                                                           json.RawMessage `json:"date_modified"`
}

// jsonItem reads one item. own: it has a field that no other kind of list has.
func (p *xmlParse) jsonItem(raw json.RawMessage) (e Entry, own, ok bool) {
	var j jsonRaw
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &j) != nil {
		return Entry{}, false, false
	}
	own = len(j.ContentHTML)+len(j.ContentText)+len(j.DatePublished)+len(j.ExternalURL)+len(j.BannerImage) > 0
	e = Entry{
		ID: CleanID(jsonText(j.ID)), PermaID: true, Title: article.Title(jsonText(j.Title)),
		Body: first(jsonText(j.ContentHTML), jsonText(j.ContentText), jsonText(j.Summary)), Summary: jsonText(j.Summary),
		Language: jsonText(j.Language), Author: article.Title(jsonAuthor(j.Author, j.Authors)),
	}
	e.Link = p.link(e, "", jsonText(j.URL), jsonText(j.ExternalURL))
	e.Image = p.resolve(first(jsonText(j.Image), jsonText(j.BannerImage)))
	e.RawDate, e.Published = p.dateOf(jsonText(j.DatePublished), jsonText(j.DateModified))
	var files []struct {
		URL      json.RawMessage
		MimeType json.RawMessage `json:"mime_type"`
	}
	if json.Unmarshal(j.Attachments, &files) == nil {
		for _, f := range files[:min(len(files), 10)] {
			p.enclose(&e, jsonText(f.URL), jsonText(f.MimeType))
		}
	}
	known := e.ID != "" || e.Link != "" || e.Title != "" || e.Body != ""
	return e, own, known
}

// jsonText reads a string, or a number as it is written; anything else is "".
func jsonText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return strings.ReplaceAll(s, "\x00", "")
		}
	case c == '-' || c >= '0' && c <= '9':
		return string(raw)
	}
	return ""
}

// jsonAuthor reads "Bob", {"name": "Bob"} and [{"name": "Bob"}].
func jsonAuthor(raws ...json.RawMessage) string {
	for _, raw := range raws {
		if s := jsonText(raw); s != "" {
			return s
		}
		var one struct{ Name string }
		if json.Unmarshal(raw, &one) == nil && one.Name != "" {
			return one.Name
		}
		var many []struct{ Name string }
		if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
			return many[0].Name
		}
	}
	return ""
}

// Budget is the time that reading one document may take.
const Budget = 5 * time.Second
