package miniapp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// channelWire is a channel with all its settings.
type channelWire struct {
	channelLine
	Tone             []string            `json:"tone"`
	LookFor          string              `json:"look_for"`
	Avoid            string              `json:"avoid"`
	Threshold        int                 `json:"threshold"`
	Footer           string              `json:"footer"`
	LinkStyle        string              `json:"link_style"`
	Hashtags         []string            `json:"hashtags"`
	Week             editorial.Week      `json:"week"`
	QuietFrom        string              `json:"quiet_from"` // HH:MM; empty with quiet_to: none
	QuietTo          string              `json:"quiet_to"`
	DailyCap         int                 `json:"daily_cap"`
	Missed           string              `json:"missed"`
	Autopilot        editorial.Autopilot `json:"autopilot"`
	AutopilotMinutes int                 `json:"autopilot_minutes"`
	AutopilotScore   int                 `json:"autopilot_score"`
	AutopilotSources []int64             `json:"autopilot_sources"`
	Digest           string              `json:"digest"`
	DigestAt         string              `json:"digest_at"`
}

func channelOf(v desk.ChannelView) channelWire {
	w := channelWire{
		channelLine: lineOf(v), Tone: list(v.Tone), LookFor: v.LookFor, Avoid: v.Avoid, Threshold: v.Threshold, Footer: v.Footer,
		LinkStyle: v.LinkStyle, Hashtags: list(v.Hashtags), Week: v.Week, DailyCap: v.DailyCap, Missed: v.Missed, Autopilot: v.Autopilot,
		AutopilotMinutes: v.AutopilotMinutes, AutopilotScore: v.AutopilotScore, AutopilotSources: list(v.AutopilotSources),
		Digest: v.Digest, DigestAt: v.DigestAt.String(),
	}
	if v.Quiet.From != v.Quiet.To {
		w.QuietFrom, w.QuietTo = v.Quiet.From.String(), v.Quiet.To.String()
	}
	return w
}

// settings tags a channel's answer with the version of its settings, which If-Match of a change names.
func settings(v desk.ChannelView) reply {
	return reply{body: channelOf(v), tag: versionTag(v.Version)}
}

func versionTag(version int) string { return fmt.Sprintf("v%d.", version) }

func (s *Server) channel(c *call, id int64) (reply, error) {
	v, err := s.cfg.Desk.Channel(c.Context(), c.by, id)
	return settings(v), err
}

// settingsChange is a partial change. Times of day are HH:MM.
type settingsChange struct {
	desk.ChannelChange
	QuietFrom *string `json:"quiet_from"`
	QuietTo   *string `json:"quiet_to"`
	DigestAt  *string `json:"digest_at"`
}

// change reads the times of day; both ends of the quiet hours come together.
func (in settingsChange) change() (desk.ChannelChange, error) {
	out := in.ChannelChange
	if in.QuietFrom != nil && in.QuietTo != nil {
		out.Quiet = &editorial.Quiet{}
		if *in.QuietFrom != "" || *in.QuietTo != "" {
			from, err := clock("quiet_from", *in.QuietFrom)
			if err != nil {
				return out, err
			}
			to, err := clock("quiet_to", *in.QuietTo)
			if err != nil {
				return out, err
			}
			*out.Quiet = editorial.Quiet{From: from, To: to}
		}
	}
	if in.DigestAt != nil {
		at, err := clock("digest_at", *in.DigestAt)
		if err != nil {
			return out, err
		}
		out.DigestAt = &at
	}
	return out, nil
}

func clock(field, raw string) (editorial.Clock, error) {
	at, err := editorial.ParseClock(raw)
	if err != nil {
		return 0, &desk.Error{Code: desk.CodeSetting, Args: map[string]any{"field": field, "value": raw}, Cause: err}
	}
	return at, nil
}

// ifMatch reads the version of the settings that a change goes out from; nil: from
// any. The rest of the tag is of what was read beside them. One condition is
// checked by the statement that writes.
func ifMatch(header string) (*int, error) {
	if header == "" || header == "*" {
		return nil, nil
	}
	var version int
	if _, err := fmt.Sscanf(strings.TrimPrefix(header, "W/"), `"v%d.`, &version); err != nil {
		return nil, problem{Status: http.StatusPreconditionFailed, Code: desk.CodeChanged, Title: "If-Match names no version of these settings."}
	}
	return &version, nil
}

// changeChannel sets what the body names. With If-Match, only if nobody changed the settings meanwhile.
func (s *Server) changeChannel(c *call, id int64) (reply, error) {
	in, err := decode[settingsChange](c)
	if err != nil {
		return reply{}, err
	}
	change, err := in.change()
	if err != nil {
		return reply{}, err
	}
	if change.IfVersion, err = ifMatch(c.Header.Get("If-Match")); err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.Update(c.Context(), c.by, id, change)
	return settings(v), err
}

func (s *Server) pause(c *call, id int64) (reply, error) {
	changed, err := s.cfg.Desk.Pause(c.Context(), c.by, id)
	return ok(map[string]bool{"changed": changed}), err
}

func (s *Server) resume(c *call, id int64) (reply, error) {
	changed, err := s.cfg.Desk.Resume(c.Context(), c.by, id)
	return ok(map[string]bool{"changed": changed}), err
}

func (s *Server) members(c *call, id int64) (reply, error) {
	m, err := s.cfg.Desk.Members(c.Context(), c.by, id)
	return ok(map[string]any{"members": list(m)}), err
}

// changeMember changes a role (owners), or whether one gets the cards oneself.
func (s *Server) changeMember(c *call, id int64) (reply, error) {
	person, err := c.id("person")
	if err != nil {
		return reply{}, err
	}
	in, err := decode[struct {
		Role   *editorial.Role `json:"role"`
		Notify *bool           `json:"notify"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Notify != nil {
		if person != c.by {
			return reply{}, &desk.Error{Code: desk.CodeRole, Args: map[string]any{"need": "self"}}
		}
		if err := s.cfg.Desk.SetNotify(c.Context(), c.by, id, *in.Notify); err != nil {
			return reply{}, err
		}
	}
	if in.Role != nil {
		if err := s.cfg.Desk.SetRole(c.Context(), c.by, id, person, *in.Role); err != nil {
			return reply{}, err
		}
	}
	return s.members(c, id)
}

func (s *Server) removeMember(c *call, id int64) (reply, error) {
	person, err := c.id("person")
	if err != nil {
		return reply{}, err
	}
	gone, err := s.cfg.Desk.RemoveMember(c.Context(), c.by, id, person)
	return ok(map[string]bool{"changed": gone}), err
}

// onceToken is the token of an invitation that is asked for under an
// Idempotency-Key: asked again, it is the same one. Empty without a key.
// The role is no part of it: one key asks for one invitation.
func (s *Server) onceToken(c *call) string {
	key := c.Header.Get("Idempotency-Key")
	if key == "" {
		return ""
	}
	const length = 24 // of base64: 18 bytes, as a drawn token has
	return s.sessions.mac(fmt.Sprintf("invitation %d %s %q", c.by, c.PathValue("channel"), key))[:length]
}

// invite makes an invitation's link.
func (s *Server) invite(c *call, id int64) (reply, error) {
	in, err := decode[struct {
		Role editorial.Role `json:"role"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	token, err := s.cfg.Desk.Invite(c.Context(), c.by, id, in.Role, s.onceToken(c))
	if desk.CodeOf(err) == desk.CodeSetting && in.Role.May(editorial.Viewer) {
		return reply{}, problem{
			Status: http.StatusUnprocessableEntity, Code: "idempotency_key", Title: "This Idempotency-Key asked for an invitation with another role.",
			Detail: "Take a new key for another invitation.",
		}
	}
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, body: map[string]string{"link": s.cfg.InviteLink(token)}}, nil
}
