package chat

import (
	"context"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// status answers /status.
func (c *Chat) status(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	return c.statusScreen(ctx, t, ch.ID)
}

// statusScreen shows what goes on, with job numbers. Tap: ss:<channel>.
func (c *Chat) statusScreen(ctx context.Context, t *turn, channel int64) error {
	v, err := c.desk.Status(ctx, t.by(), channel)
	if err != nil {
		return err
	}
	next := t.HTML("status.no_next")
	if !v.Next.IsZero() {
		next = t.HTML("status.next", texts.Args{"When": t.when(v.Next, v.Channel.TimeZone)})
	}
	if v.Channel.Paused {
		next = joinHTML("\n", next, t.HTML("plan.paused"))
	}
	blocks := []texts.HTML{
		t.HTML("status.screen", texts.Args{
			"Channel": v.Channel.Title, "Next": next,
			"Proposed": t.HTML("count.waiting", texts.Args{"Count": v.Proposed}), "Scheduled": t.HTML("count.scheduled", texts.Args{"Count": v.Scheduled}),
			"Sources": t.HTML("count.sources", texts.Args{"Count": v.Sources}),
		}),
		jobBlock(t, "status.running", v.Running), jobBlock(t, "status.pending", v.Pending),
		jobBlock(t, "status.failing", v.Failing), jobBlock(t, "status.archived", stopped(v)),
	}
	m := message{}
	for _, d := range first(v.Unconfirmed, 5) {
		blocks = append(blocks, t.HTML("status.doubt", texts.Args{"Draft": d.Draft.ID, "Title": headline(d.Revision.HTML, 60)}))
		m.rows = append(m.rows, row(button{text: "❓ " + fmtInt(int(d.Draft.ID)), data: data("dr", d.Draft.ID)}))
	}
	for _, d := range first(v.Failed, 5) {
		blocks = append(blocks, t.HTML("status.not_posted", texts.Args{"Draft": d.Draft.ID, "Title": headline(d.Revision.HTML, 60), "Why": failureText(t, d.Draft.Failure)}))
		m.rows = append(m.rows, row(button{text: "⚠️ " + fmtInt(int(d.Draft.ID)), data: data("dr", d.Draft.ID)}))
	}
	for _, s := range first(v.Sick, 5) {
		blocks = append(blocks, t.HTML("status.sick", texts.Args{"Title": sourceName(s), "Why": sourceError(t, s)}))
	}
	m.text = joinHTML("\n\n", blocks...)
	last := row(button{text: t.Plain("button.refresh"), data: data("ss", channel)})
	if v.Channel.Paused {
		if ch, err := c.desk.Channel(ctx, t.by(), channel); err == nil && ch.Role.May(editorial.Editor) {
			last = append(last, resumeButton(t, channel))
		}
	}
	m.rows = append(m.rows, last)
	return t.show(ctx, m)
}

// stopped are the archived jobs without those whose doubt a person settles on a
// card, which stands below.
func stopped(v desk.StatusView) []desk.JobView {
	doubt := map[int64]bool{}
	for _, d := range v.Unconfirmed {
		doubt[d.Draft.ID] = true
	}
	var out []desk.JobView
	for _, j := range v.Archived {
		if j.DraftID == 0 || !doubt[j.DraftID] {
			out = append(out, j)
		}
	}
	return out
}

func jobBlock(t *turn, code string, jobs []desk.JobView) texts.HTML {
	if len(jobs) == 0 {
		return ""
	}
	lines := []texts.HTML{t.HTML(code, texts.Args{"Count": len(jobs)})}
	for _, j := range first(jobs, 6) {
		lines = append(lines, jobLine(t, j))
	}
	return joinHTML("\n", lines...)
}

func jobLine(t *turn, j desk.JobView) texts.HTML {
	what := j.Kind
	if code := "job." + j.Kind; t.Has(code) {
		what = t.Plain(code)
	}
	line := t.HTML("status.job", texts.Args{"Job": j.ID, "What": what, "Since": t.Ago(j.Since, t.now)})
	if j.State == "ready" && j.RunAt.Sub(t.now) > time.Minute {
		line = t.HTML("status.job_due", texts.Args{"Job": j.ID, "What": what, "In": t.In(j.RunAt, t.now)})
	}
	if j.Error != "" && t.operator() { // the words of a log; others name the number to an operator
		line = joinHTML(" — ", line, texts.Escape(shorten(j.Error, 100)))
	}
	return line
}

// whyAsked answers /why <link or draft number>.
func (c *Chat) whyAsked(ctx context.Context, t *turn) error {
	ref := strings.TrimSpace(t.argument)
	if ref == "" {
		return t.ask(ctx, stepWhy, dialogData{}, message{text: t.HTML("why.ask"), rows: [][]button{row(t.cancel(stepWhy))}})
	}
	return c.life(ctx, t, ref)
}

// whyWritten takes the message for the reference.
func (c *Chat) whyWritten(ctx context.Context, t *turn) error {
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return c.life(ctx, t, strings.TrimSpace(t.msg.Text))
}

// life tells what happened to one item, from the poll to the post.
func (c *Chat) life(ctx context.Context, t *turn, ref string) error {
	v, err := c.desk.Why(ctx, t.by(), strings.TrimPrefix(ref, "#"))
	if desk.CodeOf(err) == desk.CodeNotYours {
		return t.say(ctx, "why.unknown")
	}
	if err != nil {
		return err
	}
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	var lines []texts.HTML
	for _, e := range v.Events {
		lines = append(lines, t.HTML("why.line", texts.Args{"At": t.when(e.At, ch.TimeZone), "What": eventText(t, e)}))
	}
	for _, j := range v.Waiting {
		lines = append(lines, jobLine(t, j))
	}
	m := message{text: t.HTML("why.life", texts.Args{"Title": texts.Link(shorten(orElse(v.Title, ref), 120), v.URL), "Events": joinHTML("\n", first(lines, 40)...)})}
	if v.DraftID != 0 {
		m.rows = [][]button{row(button{text: t.Plain("button.draft", texts.Args{"Draft": v.DraftID}), data: data("dr", v.DraftID)})}
	}
	return t.send(ctx, m)
}

// eventFamilies are the arguments of an event that hold codes.
func eventFamilies() map[string]string {
	return map[string]string{"How": "how.", "Why": "failure.", "Reason": "skip.", "Verdict": "verdict.", "Finding": "finding."}
}

// eventText is one event in words; arguments that hold codes are translated.
func eventText(t *turn, e desk.Event) string {
	args := texts.Args{"Who": orElse(e.ByName, t.Plain("who.autopilot"))}
	families := eventFamilies()
	for k, v := range e.Args {
		if s, ok := v.(string); ok && families[k] != "" && t.Has(families[k]+s) {
			v = t.Plain(families[k] + s)
		}
		args[k] = v
	}
	if !t.Has(e.Code) {
		return e.Code
	}
	return t.Plain(e.Code, args)
}
