package telegram

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Token is a bot's secret. Printing it in any way shows only the bot's id.
type Token string

// Format hides the secret from every verb.
func (t Token) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, t.String()) }

// String is the bot's id and stars.
func (t Token) String() string {
	id, _, _ := strings.Cut(string(t), ":")
	return id + ":***"
}

// MarshalJSON hides the secret from structured logs.
func (t Token) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(t.String())), nil }

// BotID is the number before the colon, the bot's user id.
func (t Token) BotID() (int64, error) {
	id, secret, ok := strings.Cut(string(t), ":")
	n, err := strconv.ParseInt(id, 10, 64)
	if !ok || err != nil || n <= 0 || len(secret) < 20 {
		return 0, fmt.Errorf("not a bot token: want the form 123456:ABC…, as @BotFather gives it")
	}
	return n, nil
}

// redact removes the token from a text. Telegram's own answers never hold it,
// but addresses in errors of net/http and of proxies do.
func (t Token) redact(s string) string {
	if t == "" {
		return s
	}
	s = strings.ReplaceAll(s, string(t), t.String())
	if _, secret, ok := strings.Cut(string(t), ":"); ok && secret != "" {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}
