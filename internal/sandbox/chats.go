package sandbox

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

func (s *Sandbox) getChat(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if e := s.mayRead(c, false); e != nil {
		return nil, e
	}
	o := s.showChat(c)
	o["accent_color_id"] = 0
	o["max_reaction_count"] = 11
	o["accepted_gift_types"] = obj{"unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false, "premium_subscription": false, "gifts_from_channels": false}
	if c.Type != typePrivate {
		put(o, "description", c.About)
		if c.Username != "" {
			o["active_usernames"] = []string{c.Username}
		}
	}
	return o, nil
}

func (s *Sandbox) getChatMember(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	user, err := strconv.ParseInt(a.str("user_id"), 10, 64)
	if err != nil || user <= 0 {
		return nil, badRequest("invalid user_id specified")
	}
	if e := s.mayRead(c, user != s.botID); e != nil {
		return nil, e
	}
	if user != s.botID && c.Type == typeChannel && c.BotStatus != statusAdmin {
		return nil, badRequest("CHAT_ADMIN_REQUIRED")
	}
	if user != s.botID && s.personByID(user) == nil {
		return nil, badRequest("PARTICIPANT_ID_INVALID")
	}
	return s.member(c, user), nil
}

func (s *Sandbox) getChatAdministrators(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if c.Type == typePrivate {
		return nil, badRequest("there are no administrators in the private chat")
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, e
	}
	if c.BotStatus != statusAdmin {
		return nil, badRequest("member list is inaccessible")
	}
	list := []obj{s.member(c, c.Owner)}
	for _, id := range slices.Sorted(maps.Keys(c.Admins)) {
		list = append(list, s.member(c, id))
	}
	// The bot itself is listed; other bots would not be.
	return append(list, s.member(c, s.botID)), nil
}

func (s *Sandbox) getChatMemberCount(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, e
	}
	return max(c.Followers, len(c.Members)), nil
}

func (s *Sandbox) leaveChat(a args) (any, *apiError) {
	c, e := s.known(a, "chat_id")
	if e != nil {
		return nil, e
	}
	if c.Type == typePrivate {
		return nil, badRequest("chat member status can't be changed in private chats")
	}
	if e := s.mayRead(c, true); e != nil {
		return nil, e
	}
	s.setStanding(c, s.botID, statusLeft, nil)
	return true, nil
}

// setStanding changes what the bot is in a chat and tells it; by is who did it.
func (s *Sandbox) setStanding(c *chat, by int64, status string, has map[string]bool) {
	before := s.member(c, s.botID)
	c.BotStatus, c.BotRights = status, has
	after := s.member(c, s.botID)
	s.touch(c.ID)
	s.enqueue("my_chat_member", c.ID, obj{
		"chat": s.showChat(c), "from": s.showUser(by), "date": s.unix(), "old_chat_member": before, "new_chat_member": after,
	})
}

// setBlocked lets a person block or unblock the bot.
func (s *Sandbox) setBlocked(p *person, blocked bool) {
	if p.Blocked == blocked {
		return
	}
	standing := func(blocked bool) obj {
		o := obj{"user": s.botUser(), "status": statusMember}
		if blocked {
			o["status"], o["until_date"] = statusKicked, 0
		}
		return o
	}
	p.Blocked = blocked
	s.touch(p.ID)
	s.enqueue("my_chat_member", p.ID, obj{
		"chat": s.showChat(s.privateChat(p)), "from": s.showUser(p.ID), "date": s.unix(),
		"old_chat_member": standing(!blocked), "new_chat_member": standing(blocked),
	})
}

var commandName = regexp.MustCompile(`^/?[a-z0-9_]{1,32}$`)

func (s *Sandbox) setMyCommands(a args) (any, *apiError) {
	if a.str("commands") == "" {
		return nil, badRequest("can't parse commands JSON object")
	}
	var list []struct{ Command, Description string }
	if err := json.Unmarshal([]byte(a.str("commands")), &list); err != nil {
		return nil, badRequest("expected an Array of BotCommand")
	}
	if len(list) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range list {
		if !commandName.MatchString(c.Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := len([]rune(c.Description)); n < 1 || n > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.w.Commands[a.str("scope")+"|"+a.str("language_code")] = json.RawMessage(a.str("commands"))
	s.touch(0)
	return true, nil
}

func (s *Sandbox) getMyCommands(a args) (any, *apiError) {
	if list, ok := s.w.Commands[a.str("scope")+"|"+a.str("language_code")]; ok {
		return list, nil
	}
	return []obj{}, nil
}

func (s *Sandbox) deleteMyCommands(a args) (any, *apiError) {
	delete(s.w.Commands, a.str("scope")+"|"+a.str("language_code"))
	s.touch(0)
	return true, nil
}

// profile makes the methods that set the bot's name and descriptions.
func profile(field string, limit int) method {
	return func(s *Sandbox, a args) (any, *apiError) {
		if len([]rune(a.str(field))) > limit {
			return nil, badRequest("bot " + field + " is too long")
		}
		s.w.Profile[field+"|"+a.str("language_code")] = a.str(field)
		s.touch(0)
		return true, nil
	}
}

func (s *Sandbox) setChatMenuButton(a args) (any, *apiError) {
	id := a.integer("chat_id", 0, -1<<62, 1<<62)
	if id != 0 && s.personByID(id) == nil {
		return nil, badRequest("chat not found")
	}
	b := a.str("menu_button")
	if b == "" {
		delete(s.w.Menus, id)
		s.touch(id)
		return true, nil
	}
	var in struct {
		Type, Text string
		WebApp     *webApp `json:"web_app"`
	}
	if err := json.Unmarshal([]byte(b), &in); err != nil {
		return nil, badRequest("can't parse menu button JSON object")
	}
	switch in.Type {
	case "commands", "default":
	case "web_app":
		if in.Text == "" || in.WebApp == nil {
			return nil, badRequest("can't parse menu button: MenuButtonWebApp must have text and web_app")
		}
		if !webAppAddress(in.WebApp.URL) {
			return nil, badRequest("menu button Web App URL '" + in.WebApp.URL + "' is invalid: Only HTTPS links are allowed")
		}
	default:
		return nil, badRequest("menuButton has unsupported type")
	}
	s.w.Menus[id] = json.RawMessage(b)
	s.touch(id)
	return true, nil
}

func (s *Sandbox) getChatMenuButton(a args) (any, *apiError) {
	return s.menuOf(a.integer("chat_id", 0, -1<<62, 1<<62)), nil
}

// menuOf is the button beside the input field in somebody's chat.
func (s *Sandbox) menuOf(chatID int64) json.RawMessage {
	for _, id := range []int64{chatID, 0} {
		if b, ok := s.w.Menus[id]; ok {
			return b
		}
	}
	return raw(obj{"type": "commands"})
}
