package chat

import (
	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/chat/texts"
)

// message is what is sent to a person, or what an earlier message is edited to.
type message struct {
	text    texts.HTML
	rows    [][]button
	keys    models.ReplyMarkup // a keyboard in place of the input field; excludes rows
	preview preview
	photo   string // address of a picture: text is then its caption
	replyTo int
	file    *file
}

// preview says what becomes of links in a message; the zero value shows none.
type preview struct {
	url   string
	above bool
}

// file is a document to send.
type file struct {
	name string
	body []byte
}

// button is one button under a message: exactly one of data, url and app is set.
type button struct {
	text string
	data string
	url  string
	app  string // address of the Mini App
}

// row is a helper for keyboards that reads like what is shown.
func row(b ...button) []button { return b }

// markup is the keyboard as Telegram takes it. An edit without buttons needs
// an empty keyboard, which takes the old one away.
func (m message) markup() models.ReplyMarkup {
	if m.keys != nil {
		return m.keys
	}
	return inline(m.rows)
}

func inline(rows [][]button) models.InlineKeyboardMarkup {
	out := models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{}}
	for _, r := range rows {
		if len(r) == 0 {
			continue
		}
		line := make([]models.InlineKeyboardButton, 0, len(r))
		for _, b := range r {
			k := models.InlineKeyboardButton{Text: b.text, URL: b.url, CallbackData: b.data}
			if b.app != "" {
				k.WebApp = &models.WebAppInfo{URL: b.app}
			}
			line = append(line, k)
		}
		out.InlineKeyboard = append(out.InlineKeyboard, line)
	}
	return out
}

// columns lays buttons out in rows of n.
func columns(n int, buttons []button) [][]button {
	var rows [][]button
	for len(buttons) > n {
		rows = append(rows, buttons[:n])
		buttons = buttons[n:]
	}
	if len(buttons) > 0 {
		rows = append(rows, buttons)
	}
	return rows
}

func (m message) linkPreview() *models.LinkPreviewOptions {
	if m.preview.url == "" {
		off := true
		return &models.LinkPreviewOptions{IsDisabled: &off}
	}
	u, above, large := m.preview.url, m.preview.above, true
	return &models.LinkPreviewOptions{URL: &u, ShowAboveText: &above, PreferLargeMedia: &large}
}
