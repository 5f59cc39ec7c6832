package sandbox

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// target resolves the chat that a call writes to and checks that the bot may.
func (s *Sandbox) target(a args) (*chat, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, e
	}
	if c.Type == typePrivate {
		return c, s.mayWriteTo(s.personByID(c.ID))
	}
	if c.Type == typeChannel && !c.can("can_post_messages") {
		return nil, badRequest("need administrator rights in the channel chat")
	}
	return c, s.rateLimit(c)
}

func (s *Sandbox) known(a args, field string) (*chat, *apiError) {
	ref := a.str(field)
	if ref == "" {
		return nil, badRequest(field + " is empty")
	}
	c := s.chatByRef(ref)
	if c == nil || c.Deleted {
		return nil, badRequest("chat not found")
	}
	if c.MigratedTo != 0 {
		e := badRequest("group chat was upgraded to a supergroup chat")
		e.MigrateTo = c.MigratedTo
		return nil, e
	}
	return c, nil
}

func (s *Sandbox) mayWriteTo(p *person) *apiError {
	switch {
	case p == nil:
		return badRequest("chat not found")
	case p.Deleted:
		return forbidden("user is deactivated")
	case p.Blocked:
		return forbidden("bot was blocked by the user")
	case !p.Started:
		return forbidden("bot can't initiate conversation with a user")
	}
	return nil
}

// mayRead follows check_chat_access of the Bot API server: a public chat can be
// read from outside, a private one only by members.
func (s *Sandbox) mayRead(c *chat, edit bool) *apiError {
	if c.Type == typePrivate {
		return nil
	}
	switch {
	case c.BotStatus == statusKicked:
		return forbidden("bot was kicked from the " + c.Type + " chat")
	case !c.botIsMember() && (edit || c.Username == ""):
		return forbidden("bot is not a member of the " + c.Type + " chat")
	}
	return nil
}

func (c *chat) botIsMember() bool { return c.BotStatus == statusAdmin || c.BotStatus == statusMember }

// can reports a right of the bot in the chat.
func (c *chat) can(right string) bool { return c.BotStatus == statusAdmin && c.BotRights[right] }

// rateLimit answers 429 beyond Telegram's rates, if that was asked for.
func (s *Sandbox) rateLimit(c *chat) *apiError {
	if !s.cfg.EnforceLimits {
		return nil
	}
	now := s.now()
	recent := s.rates[c.ID][:0]
	for _, t := range s.rates[c.ID] {
		if now.Sub(t).Minutes() < 1 {
			recent = append(recent, t)
		}
	}
	if len(recent) >= 20 {
		s.rates[c.ID] = recent
		after := 60 - int(now.Sub(recent[0]).Seconds())
		return &apiError{Code: 429, Description: "Too Many Requests: retry after " + itoa(after), RetryAfter: after}
	}
	s.rates[c.ID] = append(recent, now)
	return nil
}

// messageArg finds the message that a call names.
func (s *Sandbox) messageArg(c *chat, a args, what string) (*message, *apiError) {
	id := a.integer("message_id", 0, 0, 1<<31)
	if a.str("message_id") == "" || id == 0 {
		return nil, badRequest("message identifier is not specified")
	}
	if c.Type != typePrivate && !c.botIsMember() {
		return nil, badRequest(what + " not found")
	}
	m := c.find(int(id))
	if m == nil {
		return nil, badRequest(what + " not found")
	}
	return m, nil
}

// ours says whether the bot sent it; posts in channels have no visible author.
func (s *Sandbox) ours(m *message) bool { return m.From == s.botID || m.Author == s.botID }
