package miniapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/telegram/initdata"
)

// sessionLasts is how long a page stays signed in; Telegram's data open it only
// within their first hour.
const sessionLasts = 12 * time.Hour

// sessions signs and checks the page's own tokens. They are no rows: a token
// says who and until when, and whether that person is still let in is asked at
// every request.
type sessions struct {
	key []byte
	now func() time.Time
}

// newSessions derives the key from the bot's token: every process of the bot
// takes the sessions of the others, another bot's are worth nothing, and
// revoking the token ends them all.
func newSessions(token string, now func() time.Time) sessions {
	mac := hmac.New(sha256.New, []byte("postonce mini app session 1"))
	mac.Write([]byte(token))
	return sessions{key: mac.Sum(nil), now: now}
}

var errSession = errors.New("the session is not one of ours or has ended")

func (s sessions) mac(body string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// issue returns a token for a person and the time when it ends.
func (s sessions) issue(person int64) (string, time.Time) {
	until := s.now().Add(sessionLasts).Truncate(time.Second)
	body := fmt.Sprintf("%d.%d", person, until.Unix())
	return body + "." + s.mac(body), until
}

// check returns the person of a token and when it ends.
func (s sessions) check(token string) (int64, time.Time, error) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !hmac.Equal([]byte(token[at+1:]), []byte(s.mac(token[:at]))) {
		return 0, time.Time{}, errSession
	}
	who, when, _ := strings.Cut(token[:at], ".")
	person, err1 := strconv.ParseInt(who, 10, 64)
	unix, err2 := strconv.ParseInt(when, 10, 64)
	until := time.Unix(unix, 0).UTC()
	if err1 != nil || err2 != nil || !s.now().Before(until) {
		return 0, time.Time{}, errSession
	}
	return person, until, nil
}

func unauthorised(code, title string) problem {
	return problem{Status: http.StatusUnauthorized, Code: code, Title: title}
}

// admit finds out who asks, and whether he is still let in.
func (s *Server) admit(c *call) error {
	scheme, token, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		person, _, err := s.sessions.check(token)
		if err != nil {
			return unauthorised("session.expired", "The session has ended.")
		}
		return s.enter(c, person)
	case strings.EqualFold(scheme, "tma"):
		// Scripts may come with Telegram's data at each request, without a session.
		data, err := s.launched(token)
		if err != nil {
			return err
		}
		return s.enter(c, data.User.ID)
	}
	c.w.Header().Set("WWW-Authenticate", "tma")
	return unauthorised("session.missing", "Authorization: tma <initData> or Bearer <session> is missing.")
}

func (s *Server) enter(c *call, id int64) error {
	p, err := s.cfg.Desk.Person(c.Context(), id)
	if desk.CodeOf(err) == desk.CodeNotYours {
		return unauthorised("session.expired", "The person is not known.")
	}
	if err != nil {
		return err
	}
	return s.let(c, p)
}

func (s *Server) let(c *call, p editorial.Person) error {
	if !s.cfg.Desk.Admitted(p) {
		return &desk.Error{Code: desk.CodeNoAccess}
	}
	c.by, c.person = p.ID, p
	return nil
}

// launched checks Telegram's launch data.
func (s *Server) launched(raw string) (initdata.Data, error) {
	data, err := initdata.Validate(raw, s.cfg.Token, s.cfg.Now(), 0)
	switch {
	case errors.Is(err, initdata.ErrExpired), errors.Is(err, initdata.ErrFuture):
		return data, unauthorised("session.expired", "The launch data are too old, or from the future.")
	case err != nil:
		return data, unauthorised("session.refused", "The launch data are not signed for this bot.")
	case data.User.ID == 0 || data.User.IsBot:
		return data, unauthorised("session.refused", "The launch data name no person.")
	}
	return data, nil
}

// sessionWire answers openSession.
type sessionWire struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	meWire
	First *firstWire `json:"first,omitempty"` // with ?first=
}

// firstWire is what the page shows first, so that it need not ask once more: the
// week of a channel, and the stamps of just before, from which it listens on.
type firstWire struct {
	ChannelID int64       `json:"channel_id"`
	Changes   changesWire `json:"changes"`
	Plan      planWire    `json:"plan"`
}

// firstOf reads the channel that was asked for, if it is one of the person's, or
// the one that the chat speaks of, or any.
func (s *Server) firstOf(c *call, me meWire) (*firstWire, error) {
	asked, err := c.number("first", 0, 0, math.MaxInt64)
	if err != nil || len(me.Channels) == 0 || !c.URL.Query().Has("first") {
		return nil, err
	}
	res := firstWire{ChannelID: me.Channels[0].ID}
	for _, want := range []int64{me.Person.ChannelID, asked} {
		if slices.ContainsFunc(me.Channels, func(l channelLine) bool { return l.ID == want }) {
			res.ChannelID = want
		}
	}
	if res.Changes, err = s.stamps.of(c.Context(), res.ChannelID); err != nil {
		return nil, err
	}
	res.Plan, err = s.planOf(c, res.ChannelID, "", weekDays)
	return &res, err
}

// openSession takes Telegram's data once and gives a session; with a session it says who that is.
func (s *Server) openSession(c *call) (reply, error) {
	var res sessionWire
	scheme, token, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "tma") {
		data, err := s.launched(token)
		if err != nil {
			return reply{}, err
		}
		u := data.User
		p, err := s.cfg.Desk.Seen(c.Context(), desk.Profile{ID: u.ID, FirstName: u.FirstName, Username: u.Username, Language: u.LanguageCode})
		if err != nil {
			return reply{}, err
		}
		if err := s.let(c, p); err != nil {
			return reply{}, err
		}
		res.Token, res.ExpiresAt = s.sessions.issue(p.ID)
	} else {
		if err := s.admit(c); err != nil {
			return reply{}, err
		}
		res.Token = token
		_, res.ExpiresAt, _ = s.sessions.check(token) // admit just did
	}
	me, err := s.meOf(c)
	if err != nil {
		return reply{}, err
	}
	res.meWire = me
	res.First, err = s.firstOf(c, me)
	return ok(res), err
}
