package opml

import (
	"bytes"
	"strings"
	"testing"
)

// TestWhatIsExportedReadsBackAsWhatItWas puts markup, control characters and
// formulas of a spreadsheet into every field of a list.
func TestWhatIsExportedReadsBackAsWhatItWas(t *testing.T) {
	t.Parallel()
	hostile := `"/></body><outline xmlUrl="https://evil.example/" text="x"><![CDATA[&amp;` + "\n=HYPERLINK(\"x\")\x00\x1b[31m"
	var b bytes.Buffer
	list := []Outline{{URL: "https://news.example/feed?a=1&b=%3C", Title: hostile, Site: "https://news.example/"}}
	if err := Write(&b, hostile, list); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x00\x1b") || strings.Count(b.String(), "<outline") != 1 {
		t.Errorf("foreign text became markup or control characters:\n%q", b.String())
	}
	got, bad, err := Parse(b.Bytes())
	if err != nil || len(bad) != 0 || len(got) != 1 || got[0].URL != list[0].URL {
		t.Errorf("read back %+v, %v, %v: want the one address", got, bad, err)
	}
}
