package publishing

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/article/channelpage"
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
	list, ok := readPreview(body, d.ChatID)
	for _, p := range list {
		posts = append(posts, sighting{MessageID: p.ID, Text: p.Text, At: p.At, How: "preview"})
	}
	return posts, ok
}

// readPreview returns the posts of a preview page that carry the channel's id:
// a name alone proves nothing, as it may belong to another channel by now. ok
// is false for a page that is no preview of this channel.
func readPreview(body []byte, chatID int64) (posts []Post, ok bool) {
	page, err := channelpage.Read(body)
	if err != nil {
		return nil, false
	}
	for _, p := range page.Posts {
		if fmt.Sprintf("-100%d", p.Channel) != strconv.FormatInt(chatID, 10) {
			return nil, false
		}
		post := Post{ID: p.ID, Text: p.Text(), Links: p.Links()}
		if at, err := time.Parse("2006-01-02T15:04:05-07:00", p.Date); err == nil {
			post.At = at
		}
		posts = append(posts, post)
	}
	return posts, page.History
}
