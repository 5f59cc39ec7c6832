package publishing

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// historyPages bounds how far ReadChannel pages: a thousand posts.
const historyPages = 50

// Post is a post as it stands in a channel.
type Post struct {
	ID    int64
	At    time.Time
	Text  string
	Links []string
}

const channelNameSQL = `
SELECT chat_id,
       username
  FROM channels
 WHERE id = $1`

// ReadChannel reads what the public preview shows of a channel after a message
// id. complete says that it would have shown every post: the page was that of
// this channel, the known post itself was on it (or none was known), and the
// end was reached; why says in a few words what was lacking. It changes nothing.
func (s *Service) ReadChannel(ctx context.Context, channelID, after int64) (posts []Post, complete bool, why string, err error) {
	var chatID int64
	var name string
	if err := s.cfg.Pool.QueryRow(ctx, channelNameSQL, channelID).Scan(&chatID, &name); err != nil {
		return nil, false, "", fmt.Errorf("channel %d: %w", channelID, err)
	}
	switch {
	case name == "":
		return nil, false, "the channel is private", nil
	case s.cfg.Get == nil || s.cfg.PreviewURL == "":
		return nil, false, "public previews are not read", nil
	}
	anchored := after == 0
	for from, page := max(after-1, 0), 0; page < historyPages; page++ {
		list, why, err := s.historyPage(ctx, name, chatID, from)
		if err != nil || why != "" {
			return posts, false, why, err
		}
		last := from
		for _, p := range list {
			anchored = anchored || p.ID == after
			last = max(last, p.ID)
			if p.ID > after {
				posts = append(posts, p)
			}
		}
		if last > from {
			from = last
			continue
		}
		if !anchored {
			return posts, false, "the last known post is not on its public page", nil
		}
		return posts, true, "", nil
	}
	return posts, false, "it has too many new posts", nil
}

// historyPage reads one page; why says that it is no preview of this channel.
func (s *Service) historyPage(ctx context.Context, name string, chatID, after int64) (posts []Post, why string, err error) {
	address := strings.TrimRight(s.cfg.PreviewURL, "/") + "/" + url.PathEscape(name)
	if after > 0 {
		address += "?after=" + strconv.FormatInt(after, 10)
	}
	body, err := s.cfg.Get(ctx, address)
	if err != nil {
		return nil, "", fmt.Errorf("read the public page of %s: %w", name, err)
	}
	posts, ok := readPreview(body, chatID)
	if !ok {
		return nil, "it has no public page under its name", nil
	}
	return posts, "", nil
}
