// Package channelpage reads the public page of a Telegram channel (t.me/s/name)
// as it stands: which posts it shows, and what each carries. It is pure; who
// follows channels and who looks for a post of our own build on it. It must
// never judge: whether a page is the wanted channel's is its callers' affair.
package channelpage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/node"
)

// Page is what one page shows.
type Page struct {
	Title string
	// History says that the page lists posts, if none; Info that it describes a
	// channel. A page with neither is no channel's.
	History, Info bool
	Posts         []Post // in the page's order
}

// Post is one message as the page shows it.
type Post struct {
	ID      int64  // of the message in its channel
	Channel int64  // the channel's id without -100, from data-view; 0 if that is missing or odd
	Date    string // as written
	Service bool   // a pin, a new photo: nobody's post
	Body    *html.Node
	Image   string
	From    string // the name of whom it was forwarded from
}

// Read reads a page. An error means that it is no HTML.
func Read(body []byte) (*Page, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("channel page: %w", err)
	}
	p := &Page{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "meta" && node.Attr(n, "property") == "og:title":
			p.Title = node.Attr(n, "content")
		case node.HasClass(n, "tgme_channel_history"):
			p.History = true
		case node.HasClass(n, "tgme_channel_info"):
			p.Info = true
		case node.HasClass(n, "tgme_widget_message") && node.Attr(n, "data-post") != "":
			if post, ok := readPost(n); ok {
				p.Posts = append(p.Posts, post)
			}
		}
	}
	return p, nil
}

var backgroundImage = regexp.MustCompile(`background-image:\s*url\(['"]?([^'")]+)`)

// readPost reads one message; what it quotes in a reply is not its own.
func readPost(n *html.Node) (Post, bool) {
	_, number, _ := strings.Cut(node.Attr(n, "data-post"), "/")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id <= 0 {
		return Post{}, false
	}
	p := Post{ID: id, Service: node.HasClass(n, "service_message")}
	if seen, channel, err := dataView(node.Attr(n, "data-view")); err == nil && seen == id {
		p.Channel = channel
	}
	for d := range n.Descendants() {
		if d.Type != html.ElementNode || within(d, "tgme_widget_message_reply") {
			continue
		}
		switch {
		case d.DataAtom == atom.Time && within(d, "tgme_widget_message_date"):
			p.Date = node.Attr(d, "datetime")
		case node.HasClass(d, "tgme_widget_message_text") && p.Body == nil:
			p.Body = d
		case node.HasClass(d, "tgme_widget_message_photo_wrap"), node.HasClass(d, "tgme_widget_message_video_thumb"), node.HasClass(d, "link_preview_image"):
			if m := backgroundImage.FindStringSubmatch(node.Attr(d, "style")); m != nil && p.Image == "" {
				p.Image = article.Resolve("https://t.me/", m[1])
			}
		case node.HasClass(d, "tgme_widget_message_forwarded_from_name") && p.From == "":
			p.From = words(d)
		}
	}
	return p, true
}

var errDataView = errors.New("odd data-view")

// dataView decodes what t.me puts on each post: {"c":-<channel>,"p":<post>,…},
// in base64. "p" may carry a letter.
func dataView(s string) (post, channel int64, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return 0, 0, errDataView
	}
	var v struct {
		C json.Number     `json:"c"`
		P json.RawMessage `json:"p"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return 0, 0, errDataView
	}
	channel, err = strconv.ParseInt(strings.TrimPrefix(v.C.String(), "-"), 10, 64)
	if err != nil {
		return 0, 0, errDataView
	}
	digits := strings.TrimRightFunc(strings.Trim(string(v.P), `"`), func(r rune) bool { return r < '0' || r > '9' })
	if post, err = strconv.ParseInt(digits, 10, 64); err != nil {
		return 0, 0, errDataView
	}
	return post, channel, nil
}

// Text is the post's text with its line breaks; "" for a picture alone.
func (p *Post) Text() string {
	if p.Body == nil {
		return ""
	}
	return words(p.Body)
}

// HTML is the markup of the post's text.
func (p *Post) HTML() string {
	var b bytes.Buffer
	if p.Body == nil {
		return ""
	}
	for c := p.Body.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil {
			break
		}
	}
	return b.String()
}

// Links are the addresses in the post's text.
func (p *Post) Links() (out []string) {
	if p.Body == nil {
		return nil
	}
	for a := range p.Body.Descendants() {
		if a.DataAtom == atom.A && node.Attr(a, "href") != "" {
			out = append(out, node.Attr(a, "href"))
		}
	}
	return out
}

func within(n *html.Node, class string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if node.HasClass(p, class) {
			return true
		}
	}
	return false
}

func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}
