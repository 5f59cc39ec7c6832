package miniapp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// draftWire is a draft as a card shows it.
type draftWire struct {
	ID          int64                `json:"id"`
	ChannelID   int64                `json:"channel_id"`
	StoryID     int64                `json:"story_id"`
	Kind        editorial.DraftKind  `json:"kind"`
	State       editorial.DraftState `json:"state"`
	Transition  int                  `json:"transition"`
	Revision    int                  `json:"revision"`
	Revisions   int                  `json:"revisions"`
	Score       int                  `json:"score"`
	Explore     bool                 `json:"explore"`
	SlotAt      time.Time            `json:"slot_at,omitzero"`
	DecidedBy   string               `json:"decided_by"`
	DecidedAt   time.Time            `json:"decided_at,omitzero"`
	SkipReason  editorial.SkipReason `json:"skip_reason"`
	Failure     string               `json:"failure"`
	HTML        string               `json:"html"`
	Link        string               `json:"link"`
	Image       string               `json:"image"`
	Composer    string               `json:"composer"`
	Fallback    string               `json:"fallback"`
	Checks      []desk.Check         `json:"checks"`
	Evidence    []desk.Evidence      `json:"evidence"`
	Reasons     []editorial.Reason   `json:"reasons"`
	SourceID    int64                `json:"source_id"`
	SourceTitle string               `json:"source_title"`
	Also        []desk.SourceRef     `json:"also"`
	ItemURL     string               `json:"item_url"`
	ItemTitle   string               `json:"item_title"`
	ItemAt      time.Time            `json:"item_at,omitzero"`
	NextSlot    time.Time            `json:"next_slot,omitzero"`
	AutopilotAt time.Time            `json:"autopilot_at,omitzero"`
	CreatedAt   time.Time            `json:"created_at"`
	Tokens      int                  `json:"tokens,omitempty"`
	Publication *publicationWire     `json:"publication,omitempty"`
}

type publicationWire struct {
	State       editorial.PublicationState `json:"state"`
	Link        string                     `json:"link"`
	PublishedAt time.Time                  `json:"published_at,omitzero"`
	SettledHow  string                     `json:"settled_how"`
	Error       string                     `json:"error"`
	EditedAt    time.Time                  `json:"edited_at,omitzero"`
	DeletedAt   time.Time                  `json:"deleted_at,omitzero"`
	Looked      int                        `json:"looked"`
}

func draftOf(v desk.DraftView) draftWire {
	d, r := v.Draft, v.Revision
	w := draftWire{
		ID: d.ID, ChannelID: d.ChannelID, StoryID: d.StoryID, Kind: d.Kind, State: d.State, Transition: d.Transition, Revision: d.Revision,
		Revisions: v.Revisions, Score: d.Score, Explore: d.Explore, SlotAt: d.SlotAt, DecidedBy: v.DecidedBy, DecidedAt: v.DecidedAt,
		SkipReason: d.SkipReason, Failure: d.Failure, HTML: r.HTML, Link: r.Link, Image: r.Image, Composer: r.Composer, Fallback: r.Fallback,
		Checks: list(v.Checks), Evidence: list(v.Evidence), Reasons: list(v.Reasons), SourceID: v.SourceID, SourceTitle: v.SourceTitle,
		Also: list(v.Also), ItemURL: v.ItemURL, ItemTitle: v.ItemTitle, ItemAt: v.ItemAt, NextSlot: v.NextSlot, AutopilotAt: v.AutopilotAt,
		CreatedAt: v.CreatedAt, Tokens: v.Tokens,
	}
	if p := v.Publication; p != nil {
		w.Publication = &publicationWire{
			State: p.State, Link: p.Post.URL, PublishedAt: p.PublishedAt, SettledHow: p.SettledHow, Error: p.Error,
			EditedAt: p.EditedAt, DeletedAt: p.DeletedAt, Looked: p.Looked,
		}
	}
	return w
}

func draftsOf(views []desk.DraftView) []draftWire {
	out := make([]draftWire, len(views))
	for i, v := range views {
		out[i] = draftOf(v)
	}
	return out
}

const (
	pageSize    = 20
	largestPage = 100 // of events
	mostCards   = 50  // the desk gives no more at once
)

// drafts lists the newest first; `next` goes into `before` for the following page.
func (s *Server) drafts(c *call, id int64) (reply, error) {
	before, err := c.number("before", 0, 0, 1<<62)
	if err != nil {
		return reply{}, err
	}
	limit, err := c.number("limit", pageSize, 1, mostCards)
	if err != nil {
		return reply{}, err
	}
	states, err := statesOf(c.URL.Query().Get("state"))
	if err != nil {
		return reply{}, err
	}
	views, err := s.cfg.Desk.Drafts(c.Context(), c.by, id, states, before, int(limit))
	if err != nil {
		return reply{}, err
	}
	var page struct {
		Drafts []draftWire `json:"drafts"`
		Next   int64       `json:"next,omitempty"`
	}
	page.Drafts = draftsOf(views)
	if len(views) == int(limit) {
		page.Next = views[len(views)-1].Draft.ID
	}
	return ok(page), nil
}

func statesOf(raw string) ([]editorial.DraftState, error) {
	if raw == "" {
		return nil, nil
	}
	var states []editorial.DraftState
	for one := range strings.SplitSeq(raw, ",") {
		switch st := editorial.DraftState(one); st {
		case editorial.Proposed, editorial.Scheduled, editorial.Publishing, editorial.Published, editorial.Skipped, editorial.Failed, editorial.Unconfirmed:
			states = append(states, st)
		default:
			return nil, badRequest(fmt.Sprintf("%q is no state of a draft.", one))
		}
	}
	return states, nil
}

func (s *Server) draft(c *call) (reply, error) {
	id, err := c.id("draft")
	if err != nil {
		return reply{}, err
	}
	v, err := s.cfg.Desk.Draft(c.Context(), c.by, id)
	return ok(draftOf(v)), err
}

// ask is the body of every decision: the transition is the one that the person saw.
type ask struct {
	Transition  int                  `json:"transition"`
	At          time.Time            `json:"at,omitzero"`
	Local       string               `json:"local,omitempty"` // 2026-11-30T18:00 in the channel's zone, instead of at
	Reason      editorial.SkipReason `json:"reason,omitempty"`
	HTML        string               `json:"html,omitempty"`
	Instruction string               `json:"instruction,omitempty"`
	Finding     desk.Finding         `json:"finding,omitempty"`
	Link        string               `json:"link,omitempty"`
}

// decisionWire is what came of a decision.
type decisionWire struct {
	desk.Decision
	Link string `json:"link"`
}

func decided(d desk.Decision, err error) (reply, error) {
	return ok(decisionWire{Decision: d, Link: d.Post.URL}), err
}

func submitted(sub desk.Submission, err error) (reply, error) { return accepted(sub), err }

// asked makes a handler of what is done with one draft, and what is wanted.
func asked(do func(c *call, id int64, in ask) (reply, error)) func(c *call) (reply, error) {
	return func(c *call) (reply, error) {
		id, err := c.id("draft")
		if err != nil {
			return reply{}, err
		}
		in, err := decode[ask](c)
		if err != nil {
			return reply{}, err
		}
		return do(c, id, in)
	}
}

func (s *Server) approve(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Approve(c.Context(), c.by, id, in.Transition))
}

func (s *Server) postNow(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.PostNow(c.Context(), c.by, id, in.Transition))
}

func (s *Server) undo(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Undo(c.Context(), c.by, id, in.Transition))
}

func (s *Server) retry(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Retry(c.Context(), c.by, id, in.Transition))
}

type decideAt func(ctx context.Context, by, draftID int64, transition int, at time.Time) (desk.Decision, error)

func (s *Server) timed(c *call, id int64, in ask, do decideAt) (reply, error) {
	if in.Local != "" {
		at, err := s.localTime(c, id, in.Local)
		if err != nil {
			return reply{}, err
		}
		in.At = at
	}
	if in.At.IsZero() {
		return reply{}, badRequest("at or local is missing.")
	}
	return decided(do(c.Context(), c.by, id, in.Transition, in.At))
}

func (s *Server) schedule(c *call, id int64, in ask) (reply, error) {
	return s.timed(c, id, in, s.cfg.Desk.ScheduleAt)
}

func (s *Server) move(c *call, id int64, in ask) (reply, error) {
	return s.timed(c, id, in, s.cfg.Desk.Move)
}

// localTime reads a wall-clock time in the zone of the draft's channel.
func (s *Server) localTime(c *call, draftID int64, raw string) (time.Time, error) {
	wall, err := time.Parse("2006-01-02T15:04", raw)
	if err != nil {
		return time.Time{}, badRequest("local has to look like 2026-11-30T18:00.")
	}
	v, err := s.cfg.Desk.Draft(c.Context(), c.by, draftID)
	if err != nil {
		return time.Time{}, err
	}
	return wallIn(wall, v.Channel.TimeZone), nil
}

func (s *Server) skip(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Skip(c.Context(), c.by, id, in.Transition, in.Reason))
}

func (s *Server) skipReason(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.SkipBecause(c.Context(), c.by, id, in.Transition, in.Reason))
}

func (s *Server) edit(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Edit(c.Context(), c.by, id, in.Transition, in.HTML))
}

func (s *Server) rewrite(c *call, id int64, in ask) (reply, error) {
	return submitted(s.cfg.Desk.Rewrite(c.Context(), c.by, id, in.Transition, in.Instruction))
}

func (s *Server) settle(c *call, id int64, in ask) (reply, error) {
	return decided(s.cfg.Desk.Settle(c.Context(), c.by, id, in.Transition, in.Finding, in.Link))
}

func (s *Server) editPost(c *call, id int64, in ask) (reply, error) {
	return submitted(s.cfg.Desk.EditPost(c.Context(), c.by, id, in.HTML))
}

func (s *Server) deletePost(c *call) (reply, error) {
	id, err := c.id("draft")
	if err != nil {
		return reply{}, err
	}
	return submitted(s.cfg.Desk.DeletePost(c.Context(), c.by, id))
}

// ownDraft makes a draft of a link or a text. The same one again is the same draft.
func (s *Server) ownDraft(c *call, id int64) (reply, error) {
	in, err := decode[struct {
		URL  string `json:"url"`
		Text string `json:"text"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	return submitted(s.cfg.Desk.OwnDraft(c.Context(), c.by, id, desk.OwnInput{URL: in.URL, Text: in.Text}))
}
