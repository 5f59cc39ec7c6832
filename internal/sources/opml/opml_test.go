package opml

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTakesAnyXMLURL(t *testing.T) {
	t.Parallel()
	in := "\uFEFF" + `<?xml version="1.0" encoding="windows-1251"?><opml><body>
<outline text="News" type="rss"><outline><outline xmlurl="http://a.example/feed" htmlUrl="http://a.example/"/></outline>
<outline text="B &amp; C" xmlUrl="feed://b.example/rss" type="atom"></outline></outline>
<outline title="again" xmlUrl="https://www.a.example/feed/"/><outline title="bad" xmlUrl="nope"/>
<outline text="D" xmlURL="https://d.example/x`
	list, bad, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []Outline{
		{URL: "http://a.example/feed", Site: "http://a.example/", Folder: "News"},
		{URL: "http://b.example/rss", Title: "B & C", Folder: "News"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Bad{{3, "again", "duplicate"}, {4, "bad", "bad_address"}}, bad); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Parse([]byte("<html></html>")); !errors.Is(err, ErrNotOPML) {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<opml><body><outline text="x"><outline xmlUrl="http://e.org/f"/></outline></body></opml>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _, err := Parse(b)
		if err != nil || len(list) == 0 {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, "t", list); err != nil {
			t.Fatal(err)
		}
		again, _, err := Parse(out.Bytes())
		if err != nil || len(again) != len(list) {
			t.Errorf("%d feeds became %d: %v", len(list), len(again), err)
		}
	})
}
