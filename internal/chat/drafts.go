package chat

import (
	"context"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

const draftsPerPage = 8

// drafts answers /drafts: what waits for a decision.
func (c *Chat) drafts(ctx context.Context, t *turn) error { return c.draftList(ctx, t, 0) }

// waitingStates wait for a person.
func waitingStates() []editorial.DraftState {
	return []editorial.DraftState{editorial.Unconfirmed, editorial.Failed, editorial.Proposed}
}

// draftList shows a page from a draft number downwards. Tap: dl:<before>.
func (c *Chat) draftList(ctx context.Context, t *turn, before int64) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	list, err := c.desk.Drafts(ctx, t.by(), ch.ID, waitingStates(), before, draftsPerPage+1)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return t.show(ctx, message{
			text: t.HTML("drafts.none", texts.Args{"Channel": ch.Title}),
			rows: [][]button{row(button{text: t.Plain("button.dropped"), data: data("dd", ch.ID, 0)}, button{text: t.Plain("button.sources"), data: data("sl", ch.ID, 0)})},
		})
	}
	more := len(list) > draftsPerPage
	list = first(list, draftsPerPage)
	var lines []texts.HTML
	var numbers []button
	for _, v := range list {
		lines = append(lines, t.HTML("drafts.line", texts.Args{
			"Draft": v.Draft.ID, "Mark": stateMark(v.Draft.State), "Title": headline(v.Revision.HTML, 90), "About": draftAbout(t, v),
		}))
		numbers = append(numbers, button{text: fmtInt(int(v.Draft.ID)), data: data("dr", v.Draft.ID)})
	}
	m := message{text: t.HTML("drafts.list", texts.Args{"Channel": ch.Title, "Count": ch.Waiting, "List": joinHTML("\n\n", lines...)})}
	m.rows = columns(4, numbers)
	if more {
		m.rows = append(m.rows, row(button{text: t.Plain("button.older"), data: data("dl", list[len(list)-1].Draft.ID)}))
	}
	return t.show(ctx, m)
}

// draftAbout is where a draft comes from, in a line of a list.
func draftAbout(t *turn, v desk.DraftView) string {
	if v.Draft.Kind != editorial.KindPost && v.Draft.Kind != editorial.KindFollowUp {
		return t.Plain("card.kind." + string(v.Draft.Kind))
	}
	if v.SourceTitle == "" {
		return fmtInt(v.Draft.Score)
	}
	return fmtInt(v.Draft.Score) + " · " + v.SourceTitle
}

func stateMark(s editorial.DraftState) string {
	return map[editorial.DraftState]string{
		editorial.Unconfirmed: "❓", editorial.Failed: "⚠️", editorial.Scheduled: "🕒", editorial.Published: "✅", editorial.Skipped: "✕",
	}[s]
}

// draftShown sends the card of a draft. Tap: dr:<draft>.
func (c *Chat) draftShown(ctx context.Context, t *turn, d tapped) error {
	v, err := c.desk.Draft(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return c.sendCard(ctx, t, v, t.key("card"), cardOpened)
}

// plan answers /plan.
func (c *Chat) plan(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	return c.planScreen(ctx, t, ch.ID, 0)
}

// planScreen shows a week of slots. Tap: pl:<channel>:<week from now>.
func (c *Chat) planScreen(ctx context.Context, t *turn, channel int64, week int) error {
	week = min(max(week, 0), 8)
	ch, err := c.desk.Channel(ctx, t.by(), channel)
	if err != nil {
		return err
	}
	from, to := planWeek(t.now, zoneOf(&ch.Channel), week)
	v, err := c.desk.Plan(ctx, t.by(), channel, from, to)
	if err != nil {
		return err
	}
	lasts := t.HTML("plan.empty")
	if !v.LastsUntil.IsZero() {
		lasts = t.HTML("plan.lasts", texts.Args{"When": t.when(v.LastsUntil, v.Channel.TimeZone)})
	}
	if v.Channel.Rests {
		lasts = joinHTML("\n", lasts, t.HTML("plan.rests"))
	} else if v.Channel.Paused {
		lasts = joinHTML("\n", lasts, t.HTML("plan.paused"))
	}
	body, held := planDays(t, v)
	m := message{text: t.HTML("plan.screen", texts.Args{"Channel": v.Channel.Title, "Zone": v.Channel.TimeZone, "Lasts": lasts, "Days": body, "Free": t.HTML("count.free", texts.Args{"Count": v.Gaps})})}
	m.rows = append(columns(4, held), pager(week, week < 8, func(w int) string { return data("pl", channel, w) }),
		row(button{text: t.Plain("button.drafts"), data: data("dl", 0)}, button{text: t.Plain("button.week"), data: data("cw", channel)}))
	if v.Channel.Paused && !v.Channel.Rests && ch.Role.May(editorial.Editor) {
		m.rows = append(m.rows, row(resumeButton(t, channel)))
	}
	return t.show(ctx, m)
}

// planWeek is seven whole local days, the first of which has partly passed.
func planWeek(now time.Time, loc *time.Location, week int) (from, to time.Time) {
	midnight := func(days int) time.Time {
		day := now.In(loc)
		return editorial.Clock(0).On(time.Date(day.Year(), day.Month(), day.Day()+days, 12, 0, 0, 0, loc), loc)
	}
	if from = midnight(7 * week); week == 0 {
		from = now
	}
	return from, midnight(7*week + 7)
}

// planDays are the slots below their days, and a button for each draft in them.
func planDays(t *turn, v desk.PlanView) (texts.HTML, []button) {
	loc := location(v.Channel.TimeZone)
	var days []texts.HTML
	var held []button
	day, lines := "", []texts.HTML{}
	flush := func() {
		if len(lines) > 0 {
			days = append(days, joinHTML("\n", append([]texts.HTML{t.HTML("plan.day", texts.Args{"Day": day})}, lines...)...))
		}
		lines = nil
	}
	for _, s := range v.Slots {
		if s.Past && s.DraftID == 0 {
			continue
		}
		if name := t.Day(s.At, t.now, loc); name != day {
			flush()
			day = name
		}
		lines = append(lines, slotLine(t, s, loc))
		if s.DraftID != 0 {
			held = append(held, button{text: s.At.In(loc).Format("15:04") + " · " + fmtInt(int(s.DraftID)), data: data("dr", s.DraftID)})
		}
	}
	flush()
	if len(days) == 0 {
		return t.HTML("plan.no_slots"), nil
	}
	return joinHTML("\n\n", days...), first(held, 24)
}

func slotLine(t *turn, s desk.SlotView, loc *time.Location) texts.HTML {
	at := s.At.In(loc).Format("15:04")
	switch {
	case s.DraftID != 0:
		return t.HTML("plan.held", texts.Args{"At": at, "Title": shorten(s.Title, 60), "Mark": stateMark(s.State)})
	case s.Capped:
		return t.HTML("plan.capped", texts.Args{"At": at})
	}
	return t.HTML("plan.free", texts.Args{"At": at})
}

// dropped answers /dropped.
func (c *Chat) dropped(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	return c.droppedScreen(ctx, t, ch.ID, 0, 0)
}

const droppedPerPage = 6

// droppedScreen shows what scored too low on a day. Tap: dd:<channel>:<days ago>:<page>.
func (c *Chat) droppedScreen(ctx context.Context, t *turn, channel int64, ago, n int) error {
	ch, err := c.desk.Channel(ctx, t.by(), channel)
	if err != nil {
		return err
	}
	ago = min(max(ago, 0), 14)
	day := t.now.In(zoneOf(&ch.Channel)).AddDate(0, 0, -ago)
	list, err := c.desk.Dropped(ctx, t.by(), channel, day.Format(time.DateOnly))
	if err != nil {
		return err
	}
	part, n, more := page(list, n, droppedPerPage)
	var lines []texts.HTML
	var rescue []button
	for i, v := range part {
		at := n*droppedPerPage + i + 1
		lines = append(lines, t.HTML("dropped.line", texts.Args{
			"N": at, "Title": texts.Link(shorten(v.Title, 100), v.URL), "Score": v.Score, "Source": v.Source, "Why": orElse(reasonsText(t.Locale, v.Reasons), t.Plain("card.no_reason")),
		}))
		if v.DraftID == 0 {
			rescue = append(rescue, button{text: t.Plain("button.rescue", texts.Args{"N": at}), data: data("re", channel, v.StoryID)})
		}
	}
	code := "dropped.list"
	if len(lines) == 0 {
		code = "dropped.none"
	}
	m := message{text: t.HTML(code, texts.Args{"Day": t.Day(day, t.now, zoneOf(&ch.Channel)), "Count": len(list), "List": joinHTML("\n\n", lines...)})}
	m.rows = append(columns(3, rescue), pager(n, more, func(p int) string { return data("dd", channel, ago, p) }))
	days := row(button{text: t.Plain("button.day_before"), data: data("dd", channel, ago+1, 0)})
	if ago > 0 {
		days = append(days, button{text: t.Plain("button.day_after"), data: data("dd", channel, ago-1, 0)})
	}
	m.rows = append(m.rows, days)
	return t.show(ctx, m)
}

// rescued drafts a dropped story after all. Tap: re:<channel>:<story>.
func (c *Chat) rescued(ctx context.Context, t *turn, d tapped) error {
	job, err := c.desk.Rescue(ctx, t.by(), d.int64(0), d.int64(1))
	if err != nil {
		return err
	}
	return t.toast(ctx, "dropped.rescued", texts.Args{"Job": job.JobID})
}
