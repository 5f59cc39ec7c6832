package decode

import "github.com/postonce/postonce/internal/article"

// Bounds of what is kept of one entry, in runes.
const (
	maxText   = 20_000
	maxMarkup = 400_000 // bytes of an entry's markup that are looked at
)

// Text returns the readable text of an entry: of its body, or of its summary
// when the body holds only pictures.
func (e *Entry) Text() string {
	t := article.Text(bound(e.Body), maxText)
	if t == "" && e.Summary != e.Body {
		t = article.Text(bound(e.Summary), maxText)
	}
	return t
}

// Picture returns the address of the entry's picture: the one it names, else
// the first in its markup.
func (e *Entry) Picture() string {
	if e.Image != "" {
		return e.Image
	}
	if img := article.FirstImage(bound(e.Body), e.Link); img != "" {
		return img
	}
	return article.FirstImage(bound(e.Summary), e.Link)
}

func bound(s string) string {
	if len(s) > maxMarkup {
		return s[:maxMarkup]
	}
	return s
}
