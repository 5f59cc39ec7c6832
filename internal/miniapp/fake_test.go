package miniapp_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/miniapp"
)

// fakeDesk keeps one channel in memory, by the desk's contract: roles, one-way
// transitions, one draft a slot. What it lacks (the embedded nil) panics.
type fakeDesk struct {
	miniapp.Desk
	mu      sync.Mutex
	now     time.Time
	people  map[int64]editorial.Person
	roles   map[int64]editorial.Role
	ch      editorial.Channel
	drafts  map[int64]*desk.DraftView
	sources []desk.SourceView
}

const (
	ann     = 101 // owner
	eve     = 666 // a stranger
	vic     = 103 // viewer
	channel = 1
)

func notYours() error { return &desk.Error{Code: desk.CodeNotYours} }

func newFakeDesk(now time.Time) *fakeDesk {
	week := editorial.Week{}
	for d := range week {
		week[d] = []editorial.Clock{9 * 60, 13 * 60, 18 * 60}
	}
	f := &fakeDesk{
		now: now, people: map[int64]editorial.Person{}, roles: map[int64]editorial.Role{ann: editorial.Owner, vic: editorial.Viewer},
		drafts: map[int64]*desk.DraftView{},
		ch: editorial.Channel{
			ID: channel, Title: "Harbour News", Username: "harbour", State: editorial.ChannelActive, Language: "en", TimeZone: "Europe/Berlin", Week: week,
			Threshold: 50, LinkStyle: "title", ImageStyle: "preview", Missed: "move", Autopilot: editorial.AutopilotOff, Digest: "off", LookFor: "ports, ships, tides", Version: 1,
		},
	}
	texts := []string{
		"<b>Ferry line to the islands opens in May</b>\n\nTwo electric ferries will run every hour. The first tickets go on sale on <i>Monday</i>.\n\n<a href=\"https://example.org/ferry\">Harbour Gazette</a>",
		"<b>פתיחת הרציף החדש</b>\n\nהרציף החדש ייפתח ביום ראשון. <tg-spoiler>הכניסה חופשית</tg-spoiler>.\n\n<blockquote>Latin line inside</blockquote>",
		"<b>Crane number seven is back at work</b>\n\nAfter three weeks of repairs the largest crane lifts again.\n\n<code>54.3 t</code> is its new limit.",
		"<b>Tide tables for December are out</b>\n\n" + "Spring tides on the 5th and the 20th. Skippers should expect half a metre more than usual at the old quay. " + "The tables are free.",
		"<b>Night bus N4 now stops at the fish market</b>\n\nFrom Friday on, every thirty minutes.", "<b>Museum ship needs new masts</b>\n\nVolunteers are wanted.",
	}
	for i, html := range texts {
		id := int64(i + 1)
		f.drafts[id] = &desk.DraftView{
			Draft:    editorial.Draft{ID: id, ChannelID: channel, StoryID: id, Kind: editorial.KindPost, State: editorial.Proposed, Transition: 1, Revision: 1, Score: 90 - 7*i},
			Revision: editorial.Revision{DraftID: id, Number: 1, HTML: html, Composer: "extractive"}, SourceID: 1, SourceTitle: "Harbour Gazette",
			ItemURL: "https://example.org/ferry", ItemAt: now.Add(-3 * time.Hour), CreatedAt: now.Add(-time.Hour), Channel: desk.ChannelBrief{ID: channel, TimeZone: f.ch.TimeZone},
			Reasons: []editorial.Reason{{Code: "look_for", Words: []string{"ferry", "port"}, Points: 24}, {Code: "disliked_words", Words: []string{"bus"}, Points: -6}},
		}
	}
	f.set(4, editorial.Scheduled, f.slots()[0])
	f.set(5, editorial.Scheduled, f.slots()[3])
	f.set(6, editorial.Unconfirmed, now.Add(-time.Hour))
	f.drafts[6].Publication = &desk.PublicationView{State: editorial.PublicationUnconfirmed, Looked: 2}
	for i, h := range []string{"", "", "timeout", ""} {
		f.sources = append(f.sources, desk.SourceView{
			ID: int64(i + 1), Title: []string{"Harbour Gazette", "Port authority", "Old quay blog", "@fishmarket"}[i], Address: fmt.Sprintf("https://s%d.example.org/feed", i+1),
			Kind: "feed", State: "active", Weight: 100, Error: h, LastPollAt: now, LastNewAt: now.Add(-2 * time.Hour), Items: 12, Drafts: 3,
		})
	}
	return f
}

func (f *fakeDesk) slots() []time.Time {
	loc, _ := time.LoadLocation(f.ch.TimeZone)
	var out []time.Time
	for d := range 14 {
		day := f.now.In(loc).AddDate(0, 0, d)
		for _, c := range f.ch.Week[day.Weekday()] {
			if at := c.On(day, loc); at.After(f.now) {
				out = append(out, at)
			}
		}
	}
	return out
}

func (f *fakeDesk) set(id int64, st editorial.DraftState, at time.Time) {
	d := &f.drafts[id].Draft
	d.State, d.SlotAt = st, at
	d.Transition++
}

func (f *fakeDesk) holder(at time.Time) *desk.DraftView {
	for _, d := range f.drafts {
		if d.Draft.State == editorial.Scheduled && d.Draft.SlotAt.Equal(at) {
			return d
		}
	}
	return nil
}

func (f *fakeDesk) free() []time.Time {
	var out []time.Time
	for _, at := range f.slots() {
		if f.holder(at) == nil {
			out = append(out, at)
		}
	}
	return out
}

func (f *fakeDesk) may(by int64, need editorial.Role) error {
	r := f.roles[by]
	switch {
	case !r.May(editorial.Viewer):
		return notYours()
	case !r.May(need):
		return &desk.Error{Code: desk.CodeRole, Args: map[string]any{"need": need}}
	}
	return nil
}

func (f *fakeDesk) Seen(_ context.Context, p desk.Profile) (editorial.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	who, known := f.people[p.ID]
	if !known {
		who = editorial.Person{ID: p.ID, FirstName: p.FirstName, Language: "en", Access: editorial.AccessInvited, ChannelID: channel}
		if p.Language == "ru" {
			who.Language = "ru"
		}
		f.people[p.ID] = who
	}
	return who, nil
}

func (f *fakeDesk) Person(_ context.Context, id int64) (editorial.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, known := f.people[id]; known {
		return p, nil
	}
	return editorial.Person{}, notYours()
}

func (f *fakeDesk) Admitted(p editorial.Person) bool { return p.Access != editorial.AccessBanned }

func (f *fakeDesk) view(by int64) desk.ChannelView {
	v := desk.ChannelView{Channel: f.ch, Role: f.roles[by], Sources: len(f.sources), Notify: true}
	for _, d := range f.drafts {
		if d.Draft.State == editorial.Proposed {
			v.Waiting++
		}
	}
	return v
}

func (f *fakeDesk) Channels(_ context.Context, by int64) ([]desk.ChannelView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.may(by, editorial.Viewer) != nil {
		return nil, nil
	}
	return []desk.ChannelView{f.view(by)}, nil
}

func (f *fakeDesk) Channel(_ context.Context, by, id int64) (desk.ChannelView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(by, editorial.Viewer); err != nil || id != channel {
		return desk.ChannelView{}, notYours()
	}
	return f.view(by), nil
}

func (f *fakeDesk) Update(_ context.Context, by, _ int64, c desk.ChannelChange) (desk.ChannelView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(by, editorial.Owner); err != nil {
		return desk.ChannelView{}, err
	}
	if c.IfVersion != nil && *c.IfVersion != f.ch.Version {
		return desk.ChannelView{}, &desk.Error{Code: desk.CodeChanged}
	}
	if c.LookFor != nil {
		f.ch.LookFor = *c.LookFor
	}
	if c.Week != nil {
		f.ch.Week = *c.Week
	}
	f.ch.Version++
	return f.view(by), nil
}

func (f *fakeDesk) Plan(_ context.Context, by, _ int64, from, to time.Time) (desk.PlanView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(by, editorial.Viewer); err != nil {
		return desk.PlanView{}, err
	}
	v := desk.PlanView{From: from, To: to}
	for _, at := range f.slots() {
		s := desk.SlotView{At: at}
		if d := f.holder(at); d != nil {
			s.DraftID, s.Title, s.State, s.Transition = d.Draft.ID, fmt.Sprintf("Post number %d", d.Draft.ID), d.Draft.State, d.Draft.Transition
			v.LastsUntil = at
		}
		if !at.Before(from) && at.Before(to) {
			v.Slots = append(v.Slots, s)
		}
	}
	return v, nil
}

func (f *fakeDesk) FreeSlots(_ context.Context, by, _ int64, n int) ([]time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	free := f.free()
	return free[:min(n, len(free))], f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Drafts(_ context.Context, by, _ int64, states []editorial.DraftState, before int64, limit int) ([]desk.DraftView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(by, editorial.Viewer); err != nil {
		return nil, err
	}
	var out []desk.DraftView
	for id := int64(len(f.drafts)); id > 0 && len(out) < limit; id-- {
		d := *f.drafts[id]
		for _, st := range states {
			if d.Draft.State == st && (before == 0 || id < before) {
				d.NextSlot = f.free()[0]
				out = append(out, d)
			}
		}
	}
	return out, nil
}

func (f *fakeDesk) Draft(_ context.Context, by, id int64) (desk.DraftView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drafts[id] == nil || f.may(by, editorial.Viewer) != nil {
		return desk.DraftView{}, notYours()
	}
	return *f.drafts[id], nil
}

// turn is every decision: from a state, by the transition that the person saw.
func (f *fakeDesk) turn(by, id int64, transition int, to editorial.DraftState, at func() (time.Time, error)) (desk.Decision, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.drafts[id]
	if d == nil || f.may(by, editorial.Viewer) != nil {
		return desk.Decision{}, notYours()
	}
	if err := f.may(by, editorial.Editor); err != nil {
		return desk.Decision{}, err
	}
	res := desk.Decision{DraftID: id, Done: true}
	if d.Draft.Transition != transition || !d.Draft.State.CanBecome(to) {
		res.Done, res.Already = false, true
	} else {
		when := time.Time{}
		if at != nil {
			var err error
			if when, err = at(); err != nil {
				return desk.Decision{}, err
			}
		}
		f.set(id, to, when)
	}
	res.State, res.Transition, res.SlotAt = d.Draft.State, d.Draft.Transition, d.Draft.SlotAt
	return res, nil
}

func (f *fakeDesk) at(t time.Time) func() (time.Time, error) {
	return func() (time.Time, error) {
		if f.holder(t) != nil {
			return t, &desk.Error{Code: desk.CodeSlotTaken}
		}
		return t, nil
	}
}

func (f *fakeDesk) Approve(_ context.Context, by, id int64, tr int) (desk.Decision, error) {
	return f.turn(by, id, tr, editorial.Scheduled, func() (time.Time, error) { return f.free()[0], nil })
}

func (f *fakeDesk) ScheduleAt(_ context.Context, by, id int64, tr int, at time.Time) (desk.Decision, error) {
	return f.turn(by, id, tr, editorial.Scheduled, f.at(at))
}

func (f *fakeDesk) Move(_ context.Context, by, id int64, tr int, at time.Time) (desk.Decision, error) {
	return f.turn(by, id, tr, editorial.Scheduled, f.at(at))
}

func (f *fakeDesk) Skip(_ context.Context, by, id int64, tr int, why editorial.SkipReason) (desk.Decision, error) {
	res, err := f.turn(by, id, tr, editorial.Skipped, nil)
	if res.Done {
		f.mu.Lock()
		f.drafts[id].Draft.SkipReason = why
		f.mu.Unlock()
	}
	return res, err
}

func (f *fakeDesk) Undo(_ context.Context, by, id int64, tr int) (desk.Decision, error) {
	return f.turn(by, id, tr, editorial.Proposed, nil)
}

func (f *fakeDesk) Settle(_ context.Context, by, id int64, tr int, _ desk.Finding, _ string) (desk.Decision, error) {
	return f.turn(by, id, tr, editorial.Published, nil)
}

func (f *fakeDesk) Edit(_ context.Context, by, id int64, _ int, html string) (desk.Decision, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(by, editorial.Editor); err != nil {
		return desk.Decision{}, err
	}
	d := f.drafts[id]
	d.Draft.Revision++
	d.Draft.Transition++
	d.Revision.HTML, d.Revision.Composer = html, "person"
	return desk.Decision{DraftID: id, Done: true, State: d.Draft.State, Transition: d.Draft.Transition}, nil
}

func (f *fakeDesk) Rewrite(_ context.Context, by, id int64, _ int, _ string) (desk.Submission, error) {
	return desk.Submission{JobID: 4711, DraftID: id, Fresh: true}, f.may(by, editorial.Editor)
}

func (f *fakeDesk) Sources(_ context.Context, by, _ int64) ([]desk.SourceView, error) {
	return f.sources, f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Members(_ context.Context, by, _ int64) ([]desk.Member, error) {
	return []desk.Member{{PersonID: ann, FirstName: "Ann", Role: editorial.Owner}, {PersonID: vic, FirstName: "Vic", Role: editorial.Viewer}}, f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Status(ctx context.Context, by, id int64) (desk.StatusView, error) {
	doubts, err := f.Drafts(ctx, by, id, []editorial.DraftState{editorial.Unconfirmed}, 0, 9)
	return desk.StatusView{Unconfirmed: doubts, Proposed: 3, Scheduled: 2, Pending: []desk.JobView{{ID: 77, Kind: "publish", Since: f.now, DraftID: 4}}}, err
}

func (f *fakeDesk) Activity(_ context.Context, by, _ int64, _ time.Time, _ int) ([]desk.Event, error) {
	return []desk.Event{{At: f.now.Add(-time.Hour), Code: "life.drafted", Args: map[string]any{"Draft": 4, "Title": "Post number 4"}}}, f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Dropped(_ context.Context, by, _ int64, _ string) ([]desk.DroppedView, error) {
	return []desk.DroppedView{{StoryID: 9, Title: "Ten recipes for herring", Source: "@fishmarket", Score: 22, Verdict: "below", Reasons: []editorial.Reason{{Code: "no_topics"}}}}, f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Why(_ context.Context, by int64, _ string) (desk.Life, error) {
	return desk.Life{Title: "Ferry line", Events: []desk.Event{{At: f.now, Code: "life.polled"}, {At: f.now, Code: "life.drafted"}}}, f.may(by, editorial.Viewer)
}

func (f *fakeDesk) Packs(context.Context, int64, string) ([]desk.PackView, error) {
	return []desk.PackView{{ID: "sea", Title: "Sea and ports", Sources: []string{"a", "b"}}}, nil
}
