package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// decision is one of desk's, by the draft and the transition of a button.
type decision func(ctx context.Context, by, draft int64, transition int) (desk.Decision, error)

// decide makes a tap on a card a decision: the toast says what came of it, the
// card is edited in place. A late, double or concurrent tap is told what had
// already happened.
func (c *Chat) decide(do decision) tapHandler {
	return func(ctx context.Context, t *turn, d tapped) error {
		res, err := do(ctx, t.by(), d.int64(0), d.int(1))
		return c.decided(ctx, t, d.int64(0), res, err)
	}
}

func (c *Chat) decided(ctx context.Context, t *turn, draft int64, res desk.Decision, err error) error {
	if err != nil {
		return err
	}
	v, err := c.desk.Draft(ctx, t.by(), draft)
	if err != nil {
		return err
	}
	if err := t.answer(ctx, decisionText(t, v, res), false); err != nil {
		return err
	}
	return c.recard(ctx, t, v, cardDecide, nil)
}

// decisionText says what a decision did. What the person himself did a moment
// ago and pressed again reads like the first time.
func decisionText(t *turn, v desk.DraftView, res desk.Decision) string {
	args := texts.Args{"Who": orElse(res.ByName, t.Plain("who.autopilot"))}
	if !res.SlotAt.IsZero() {
		args["When"] = t.when(res.SlotAt, v.Channel.TimeZone)
	}
	family := "did."
	if res.Already && res.By != t.by() {
		family = "already."
	}
	code := family + string(res.State)
	if res.State == editorial.Scheduled && !res.SlotAt.After(t.now.Add(time.Minute)) {
		code += ".now"
	}
	return t.Plain(code, args)
}

// recard edits the tapped card.
func (c *Chat) recard(ctx context.Context, t *turn, v desk.DraftView, mode cardMode, slots []choice) error {
	k := card{draft: v.Draft.ID, person: t.by(), message: int64(t.under()), revision: v.Revision.Number, photo: t.underPhoto()}
	if k.message == 0 {
		return c.sendCard(ctx, t, v, t.key("card"), mode)
	}
	return c.editCard(ctx, t, k, v, t.key("card"), mode, slots)
}

// cardModed shows other buttons below a card. A card of an older transition is
// brought up to date instead.
func (c *Chat) cardModed(mode cardMode) tapHandler {
	return func(ctx context.Context, t *turn, d tapped) error {
		v, stale, err := c.cardNow(ctx, t, d)
		if err != nil || stale {
			return err
		}
		if err := t.answer(ctx, "", false); err != nil {
			return err
		}
		return c.recard(ctx, t, v, mode, nil)
	}
}

// cardNow reads a tapped card's draft; stale means that it had changed since,
// and that the person was told and shown.
func (c *Chat) cardNow(ctx context.Context, t *turn, d tapped) (v desk.DraftView, stale bool, err error) {
	v, err = c.desk.Draft(ctx, t.by(), d.int64(0))
	if err != nil {
		return v, false, err
	}
	if !v.Role.May(editorial.Editor) {
		return v, false, &desk.Error{Code: desk.CodeRole, Args: map[string]any{"need": string(editorial.Editor)}}
	}
	if v.Draft.Transition == d.int(1) {
		return v, false, nil
	}
	text := texts.Strip(cardStatus(t, v))
	if err := t.answer(ctx, text, false); err != nil {
		return v, true, err
	}
	return v, true, c.recard(ctx, t, v, cardDecide, nil)
}

// skipped refuses a draft; the card then asks why. Tap: sk:<draft>:<transition>.
func (c *Chat) skipped(ctx context.Context, t *turn, d tapped) error {
	res, err := c.desk.Skip(ctx, t.by(), d.int64(0), d.int(1), "")
	return c.decided(ctx, t, d.int64(0), res, err)
}

// skipBecause teaches why. Tap: sy:<draft>:<transition>:<reason>.
func (c *Chat) skipBecause(ctx context.Context, t *turn, d tapped) error {
	res, err := c.desk.SkipBecause(ctx, t.by(), d.int64(0), d.int(1), editorial.SkipReason(d.text(2)))
	if err != nil {
		return err
	}
	v, err := c.desk.Draft(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	text := t.Plain("did.learned")
	if res.Already {
		text = decisionText(t, v, res)
	}
	if err := t.answer(ctx, text, false); err != nil {
		return err
	}
	return c.recard(ctx, t, v, cardDecide, nil)
}

// timeAsked offers the next free slots. Tap: tm:<draft>:<transition>.
func (c *Chat) timeAsked(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	free, err := c.desk.FreeSlots(ctx, t.by(), v.Channel.ID, 6)
	if err != nil {
		return err
	}
	var slots []choice
	for _, at := range free {
		slots = append(slots, choice{text: t.when(at, v.Channel.TimeZone), value: data("", at)[1:]})
	}
	if err := t.answer(ctx, "", false); err != nil {
		return err
	}
	return c.recard(ctx, t, v, cardTime, slots)
}

// timeChosen takes a slot. Tap: ts:<draft>:<transition>:<time>.
func (c *Chat) timeChosen(ctx context.Context, t *turn, d tapped) error {
	return c.decide(func(ctx context.Context, by, draft int64, transition int) (desk.Decision, error) {
		return c.scheduleAt(ctx, by, draft, transition, d.time(2))
	})(ctx, t, d)
}

// scheduleAt gives a draft a time, whether it holds one already or not.
func (c *Chat) scheduleAt(ctx context.Context, by, draft int64, transition int, at time.Time) (desk.Decision, error) {
	v, err := c.desk.Draft(ctx, by, draft)
	if err != nil {
		return desk.Decision{}, err
	}
	if v.Draft.State == editorial.Scheduled {
		return c.desk.Move(ctx, by, draft, transition, at)
	}
	return c.desk.ScheduleAt(ctx, by, draft, transition, at)
}

// timeWriteAsked waits for a time as text. Tap: to:<draft>:<transition>.
func (c *Chat) timeWriteAsked(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	return t.ask(ctx, stepTime, dialogData{Draft: v.Draft.ID, Transition: v.Draft.Transition, Message: t.under()}, message{
		text: t.HTML("time.ask", texts.Args{"Zone": v.Channel.TimeZone, "Now": t.now.In(location(v.Channel.TimeZone)).Format("15:04")}), rows: [][]button{row(t.cancel(stepTime))},
	})
}

// timeWritten reads "18:30", "tomorrow 9:00" or "31.12 23:00" in the channel's zone.
func (c *Chat) timeWritten(ctx context.Context, t *turn) error {
	w := t.dialog.data
	v, err := c.desk.Draft(ctx, t.by(), w.Draft)
	if err != nil {
		return err
	}
	at, err := parseTime(t.msg.Text, t.now, location(v.Channel.TimeZone), t.Plain("day.today"), t.Plain("day.tomorrow"))
	if err != nil {
		return err
	}
	res, err := c.scheduleAt(ctx, t.by(), w.Draft, w.Transition, at)
	return c.decidedByMessage(ctx, t, w, res, err)
}

// decidedByMessage answers a decision that came as text and edits its card.
func (c *Chat) decidedByMessage(ctx context.Context, t *turn, w dialogData, res desk.Decision, err error) error {
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	v, err := c.desk.Draft(ctx, t.by(), w.Draft)
	if err != nil {
		return err
	}
	if err := t.send(ctx, message{text: texts.Escape(decisionText(t, v, res))}); err != nil {
		return err
	}
	return c.refresh(ctx, t, v)
}

// refresh edits the person's own cards of a draft that show an older state.
func (c *Chat) refresh(ctx context.Context, t *turn, v desk.DraftView) error {
	list, err := c.cards.ofDraft(ctx, v.Draft.ID)
	if err != nil {
		return err
	}
	for _, k := range list {
		if k.person != t.by() || k.transition >= v.Draft.Transition && k.revision >= v.Revision.Number {
			continue
		}
		key := fmt.Sprintf("update:%d:recard:%d", t.update, k.message)
		if err := c.editCard(ctx, t, k, v, key, cardDecide, nil); err != nil && !errors.Is(err, errUndeliverable) {
			return err
		}
	}
	return nil
}

// settle answers a doubt. Tap: se:<draft>:<transition>:<t|n|l>.
func (c *Chat) settle(ctx context.Context, t *turn, d tapped) error {
	finding := map[string]desk.Finding{"t": desk.FindingThere, "n": desk.FindingNotThere, "l": desk.FindingLeave}[d.text(2)]
	res, err := c.desk.Settle(ctx, t.by(), d.int64(0), d.int(1), finding, "")
	if err != nil {
		return err
	}
	v, err := c.desk.Draft(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	text := decisionText(t, v, res)
	if finding == desk.FindingLeave && res.State == editorial.Unconfirmed {
		text = t.Plain("did.left")
	}
	if err := t.answer(ctx, text, false); err != nil {
		return err
	}
	if finding == desk.FindingLeave && !res.Already {
		return nil // the draft is what it was: every card of it is edited by a job, this one too
	}
	return c.recard(ctx, t, v, cardDecide, nil)
}
