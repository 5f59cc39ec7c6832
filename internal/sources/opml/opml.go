// Package opml reads and writes lists of feeds. It is pure. Reading takes any
// element that carries an xmlUrl, whatever else is missing or misspelt.
package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
)

// Outline is one feed of a list.
type Outline struct {
	URL    string
	Title  string
	Site   string
	Folder string // names of the folders above, joined by "/"
}

// Bad is an entry that cannot be taken, with its position in the list.
type Bad struct {
	Number int
	Title  string
	Why    string // no_address, bad_address, duplicate
}

// ErrNotOPML means that there is no outline in the document.
var ErrNotOPML = errors.New("no list of feeds in this file")

// maxOutlines bounds a list.
const maxOutlines = 5000

// Parse reads a list. Entries that cannot be taken are reported one by one.
func Parse(body []byte) ([]Outline, []Bad, error) {
	body, _ = decode.ToUTF8(body, "")
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\uFEFF"))
	d := xml.NewDecoder(bytes.NewReader(clean(body)))
	d.Strict = false
	d.AutoClose = nil
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	r := reader{seen: map[string]bool{}}
	for {
		tok, err := d.Token()
		if err != nil {
			break // a list that is torn or broken keeps what was read
		}
		switch t := tok.(type) {
		case xml.StartElement:
			r.start(t)
		case xml.EndElement:
			r.end()
		}
		if r.number >= maxOutlines || len(r.folders) > 200 {
			break
		}
	}
	if len(r.out) == 0 && len(r.bad) == 0 {
		return nil, nil, ErrNotOPML
	}
	return r.out, r.bad, nil
}

// clean drops what encoding/xml refuses: the declaration's version and control
// characters.
func clean(b []byte) []byte {
	if bytes.HasPrefix(b, []byte("<?xml")) {
		if i := bytes.Index(b, []byte("?>")); i >= 0 {
			b = b[i+2:]
		}
	}
	return bytes.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, b)
}

type reader struct {
	folders []string // "" for elements that are no folder
	seen    map[string]bool
	number  int
	out     []Outline
	bad     []Bad
}

func (r *reader) start(t xml.StartElement) {
	a := map[string]string{}
	for _, at := range t.Attr {
		a[strings.ToLower(at.Name.Local)] = strings.TrimSpace(at.Value)
	}
	title := article.Title(first(a["title"], a["text"], a["description"]))
	address := first(a["xmlurl"], a["feedurl"], a["rssurl"])
	if address == "" && strings.EqualFold(a["type"], "rss") {
		address = a["url"]
	}
	if !strings.EqualFold(t.Name.Local, "outline") && address == "" {
		r.folders = append(r.folders, "")
		return
	}
	folder := title
	if address != "" {
		r.add(address, title, a["htmlurl"])
		folder = ""
	}
	r.folders = append(r.folders, folder)
}

func (r *reader) add(address, title, site string) {
	r.number++
	address = strings.TrimSpace(address)
	for _, p := range []string{"feed://", "feed:"} {
		if rest, ok := strings.CutPrefix(address, p); ok {
			address = rest
			if !strings.Contains(address, "://") {
				address = "http://" + strings.TrimPrefix(address, "//")
			}
		}
	}
	url := article.Resolve("", address)
	switch key := article.Canonical(url); {
	case url == "":
		r.bad = append(r.bad, Bad{r.number, title, "bad_address"})
	case r.seen[key]:
		r.bad = append(r.bad, Bad{r.number, title, "duplicate"})
	default:
		r.seen[key] = true
		r.out = append(r.out, Outline{URL: url, Title: title, Site: article.Resolve("", site), Folder: r.folder()})
	}
}

func (r *reader) folder() string {
	var names []string
	for _, f := range r.folders {
		if f != "" {
			names = append(names, f)
		}
	}
	return strings.Join(names, "/")
}

func (r *reader) end() {
	if len(r.folders) > 0 {
		r.folders = r.folders[:len(r.folders)-1]
	}
}

// Write writes a list as OPML 2.0.
func Write(w io.Writer, title string, list []Outline) error {
	type outline struct {
		XMLName xml.Name `xml:"outline"`
		Type    string   `xml:"type,attr"`
		Text    string   `xml:"text,attr"`
		Title   string   `xml:"title,attr"`
		XMLURL  string   `xml:"xmlUrl,attr"`
		HTMLURL string   `xml:"htmlUrl,attr,omitempty"`
	}
	doc := struct {
		XMLName xml.Name  `xml:"opml"`
		Version string    `xml:"version,attr"`
		Title   string    `xml:"head>title"`
		Body    []outline `xml:"body>outline"`
	}{Version: "2.0", Title: title}
	for _, o := range list {
		name := first(o.Title, o.URL)
		doc.Body = append(doc.Body, outline{Type: "rss", Text: name, Title: name, XMLURL: o.URL, HTMLURL: o.Site})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func first(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}
