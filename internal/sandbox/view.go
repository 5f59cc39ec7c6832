package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// What the page and tests look at.

// getState is everything that one person's screen needs: who there is, the
// person's chats with their last message, the bot's commands and menu button.
func (s *Sandbox) getState(r *http.Request, _ *request) (any, error) {
	defer s.lock()()
	people := make([]obj, 0, len(s.w.People))
	for _, p := range s.w.People {
		people = append(people, s.describe(p))
	}
	id, _ := strconv.ParseInt(r.URL.Query().Get("person"), 10, 64)
	me := s.personByID(id)
	if me == nil && len(s.w.People) > 0 {
		me = s.w.People[0]
	}
	out := obj{"version": s.version, "people": people, "bot": s.botUser(), "description": s.w.Profile["description|"]}
	if me != nil {
		out["me"] = s.describe(me)
		out["chats"] = s.chatsOf(me)
		out["menu"] = s.menuOf(me.ID)
		out["commands"] = s.commandsFor(me)
	}
	return out, nil
}

// chatsOf lists the chat with the bot, then all channels, newest first: the
// person's own, and others to read and forward from.
func (s *Sandbox) chatsOf(p *person) []obj {
	list := []*chat{}
	for _, c := range s.w.Chats {
		if c.Type != typePrivate && !c.Deleted {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *chat) int {
		return cmp.Or(cmp.Compare(b2i(b.Owner == p.ID), b2i(a.Owner == p.ID)), cmp.Compare(a.Title, b.Title))
	})
	out := []obj{s.summary(s.privateChat(p), p.ID)}
	for _, c := range list {
		out = append(out, s.summary(c, p.ID))
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Sandbox) summary(c *chat, viewer int64) obj {
	o := obj{
		"id": c.ID, "type": c.Type, "title": c.Title, "username": c.Username, "about": c.About, "owner": c.Owner,
		"mine": c.Owner == viewer, "bot_status": c.BotStatus, "bot_rights": c.BotRights, "followers": c.Followers,
		"no_preview": c.NoPreview, "last_id": c.LastID, "version": s.touched[c.ID],
	}
	if c.Type == typePrivate {
		o["title"], o["username"] = s.cfg.BotName, s.cfg.BotUsername
	}
	if n := len(c.Messages); n > 0 {
		o["last"] = s.show(c, c.Messages[n-1])
	}
	return o
}

// commandsFor picks the list that a client would show: the person's chat, then
// private chats, then the default, each in the person's language first.
func (s *Sandbox) commandsFor(p *person) json.RawMessage {
	for _, scope := range []string{
		string(raw(obj{"type": "chat", "chat_id": p.ID})), `{"type":"all_private_chats"}`, `{"type":"default"}`, "",
	} {
		for _, lang := range []string{p.Lang, ""} {
			if list, ok := s.w.Commands[scope+"|"+lang]; ok {
				return list
			}
		}
	}
	return json.RawMessage("[]")
}

// getChanges waits until something is newer than since: {version, chats: [ids]}.
func (s *Sandbox) getChanges(r *http.Request, _ *request) (any, error) {
	since, _ := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	seconds, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	deadline := time.Now().Add(time.Duration(min(seconds, 50)) * time.Second)
	for {
		s.mu.Lock()
		version, changed := s.version, s.changed
		ids := []int64{}
		for id, v := range s.touched {
			if v > since {
				ids = append(ids, id)
			}
		}
		s.mu.Unlock()
		left := time.Until(deadline)
		if version != since || left <= 0 {
			return obj{"version": version, "chats": ids}, nil
		}
		select {
		case <-changed:
		case <-time.After(left):
		case <-s.closing:
			return obj{"version": version, "chats": ids}, nil
		case <-r.Context().Done():
			return obj{"version": version, "chats": ids}, nil
		}
	}
}

// getCalls lists what the bot asked for, after an id and by method.
func (s *Sandbox) getCalls(r *http.Request, _ *request) (any, error) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	name := r.URL.Query().Get("method")
	return s.Calls(after, name), nil
}

// Calls lists the bot's requests after an id; name filters by method, in lower
// case. getUpdates is never listed.
func (s *Sandbox) Calls(after int64, name string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Call{}
	for _, c := range s.calls {
		if c.ID > after && (name == "" || c.Method == name) {
			list = append(list, c)
		}
	}
	return list
}

func (s *Sandbox) getFaults(*http.Request, *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Fault{}
	for _, f := range s.faults {
		list = append(list, *f)
	}
	return list, nil
}

func (s *Sandbox) postFault(_ *http.Request, in *request) (any, error) {
	var f Fault
	if err := json.Unmarshal(in.raw, &f); err != nil {
		return nil, err
	}
	switch f.Kind {
	case FaultLost, FaultReset, FaultHang, FaultSlow, FaultTooMany, FaultStatus, FaultHTML, FaultCut, FaultNull, FaultMigrated, FaultZeroID:
		return obj{"id": s.AddFault(f)}, nil
	}
	return nil, cannot("unknown kind of fault")
}

func (s *Sandbox) deleteFaults(*http.Request, *request) (any, error) {
	s.ClearFaults()
	return obj{"ok": true}, nil
}

func (s *Sandbox) postUpdateFault(_ *http.Request, in *request) (any, error) {
	if !s.UpdateFault(in.Kind, max(in.Times, 1)) {
		return nil, cannot(`kind is "duplicate", "redeliver", "reorder" or "lose_payment"`)
	}
	return obj{"ok": true}, nil
}

// postUpdate queues the body as an update; update_id is ours.
func (s *Sandbox) postUpdate(_ *http.Request, in *request) (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(in.raw, &fields); err != nil {
		return nil, err
	}
	return obj{"update_id": s.Inject(fields)}, nil
}

// getPending shows how many updates wait unconfirmed.
func (s *Sandbox) getPending(*http.Request, *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return obj{"pending": len(s.w.Updates), "next_id": s.w.NextUpdate + 1}, nil
}

func (s *Sandbox) getPermissions(r *http.Request, _ *request) (any, error) {
	defer s.lock()()
	c := s.chatByRef(r.PathValue("id"))
	if c == nil {
		return nil, errNoSuch
	}
	return s.member(c, s.botID), nil
}

// getLinkPreview describes the page behind a link for the chat page's cards.
func (s *Sandbox) getLinkPreview(r *http.Request, _ *request) (any, error) {
	address := r.URL.Query().Get("url")
	if s.cfg.Preview != nil {
		if p, ok := s.cfg.Preview(address); ok {
			return p, nil
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errNoSuch
	}
	return LinkPreview{Site: u.Host}, nil
}

// webAppURL writes the fragment that Telegram's web client hands to a Mini App.
func webAppURL(address, data string) string {
	fragment := url.Values{
		"tgWebAppData": {data}, "tgWebAppVersion": {"9.1"}, "tgWebAppPlatform": {"weba"},
	}.Encode()
	base, old, has := cutFragment(address)
	if has && old != "" {
		fragment = old + "&" + fragment
	}
	return base + "#" + fragment
}

func cutFragment(address string) (base, fragment string, has bool) {
	for i := range len(address) {
		if address[i] == '#' {
			return address[:i], address[i+1:], true
		}
	}
	return address, "", false
}
