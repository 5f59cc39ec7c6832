package decode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/postonce/postonce/internal/casetest"
)

type reproducer struct {
	File, Cls string
	body      []byte
	Expect    struct {
		Outcome string
		Items   []struct {
			Title, Link, GUID, Image string
			TitleAny                 []string `json:"title_any"`
			PlainAny                 []string `json:"plain_any"`
			LinkAny                  []string `json:"link_any"`
			BodyContains             string   `json:"body_contains"`
			Date                     json.RawMessage
		}
	}
}

// reproducers are the shared documents, with what a user needs of each.
func reproducers(t *testing.T) []reproducer {
	t.Helper()
	dir := casetest.Dir(t, "feeds")
	index, err := os.ReadFile(filepath.Join(dir, "reproducers", "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(index))
	lines.Buffer(nil, 1<<20)
	var all []reproducer
	for lines.Scan() {
		var r reproducer
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.body, err = os.ReadFile(filepath.Join(dir, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestReproducers(t *testing.T) {
	t.Parallel()
	all := reproducers(t)
	for _, r := range all {
		doc, err := Decode(t.Context(), Input{Body: r.body, URL: "http://e/feed", Now: reproducersNow()})
		for _, fault := range r.faults(doc, err) {
			t.Errorf("%s: %s", r.File, fault)
		}
	}
	t.Logf("%d reproducers", len(all))
}

func reproducersNow() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

// TestGofeedAlone prints the table of docs/benchmarks.md: how many of the
// shared documents gofeed reads as a user needs them, alone and with this
// package, by kind of fault. Only what gofeed gives is asked of it: its text is
// freed of markup, and a picture may stand in the text.
func TestGofeedAlone(t *testing.T) {
	t.Parallel()
	type count struct{ documents, alone, ours int }
	var sum count
	kinds, byKind := []string{}, map[string]*count{}
	for _, r := range reproducers(t) {
		k := kindOfFault(r.Cls)
		if byKind[k] == nil {
			kinds, byKind[k] = append(kinds, k), &count{}
		}
		c := byKind[k]
		c.documents++
		sum.documents++
		if len(r.faults(gofeedReads(r.body))) == 0 {
			c.alone++
			sum.alone++
		}
		doc, err := Decode(t.Context(), Input{Body: r.body, URL: "http://e/feed", Now: reproducersNow()})
		if len(r.faults(doc, err)) == 0 {
			c.ours++
			sum.ours++
		}
	}
	var table strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&table, "| %s | %d | %d | %d |\n", k, byKind[k].documents, byKind[k].alone, byKind[k].ours)
	}
	t.Logf("\n| kind | documents | gofeed alone | ours |\n|---|---|---|---|\n%s| **all** | **%d** | **%d** | **%d** |", &table, sum.documents, sum.alone, sum.ours)
	if sum.ours < sum.documents {
		t.Errorf("%d of %d documents are read", sum.ours, sum.documents)
	}
	if sum.alone >= sum.ours {
		t.Error("gofeed alone reads as many: the comparison does not compare")
	}
}

func kindOfFault(cls string) string {
	switch cls {
	case "control":
		return "control characters"
	case "entity":
		return "entities"
	case "cdata":
		return "CDATA"
	case "shape":
		return "shape (junk, cut, XML 1.1, no root)"
	case "not-a-feed", "not-a-feed-html":
		return "not a feed"
	case "zero-items":
		return "valid and empty"
	case "identity":
		return "identity and links"
	case "date":
		return "dates"
	case "json":
		return "JSON Feed"
	case "encoding":
		return "gzip file"
	}
	return cls
}

// gofeedReads is a document as gofeed's own parser gives it.
func gofeedReads(body []byte) (doc *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	f, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	doc = &Document{}
	for _, it := range f.Items {
		e := Entry{ID: it.GUID, Link: it.Link, Title: it.Title, Body: first(it.Content, it.Description), Summary: it.Description}
		if it.PublishedParsed != nil {
			e.Published = it.PublishedParsed.UTC()
		}
		if it.Image != nil {
			e.Image = it.Image.URL
		}
		doc.Entries = append(doc.Entries, e)
	}
	return doc, nil
}

// faults are what a user misses in a document that was read.
func (r reproducer) faults(doc *Document, err error) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case r.Expect.Outcome == "error" && err == nil:
		say("read, want an error")
		return out
	case r.Expect.Outcome == "error":
		return nil
	case err != nil:
		say("%v", err)
		return out
	case len(doc.Entries) != len(r.Expect.Items):
		say("%d entries, want %d", len(doc.Entries), len(r.Expect.Items))
		return out
	}
	for i, want := range r.Expect.Items {
		got := doc.Entries[i]
		titles := append(want.TitleAny, want.PlainAny...)
		if len(titles) == 0 {
			titles = []string{want.Title}
		}
		if !slices.Contains(titles, got.Title) {
			say("title %q, want one of %q", got.Title, titles)
		}
		if want.Link != "" && got.Link != want.Link || len(want.LinkAny) > 0 && !slices.Contains(want.LinkAny, got.Link) {
			say("link %q, want %q %q", got.Link, want.Link, want.LinkAny)
		}
		if want.GUID != "" && got.ID != want.GUID {
			say("id %q, want %q", got.ID, want.GUID)
		}
		if !strings.Contains(got.Text(), want.BodyContains) {
			say("text %q, want %q in it", got.Text(), want.BodyContains)
		}
		if want.Image != "" && got.Picture() != want.Image {
			say("image %q, want %q", got.Picture(), want.Image)
		}
		if len(want.Date) > 0 {
			date := "null"
			if !got.Published.IsZero() {
				date = `"` + got.Published.Format(time.RFC3339) + `"`
			}
			if date != string(want.Date) {
				say("date %s, want %s", date, want.Date)
			}
		}
	}
	return out
}
