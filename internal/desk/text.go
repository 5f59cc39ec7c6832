package desk

import (
	"fmt"
	"strings"

	"github.com/postonce/postonce/internal/telegram/html"
)

// titleOf is the first line of a post, plain, for lists.
func titleOf(post string) string {
	text := post
	if parsed, err := html.Parse(post); err == nil {
		text = parsed.Text
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 120
	if r := []rune(line); len(r) > most {
		line = string(r[:most-1]) + "…"
	}
	return line
}

// privateChatPrefix starts the chat id of a channel in the Bot API; links to
// posts of private channels carry the rest.
const privateChatPrefix = "-100"

// postLink is the address of a post. A message id of 0 has none.
func postLink(chatID, messageID int64, username string) PostLink {
	if messageID == 0 {
		return PostLink{}
	}
	link := PostLink{ChatID: chatID, MessageID: messageID}
	if username != "" {
		link.URL = fmt.Sprintf("https://t.me/%s/%d", username, messageID)
	} else if bare, ok := strings.CutPrefix(fmt.Sprint(chatID), privateChatPrefix); ok {
		link.URL = fmt.Sprintf("https://t.me/c/%s/%d", bare, messageID)
	}
	return link
}
