package sandbox

import (
	"encoding/base64"
	"fmt"
	stdhtml "html"
	"net/http"
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/telegram/html"
)

const previewPosts = 20

// servePreview writes a channel's public page in the shape of t.me/s: one
// .tgme_widget_message per post with data-post and data-view, paging by
// ?before= and ?after=. A channel without previews redirects to its card, as
// there.
func (s *Sandbox) servePreview(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chatByName(r.PathValue("channel"))
	if c == nil || c.Type != typeChannel || c.NoPreview || c.Deleted {
		w.Header().Set("Location", "https://t.me/"+r.PathValue("channel"))
		w.WriteHeader(http.StatusFound)
		return
	}
	before, _ := strconv.Atoi(r.URL.Query().Get("before"))
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		before = id + previewPosts/2
	}
	posts := c.page(before, after)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, previewHead, stdhtml.EscapeString(c.Title), stdhtml.EscapeString(c.About), c.Username, c.Followers)
	for _, m := range posts {
		s.writePost(w, r.Host, c, m)
	}
	if len(posts) > 0 && posts[0].ID > 2 {
		_, _ = fmt.Fprintf(w, `<link rel="prev" href="/s/%s?before=%d">`, c.Username, posts[0].ID)
	}
	_, _ = w.Write([]byte("</section></main></body></html>"))
}

// page chooses the posts to show, oldest first.
func (c *chat) page(before, after int) []*message {
	var list []*message
	for _, m := range c.Messages {
		if m.Service == nil && (before == 0 || m.ID < before) && m.ID > after {
			list = append(list, m)
		}
	}
	if n := len(list) - previewPosts; n > 0 {
		if after > 0 {
			return list[:previewPosts]
		}
		return list[n:]
	}
	return list
}

const previewHead = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>%[1]s – Telegram</title>
<meta property="og:title" content="%[1]s"><meta property="og:description" content="%[2]s"></head>
<body class="widget_frame_base tgme_channel_page">
<div class="tgme_channel_info"><div class="tgme_channel_info_header_title"><span dir="auto">%[1]s</span></div>
<div class="tgme_channel_info_header_username"><a href="https://t.me/%[3]s">@%[3]s</a></div>
<div class="tgme_channel_info_counters"><div class="tgme_channel_info_counter"><span class="counter_value">%[4]d</span> <span class="counter_type">subscribers</span></div></div>
<div class="tgme_channel_info_description">%[2]s</div></div>
<main class="tgme_main"><section class="tgme_channel_history js-message_history">
`

// dataView is the base64 JSON that t.me puts on every post; c is the channel.
func dataView(c *chat, m *message) string {
	v := fmt.Sprintf(`{"c":-%s,"p":%d,"t":%d,"h":"%08x"}`, c.channelNumber(), m.ID, m.Date, m.ID*2654435761&0xffffffff)
	return base64.RawURLEncoding.EncodeToString([]byte(v))
}

func (s *Sandbox) writePost(w http.ResponseWriter, host string, c *chat, m *message) {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="tgme_widget_message_wrap js-widget_message_wrap"><div class="tgme_widget_message text_not_supported_wrap js-widget_message" data-post="%s/%d" data-view="%s">`, c.Username, m.ID, dataView(c, m))
	fmt.Fprintf(&b, `<div class="tgme_widget_message_bubble"><div class="tgme_widget_message_author accent_color"><a class="tgme_widget_message_owner_name" href="https://t.me/%s"><span dir="auto">%s</span></a></div>`, c.Username, stdhtml.EscapeString(c.Title))
	if m.Origin != nil && m.Origin.Type == typeChannel {
		if from := s.w.Chats[m.Origin.ChatID]; from != nil {
			fmt.Fprintf(&b, `<div class="tgme_widget_message_forwarded_from accent_color">Forwarded from <a class="tgme_widget_message_forwarded_from_name" href="%s"><span dir="auto">%s</span></a></div>`, from.link(m.Origin.MessageID), stdhtml.EscapeString(from.Title))
		}
	}
	if m.Photo != "" {
		fmt.Fprintf(&b, `<a class="tgme_widget_message_photo_wrap" href="https://t.me/%s/%d" style="width:800px;background-image:url('http://%s/file/page/%s')"><div class="tgme_widget_message_photo" style="padding-top:60%%"></div></a>`, c.Username, m.ID, host, m.Photo)
	}
	if m.Text != "" {
		fmt.Fprintf(&b, `<div class="tgme_widget_message_text js-message_text" dir="auto">%s</div>`, webText(m))
	}
	fmt.Fprintf(&b, `<div class="tgme_widget_message_footer compact js-message_footer"><div class="tgme_widget_message_info short js-message_info"><span class="tgme_widget_message_views">%d</span><span class="tgme_widget_message_meta"><a class="tgme_widget_message_date" href="https://t.me/%s/%d"><time datetime="%s" class="time">%s</time></a></span></div></div></div></div></div>`,
		m.Views, c.Username, m.ID, timeOf(m.Date).Format("2006-01-02T15:04:05-07:00"), timeOf(m.Date).Format("15:04"))
	_, _ = w.Write([]byte(b.String() + "\n"))
}

// webText renders a post as t.me does: line breaks as <br/>, links that open
// elsewhere, spoilers as a span.
func webText(m *message) string {
	t := html.Text{Text: m.Text, Entities: slicesOfMarkup(m)}
	out := html.Render(t)
	out = strings.ReplaceAll(out, "\n", "<br/>")
	out = strings.ReplaceAll(out, `<a href="`, `<a target="_blank" rel="noopener" href="`)
	return strings.NewReplacer("<tg-spoiler>", `<span class="tg-spoiler">`, "</tg-spoiler>", "</span>").Replace(out)
}

// slicesOfMarkup adds found addresses to the markup, as t.me links them too.
func slicesOfMarkup(m *message) []html.Entity {
	out := append([]html.Entity(nil), m.Entities...)
	for _, e := range entitiesOf(html.Text{Text: m.Text, Entities: m.Entities}) {
		if e.Type == "url" {
			part := html.Slice(html.Text{Text: m.Text}, e.Offset, e.Offset+e.Length).Text
			out = append(out, html.Entity{Type: html.TextLink, Offset: e.Offset, Length: e.Length, URL: html.CheckedLink(part)})
		}
	}
	return out
}
