package sandbox

import (
	"encoding/json"
	"strconv"
)

// draft collects what all sending methods share.
func (s *Sandbox) draft(a args, c *chat) (*message, markup, *apiError) {
	mk, e := readMarkup(a.str("reply_markup"), c)
	if e != nil {
		return nil, mk, e
	}
	m := &message{From: s.botID, Silent: a.boolean("disable_notification"), Protect: a.boolean("protect_content"), Markup: mk.inline}
	if c.Type == typeChannel {
		m.From, m.Author = 0, s.botID
	}
	if p := a.str("reply_parameters"); p != "" {
		var r struct {
			MessageID int  `json:"message_id"`
			Lenient   bool `json:"allow_sending_without_reply"`
		}
		if err := json.Unmarshal([]byte(p), &r); err != nil {
			return nil, mk, badRequest("can't parse reply parameters JSON object")
		}
		if c.find(r.MessageID) != nil {
			m.ReplyTo = r.MessageID
		} else if !r.Lenient {
			return nil, mk, badRequest("message to be replied not found")
		}
	}
	return m, mk, nil
}

// post puts a message of the bot into a chat and shows it as the API does.
func (s *Sandbox) post(c *chat, m *message, mk markup) obj {
	s.add(c, m)
	switch {
	case mk.remove:
		c.Keyboard = nil
	case mk.keyboard != nil:
		c.Keyboard = mk.keyboard
	}
	return s.show(c, m)
}

func (s *Sandbox) sendMessage(a args) (any, *apiError) {
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	t, e := formatted(a, "text")
	if e != nil {
		return nil, e
	}
	m, mk, e := s.draft(a, c)
	if e != nil {
		return nil, e
	}
	if m.Preview, e = previewOptions(a); e != nil {
		return nil, e
	}
	m.Text, m.Entities = t.Text, t.Entities
	return s.post(c, m, mk), nil
}

func previewOptions(a args) (json.RawMessage, *apiError) {
	p := a.str("link_preview_options")
	if p == "" {
		if a.boolean("disable_web_page_preview") {
			return raw(obj{"is_disabled": true}), nil
		}
		return nil, nil
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(p), &o); err != nil {
		return nil, badRequest("can't parse link preview options JSON object")
	}
	return json.RawMessage(p), nil
}

func (s *Sandbox) sendPhoto(a args) (any, *apiError) { return s.sendMedia(a, "photo") }

func (s *Sandbox) sendDocument(a args) (any, *apiError) { return s.sendMedia(a, "document") }

func (s *Sandbox) sendMedia(a args, kind string) (any, *apiError) {
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	if !a.has(kind) {
		return nil, badRequest("there is no " + kind + " in the request")
	}
	t, e := formatted(a, "caption")
	if e != nil {
		return nil, e
	}
	m, mk, e := s.draft(a, c)
	if e != nil {
		return nil, e
	}
	f, e := s.media(a, a.str(kind), kind, kind == "photo")
	if e != nil {
		return nil, e
	}
	if kind == "photo" {
		m.Photo = f.ID
	} else {
		m.Document = f.ID
	}
	m.Text, m.Entities, m.Above = t.Text, t.Entities, a.boolean("show_caption_above_media")
	return s.post(c, m, mk), nil
}

func (s *Sandbox) sendMediaGroup(a args) (any, *apiError) {
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	if a.str("media") == "" {
		return nil, badRequest("media is empty")
	}
	var list []struct {
		Type, Media, Caption string
		ParseMode            string          `json:"parse_mode"`
		Entities             json.RawMessage `json:"caption_entities"`
		Above                bool            `json:"show_caption_above_media"`
	}
	if err := json.Unmarshal([]byte(a.str("media")), &list); err != nil {
		return nil, badRequest("can't parse media JSON object")
	}
	if len(list) < 2 || len(list) > 10 {
		return nil, badRequest("wrong number of messages in the album: there must be 2-10 of them")
	}
	album := strconv.FormatInt(s.w.NextFile+1_000_000, 10)
	var drafts []*message
	for _, one := range list {
		if one.Type != "photo" {
			return nil, badRequest("can't use the media of the specified type in the album")
		}
		t, e := format(one.Caption, one.ParseMode, string(one.Entities), "caption")
		if e != nil {
			return nil, e
		}
		f, e := s.media(a, one.Media, "photo", true)
		if e != nil {
			return nil, e
		}
		m, _, e := s.draft(a, c)
		if e != nil {
			return nil, e
		}
		m.Photo, m.Album, m.Text, m.Entities, m.Above = f.ID, album, t.Text, t.Entities, one.Above
		drafts = append(drafts, m)
	}
	shown := make([]obj, 0, len(drafts))
	for _, m := range drafts {
		shown = append(shown, s.post(c, m, markup{}))
	}
	return shown, nil
}

func (s *Sandbox) forwardMessage(a args) (any, *apiError) {
	src, e := s.source(a, "message to forward")
	if e != nil {
		return nil, e
	}
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	if src.m.Service != nil {
		return nil, badRequest("the message can't be forwarded")
	}
	m := *src.m
	m.From, m.Author, m.Markup, m.Edited, m.Date, m.ReplyTo, m.Views = s.botID, 0, nil, 0, 0, 0, 0
	if c.Type == typeChannel {
		m.From, m.Author = 0, s.botID
	}
	if m.Origin == nil {
		m.Origin = s.originOf(src.c, src.m)
	}
	return s.post(c, &m, markup{}), nil
}

func (s *Sandbox) copyMessage(a args) (any, *apiError) {
	src, e := s.source(a, "message to copy")
	if e != nil {
		return nil, e
	}
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	if src.m.Service != nil || src.m.Invoice != nil {
		return nil, badRequest("message can't be copied")
	}
	draft, mk, e := s.draft(a, c)
	if e != nil {
		return nil, e
	}
	m := *src.m
	m.From, m.Author, m.Markup, m.Origin, m.Edited, m.Date, m.Views = draft.From, draft.Author, draft.Markup, nil, 0, 0, 0
	shown := s.post(c, &m, mk)
	return obj{"message_id": shown["message_id"]}, nil
}

type found struct {
	c *chat
	m *message
}

// source finds the message that is forwarded or copied. Lost access to a public
// channel reads like a missing message, to a private one like a lost membership.
func (s *Sandbox) source(a args, what string) (found, *apiError) {
	c, e := s.known(a, "from_chat_id")
	if e != nil {
		return found{}, e
	}
	if e := s.mayRead(c, false); e != nil {
		return found{}, e
	}
	m, e := s.messageArg(c, a, what)
	return found{c, m}, e
}

func (s *Sandbox) originOf(c *chat, m *message) *origin {
	if c.Type == typeChannel {
		return &origin{Type: "channel", ChatID: c.ID, MessageID: m.ID, Date: m.Date}
	}
	return &origin{Type: "user", UserID: m.From, Date: m.Date}
}

func (s *Sandbox) sendChatAction(a args) (any, *apiError) {
	if _, e := s.target(a); e != nil {
		return nil, e
	}
	switch a.str("action") {
	case "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document", "choose_sticker", "find_location":
		return true, nil
	}
	return nil, badRequest("wrong parameter action in request")
}
