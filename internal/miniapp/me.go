package miniapp

import (
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// personWire is a person as the page sees him.
type personWire struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	Username  string `json:"username"`
	Language  string `json:"language"`
	Operator  bool   `json:"operator"`
	ChannelID int64  `json:"channel_id"`
}

// channelLine is a channel in a list.
type channelLine struct {
	ID       int64                  `json:"id"`
	Title    string                 `json:"title"`
	Username string                 `json:"username"`
	State    editorial.ChannelState `json:"state"`
	Missing  []string               `json:"missing"`
	Paused   bool                   `json:"paused"`
	Rests    bool                   `json:"rests"` // beyond its payer's plan
	Role     editorial.Role         `json:"role"`
	TimeZone string                 `json:"time_zone"`
	Language string                 `json:"language"`
	Images   string                 `json:"image_style"`
	Waiting  int                    `json:"waiting"`
	Sources  int                    `json:"sources"`
	Notify   bool                   `json:"notify"`
	Version  int                    `json:"version"`
}

// meWire is who is signed in, and where he works.
type meWire struct {
	Person   personWire    `json:"person"`
	Channels []channelLine `json:"channels"`
}

func lineOf(v desk.ChannelView) channelLine {
	return channelLine{
		ID: v.ID, Title: v.Title, Username: v.Username, State: v.State, Missing: list(v.Missing), Paused: v.Paused, Rests: v.Rests, Role: v.Role,
		TimeZone: v.TimeZone, Language: v.Language, Images: v.ImageStyle, Waiting: v.Waiting, Sources: v.Sources, Notify: v.Notify, Version: v.Version,
	}
}

// list makes an empty list of an absent one: the page never meets null.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func (s *Server) meOf(c *call) (meWire, error) {
	p := c.person
	me := meWire{
		Person:   personWire{ID: p.ID, FirstName: p.FirstName, Username: p.Username, Language: p.Language, Operator: p.Access == editorial.AccessOperator, ChannelID: p.ChannelID},
		Channels: []channelLine{},
	}
	views, err := s.cfg.Desk.Channels(c.Context(), c.by)
	for _, v := range views {
		me.Channels = append(me.Channels, lineOf(v))
	}
	return me, err
}

func (s *Server) me(c *call) (reply, error) {
	me, err := s.meOf(c)
	return ok(me), err
}

// changeMe sets the interface's language, or the channel that the chat speaks of.
func (s *Server) changeMe(c *call) (reply, error) {
	in, err := decode[struct {
		Language  *string `json:"language"`
		ChannelID *int64  `json:"channel_id"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Language != nil {
		if err := s.cfg.Desk.SetLanguage(c.Context(), c.by, *in.Language); err != nil {
			return reply{}, err
		}
	}
	if in.ChannelID != nil {
		if err := s.cfg.Desk.Choose(c.Context(), c.by, *in.ChannelID); err != nil {
			return reply{}, err
		}
	}
	if c.person, err = s.cfg.Desk.Person(c.Context(), c.by); err != nil {
		return reply{}, err
	}
	return s.me(c)
}
