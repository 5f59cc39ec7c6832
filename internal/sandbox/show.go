package sandbox

import (
	"encoding/json"

	"github.com/postonce/postonce/internal/telegram/html"
)

// show writes a message as the Bot API does.
func (s *Sandbox) show(c *chat, m *message) obj {
	o := obj{"message_id": m.ID, "date": m.Date, "chat": s.showChat(c)}
	if m.From != 0 {
		o["from"] = s.showUser(m.From)
	} else if c.Type == typeChannel {
		o["sender_chat"] = s.showChat(c)
	}
	if m.Edited != 0 {
		o["edit_date"] = m.Edited
	}
	s.showContent(o, m)
	if m.Markup != nil {
		o["reply_markup"] = m.Markup
	}
	if m.Origin != nil {
		s.showOrigin(o, m.Origin)
	}
	if m.Album != "" {
		o["media_group_id"] = m.Album
	}
	if m.Protect {
		o["has_protected_content"] = true
	}
	if r := c.find(m.ReplyTo); m.ReplyTo != 0 && r != nil {
		deeper := *r
		deeper.ReplyTo = 0
		o["reply_to_message"] = s.show(c, &deeper)
	}
	if m.Service != nil {
		var fields obj
		_ = json.Unmarshal(m.Service, &fields)
		for k, v := range fields {
			o[k] = v
		}
	}
	return o
}

func (s *Sandbox) showContent(o obj, m *message) {
	text, entities := "text", "entities"
	if m.Photo != "" || m.Document != "" {
		text, entities = "caption", "caption_entities"
		s.showFile(o, m)
		if m.Above {
			o["show_caption_above_media"] = true
		}
	}
	if m.Text != "" {
		o[text] = m.Text
		if list := entitiesOf(html.Text{Text: m.Text, Entities: m.Entities}); len(list) > 0 {
			o[entities] = list
		}
	}
	if m.Preview != nil {
		o["link_preview_options"] = m.Preview
	}
	if m.Invoice != nil {
		o["invoice"] = obj{
			"title": m.Invoice.Title, "description": m.Invoice.Description, "start_parameter": "",
			"currency": m.Invoice.Currency, "total_amount": m.Invoice.Amount,
		}
	}
}

func (s *Sandbox) showFile(o obj, m *message) {
	if f := s.w.Files[m.Photo]; f != nil {
		o["photo"] = []obj{{"file_id": f.ID, "file_unique_id": "u" + f.ID, "width": f.Width, "height": f.Height, "file_size": f.Size}}
	}
	if f := s.w.Files[m.Document]; f != nil {
		o["document"] = obj{"file_id": f.ID, "file_unique_id": "u" + f.ID, "file_name": f.Name, "mime_type": f.Mime, "file_size": f.Size}
	}
}

// showOrigin writes forward_origin, and the older fields beside it no more.
func (s *Sandbox) showOrigin(o obj, from *origin) {
	f := obj{"type": from.Type, "date": from.Date}
	if from.Type == typeChannel {
		c := s.w.Chats[from.ChatID]
		if c == nil {
			return
		}
		f["chat"], f["message_id"] = s.showChat(c), from.MessageID
	} else {
		f["sender_user"] = s.showUser(from.UserID)
	}
	o["forward_origin"] = f
}

func (s *Sandbox) showUser(id int64) obj {
	if id == s.botID {
		return s.botUser()
	}
	p := s.personByID(id)
	if p == nil {
		return obj{"id": id, "is_bot": false, "first_name": "Unknown"}
	}
	o := obj{"id": p.ID, "is_bot": false, "first_name": p.FirstName}
	put(o, "last_name", p.LastName)
	put(o, "username", p.Username)
	put(o, "language_code", p.Lang)
	return o
}

func (s *Sandbox) showChat(c *chat) obj {
	o := obj{"id": c.ID, "type": c.Type}
	if p := s.personByID(c.ID); p != nil {
		o["first_name"] = p.FirstName
		put(o, "last_name", p.LastName)
		put(o, "username", p.Username)
		return o
	}
	put(o, "title", c.Title)
	put(o, "username", c.Username)
	return o
}

func put(o obj, key, value string) {
	if value != "" {
		o[key] = value
	}
}

// member writes a ChatMember for somebody in a chat.
func (s *Sandbox) member(c *chat, user int64) obj {
	o := obj{"user": s.showUser(user)}
	switch {
	case user == s.botID:
		status := c.BotStatus
		if status == "" {
			status = statusLeft
		}
		o["status"] = status
		if status == statusAdmin {
			o["can_be_edited"] = false
			rights(o, c.BotRights, c.Type)
		}
		if status == statusKicked {
			o["until_date"] = 0
		}
	case user == c.Owner:
		o["status"], o["is_anonymous"] = statusOwner, false
	case c.Admins[user] != nil:
		o["status"], o["can_be_edited"] = statusAdmin, false
		rights(o, c.Admins[user], c.Type)
	case c.hasMember(user):
		o["status"] = statusMember
	default:
		o["status"] = statusLeft
	}
	return o
}

func (c *chat) hasMember(user int64) bool {
	for _, m := range c.Members {
		if m == user {
			return true
		}
	}
	return false
}

// rights writes every administrator right, as the API always does.
func rights(o obj, has map[string]bool, chatType string) {
	names := []string{
		"can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members", "can_promote_members",
		"can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories", "can_delete_stories",
	}
	if chatType == typeChannel {
		names = append(names, "can_post_messages", "can_edit_messages", "can_manage_direct_messages")
	} else {
		names = append(names, "can_pin_messages", "can_manage_topics")
	}
	o["is_anonymous"] = false
	for _, n := range names {
		o[n] = has[n] || n == "can_manage_chat"
	}
}
