package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// updateFaults are disorders of the update queue, each for the next N updates.
type updateFaults struct {
	duplicate int // the same event under a second id
	redeliver int // confirmed, and delivered once more with the same id
	reorder   int // swapped with the one before it, if nobody has seen that one yet

	losePayments int // of a payment: it never comes
}

// UpdateFault orders disorder: kind is "duplicate", "redeliver",
// "reorder" or "lose_payment" (the next payments are made, and no update tells of them).
func (s *Sandbox) UpdateFault(kind string, times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case "duplicate":
		s.queueing.duplicate = times
	case "redeliver":
		s.queueing.redeliver = times
	case "reorder":
		s.queueing.reorder = times
	case "lose_payment":
		s.queueing.losePayments = times
	default:
		return false
	}
	return true
}

// optIn are the kinds that come only if allowed_updates names them.
func optIn(kind string) bool {
	return kind == "chat_member" || kind == "message_reaction" || kind == "message_reaction_count"
}

// enqueue puts an event into the bot's queue; the caller holds mu.
func (s *Sandbox) enqueue(kind string, chatID int64, body any) {
	if len(s.w.AllowedTypes) == 0 && optIn(kind) || len(s.w.AllowedTypes) > 0 && !slices.Contains(s.w.AllowedTypes, kind) {
		return
	}
	s.push(kind, chatID, raw(body))
	if s.queueing.duplicate > 0 {
		s.queueing.duplicate--
		s.push(kind, chatID, raw(body))
	}
	if n := len(s.w.Updates); s.queueing.reorder > 0 && n >= 2 && !s.w.Updates[n-2].Told {
		s.queueing.reorder--
		a, b := &s.w.Updates[n-2], &s.w.Updates[n-1]
		a.Type, b.Type, a.Chat, b.Chat, a.Body, b.Body = b.Type, a.Type, b.Chat, a.Chat, b.Body, a.Body
	}
}

func (s *Sandbox) push(kind string, chatID int64, body json.RawMessage) int64 {
	s.w.NextUpdate++
	s.w.Updates = append(s.w.Updates, update{ID: s.w.NextUpdate, Type: kind, Chat: chatID, Body: body, Date: s.unix()})
	s.touch(0)
	return s.w.NextUpdate
}

// Inject queues a raw event as it is: unknown kinds and members included.
func (s *Sandbox) Inject(fields map[string]json.RawMessage) int64 {
	defer s.lock()()
	for kind, body := range fields {
		if kind != "update_id" {
			return s.push(kind, 0, body)
		}
	}
	return s.push("", 0, nil)
}

func (u update) show() obj {
	if u.Type == "" {
		return obj{"update_id": u.ID}
	}
	return obj{"update_id": u.ID, u.Type: u.Body}
}

// tell shows an update to the bot and notes that it was; the caller holds mu.
func (s *Sandbox) tell(u *update) obj {
	s.dirty = s.dirty || !u.Told
	u.Told = true
	return u.show()
}

const (
	conflictWebhook = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
	conflictPoller  = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	conflictSet     = "Conflict: terminated by setWebhook request"
)

// getUpdates is the one method that waits, so it manages the lock by itself.
func (s *Sandbox) getUpdates(w http.ResponseWriter, r *http.Request, a args) {
	unlock := s.lock()
	if f := s.takeFault("getupdates", a); f != nil && f.Kind != FaultSlow {
		unlock()
		f.play(w, r, http.StatusOK, obj{"ok": true, "result": []obj{}})
		return
	}
	if s.w.Webhook.URL != "" {
		unlock()
		status, body := answerBody(nil, &apiError{Code: http.StatusConflict, Description: conflictWebhook})
		writeJSON(w, status, body)
		return
	}
	if e := s.allow(a); e != nil {
		unlock()
		status, body := answerBody(nil, e)
		writeJSON(w, status, body)
		return
	}
	if s.poll != nil { // the one that waits already loses
		close(s.poll)
		s.poll = nil
	}
	offset, limit := a.integer("offset", 0, -1<<31, 1<<31), a.integer("limit", 100, 1, 100)
	s.confirm(offset)
	deadline := time.Now().Add(time.Duration(a.integer("timeout", 0, 0, 50)) * time.Second)
	s.waitForUpdates(w, r, unlock, int(limit), deadline)
}

func (s *Sandbox) waitForUpdates(w http.ResponseWriter, r *http.Request, unlock func(), limit int, deadline time.Time) {
	mine := make(chan struct{})
	for {
		wait := time.Until(deadline)
		if len(s.w.Updates) > 0 || wait <= 0 {
			list := make([]obj, 0, limit)
			for i := range s.w.Updates[:min(limit, len(s.w.Updates))] {
				list = append(list, s.tell(&s.w.Updates[i]))
			}
			unlock()
			writeJSON(w, http.StatusOK, obj{"ok": true, "result": list})
			return
		}
		s.poll = mine
		changed := s.changed
		unlock()
		timer := time.NewTimer(wait)
		select {
		case <-mine:
			timer.Stop()
			status, body := answerBody(nil, &apiError{Code: http.StatusConflict, Description: s.conflict()})
			writeJSON(w, status, body)
			return
		case <-r.Context().Done():
		case <-s.closing:
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
		unlock = s.lock()
		if s.poll == mine {
			s.poll = nil
		} else {
			continue // closed meanwhile: the next round answers with the conflict
		}
		if r.Context().Err() != nil {
			unlock()
			return
		}
		select {
		case <-s.closing:
			deadline = time.Time{}
		default:
		}
	}
}

func (s *Sandbox) conflict() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w.Webhook.URL != "" {
		return conflictSet
	}
	return conflictPoller
}

// allow keeps allowed_updates until the next call that names them.
func (s *Sandbox) allow(a args) *apiError {
	list := a.str("allowed_updates")
	if list == "" {
		return nil
	}
	var kinds []string
	if err := json.Unmarshal([]byte(list), &kinds); err != nil {
		return badRequest("can't parse allowed_updates JSON object")
	}
	if !slices.Equal(kinds, s.w.AllowedTypes) {
		s.w.AllowedTypes, s.dirty = kinds, true
	}
	return nil
}

// confirm forgets what an offset confirms: all below a positive one, all but
// the last -n with a negative one, nothing with zero.
func (s *Sandbox) confirm(offset int64) {
	switch {
	case offset > 0:
		kept := s.w.Updates[:0]
		for _, u := range s.w.Updates {
			if u.ID >= offset {
				kept = append(kept, u)
			} else if s.queueing.redeliver > 0 {
				s.queueing.redeliver--
				kept = append(kept, u)
			}
		}
		s.dirty = s.dirty || len(kept) != len(s.w.Updates)
		s.w.Updates = kept
	case offset < 0:
		if n := len(s.w.Updates) + int(offset); n > 0 {
			s.w.Updates, s.dirty = s.w.Updates[n:], true
		}
	}
}

func (s *Sandbox) setWebhook(a args) (any, *apiError) {
	address := a.str("url")
	if address == "" {
		return s.deleteWebhook(a)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, badRequest("bad webhook: invalid webhook URL specified")
	}
	if u.Scheme != "https" && !loopback(address) {
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	secret := a.str("secret_token")
	if len(secret) > 256 {
		return nil, badRequest("secret token is too long")
	}
	if strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return nil, badRequest("secret token contains unallowed characters")
	}
	if e := s.allow(a); e != nil {
		return nil, e
	}
	if a.boolean("drop_pending_updates") {
		s.w.Updates = nil
	}
	s.w.Webhook = webhook{URL: address, Secret: secret, MaxConn: int(a.integer("max_connections", 40, 1, 100))}
	if s.poll != nil {
		close(s.poll)
		s.poll = nil
	}
	s.touch(0)
	return true, nil
}

func (s *Sandbox) deleteWebhook(a args) (any, *apiError) {
	if a.boolean("drop_pending_updates") {
		s.w.Updates = nil
	}
	s.w.Webhook = webhook{}
	s.touch(0)
	return true, nil
}

func (s *Sandbox) getWebhookInfo(args) (any, *apiError) {
	h := s.w.Webhook
	o := obj{"url": h.URL, "has_custom_certificate": false, "pending_update_count": len(s.w.Updates)}
	if h.URL != "" {
		o["max_connections"], o["ip_address"] = h.MaxConn, "127.0.0.1"
	}
	if h.LastError != "" {
		o["last_error_message"], o["last_error_date"] = h.LastError, h.ErrorDate
	}
	if len(s.w.AllowedTypes) > 0 {
		o["allowed_updates"] = s.w.AllowedTypes
	}
	return o, nil
}

// pushLoop delivers to the webhook: in order within a chat, otherwise at once.
func (s *Sandbox) pushLoop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		s.mu.Lock()
		changed, hook := s.changed, s.w.Webhook
		if hook.URL != "" {
			for i, u := range s.w.Updates {
				if s.pushing[u.Chat] || len(s.pushing) >= hook.MaxConn {
					continue
				}
				s.pushing[u.Chat] = true
				body := s.tell(&s.w.Updates[i])
				s.pushers.Go(func() { s.deliver(ctx, hook, u, body) })
			}
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-s.closing:
			return
		}
	}
}

// deliver posts one update; what is not answered with 2xx comes again.
func (s *Sandbox) deliver(ctx context.Context, hook webhook, u update, body obj) {
	failure := ""
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, strings.NewReader(string(raw(body))))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
		if hook.Secret != "" {
			req.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.Secret)
		}
		var resp *http.Response
		if resp, err = s.cfg.Webhooks.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 200 || resp.StatusCode > 299 {
				failure = "Wrong response from the webhook: " + resp.Status
			}
		}
	}
	if err != nil {
		failure = "Connection failed"
	}
	if failure != "" {
		select {
		case <-time.After(300 * time.Millisecond):
		case <-s.closing:
		}
	}
	defer s.lock()()
	delete(s.pushing, u.Chat)
	if failure != "" {
		s.w.Webhook.LastError, s.w.Webhook.ErrorDate = failure, s.unix()
	} else if s.queueing.redeliver > 0 {
		s.queueing.redeliver--
	} else {
		s.w.Updates = slices.DeleteFunc(s.w.Updates, func(x update) bool { return x.ID == u.ID })
	}
	s.touch(0)
}
