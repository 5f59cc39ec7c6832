package chat

import "github.com/postonce/postonce/internal/chat/texts"

// Text is a text of the catalogues for what is said outside a chat: the refusal
// of a checkout and what stands in an invoice are shown by Telegram itself.
func (c *Chat) Text(language, code string, args ...map[string]any) string {
	l := c.texts.For(language)
	if len(args) == 0 {
		return l.Plain(code)
	}
	return l.Plain(code, texts.Args(args[0]))
}
