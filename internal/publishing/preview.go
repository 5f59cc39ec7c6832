package publishing

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/article/node"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// lookAtPreview reads the channel's public page (t.me/s). ok: the page is that
// of this channel, so that the post could have been seen. A channel without a
// name, or without a preview, has none.
func (s *Service) lookAtPreview(ctx context.Context, d *doubt) (posts []sighting, ok bool) {
	if s.cfg.Get == nil || s.cfg.PreviewURL == "" || d.Username == "" {
		return nil, false
	}
	address := strings.TrimRight(s.cfg.PreviewURL, "/") + "/" + url.PathEscape(d.Username)
	if d.AfterMessage > 0 {
		address += "?after=" + strconv.FormatInt(d.AfterMessage, 10)
	}
	body, err := s.cfg.Get(ctx, address)
	if err != nil {
		s.cfg.Logger.Info().Err(err).Int64("channel_id", d.ChannelID).Msg("the public preview cannot be read")
		return nil, false
	}
	posts, ok = readPreview(body, d.ChatID)
	return posts, ok
}

// readPreview returns the posts of a preview page that carry the channel's id:
// a name alone proves nothing, as it may belong to another channel by now. ok
// is false for a page that is no preview of this channel.
func readPreview(body []byte, chatID int64) (posts []sighting, ok bool) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if node.HasClass(n, "tgme_channel_history") {
			ok = true
		}
		if node.Attr(n, "data-post") == "" {
			continue
		}
		id, channel, err := readDataView(node.Attr(n, "data-view"))
		if err != nil || fmt.Sprintf("-100%d", channel) != strconv.FormatInt(chatID, 10) {
			return nil, false
		}
		posts = append(posts, readPost(n, id))
	}
	return posts, ok
}

func readPost(n *html.Node, id int64) sighting {
	p := sighting{MessageID: id, How: "preview"}
	for c := range n.Descendants() {
		switch {
		case c.Type != html.ElementNode:
		case node.HasClass(c, "tgme_widget_message_text") && p.Text == "":
			p.Text = textOf(c)
		case c.DataAtom == atom.Time && node.Attr(c, "datetime") != "":
			if at, err := time.Parse("2006-01-02T15:04:05-07:00", node.Attr(c, "datetime")); err == nil {
				p.At = at
			}
		}
	}
	return p
}

// readDataView decodes what t.me puts on each post: {"c":-<channel>,"p":<post>,…},
// in base64. "p" may carry a letter.
func readDataView(s string) (post, channel int64, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return 0, 0, err
	}
	var v struct {
		C json.Number `json:"c"`
		P any         `json:"p"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return 0, 0, err
	}
	channel, err = strconv.ParseInt(strings.TrimPrefix(v.C.String(), "-"), 10, 64)
	if err != nil {
		return 0, 0, err
	}
	digits := strings.TrimRightFunc(fmt.Sprint(v.P), func(r rune) bool { return r < '0' || r > '9' })
	if f, is := v.P.(float64); is {
		digits = strconv.FormatInt(int64(f), 10)
	}
	post, err = strconv.ParseInt(digits, 10, 64)
	return post, channel, err
}

// textOf is the text of a node, with its line breaks.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}
