package chat

import (
	"context"
	"slices"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
)

// ops answers /ops: depth and age per tier, failure rates, the archive. Tap: op.
func (c *Chat) ops(ctx context.Context, t *turn) error {
	v, err := c.desk.Ops(ctx, t.by())
	if err != nil {
		return err
	}
	var tiers, kinds, archive []texts.HTML
	for _, x := range v.Tiers {
		tiers = append(tiers, t.HTML("ops.tier", texts.Args{"Tier": x.Tier, "Depth": x.Depth, "Oldest": spanWords(t, x.Oldest), "Leased": x.Leased}))
	}
	for _, x := range v.Kinds {
		if x.Failed == 0 && !x.Paused {
			continue
		}
		paused := ""
		if x.Paused {
			paused = "⏸ "
		}
		kinds = append(kinds, t.HTML("ops.kind", texts.Args{"Paused": paused, "Kind": x.Kind, "Done": x.Done, "Failed": x.Failed, "Percent": int(100 * x.Rate)}))
	}
	for _, x := range v.Archive {
		archive = append(archive, t.HTML("ops.archive_line", texts.Args{"Reason": x.Reason, "Open": x.Open}))
	}
	if len(kinds) == 0 {
		kinds = append(kinds, t.HTML("ops.all_well"))
	}
	if len(archive) == 0 {
		archive = append(archive, t.HTML("ops.archive_empty"))
	}
	m := message{
		text: t.HTML("ops.screen", texts.Args{
			"Tiers": joinHTML("\n", tiers...), "Kinds": joinHTML("\n", kinds...), "Archive": joinHTML("\n", archive...),
			"Unconfirmed": v.Unconfirmed, "Workers": len(v.Workers),
		}),
		rows: [][]button{
			row(button{text: t.Plain("ops.kinds"), data: data("ok", 0)}, button{text: t.Plain("ops.archive"), data: data("oa", 0)}),
			row(button{text: t.Plain("ops.invite"), data: data("oi")}, button{text: t.Plain("button.refresh"), data: data("op")}),
		},
	}
	if v.Findings > 0 {
		m.rows = append(m.rows, row(button{text: t.Plain("ops.findings", texts.Args{"Count": v.Findings}), data: DataFindings()}))
	}
	return t.show(ctx, m)
}

const findingsShown = 8

// opsFindings lists the payments that do not match, each with a button to settle it. Tap: of.
func (c *Chat) opsFindings(ctx context.Context, t *turn) error {
	list, err := c.desk.Findings(ctx, t.by())
	if err != nil {
		return err
	}
	lines := []texts.HTML{t.HTML("ops.findings_screen")}
	m := message{}
	for _, f := range first(list, findingsShown) {
		lines = append(lines, t.HTML("ops.finding", texts.Args{
			"Number": f.ID, "What": t.Plain("finding." + f.Finding), "Detail": f.Detail, "Charge": f.ChargeID, "Since": t.Ago(f.At, t.now),
		}))
		m.rows = append(m.rows, row(button{text: t.Plain("ops.finding_settle", texts.Args{"Number": f.ID}), data: data("og", f.ID)}))
	}
	if len(list) == 0 {
		lines = append(lines, t.HTML("ops.findings_none"))
	}
	m.text = joinHTML("\n\n", lines...)
	m.rows = append(m.rows, row(button{text: t.Plain("button.back"), data: data("op")}))
	return t.show(ctx, m)
}

// findingSettled closes a finding that an operator looked into. Tap: og:<number>.
func (c *Chat) findingSettled(ctx context.Context, t *turn, d tapped) error {
	if err := c.desk.SettleFinding(ctx, t.by(), d.int64(0)); err != nil {
		return err
	}
	if err := t.toast(ctx, "ops.decided"); err != nil {
		return err
	}
	return c.opsFindings(ctx, t)
}

const kindsPerPage = 10

// opsKinds lists the job kinds with a switch each. Tap: ok:<page>.
func (c *Chat) opsKinds(ctx context.Context, t *turn, d tapped) error {
	v, err := c.desk.Ops(ctx, t.by())
	if err != nil {
		return err
	}
	kinds := slices.DeleteFunc(v.Kinds, func(k desk.KindView) bool { return k.Kind == desk.EarsKind })
	part, n, more := page(kinds, d.int(0), kindsPerPage)
	m := message{text: t.HTML("ops.kinds_screen")}
	var list []button
	for _, k := range part {
		text, on := "⏸ "+k.Kind, 1
		if k.Paused {
			text, on = "▶️ "+k.Kind, 0
		}
		list = append(list, button{text: text, data: data("oz", on, k.Kind, n)})
	}
	m.rows = append(columns(2, list), pager(n, more, func(p int) string { return data("ok", p) }), row(button{text: t.Plain("button.back"), data: data("op")}))
	return t.show(ctx, m)
}

// kindPaused stops or starts a job kind and stays on its page. Tap: oz:<0|1>:<kind>:<page>.
func (c *Chat) kindPaused(ctx context.Context, t *turn, d tapped) error {
	do, code := c.desk.ResumeKind, "ops.resumed"
	if d.int(0) == 1 {
		do, code = c.desk.PauseKind, "ops.paused"
	}
	if _, err := do(ctx, t.by(), d.text(1)); err != nil {
		return err
	}
	if err := t.toast(ctx, code, texts.Args{"Kind": d.text(1)}); err != nil {
		return err
	}
	return c.opsKinds(ctx, t, parseTap(data("ok", d.int(2))))
}

// releaseAsked asks back before a channel that is held after a restored backup
// publishes again. Tap: rl:<channel>.
func (c *Chat) releaseAsked(ctx context.Context, t *turn, d tapped) error {
	return t.send(ctx, message{text: t.HTML("release.ask"), rows: [][]button{
		row(button{text: t.Plain("button.release_channel"), data: data("rl1", d.int64(0))}),
		row(button{text: t.Plain("button.plan"), data: data("pl", d.int64(0), 0)}, t.cancel(noStep)),
	}})
}

// channelReleased takes the word of somebody who looked. Tap: rl1:<channel>.
func (c *Chat) channelReleased(ctx context.Context, t *turn, d tapped) error {
	released, err := c.desk.Release(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	code := "release.not_held"
	if released {
		code = "release.done"
	}
	return t.show(ctx, message{text: t.HTML(code), rows: [][]button{row(button{text: t.Plain("button.plan"), data: data("pl", d.int64(0), 0)})}})
}

const archivePerPage = 8

// opsArchive lists open rows of the archive, from below a job's number on. Tap: oa:<job>, 0 for the newest.
func (c *Chat) opsArchive(ctx context.Context, t *turn, d tapped) error {
	before := d.int64(0)
	list, err := c.desk.Archive(ctx, t.by(), before, archivePerPage+1)
	if err != nil {
		return err
	}
	part := first(list, archivePerPage)
	var turns []button
	if before != 0 {
		turns = append(turns, button{text: "«", data: data("oa", 0)})
	}
	if len(list) > len(part) {
		turns = append(turns, button{text: "›", data: data("oa", part[len(part)-1].ID)})
	}
	var lines []texts.HTML
	var jobs []button
	for _, j := range part {
		lines = append(lines, t.HTML("ops.job_line", texts.Args{"Job": j.ID, "Kind": j.Kind, "Reason": j.Reason, "Since": t.Ago(j.Since, t.now)}))
		jobs = append(jobs, button{text: fmtInt(int(j.ID)), data: data("oj", j.ID)})
	}
	if len(lines) == 0 {
		lines = append(lines, t.HTML("ops.archive_empty"))
	}
	m := message{text: t.HTML("ops.archive_screen", texts.Args{"List": joinHTML("\n", lines...)})}
	m.rows = append(columns(4, jobs), turns, row(button{text: t.Plain("button.back"), data: data("op")}))
	return t.show(ctx, m)
}

// opsJob shows one archived job whole. Tap: oj:<job>.
func (c *Chat) opsJob(ctx context.Context, t *turn, d tapped) error {
	v, err := c.desk.ArchivedJob(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return t.show(ctx, jobMessage(t, v))
}

func jobMessage(t *turn, v desk.ArchivedView) message {
	var effects []texts.HTML
	for _, e := range v.Effects {
		effects = append(effects, t.HTML("ops.effect", texts.Args{"Key": e.Key, "State": e.State, "ID": e.ExternalID}))
	}
	m := message{text: t.HTML("ops.job", texts.Args{
		"Job": v.ID, "Kind": v.Kind, "Key": v.Key, "Reason": v.Reason, "Status": v.Status, "Failures": v.Failures,
		"Error": shorten(v.Error, 400), "Payload": shorten(v.Payload, 600), "Effects": joinHTML("\n", effects...),
	})}
	if v.Status == "open" {
		replay := button{text: t.Plain("ops.replay"), data: data("od", v.ID, "r")}
		if v.Doubt {
			replay = button{text: t.Plain("ops.replay_undone"), data: data("od", v.ID, "n")}
		}
		m.rows = append(m.rows, row(
			button{text: t.Plain("ops.confirm"), data: data("od", v.ID, "c")},
			replay,
			button{text: t.Plain("ops.dismiss"), data: data("od", v.ID, "d")}))
	}
	m.rows = append(m.rows, row(button{text: t.Plain("button.back"), data: data("oa", 0)}))
	return m
}

// jobDecided settles an archived job. Tap: od:<job>:<c|r|n|d>.
func (c *Chat) jobDecided(ctx context.Context, t *turn, d tapped) error {
	var err error
	switch d.text(1) {
	case "c":
		err = c.desk.ConfirmJob(ctx, t.by(), d.int64(0))
	case "r":
		_, err = c.desk.ReplayJob(ctx, t.by(), d.int64(0))
	case "n":
		_, err = c.desk.ReplayUndone(ctx, t.by(), d.int64(0))
	case "d":
		err = c.desk.DismissJob(ctx, t.by(), d.int64(0))
	default:
		return t.toast(ctx, "tap.unknown")
	}
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "ops.decided"); err != nil {
		return err
	}
	return c.opsJob(ctx, t, d)
}
