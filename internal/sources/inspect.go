package sources

import (
	"context"
	"time"

	"github.com/postonce/postonce/internal/sources/identity"
)

// Report is what `postonce inspect` prints: what the program sees in an
// address. Its JSON names are fixed: scripts read them.
type Report struct {
	URL        string        `json:"url"`
	FinalURL   string        `json:"final_url"`
	Kind       string        `json:"kind"`
	Format     string        `json:"format"`
	Title      string        `json:"title"`
	Entries    []ReportEntry `json:"entries"`
	Repairs    []string      `json:"repairs"`
	Candidates []string      `json:"candidates,omitempty"`
	Error      *ReportError  `json:"error,omitempty"`
}

// ReportEntry is one entry of a Report.
type ReportEntry struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Published string   `json:"published,omitempty"` // RFC 3339, absent when undated
	Image     string   `json:"image"`
	Enclosure string   `json:"enclosure"`
	Keys      []string `json:"keys"`
}

// ReportError says why nothing could be read.
type ReportError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Detail  string `json:"-"` // for the form that people read
}

// Inspect reads an address and reports everything that the program sees in
// it. It needs no database. Report.Error is set where nothing can be read.
func Inspect(ctx context.Context, r *Reader, raw string) Report {
	rep := Report{URL: raw, Entries: []ReportEntry{}, Repairs: []string{}}
	f, err := r.Look(ctx, raw)
	rep.FinalURL, rep.Kind, rep.Title = f.FinalURL, string(f.Kind), f.Title
	for _, c := range f.Choices {
		rep.Candidates = append(rep.Candidates, c.URL)
	}
	if err != nil {
		p := problemOf(err)
		rep.Error = &ReportError{Code: p.Code, Message: p.Sentence(), Detail: p.Detail}
		return rep
	}
	if f.Doc == nil { // a list of feeds
		rep.Format = "opml"
		for _, o := range f.List {
			rep.Candidates = append(rep.Candidates, o.URL)
		}
		p := &Problem{Code: "opml"}
		rep.Error = &ReportError{Code: p.Code, Message: p.Sentence()}
		return rep
	}
	rep.Format = string(f.Doc.Format)
	rep.Repairs = append(rep.Repairs, f.Doc.Repairs...)
	ids := identity.Of(f.Doc, identity.Options{Home: f.Doc.Home, Address: f.URL})
	for i := range f.Doc.Entries {
		e := &f.Doc.Entries[i]
		re := ReportEntry{
			ID: e.ID, URL: shown(e), Title: e.Title, Text: e.Text(), Image: e.Picture(), Enclosure: e.Enclosure, Keys: []string{},
		}
		if !e.Published.IsZero() {
			re.Published = e.Published.Format(time.RFC3339)
		}
		for _, k := range ids[i].Keys {
			re.Keys = append(re.Keys, k.String())
		}
		rep.Entries = append(rep.Entries, re)
	}
	return rep
}
