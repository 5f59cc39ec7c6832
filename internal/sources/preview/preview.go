// Package preview reads the public page of a Telegram channel (t.me/s/name).
// It is pure: the caller fetches, and pages back with Before.
package preview

import (
	"errors"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/channelpage"
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
	shown, err := channelpage.Read(body)
	if err != nil || !shown.History && !shown.Info && len(shown.Posts) == 0 {
		return nil, ErrOff
	}
	p := &Page{Doc: &decode.Document{Format: decode.Telegram, Home: "https://t.me/" + name, Title: article.Title(shown.Title)}}
	posts := map[int]decode.Entry{}
	for _, one := range shown.Posts {
		if e, ok := entry(&one, name, now); ok {
			posts[int(one.ID)] = e
		}
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

// entry reads one message. Service messages (a pin, a new photo) are none, and
// neither is what has no text and no picture.
func entry(p *channelpage.Post, name string, now time.Time) (decode.Entry, bool) {
	slug := strings.ToLower(name) + "/" + strconv.FormatInt(p.ID, 10)
	e := decode.Entry{
		ID: slug, Link: "https://t.me/" + name + "/" + strconv.FormatInt(p.ID, 10), Platform: "telegram:" + slug,
		Body: p.HTML(), Image: p.Image, Author: article.Title(p.From),
	}
	if p.Service || e.Body == "" && e.Image == "" {
		return decode.Entry{}, false
	}
	if t, ok := decode.ParseDate(p.Date); ok {
		e.RawDate, e.Published = p.Date, decode.Plausible(t, now)
	}
	e.Summary = e.Body
	e.Title = Headline(e.Text())
	return e, true
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
