package chat

// Text is a text of the catalogues without arguments, for what is said outside
// a chat: the refusal of a checkout is shown by Telegram itself.
func (c *Chat) Text(language, code string) string { return c.texts.For(language).Plain(code) }
