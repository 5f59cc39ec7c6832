package chat

import (
	"context"
)

// The steps of dialogs: what the next message means.
const (
	stepAdd      = "add"
	stepSetting  = "setting"
	stepWeek     = "week"
	stepFilter   = "filter"
	stepEdit     = "edit"
	stepEditPost = "edit_post"
	stepRewrite  = "rewrite"
	stepTime     = "time"
	stepWhy      = "why"
	noStep       = "-" // of a question that buttons alone answer
)

// commandTable holds the commands that the bot understands.
func (c *Chat) commandTable() map[string]command {
	return map[string]command{
		"start":      {run: c.start, menu: true},
		"help":       {run: c.help, menu: true},
		"add":        {run: c.add, menu: true},
		"sources":    {run: c.sources, menu: true},
		"channels":   {run: c.channelList, menu: true},
		"drafts":     {run: c.drafts, menu: true},
		"plan":       {run: c.plan, menu: true},
		"dropped":    {run: c.dropped, menu: true},
		"status":     {run: c.status, menu: true},
		"why":        {run: c.whyAsked, menu: true},
		"pause":      {run: c.pausing(true), menu: true},
		"resume":     {run: c.pausing(false), menu: true},
		"import":     {run: c.importAsked, menu: true},
		"export":     {run: c.export, menu: true},
		"subscribe":  {run: c.subscribe, menu: true},
		"paysupport": {run: c.paySupport, menu: true},
		"terms":      {run: c.terms, menu: true},
		"language":   {run: c.language, menu: true},
		"delete_me":  {run: c.deleteAsked, menu: true},
		"cancel":     {run: c.cancel},
		"ops":        {run: c.ops, menu: true, operators: true},
	}
}

// menuOrder is the order of the command menu.
func menuOrder() []string {
	return []string{
		"drafts", "plan", "add", "sources", "channels", "dropped", "status", "why", "pause", "resume",
		"import", "export", "language", "help", "start", "subscribe", "paysupport", "terms", "delete_me", "ops",
	}
}

// tapTable says what each verb of a button does.
func (c *Chat) tapTable() map[string]tapHandler {
	table := map[string]tapHandler{}
	for _, part := range []map[string]tapHandler{c.cardTaps(), c.listTaps(), c.channelTaps(), c.sourceTaps(), c.otherTaps()} {
		for verb, run := range part {
			table[verb] = run
		}
	}
	return table
}

func (c *Chat) cardTaps() map[string]tapHandler {
	return map[string]tapHandler{
		"ap":  c.decide(c.desk.Approve),
		"pn":  c.decide(c.desk.PostNow),
		"un":  c.decide(c.desk.Undo),
		"rt":  c.decide(c.desk.Retry),
		"sk":  c.skipped,
		"sy":  c.skipBecause,
		"se":  c.settle,
		"ed":  c.editAsked,
		"rw":  c.cardModed(cardRewrite),
		"rs1": c.rewriteChosen,
		"rw1": c.rewriteAsked,
		"tm":  c.timeAsked,
		"ts":  c.timeChosen,
		"to":  c.timeWriteAsked,
		"bk":  c.cardModed(cardDecide),
		"ep":  c.postEditAsked,
		"dp":  c.cardModed(cardDelete),
		"dy":  c.postDeleted,
		"dr":  c.draftShown,
	}
}

func (c *Chat) listTaps() map[string]tapHandler {
	return map[string]tapHandler{
		"dl": func(ctx context.Context, t *turn, d tapped) error { return c.draftList(ctx, t, d.int64(0)) },
		"pl": func(ctx context.Context, t *turn, d tapped) error { return c.planScreen(ctx, t, d.int64(0), d.int(1)) },
		"dd": func(ctx context.Context, t *turn, d tapped) error {
			return c.droppedScreen(ctx, t, d.int64(0), d.int(1), d.int(2))
		},
		"re": c.rescued,
		"ss": func(ctx context.Context, t *turn, d tapped) error { return c.statusScreen(ctx, t, d.int64(0)) },
	}
}

func (c *Chat) channelTaps() map[string]tapHandler {
	return map[string]tapHandler{
		"cl":  withoutArgs(c.channelList),
		"cc1": c.channelChosen,
		"ch":  func(ctx context.Context, t *turn, d tapped) error { return c.channelScreen(ctx, t, d.int64(0)) },
		"cs":  c.settingScreen,
		"cz":  c.zoneAsked,
		"cv":  c.settingChosen,
		"ca":  c.settingAsked,
		"cc":  c.settingCleared,
		"au":  c.autopilotSources,
		"vf":  c.voiceForgotten,
		"vl":  c.voiceAnew,
		"cw":  c.weekScreen,
		"cd":  c.dayScreen,
		"ct":  c.timeToggled,
		"cx":  c.timesAsked,
		"cy":  c.dayCopied,
		"cp":  c.presetChosen,
		"ps":  c.pauseTapped(true),
		"rs":  c.pauseTapped(false),
		"nf":  c.notifySet,
		"ul":  c.unlinkAsked,
		"ul1": c.unlinked,
		"lk":  func(ctx context.Context, t *turn, d tapped) error { return c.linkChannel(ctx, t, d.int64(0)) },
		"lr":  c.rightsChecked,
		"ln":  func(ctx context.Context, t *turn, _ tapped) error { return t.send(ctx, linkMessage(t, "link.another")) },
		"pp":  c.peopleScreen,
		"pi":  c.invite,
		"pr":  c.memberRemoved,
	}
}

func (c *Chat) sourceTaps() map[string]tapHandler {
	return map[string]tapHandler{
		"sl":  func(ctx context.Context, t *turn, d tapped) error { return c.sourceList(ctx, t, d.int64(0), d.int(1)) },
		"so":  c.sourceScreen,
		"sa":  c.sourceAsked,
		"sw":  c.weightSet,
		"sf":  c.filterAsked,
		"sc":  c.filterCleared,
		"st":  c.sourceTested,
		"sn":  c.sourceRetried,
		"sp":  c.sourcePausing(true),
		"sr":  c.sourcePausing(false),
		"sd":  c.removeAsked,
		"sd1": c.sourceRemoved,
		"pa":  c.packChosen,
		"pk":  func(ctx context.Context, t *turn, _ tapped) error { return c.packs(ctx, t, "packs.list") },
		"xf":  c.pasteFollowed,
		"xd":  c.pasteDrafted,
	}
}

func (c *Chat) otherTaps() map[string]tapHandler {
	return map[string]tapHandler{
		"x":  c.cancelled,
		"hp": withoutArgs(c.help),
		"la": c.languageChosen,
		"dm": c.deleted,
		"by": c.buy,
		"bx": c.renewalEnded,
		"op": withoutArgs(c.ops),
		"ok": c.opsKinds,
		"oz": c.kindPaused,
		"oa": c.opsArchive,
		"oj": c.opsJob,
		"od": c.jobDecided,
		"of": withoutArgs(c.opsFindings),
		"og": c.findingSettled,
		"oi": c.inviteBot,

		"rl":  c.releaseAsked,
		"rl1": c.channelReleased,
	}
}

func withoutArgs(h handler) tapHandler {
	return func(ctx context.Context, t *turn, _ tapped) error { return h(ctx, t) }
}

// stepTable says what a message means while a dialog is open.
func (c *Chat) stepTable() map[string]handler {
	return map[string]handler{
		stepAdd:      c.sourceWritten,
		stepSetting:  c.settingWritten,
		stepWeek:     c.timesWritten,
		stepFilter:   c.filterWritten,
		stepEdit:     c.edited,
		stepEditPost: c.postEdited,
		stepRewrite:  c.rewriteWritten,
		stepTime:     c.timeWritten,
		stepWhy:      c.whyWritten,
	}
}
