package render

import (
	"strings"

	"github.com/postonce/postonce/internal/article"
)

// Post is what a composer wrote, to be laid out by the channel's template.
// All texts are plain; addresses are the item's own, put here by code.
type Post struct {
	Headline string
	Body     []string // paragraphs
	Link     string   // empty: the item has none
	Also     []Also   // other sources of the same story
	Tags     []string // from the channel's list, without #
}

// Also is another source that tells the same story.
type Also struct {
	Name string
	Link string
}

// Template is how a channel lays out its posts.
type Template struct {
	LinkStyle string // title: the headline is the link; bottom: a line of its own; none
	LinkLabel string // of the bottom line; empty: the address's host
	AlsoLabel string // such as "Also: "
	Mark      string // stands before the headline of a follow-up, such as "Update: "
	Footer    string // Telegram HTML, or plain text where it is none
	Limit     int    // UTF-16 units; 0: TextLimit
}

// Lay puts a post into the template. Where the whole is too long, the body loses
// its last sentences, then its last words, so that the result always fits; what
// the template adds is never cut.
func Lay(p Post, t Template) []Node {
	limit := t.Limit
	if limit <= 0 || limit > TextLimit {
		limit = TextLimit
	}
	p.Headline = clip(Line(t.Mark+p.Headline), min(300, limit/2))
	body := cleanParagraphs(p.Body)
	for {
		nodes := layOnce(p, t, body)
		over := Units(nodes) - limit
		if over <= 0 {
			return nodes
		}
		if len(body) == 0 {
			return hardCut(nodes, limit)
		}
		body = shorter(body, over)
	}
}

func layOnce(p Post, t Template, body []string) []Node {
	var blocks [][]Node
	if p.Headline != "" {
		head := T(p.Headline)
		if t.LinkStyle == "title" && p.Link != "" {
			head = A(p.Link, head)
		}
		blocks = append(blocks, []Node{Wrap(Bold, head)})
	}
	for _, par := range body {
		blocks = append(blocks, []Node{T(par)})
	}
	if p.Link != "" && (t.LinkStyle == "bottom" || t.LinkStyle == "title" && p.Headline == "") {
		blocks = append(blocks, []Node{A(p.Link, T(label(t.LinkLabel, p.Link)))})
	}
	if also := layAlso(p.Also, t.AlsoLabel); also != nil {
		blocks = append(blocks, also)
	}
	if tags := layTags(p.Tags); tags != "" {
		blocks = append(blocks, []Node{T(tags)})
	}
	if foot := Footer(t.Footer); foot != nil {
		blocks = append(blocks, foot)
	}
	var out []Node
	for i, b := range blocks {
		if i > 0 {
			out = append(out, T("\n\n"))
		}
		out = append(out, b...)
	}
	return out
}

func layAlso(also []Also, prefix string) []Node {
	var out []Node
	for _, a := range also {
		name := clip(Line(a.Name), 60)
		if name == "" || !Address(a.Link) {
			continue
		}
		if out == nil {
			out = append(out, T(prefix))
		} else {
			out = append(out, T(", "))
		}
		out = append(out, A(a.Link, T(name)))
	}
	return out
}

func layTags(tags []string) string {
	var out []string
	for _, t := range tags {
		if t = strings.TrimPrefix(Line(t), "#"); t != "" {
			out = append(out, "#"+strings.ReplaceAll(t, " ", "_"))
		}
	}
	return strings.Join(out, " ")
}

// Footer is the owner's text: HTML where it parses, else plain.
func Footer(text string) []Node {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if nodes, err := Parse(text); err == nil {
		return trimmed(nodes)
	}
	return []Node{T(Clean(text))}
}

func label(given, link string) string {
	if given = Line(given); given != "" {
		return given
	}
	_, rest, _ := strings.Cut(link, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.TrimPrefix(strings.ToLower(host), "www.")
}

func cleanParagraphs(pars []string) []string {
	var out []string
	for _, p := range pars {
		for part := range strings.SplitSeq(Clean(p), "\n\n") {
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// shorter takes the last sentence away, or cuts the only one left by over units.
func shorter(body []string, over int) []string {
	last := len(body) - 1
	sents := article.Sentences(body[last])
	switch {
	case len(sents) > 1:
		return append(body[:last:last], strings.Join(sents[:len(sents)-1], " "))
	case last > 0:
		return body[:last:last]
	}
	cut := clip(body[0], TextUnits(body[0])-over)
	if cut == body[0] || cut == "" {
		return nil
	}
	return []string{cut}
}

// clip cuts a text to at most n units at a word, with an ellipsis.
func clip(s string, n int) string {
	if TextUnits(s) <= n {
		return s
	}
	used, end, word := 1, 0, 0 // one unit for the ellipsis
	for i, r := range s {
		u := TextUnits(string(r))
		if used+u > n {
			break
		}
		used += u
		if r == ' ' {
			word = i
		}
		end = i + len(string(r))
	}
	if word > end/2 {
		end = word
	}
	s = strings.TrimRight(s[:end], " ,;:–—-")
	if s == "" {
		return ""
	}
	return s + "…"
}

// hardCut is for templates that alone outgrow the limit: it keeps the text of
// the front, without formatting.
func hardCut(nodes []Node, limit int) []Node { return []Node{T(clip(Text(nodes), limit))} }
