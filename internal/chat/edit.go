package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
)

// editAsked waits for the new text of a draft. Tap: ed:<draft>:<transition>.
func (c *Chat) editAsked(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	return c.askText(ctx, t, stepEdit, v)
}

// askText shows the present text, ready to copy with its formats.
func (c *Chat) askText(ctx context.Context, t *turn, step string, v desk.DraftView) error {
	ask := t.HTML("edit.ask", texts.Args{"Draft": v.Draft.ID})
	m := message{text: joinHTML("\n\n", ask, texts.HTML(v.Revision.HTML)), rows: [][]button{row(t.cancel(step))}}
	if length(m.text) > maxText {
		m.text = ask
	}
	return t.ask(ctx, step, dialogData{Draft: v.Draft.ID, Transition: v.Draft.Transition, Message: t.under()}, m)
}

// edited takes the message as the new text. The same text again (a second run
// after a crash) makes no further revision.
func (c *Chat) edited(ctx context.Context, t *turn) error {
	w := t.dialog.data
	v, err := c.desk.Draft(ctx, t.by(), w.Draft)
	if err != nil {
		return err
	}
	text := messageHTML(t.msg)
	if v.Revision.HTML == text {
		if err := c.dialogs.close(ctx, t.by()); err != nil {
			return err
		}
		return t.say(ctx, "edit.done")
	}
	res, err := c.desk.Edit(ctx, t.by(), w.Draft, w.Transition, text)
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	if v, err = c.desk.Draft(ctx, t.by(), w.Draft); err != nil {
		return err
	}
	if res.Already {
		return t.send(ctx, message{text: texts.Escape(decisionText(t, v, res))})
	}
	if err := t.say(ctx, "edit.done"); err != nil {
		return err
	}
	if err := c.sendCard(ctx, t, v, t.key("card"), cardDecide); err != nil {
		return err
	}
	return c.supersede(ctx, t, v)
}

// supersede points from the person's earlier cards of a draft to the last one.
func (c *Chat) supersede(ctx context.Context, t *turn, v desk.DraftView) error {
	list, err := c.cards.ofDraft(ctx, v.Draft.ID)
	if err != nil {
		return err
	}
	var own []card
	for _, k := range list {
		if k.person == t.by() {
			own = append(own, k)
		}
	}
	for _, k := range own[:max(len(own)-1, 0)] {
		key := fmt.Sprintf("update:%d:supersede:%d", t.update, k.message)
		if err := c.replaceCard(ctx, t, k, v, key); err != nil && !errors.Is(err, errUndeliverable) {
			return err
		}
	}
	return nil
}

// instruction is what a rewrite by one tap asks the composer for; the words go to a
// model and are English, whatever the language of the posts.
func instruction(kind string) string {
	return map[string]string{
		"shorter": "Make it shorter: about half as long. Keep the facts.",
		"simpler": "Make it simpler: plain words, one thought a sentence.",
		"angle":   "Take another angle: begin with what it means for the reader.",
	}[kind]
}

// rewriteChosen asks for a rewrite. Tap: rs1:<draft>:<transition>:<kind>.
func (c *Chat) rewriteChosen(ctx context.Context, t *turn, d tapped) error {
	how := instruction(d.text(2))
	if how == "" {
		return t.toast(ctx, "tap.unknown")
	}
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	job, err := c.desk.Rewrite(ctx, t.by(), d.int64(0), d.int(1), how)
	if err != nil {
		return err
	}
	if err := t.toast(ctx, rewriteSaid(job), texts.Args{"Job": job.JobID}); err != nil {
		return err
	}
	return c.recard(ctx, t, v, cardDecide, nil)
}

// rewriteAsked waits for how. Tap: rw1:<draft>:<transition>.
func (c *Chat) rewriteAsked(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	if err := c.recard(ctx, t, v, cardDecide, nil); err != nil {
		return err
	}
	return t.ask(ctx, stepRewrite, dialogData{Draft: v.Draft.ID, Transition: v.Draft.Transition, Message: t.under()},
		message{text: t.HTML("rewrite.ask"), rows: [][]button{row(t.cancel(stepRewrite))}})
}

// rewriteWritten takes the message as the instruction.
func (c *Chat) rewriteWritten(ctx context.Context, t *turn) error {
	w := t.dialog.data
	job, err := c.desk.Rewrite(ctx, t.by(), w.Draft, w.Transition, shorten(t.msg.Text, 500))
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return t.say(ctx, rewriteSaid(job), texts.Args{"Job": job.JobID})
}

// rewriteSaid is what came of asking for a rewrite: it was decided or edited
// meanwhile, or asked for before, or is on its way.
func rewriteSaid(job desk.Submission) string {
	switch {
	case job.JobID == 0:
		return "rewrite.moved"
	case !job.Fresh:
		return "rewrite.known"
	}
	return "rewrite.started"
}

// postEditAsked waits for the new text of a published post. Tap: ep:<draft>:<transition>.
func (c *Chat) postEditAsked(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	return c.askText(ctx, t, stepEditPost, v)
}

// postEdited takes the message as the post's new text.
func (c *Chat) postEdited(ctx context.Context, t *turn) error {
	job, err := c.desk.EditPost(ctx, t.by(), t.dialog.data.Draft, messageHTML(t.msg))
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return t.say(ctx, "post.edit_started", texts.Args{"Job": job.JobID})
}

// postDeleted takes a post out of its channel. Tap: dy:<draft>:<transition>.
func (c *Chat) postDeleted(ctx context.Context, t *turn, d tapped) error {
	v, stale, err := c.cardNow(ctx, t, d)
	if err != nil || stale {
		return err
	}
	job, err := c.desk.DeletePost(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "post.delete_started", texts.Args{"Job": job.JobID}); err != nil {
		return err
	}
	return c.recard(ctx, t, v, cardDecide, nil)
}

// cancel answers /cancel; like every command it has closed the dialog already.
func (c *Chat) cancel(ctx context.Context, t *turn) error { return t.say(ctx, "cancelled") }

// cancelled takes a question back, and closes its dialog unless another one was
// opened since. Tap: x:<step>; without a step, from older messages, any dialog.
func (c *Chat) cancelled(ctx context.Context, t *turn, d tapped) error {
	open, err := c.dialogs.current(ctx, t.by())
	if err != nil {
		return err
	}
	if step := d.text(0); step == "" || step == open.step {
		if err := c.dialogs.close(ctx, t.by()); err != nil {
			return err
		}
	}
	return t.show(ctx, message{text: t.HTML("cancelled")})
}
