package sandbox

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/telegram/html"
)

// What people do. Every function holds mu by its caller and returns a plain
// sentence where it cannot be done.

// say sends a message of a person: into the chat with the bot, or as a post
// into a channel that the person runs. Of said it takes text, photo and document.
func (s *Sandbox) say(p *person, c *chat, said message) (*message, string) {
	t, err := html.Clean(html.Text{Text: said.Text})
	if err != nil && said.Photo == "" && said.Document == "" {
		return nil, "the message is empty"
	}
	m := &message{From: p.ID, Text: t.Text, Photo: said.Photo, Document: said.Document}
	switch {
	case c.Type == typePrivate && c.ID == p.ID:
		if p.Blocked {
			s.setBlocked(p, false)
		}
		p.Started = true
		s.add(c, m)
		s.enqueue("message", c.ID, s.show(c, m))
	case c.Type == typeChannel && c.Owner == p.ID:
		m.From, m.Author = 0, p.ID
		s.add(c, m)
		if c.BotStatus == statusAdmin {
			s.enqueue("channel_post", c.ID, s.show(c, m))
		}
	default:
		return nil, p.name() + " cannot write there"
	}
	return m, ""
}

// amend edits a person's own message or post.
func (s *Sandbox) amend(p *person, c *chat, m *message, text string) string {
	t, err := html.Clean(html.Text{Text: text})
	if err != nil {
		return "the message is empty"
	}
	if m.From != p.ID && m.Author != p.ID {
		return "not " + p.name() + "'s message"
	}
	m.Text, m.Entities, m.Edited = t.Text, nil, s.unix()
	s.touch(c.ID)
	kind := "edited_message"
	if c.Type == typeChannel {
		kind = "edited_channel_post"
		if c.BotStatus != statusAdmin {
			return ""
		}
	}
	s.enqueue(kind, c.ID, s.show(c, m))
	return ""
}

// tap presses a button with callback data.
func (s *Sandbox) tap(p *person, c *chat, m *message, data string) (*callback, string) {
	if !strings.Contains(string(m.Markup), string(raw(data))) {
		return nil, "the message has no such button now"
	}
	cb := &callback{ID: strconv.FormatInt(p.ID, 10) + randomID(6), Person: p.ID, ChatID: c.ID, Message: m.ID, Data: data, Date: s.unix()}
	s.w.Callbacks[cb.ID], s.dirty = cb, true
	s.enqueue("callback_query", c.ID, obj{
		"id": cb.ID, "from": s.showUser(p.ID), "message": s.show(c, m), "chat_instance": strconv.FormatInt(c.ID*7919, 10), "data": data,
	})
	s.forgetCallbacks()
	return cb, ""
}

func (s *Sandbox) forgetCallbacks() {
	for id, cb := range s.w.Callbacks {
		if s.unix()-cb.Date > 2*int64(callbackAge.Seconds()) {
			delete(s.w.Callbacks, id)
		}
	}
}

// forward sends a message on to the chat with the bot.
func (s *Sandbox) forward(p *person, from *chat, m *message) (*message, string) {
	if from.Type == typePrivate && from.ID != p.ID {
		return nil, p.name() + " does not see that chat"
	}
	if m.Service != nil || m.Protect {
		return nil, "the message cannot be forwarded"
	}
	c := s.privateChat(p)
	out := &message{From: p.ID, Text: m.Text, Entities: slices.Clone(m.Entities), Photo: m.Photo, Document: m.Document, Origin: m.Origin}
	if out.Origin == nil {
		out.Origin = s.originOf(from, m)
	}
	p.Started = true
	s.add(c, out)
	s.enqueue("message", c.ID, s.show(c, out))
	return out, ""
}

// wanted finds the request_chat button that the person's keyboard shows.
func (c *chat) wanted(requestID int32) *requestChat {
	var k struct {
		Keyboard [][]json.RawMessage `json:"keyboard"`
	}
	if json.Unmarshal(c.Keyboard, &k) != nil {
		return nil
	}
	for _, row := range k.Keyboard {
		for _, one := range row {
			var b keyButton
			if json.Unmarshal(one, &b) == nil && b.RequestChat != nil && b.RequestChat.RequestID != nil && *b.RequestChat.RequestID == requestID {
				return b.RequestChat
			}
		}
	}
	return nil
}

// pick answers a request_chat button: the client adds the bot with the rights
// that it asked for, then shares the chat. withhold leaves the rights out, as a
// person can.
func (s *Sandbox) pick(p *person, requestID int32, c *chat, withhold bool) string {
	private := s.privateChat(p)
	req := private.wanted(requestID)
	if req == nil {
		return "no button asks for that"
	}
	if c.Owner != p.ID || (c.Type == typeChannel) != *req.ChatIsChannel {
		return "that chat cannot be picked"
	}
	if req.BotRights != nil && !withhold {
		has := map[string]bool{}
		for right, on := range req.BotRights {
			has[right] = on
		}
		for right, on := range c.BotRights {
			has[right] = has[right] || on
		}
		if c.BotStatus != statusAdmin || !sameRights(c.BotRights, has) {
			s.setStanding(c, p.ID, statusAdmin, has)
		}
	}
	shared := obj{"request_id": requestID, "chat_id": c.ID}
	if req.RequestTitle {
		shared["title"] = c.Title
	}
	if req.RequestName && c.Username != "" {
		shared["username"] = c.Username
	}
	m := s.add(private, &message{From: p.ID, Service: raw(obj{"chat_shared": shared})})
	s.enqueue("message", private.ID, s.show(private, m))
	return ""
}

func sameRights(a, b map[string]bool) bool {
	for k, v := range b {
		if a[k] != v {
			return false
		}
	}
	return true
}
