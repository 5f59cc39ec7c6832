package sandbox

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// editable finds the message that a call edits and checks that the bot may.
func (s *Sandbox) editable(a args) (*chat, *message, *apiError) {
	if a.str("inline_message_id") != "" {
		return nil, nil, badRequest("MESSAGE_ID_INVALID")
	}
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, nil, e
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, nil, e
	}
	m, e := s.messageArg(c, a, "message to edit")
	if e != nil {
		return nil, nil, e
	}
	if m.Service != nil || m.Origin != nil {
		return nil, nil, badRequest("message can't be edited")
	}
	switch {
	case s.ours(m) && (c.Type != typeChannel || c.can("can_post_messages") || c.can("can_edit_messages")):
	case c.Type == typeChannel && c.can("can_edit_messages"):
	default:
		return nil, nil, badRequest("message can't be edited")
	}
	return c, m, nil
}

// edit applies a change unless it changes nothing; a keyboard that is not given
// goes away, as it does there.
func (s *Sandbox) edit(c *chat, m *message, a args, change func(*message)) (any, *apiError) {
	mk, e := readMarkup(a.str("reply_markup"), c)
	if e != nil {
		return nil, e
	}
	next := *m
	change(&next)
	next.Markup = mk.inline
	if same(m, &next) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	contentChanged := next.Text != m.Text || next.Photo != m.Photo || !reflect.DeepEqual(next.Entities, m.Entities)
	*m = next
	if contentChanged {
		m.Edited = s.unix()
	}
	s.touch(c.ID)
	return s.show(c, m), nil
}

func same(a, b *message) bool {
	return a.Text == b.Text && a.Photo == b.Photo && a.Above == b.Above && jsonEqual(a.Markup, b.Markup) &&
		jsonEqual(a.Preview, b.Preview) && (len(a.Entities)+len(b.Entities) == 0 || slices.Equal(a.Entities, b.Entities))
}

func jsonEqual(a, b json.RawMessage) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(x, y)
}

func (s *Sandbox) editMessageText(a args) (any, *apiError) {
	c, m, e := s.editable(a)
	if e != nil {
		return nil, e
	}
	t, e := formatted(a, "text")
	if e != nil {
		return nil, e
	}
	if m.Photo != "" || m.Document != "" || m.Invoice != nil {
		return nil, badRequest("there is no text in the message to edit")
	}
	preview, e := previewOptions(a)
	if e != nil {
		return nil, e
	}
	return s.edit(c, m, a, func(n *message) { n.Text, n.Entities, n.Preview = t.Text, t.Entities, preview })
}

func (s *Sandbox) editMessageCaption(a args) (any, *apiError) {
	c, m, e := s.editable(a)
	if e != nil {
		return nil, e
	}
	t, e := formatted(a, "caption")
	if e != nil {
		return nil, e
	}
	if m.Photo == "" && m.Document == "" {
		return nil, badRequest("there is no caption in the message to edit")
	}
	return s.edit(c, m, a, func(n *message) {
		n.Text, n.Entities, n.Above = t.Text, t.Entities, a.boolean("show_caption_above_media")
	})
}

func (s *Sandbox) editMessageMedia(a args) (any, *apiError) {
	c, m, e := s.editable(a)
	if e != nil {
		return nil, e
	}
	var in struct {
		Type, Media, Caption string
		ParseMode            string `json:"parse_mode"`
		Above                bool   `json:"show_caption_above_media"`
	}
	if err := json.Unmarshal([]byte(a.str("media")), &in); err != nil {
		return nil, badRequest("can't parse input media JSON object")
	}
	if in.Type != "photo" {
		return nil, badRequest("can't parse InputMedia: Type \"" + in.Type + "\" is unsupported by the stand-in")
	}
	t, e := format(in.Caption, in.ParseMode, "", "caption")
	if e != nil {
		return nil, e
	}
	f, e := s.media(a, in.Media, "photo", true)
	if e != nil {
		return nil, e
	}
	return s.edit(c, m, a, func(n *message) {
		n.Photo, n.Text, n.Entities, n.Above = f.ID, t.Text, t.Entities, in.Above
	})
}

func (s *Sandbox) editMessageReplyMarkup(a args) (any, *apiError) {
	c, m, e := s.editable(a)
	if e != nil {
		return nil, e
	}
	return s.edit(c, m, a, func(*message) {})
}

func (s *Sandbox) deleteMessage(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, e
	}
	m, e := s.messageArg(c, a, "message to delete")
	if e != nil {
		return nil, e
	}
	if !s.deletable(c, m) {
		return nil, badRequest("message can't be deleted")
	}
	s.remove(c, m)
	return true, nil
}

// deletable: the bot's own and a person's messages for 48 hours; in channels
// own posts with the right to post, all with the right to delete.
func (s *Sandbox) deletable(c *chat, m *message) bool {
	if c.Type == typeChannel {
		return c.can("can_delete_messages") || s.ours(m) && c.can("can_post_messages")
	}
	return s.unix()-m.Date < 48*3600
}

func (s *Sandbox) remove(c *chat, m *message) {
	c.Messages = slices.DeleteFunc(c.Messages, func(x *message) bool { return x == m })
	s.touch(c.ID)
}

func (s *Sandbox) deleteMessages(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	var ids []int
	if a.str("message_ids") == "" {
		return nil, badRequest("message identifiers are not specified")
	}
	if err := json.Unmarshal([]byte(a.str("message_ids")), &ids); err != nil {
		return nil, badRequest("can't parse message_ids JSON object")
	}
	for _, id := range ids {
		if m := c.find(id); m != nil && s.deletable(c, m) {
			s.remove(c, m)
		}
	}
	return true, nil
}
