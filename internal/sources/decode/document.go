// Package decode turns the bytes of a feed into entries, whatever is wrong
// with them: charsets that lie, control characters, cut ends, broken markup,
// missing links, odd dates. It stands in front of gofeed and fills what gofeed
// leaves. It is pure: no network, no database; the clock is an argument.
//
// A hostile document costs bounded time and memory: depth, elements,
// attributes and entries are limited before gofeed sees the document, and the
// parse stops when the context ends.
package decode

import (
	"fmt"
	"time"
)

// Format is the family of a document.
type Format string

// The formats.
const (
	RSS      Format = "rss"
	RDF      Format = "rdf"
	Atom     Format = "atom"
	JSONFeed Format = "json"
	HTML     Format = "html"
	OPML     Format = "opml"
	Sitemap  Format = "sitemap"
	Telegram Format = "telegram"
	Unknown  Format = ""
)

// Document is a feed as far as it could be read.
type Document struct {
	Format   Format
	Version  string
	Title    string
	Home     string // the site's address, absolute, or ""
	Language string
	TTL      time.Duration // what the feed asks for, 0 = nothing
	Entries  []Entry
	Repairs  []string // codes of what had to be mended, each once, in order
	Cut      bool     // the end is missing; the entries that are there are whole
	Dropped  int      // entries over the limit
}

// Entry is one entry of a document. Text is made by Fill, not by Decode,
// because only new entries need it.
type Entry struct {
	ID        string // as the feed gives it, trimmed and unescaped
	PermaID   bool   // the feed says that the id is an address
	Link      string // absolute http(s) address, or ""
	Origin    string // the article's own address where Link goes through a counter (FeedBurner), or ""
	Title     string // plain
	Body      string // HTML or plain, as found; the fuller of content and summary
	Summary   string // HTML or plain, as found
	Author    string
	Published time.Time // zero: undated, or the date was absurd
	RawDate   string
	Image     string
	Enclosure string
	Language  string
	Platform  string // "youtube:ID", "telegram:channel/7", "reddit:t3_x" when the entry carries one
}

// Code names why a document could not be read; stable, for the catalogue of
// texts and for inspect --json.
type Code string

// The codes.
const (
	CodeEmpty      Code = "empty"
	CodeNotAFeed   Code = "not_a_feed"
	CodeHTML       Code = "html_page"
	CodeOPML       Code = "opml"
	CodeJSONError  Code = "json_error"
	CodeTooDeep    Code = "too_deep"
	CodeTooComplex Code = "too_complex"
	CodeBroken     Code = "broken_feed"
	CodeCut        Code = "cut_feed"
	CodeTimeout    Code = "too_slow_to_read"
	CodeBridge     Code = "bridge_error"
)

// Error is a document that could not be read.
type Error struct {
	Code   Code
	Detail string
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return "read feed: " + string(e.Code)
	}
	return fmt.Sprintf("read feed: %s: %s", e.Code, e.Detail)
}

func fail(code Code, detail string) error { return &Error{Code: code, Detail: detail} }

// repair records a mended fault once.
func (d *Document) repair(code string) {
	for _, r := range d.Repairs {
		if r == code {
			return
		}
	}
	d.Repairs = append(d.Repairs, code)
}
