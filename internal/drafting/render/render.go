// Package render writes posts as Telegram HTML: from a tree with an allow-list of
// tags, escaped once, measured as Telegram measures.
//
// It is pure. It must never let through a tag, an attribute or an address that is
// not on its lists.
package render

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a message: UTF-16 units after parsing and trimming, and entities
// (core.telegram.org/bots/api#sendmessage, #sendphoto; limits.tginfo.me).
const (
	TextLimit    = 4096
	CaptionLimit = 1024
	MaxEntities  = 100
)

// Tag is a formatting that posts may carry.
type Tag string

// The allow-list. The zero value is plain text.
const (
	Plain     Tag = ""
	Bold      Tag = "b"
	Italic    Tag = "i"
	Underline Tag = "u"
	Strike    Tag = "s"
	Spoiler   Tag = "tg-spoiler"
	Link      Tag = "a"
	Code      Tag = "code"
	Pre       Tag = "pre"
	Quote     Tag = "blockquote"
)

// Node is a piece of a post: text, or a tag around further nodes.
type Node struct {
	Tag  Tag
	Text string // of a node without a tag
	Href string // of a Link
	Kids []Node
}

// T is a text node.
func T(text string) Node { return Node{Text: text} }

// Wrap puts a tag around nodes.
func Wrap(tag Tag, kids ...Node) Node { return Node{Tag: tag, Kids: kids} }

// A is a link; with an address that posts may not carry it is its text alone.
func A(href string, kids ...Node) Node {
	if !Address(href) {
		return Node{Tag: Plain, Kids: kids}
	}
	return Node{Tag: Link, Href: href, Kids: kids}
}

// HTML writes the nodes as Telegram HTML, trimmed at both ends.
func HTML(nodes []Node) string {
	var b strings.Builder
	write(&b, trimmed(nodes))
	return b.String()
}

func write(b *strings.Builder, nodes []Node) {
	for _, n := range nodes {
		if n.Tag == Plain {
			b.WriteString(Escape(n.Text))
			write(b, n.Kids)
			continue
		}
		b.WriteString("<" + string(n.Tag))
		if n.Tag == Link {
			b.WriteString(` href="` + Escape(n.Href) + `"`)
		}
		b.WriteString(">")
		write(b, n.Kids)
		b.WriteString("</" + string(n.Tag) + ">")
	}
}

// Escape writes text so that Telegram's parser gives it back. Telegram decodes
// &lt; &gt; &amp; &quot; and numeric references, nothing else
// (core.telegram.org/bots/api#html-style).
func Escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// Text returns the nodes' text without formatting, trimmed.
func Text(nodes []Node) string {
	var b strings.Builder
	appendText(&b, nodes)
	return strings.TrimSpace(b.String())
}

func appendText(b *strings.Builder, nodes []Node) {
	for _, n := range nodes {
		b.WriteString(n.Text)
		appendText(b, n.Kids)
	}
}

// Units returns the length that Telegram's limits speak of: UTF-16 units of the
// trimmed text.
func Units(nodes []Node) int { return TextUnits(Text(nodes)) }

// TextUnits returns the UTF-16 length of a text as it stands.
func TextUnits(s string) int {
	n := 0
	for _, r := range s {
		if l := utf16.RuneLen(r); l > 0 {
			n += l
		} else {
			n++ // an invalid byte becomes U+FFFD
		}
	}
	return n
}

// Entities returns how many formatting entities the nodes make.
func Entities(nodes []Node) int {
	n := 0
	for _, node := range nodes {
		if node.Tag != Plain {
			n++
		}
		n += Entities(node.Kids)
	}
	return n
}

// Address tells whether posts may link to href: an absolute http or https address
// without blanks, controls or user name.
func Address(href string) bool {
	rest, ok := strings.CutPrefix(href, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(href, "http://"); !ok {
			return false
		}
	}
	host, _, _ := strings.Cut(rest, "/")
	return host != "" && len(href) <= 2000 && utf8.ValidString(href) && !strings.Contains(host, "@") &&
		!strings.ContainsFunc(href, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || Invisible(r) })
}

// trimmed drops blank space at both ends of the tree, as Telegram does, so that
// what is hashed and shown is what stands in the channel.
func trimmed(nodes []Node) []Node {
	out := trimEdge(nodes, true)
	return trimEdge(out, false)
}

func trimEdge(nodes []Node, left bool) []Node {
	out := append([]Node(nil), nodes...)
	for len(out) > 0 {
		i := 0
		if !left {
			i = len(out) - 1
		}
		n := out[i]
		if left {
			n.Text = strings.TrimLeftFunc(n.Text, unicode.IsSpace)
		} else {
			n.Text = strings.TrimRightFunc(n.Text, unicode.IsSpace)
		}
		n.Kids = trimEdge(n.Kids, left)
		if n.Text != "" || len(n.Kids) > 0 {
			out[i] = n
			return out
		}
		if left {
			out = out[1:]
		} else {
			out = out[:i]
		}
	}
	return nil
}
