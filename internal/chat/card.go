package chat

import (
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/telegram/html"
)

// Telegram's limits in UTF-16 units after parsing (core.telegram.org/bots/api).
const (
	maxText    = 4096
	maxCaption = 1024
)

// cardMode is which buttons a card shows.
type cardMode int

const (
	cardDecide  cardMode = iota // the decisions of its state
	cardRewrite                 // the ways of a rewrite
	cardTime                    // free slots
	cardDelete                  // whether to delete the post
	cardOpened                  // all that its state allows: opened from a list
)

// cardMessage is a draft as people decide about it: the post exactly as it
// will look, then what is known of it, then the buttons of its state. A post
// too long for that is sent by itself first (lead).
func cardMessage(t *turn, v desk.DraftView, mode cardMode, slots []choice) (lead *message, card message) {
	post := texts.HTML(v.Revision.HTML)
	about, most := cardAbout(t, v), maxText
	if photo(v) {
		most = maxCaption
	}
	if all := about + cardEvidence(t, v); length(post+"\n\n"+all) <= most {
		about = all // what it rests on is shown where there is room
	}
	card.rows = cardRows(t, v, mode, slots)
	if photo(v) {
		card.photo, card.text = v.Revision.Image, post+"\n\n"+about
		if length(card.text) <= maxCaption {
			return nil, card
		}
		alone := message{photo: v.Revision.Image, text: post}
		return &alone, message{text: about, rows: card.rows}
	}
	card.text = post + "\n\n" + about
	card.preview = postPreview(v)
	if length(card.text) <= maxText {
		return nil, card
	}
	alone := message{text: post, preview: card.preview}
	return &alone, message{text: about, rows: card.rows}
}

// photo reports whether the post is a picture with a caption: a text that does
// not fit under one goes out with a link preview.
func photo(v desk.DraftView) bool {
	return v.Channel.ImageStyle == "photo" && v.Revision.Image != "" && length(texts.HTML(v.Revision.HTML)) <= maxCaption
}

func postPreview(v desk.DraftView) preview {
	if v.Revision.Image != "" && v.Channel.ImageStyle != "none" {
		return preview{url: v.Revision.Image, above: true}
	}
	return preview{url: v.Revision.Link}
}

func length(h texts.HTML) int {
	n, err := html.Length(string(h))
	if err != nil {
		return maxText + 1
	}
	return n
}

// cardAbout stands below the post, set off as a quotation.
func cardAbout(t *turn, v desk.DraftView) texts.HTML {
	lines := []texts.HTML{cardStatus(t, v)}
	if v.SourceTitle != "" || v.ItemURL != "" {
		lines = append(lines, t.HTML("card.source", texts.Args{"Source": texts.Link(orElse(v.SourceTitle, v.ItemURL), v.ItemURL)}))
	}
	for _, also := range first(v.Also, 3) {
		lines = append(lines, t.HTML("card.also", texts.Args{"Source": texts.Link(also.Title, also.URL)}))
	}
	if v.Draft.Kind == editorial.KindPost || v.Draft.Kind == editorial.KindFollowUp {
		lines = append(lines, t.HTML("card.score", texts.Args{"Score": v.Draft.Score, "Why": orElse(reasonsText(t.Locale, v.Reasons), t.Plain("card.no_reason"))}))
	} else {
		lines = append(lines, t.HTML("card.kind."+string(v.Draft.Kind)))
	}
	if v.Draft.Explore {
		lines = append(lines, t.HTML("card.explore"))
	}
	lines = append(lines, cardBadges(t, v)...)
	lines = append(lines, t.HTML("card.number", texts.Args{"Draft": v.Draft.ID, "Channel": v.Channel.Title}))
	return "<blockquote>" + joinHTML("\n", lines...) + "</blockquote>"
}

// mostEvidence bounds the claims that a card shows.
const mostEvidence = 4

// cardEvidence are the words of the source behind what the text claims, folded.
func cardEvidence(t *turn, v desk.DraftView) texts.HTML {
	if len(v.Evidence) == 0 {
		return ""
	}
	lines := []texts.HTML{t.HTML("card.evidence")}
	for _, e := range first(v.Evidence, mostEvidence) {
		lines = append(lines, t.HTML("card.evidence_line", texts.Args{"Claim": shorten(e.Claim, 120), "Quote": shorten(e.Quote, 200)}))
	}
	return "\n<blockquote expandable>" + joinHTML("\n", lines...) + "</blockquote>"
}

// cardBadges are soft findings about the text, why no model wrote it, and, for
// operators, what its texts cost.
func cardBadges(t *turn, v desk.DraftView) []texts.HTML {
	var out []texts.HTML
	for _, ch := range first(v.Checks, 3) {
		code := "check." + ch.Code
		if !t.Has(code) {
			code = "check.other"
		}
		detail := ch.Detail
		if ch.Code == "language" {
			detail = languageName(detail)
		}
		out = append(out, t.HTML(code, texts.Args{"Detail": detail}))
	}
	switch v.Revision.Fallback {
	case "":
	case "no_model":
		out = append(out, t.HTML("card.fallback.no_model"))
	default:
		out = append(out, t.HTML("card.fallback", texts.Args{"Why": fallbackText(t, v.Revision.Fallback)}))
	}
	if v.Tokens > 0 {
		out = append(out, t.HTML("card.tokens", texts.Args{"Tokens": v.Tokens}))
	}
	return out
}

// fallbackText says why no model wrote the text; what a check found comes as
// "checks:" and its codes.
func fallbackText(t *turn, reason string) string {
	code, _, _ := strings.Cut(reason, ":")
	if t.Has("fallback." + code) {
		return t.Plain("fallback." + code)
	}
	return t.Plain("fallback.failed")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// cardStatus says where the draft stands and what happens next.
func cardStatus(t *turn, v desk.DraftView) texts.HTML {
	zone := v.Channel.TimeZone
	args := texts.Args{"Who": orElse(v.DecidedBy, t.Plain("who.autopilot"))}
	if !v.Draft.SlotAt.IsZero() {
		args["When"] = t.when(v.Draft.SlotAt, zone)
	}
	switch v.Draft.State {
	case editorial.Proposed:
		return cardProposed(t, v)
	case editorial.Scheduled:
		if v.Channel.Rests {
			return t.HTML("status.scheduled_rests", args)
		}
		if v.Channel.Paused {
			return t.HTML("status.scheduled_paused", args)
		}
		return t.HTML("status.scheduled", args)
	case editorial.Skipped:
		if v.Draft.SkipReason != "" && v.Draft.SkipReason != editorial.SkipOther {
			args["Reason"] = t.Plain("skip." + string(v.Draft.SkipReason))
			return t.HTML("status.skipped_because", args)
		}
		if !undoable(v) {
			return t.HTML("status.skipped_plain", args)
		}
		return t.HTML("status.skipped", args)
	case editorial.Failed:
		return t.HTML("status.failed", texts.Args{"Why": failureText(t, v.Draft.Failure)})
	case editorial.Published:
		return cardPublished(t, v)
	case editorial.Unconfirmed:
		if v.Publication != nil && v.Publication.Left {
			return t.HTML("status.unconfirmed_left")
		}
		return t.HTML("status.unconfirmed", args)
	case editorial.Publishing:
	}
	return t.HTML("status.publishing")
}

func cardProposed(t *turn, v desk.DraftView) texts.HTML {
	switch {
	case !v.AutopilotAt.IsZero():
		return t.HTML("status.autopilot", texts.Args{"When": t.when(v.AutopilotAt, v.Channel.TimeZone)})
	case v.NextSlot.IsZero():
		return t.HTML("status.no_slot")
	}
	return t.HTML("status.proposed", texts.Args{"When": t.when(v.NextSlot, v.Channel.TimeZone)})
}

func cardPublished(t *turn, v desk.DraftView) texts.HTML {
	p := v.Publication
	if p == nil {
		return t.HTML("status.published")
	}
	if !p.DeletedAt.IsZero() {
		return t.HTML("status.deleted")
	}
	lines := []texts.HTML{t.HTML("status.published")}
	if p.Post.URL != "" {
		lines[0] = t.HTML("status.published_link", texts.Args{"Link": texts.Link(t.Plain("card.the_post"), p.Post.URL), "When": t.when(p.PublishedAt, v.Channel.TimeZone)})
	}
	// Telegram's own answer is the rule and needs no word; how a doubt was settled does.
	if code := "settled." + p.SettledHow; t.Has(code) {
		lines = append(lines, t.HTML(code))
	}
	if code := "change." + p.Change; t.Has(code) {
		lines = append(lines, t.HTML(code))
	}
	return joinHTML("\n", lines...)
}

func failureText(t *turn, code string) string {
	if c := "failure." + code; t.Has(c) {
		return t.Plain(c)
	}
	return code
}

// cardRows are the buttons: a decision takes away those of the state before.
func cardRows(t *turn, v desk.DraftView, mode cardMode, slots []choice) [][]button {
	d := v.Draft
	if !v.Role.May(editorial.Editor) {
		return nil
	}
	b := func(code, verb string, more ...any) button {
		return button{text: t.Plain(code), data: data(verb, append([]any{d.ID, d.Transition}, more...)...)}
	}
	switch mode {
	case cardRewrite:
		return [][]button{
			row(b("rewrite.shorter", "rs1", "shorter"), b("rewrite.simpler", "rs1", "simpler")),
			row(b("rewrite.angle", "rs1", "angle"), b("rewrite.own", "rw1")), row(b("button.back", "bk")),
		}
	case cardTime:
		var list []button
		for _, s := range slots {
			list = append(list, button{text: s.text, data: data("ts", d.ID, d.Transition, s.value)})
		}
		return append(columns(2, list), row(b("time.own", "to")), row(b("button.back", "bk")))
	case cardDelete:
		return [][]button{row(b("delete.yes", "dy"), b("button.back", "bk"))}
	case cardDecide, cardOpened:
	}
	switch d.State {
	case editorial.Proposed:
		return [][]button{
			row(b("card.approve", "ap"), b("card.post_now", "pn")),
			row(b("card.edit", "ed"), b("card.rewrite", "rw"), b("card.time", "tm")), row(b("card.skip", "sk")),
		}
	case editorial.Scheduled:
		return scheduledRows(v, mode, b)
	case editorial.Skipped:
		return skippedRows(t, v, mode, b)
	case editorial.Failed:
		return [][]button{row(b("card.retry", "rt"), b("card.undo", "un"), b("card.skip", "sk"))}
	case editorial.Unconfirmed:
		return unconfirmedRows(v, b)
	case editorial.Published:
		return publishedRows(v, b)
	case editorial.Publishing:
	}
	return nil
}

// unconfirmedRows ask what became of the post; what was left can still be settled.
func unconfirmedRows(v desk.DraftView, b func(string, string, ...any) button) [][]button {
	rows := [][]button{row(b("card.there", "se", "t"), b("card.not_there", "se", "n"))}
	if v.Publication != nil && v.Publication.Left {
		return rows
	}
	return append(rows, row(b("card.leave", "se", "l")))
}

// undoable reports whether a card still offers the way back: for a while after
// a person's decision, and as long as possible after the autopilot's.
func undoable(v desk.DraftView) bool {
	return v.JustDecided || v.Draft.State == editorial.Scheduled && v.Draft.DecidedBy == 0
}

// scheduledRows leave a decided card nothing but the way back; one opened from
// the plan can be moved or sent as well.
func scheduledRows(v desk.DraftView, mode cardMode, b func(string, string, ...any) button) [][]button {
	switch {
	case mode == cardOpened:
		return [][]button{row(b("card.undo", "un"), b("card.time", "tm"), b("card.post_now", "pn"))}
	case undoable(v):
		return [][]button{row(b("card.undo", "un"))}
	}
	return nil
}

func skippedRows(t *turn, v desk.DraftView, mode cardMode, b func(string, string, ...any) button) [][]button {
	if mode != cardOpened && !undoable(v) {
		return nil
	}
	undo := row(b("card.undo", "un"))
	if v.Draft.SkipReason != "" && v.Draft.SkipReason != editorial.SkipOther {
		return [][]button{undo}
	}
	var why []button
	for _, r := range skipReasons() {
		why = append(why, button{text: t.Plain("skip." + string(r)), data: data("sy", v.Draft.ID, v.Draft.Transition, string(r))})
	}
	return append(columns(2, why), undo)
}

// skipReasons are the answers to "why?", one tap each.
func skipReasons() []editorial.SkipReason {
	return []editorial.SkipReason{editorial.SkipOffTopic, editorial.SkipOld, editorial.SkipDuplicate, editorial.SkipBadSource}
}

func publishedRows(v desk.DraftView, b func(string, string, ...any) button) [][]button {
	p := v.Publication
	if p == nil || p.Post.MessageID == 0 || !p.DeletedAt.IsZero() {
		return nil
	}
	return [][]button{row(b("card.edit_post", "ep"), b("card.delete_post", "dp"))}
}
