package publishing

import (
	"context"
	"strings"

	"github.com/postonce/postonce/internal/telegram"
	"github.com/postonce/postonce/internal/telegram/html"
)

// form is how a post is sent.
type form string

const (
	formText    form = "text"    // no picture
	formPreview form = "preview" // the picture as a link preview above the text
	formPhoto   form = "photo"   // the text as its caption
	formAlbum   form = "album"   // several pictures, the text under the first
	formPlain   form = "plain"   // no markup: after Telegram could not read it
)

const (
	// maxAlbum is the bound of sendMediaGroup (core.telegram.org/bots/api).
	maxAlbum  = 10
	parseHTML = "HTML"
)

// images are the addresses of a post's pictures, one a line.
func images(lines string) []string { return strings.Fields(lines) }

// forms returns how a draft is sent, and what is tried instead where Telegram
// refuses a picture.
func forms(d *delivery) []form {
	pictures := images(d.Image)
	if len(pictures) == 0 || d.ImageStyle == "none" {
		return []form{formText}
	}
	units, err := html.Length(d.HTML)
	if err != nil || units > telegram.MaxCaption || d.ImageStyle != "photo" {
		return []form{formPreview, formText}
	}
	if len(pictures) > 1 {
		return []form{formAlbum, formPhoto, formText}
	}
	return []form{formPhoto, formText}
}

// fallback returns how to send after this refusal: without the picture that
// Telegram cannot use, or without the markup that it cannot read.
func fallback(f form, left []form, r telegram.Refused) (form, bool) {
	switch {
	case r.Kind == telegram.BadMarkup && f != formPlain:
		return formPlain, true
	case r.Kind == telegram.BadMedia || r.Kind == telegram.TooLong && f != formText,
		r.Kind == telegram.BadRequest && (f == formPhoto || f == formAlbum):
		if len(left) > 0 {
			return left[0], true
		}
	}
	return "", false
}

// send makes the one request. ids are those of the posts, none where Telegram's
// answer does not say.
func (s *Service) send(ctx context.Context, d *delivery, f form) (ids []int64, out telegram.Outcome) {
	opts := []telegram.Option{telegram.Publishing(), telegram.Timeout(s.cfg.Timeout), telegram.In(telegram.Posts)}
	var m *telegram.Message
	switch f {
	case formPhoto:
		m, out = s.cfg.Telegram.SendPhoto(ctx, &telegram.SendPhotoParams{
			ChatID: d.ChatID, Photo: &telegram.InputFileString{Data: images(d.Image)[0]}, Caption: d.HTML, ParseMode: parseHTML,
		}, opts...)
	case formAlbum:
		list, out := s.cfg.Telegram.SendMediaGroup(ctx, &telegram.SendMediaGroupParams{ChatID: d.ChatID, Media: album(d)}, opts...)
		for _, m := range list {
			ids = append(ids, int64(m.ID))
		}
		return ids, out
	case formText, formPreview, formPlain:
		m, out = s.cfg.Telegram.SendMessage(ctx, textParams(d, f), opts...)
	}
	if m != nil {
		ids = []int64{int64(m.ID)}
	}
	return ids, out
}

func textParams(d *delivery, f form) *telegram.SendMessageParams {
	p := &telegram.SendMessageParams{ChatID: d.ChatID, Text: d.HTML, ParseMode: parseHTML, LinkPreviewOptions: preview(d.Image, f)}
	if f == formPlain {
		p.Text, p.ParseMode = PlainText(d.HTML), ""
	}
	return p
}

func preview(lines string, f form) *telegram.LinkPreviewOptions {
	yes := true
	pictures := images(lines)
	if f != formPreview || len(pictures) == 0 {
		// The text's own first link would be previewed otherwise, in the way of the words.
		return &telegram.LinkPreviewOptions{IsDisabled: &yes}
	}
	return &telegram.LinkPreviewOptions{URL: &pictures[0], ShowAboveText: &yes, PreferLargeMedia: &yes}
}

func album(d *delivery) []telegram.InputMedia {
	var out []telegram.InputMedia
	for i, picture := range images(d.Image) {
		if i == maxAlbum {
			break
		}
		photo := &telegram.InputMediaPhoto{Media: picture}
		if i == 0 {
			photo.Caption, photo.ParseMode = d.HTML, parseHTML
		}
		out = append(out, photo)
	}
	return out
}

// PlainText is the text of a post as a reader of the channel sees it, also where its markup is broken.
func PlainText(markup string) string {
	if parsed, err := html.Parse(markup); err == nil {
		return parsed.Text
	}
	var b strings.Builder
	inTag := false
	for _, r := range markup {
		switch {
		case r == '<':
			inTag = true
		case r == '>' && inTag:
			inTag = false
		case !inTag:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(b.String())
}
