package decode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/casetest"
)

type reproducer struct {
	File, Cls string
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

func TestReproducers(t *testing.T) {
	t.Parallel()
	dir := casetest.Dir(t, "feeds")
	index, err := os.ReadFile(filepath.Join(dir, "reproducers", "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(index))
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var r reproducer
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, r.File))
		if err != nil {
			t.Fatal(err)
		}
		n++
		doc, err := Decode(context.Background(), Input{Body: body, URL: "http://e/feed", Now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)})
		checkReproducer(t, r, doc, err)
	}
	t.Logf("%d reproducers", n)
}

func checkReproducer(t *testing.T, r reproducer, doc *Document, err error) {
	t.Helper()
	if r.Expect.Outcome == "error" {
		if err == nil {
			t.Errorf("%s: read, want an error", r.File)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", r.File, err)
		return
	}
	if len(doc.Entries) != len(r.Expect.Items) {
		t.Errorf("%s: %d entries, want %d", r.File, len(doc.Entries), len(r.Expect.Items))
		return
	}
	for i, want := range r.Expect.Items {
		got := doc.Entries[i]
		titles := append(want.TitleAny, want.PlainAny...)
		if len(titles) == 0 {
			titles = []string{want.Title}
		}
		if !slices.Contains(titles, got.Title) {
			t.Errorf("%s: title %q, want one of %q", r.File, got.Title, titles)
		}
		if want.Link != "" && got.Link != want.Link || len(want.LinkAny) > 0 && !slices.Contains(want.LinkAny, got.Link) {
			t.Errorf("%s: link %q, want %q %q", r.File, got.Link, want.Link, want.LinkAny)
		}
		if want.GUID != "" && got.ID != want.GUID {
			t.Errorf("%s: id %q, want %q", r.File, got.ID, want.GUID)
		}
		if !strings.Contains(got.Text(), want.BodyContains) {
			t.Errorf("%s: text %q, want %q in it", r.File, got.Text(), want.BodyContains)
		}
		if want.Image != "" && got.Picture() != want.Image {
			t.Errorf("%s: image %q, want %q", r.File, got.Picture(), want.Image)
		}
		if len(want.Date) > 0 {
			date := "null"
			if !got.Published.IsZero() {
				date = `"` + got.Published.Format(time.RFC3339) + `"`
			}
			if date != string(want.Date) {
				t.Errorf("%s: date %s, want %s", r.File, date, want.Date)
			}
		}
	}
}
