// Package preview reads the public page of a Telegram channel (t.me/s/name).
// It is pure: the caller fetches, and pages back with Before.
package preview

import (
	"bytes"
	"errors"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/node"

	"golang.org/x/net/html"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
)

// ErrOff means that the channel shows no preview: it is private, restricted,
// a group, a person, or does not exist.
var ErrOff = errors.New("the channel has no public preview")

// Page is one page of a channel.
type Page struct {
	Doc    *decode.Document
	Oldest int // smallest post number on the page, 0 = none
	Newest int
}

// Parse reads a page; its entries come newest first, whatever their order on
// the page. name is the channel's, without @.
func Parse(body []byte, name string, now time.Time) (*Page, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, ErrOff
	}
	p := &Page{Doc: &decode.Document{Format: decode.Telegram, Home: "https://t.me/" + name}}
	posts := map[int]decode.Entry{}
	history := false
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "meta" && node.Attr(n, "property") == "og:title":
			p.Doc.Title = article.Title(node.Attr(n, "content"))
		case node.HasClass(n, "tgme_channel_history"), node.HasClass(n, "tgme_channel_info"):
			history = true
		case node.HasClass(n, "tgme_widget_message") && node.Attr(n, "data-post") != "":
			if id, e, ok := post(n, name, now); ok {
				posts[id] = e
			}
		}
	}
	if !history && len(posts) == 0 {
		return nil, ErrOff
	}
	p.collect(posts)
	return p, nil
}

func (p *Page) collect(posts map[int]decode.Entry) {
	ids := make([]int, 0, len(posts))
	for id := range posts {
		ids = append(ids, id)
	}
	sort.Sort(sort.Reverse(sort.IntSlice(ids)))
	for _, id := range ids {
		p.Doc.Entries = append(p.Doc.Entries, posts[id])
	}
	if len(ids) > 0 {
		p.Newest, p.Oldest = ids[0], ids[len(ids)-1]
	}
}

// Number is the post number of an entry, 0 when it has none.
func Number(e *decode.Entry) int {
	_, n, _ := strings.Cut(e.Platform, "/")
	id, _ := strconv.Atoi(n)
	return id
}

// Before is the address of the page before a post.
func Before(pageURL string, id int) string {
	u, err := url.Parse(pageURL)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("before", strconv.Itoa(id))
	u.RawQuery = q.Encode()
	return u.String()
}

var backgroundImage = regexp.MustCompile(`background-image:\s*url\(['"]?([^'")]+)`)

// post reads one message. Service messages (a pin, a new photo) are none.
func post(n *html.Node, name string, now time.Time) (int, decode.Entry, bool) {
	slug := node.Attr(n, "data-post")
	_, num, _ := strings.Cut(slug, "/")
	id, err := strconv.Atoi(num)
	if err != nil || id <= 0 || node.HasClass(n, "service_message") {
		return 0, decode.Entry{}, false
	}
	e := decode.Entry{
		ID: strings.ToLower(name) + "/" + num, Link: "https://t.me/" + name + "/" + num,
		Platform: "telegram:" + strings.ToLower(name) + "/" + num,
	}
	for d := range n.Descendants() {
		if d.Type != html.ElementNode || within(d, "tgme_widget_message_reply") {
			continue
		}
		switch {
		case d.Data == "time" && node.Attr(d, "datetime") != "" && within(d, "tgme_widget_message_date"):
			if t, ok := decode.ParseDate(node.Attr(d, "datetime")); ok {
				e.RawDate, e.Published = node.Attr(d, "datetime"), decode.Plausible(t, now)
			}
		case node.HasClass(d, "tgme_widget_message_text") && e.Body == "" && !within(d, "tgme_widget_message_text"):
			e.Body = render(d)
		case node.HasClass(d, "tgme_widget_message_photo_wrap"), node.HasClass(d, "tgme_widget_message_video_thumb"), node.HasClass(d, "link_preview_image"):
			if m := backgroundImage.FindStringSubmatch(node.Attr(d, "style")); m != nil && e.Image == "" {
				e.Image = article.Resolve("https://t.me/", m[1])
			}
		case node.HasClass(d, "tgme_widget_message_forwarded_from_name") && e.Author == "":
			e.Author = article.Title(textOf(d))
		}
	}
	e.Summary = e.Body
	e.Title = Headline(e.Text())
	if e.Body == "" && e.Image == "" {
		return 0, decode.Entry{}, false
	}
	return id, e, true
}

// Headline is the first line of a post, for lists: posts have no titles.
func Headline(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= 140 {
		return line
	}
	runes := []rune(line)[:139]
	cut := string(runes)
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

func render(n *html.Node) string {
	var b bytes.Buffer
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil {
			break
		}
	}
	return b.String()
}

func within(n *html.Node, class string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if node.HasClass(p, class) {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
