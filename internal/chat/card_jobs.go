package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
)

// CardArgs is the payload of job kind card: one revision of a draft shown to one person.
type CardArgs struct {
	DraftID  int64 `json:"draft_id"`
	Revision int   `json:"revision"`
	PersonID int64 `json:"person_id"`
}

// RecardArgs is the payload of job kind recard: every card of a draft is
// brought up to date after a change of its state or text.
type RecardArgs struct {
	DraftID    int64 `json:"draft_id"`
	Revision   int   `json:"revision"`
	Transition int   `json:"transition"`
	// Note distinguishes changes that grow neither number: a post edited or deleted.
	Note string `json:"note,omitempty"`
}

// CardKind shows a draft to a person, once per revision.
func (c *Chat) CardKind() queue.Kind[CardArgs] {
	k := cardKind()
	k.Work = c.workCard
	return k
}

// RecardKind edits the cards of a draft in place.
func (c *Chat) RecardKind() queue.Kind[RecardArgs] {
	k := recardKind()
	k.Work = c.workRecard
	return k
}

func cardKind() queue.Kind[CardArgs] {
	return queue.Kind[CardArgs]{
		Name: "card", Tier: queue.Default, Policy: queue.Ledger, Class: queue.Courtesy,
		Key: func(a CardArgs) string { return fmt.Sprintf("%d:%d:%d", a.DraftID, a.Revision, a.PersonID) },
	}
}

func recardKind() queue.Kind[RecardArgs] {
	return queue.Kind[RecardArgs]{
		Name: "recard", Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Courtesy,
		Key: func(a RecardArgs) string {
			return fmt.Sprintf("%d:%d:%d:%s", a.DraftID, a.Revision, a.Transition, a.Note)
		},
	}
}

// DraftReadyTx enqueues the cards of a new draft or a new revision: for app to
// wire to drafting. Cards of earlier revisions are brought up to date as well.
func DraftReadyTx(ctx context.Context, tx pgx.Tx, draftID int64, revision int) error {
	people, err := readers(ctx, tx, draftID)
	if err != nil {
		return err
	}
	args := make([]CardArgs, len(people))
	for i, p := range people {
		args[i] = CardArgs{DraftID: draftID, Revision: revision, PersonID: p}
	}
	if _, err := cardKind().EnqueueManyTx(ctx, tx, args); err != nil {
		return err
	}
	if revision == 1 {
		return nil
	}
	return recardTx(ctx, tx, RecardArgs{DraftID: draftID, Revision: revision})
}

// DraftChangedTx enqueues the edit of a draft's cards after it changed its
// state: for app to wire to whatever changes drafts.
func DraftChangedTx(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error {
	return recardTx(ctx, tx, RecardArgs{DraftID: draftID, Transition: transition})
}

// DraftDecidedTx is DraftChangedTx for a person's decision: for app to wire to
// desk. A while later the cards are edited once more, and lose their Undo.
func DraftDecidedTx(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error {
	if err := DraftChangedTx(ctx, tx, draftID, transition); err != nil {
		return err
	}
	a := RecardArgs{DraftID: draftID, Transition: transition, Note: noteOver}
	_, err := recardKind().EnqueueTx(ctx, tx, a, queue.After(desk.UndoShown+time.Second))
	return err
}

// noteOver marks the edit that takes Undo away.
const noteOver = "over"

// PostChangedTx does the same after a published post was edited or deleted;
// note names the change and its end: the same one is shown once.
func PostChangedTx(ctx context.Context, tx pgx.Tx, draftID int64, note string) error {
	return recardTx(ctx, tx, RecardArgs{DraftID: draftID, Note: note})
}

// recardAfter lets the tap that changed a draft edit its own card first: two
// edits of one message would use up Telegram's one message a second and chat.
const recardAfter = 500 * time.Millisecond

func recardTx(ctx context.Context, tx pgx.Tx, a RecardArgs) error {
	_, err := recardKind().EnqueueTx(ctx, tx, a, queue.After(recardAfter))
	return err
}

// workCard sends one card. A draft that was decided meanwhile is still shown:
// the person sees what became of it.
func (c *Chat) workCard(ctx context.Context, job *queue.Job[CardArgs]) error {
	a := job.Args
	t, err := c.speakTo(ctx, job, a.PersonID)
	if err != nil {
		return err
	}
	v, err := c.desk.Draft(ctx, a.PersonID, a.DraftID)
	if desk.CodeOf(err) != "" {
		return nil // left the channel, or the draft is gone
	}
	if err != nil {
		return err
	}
	// The text may be a newer one by now; a card of that is all that is wanted.
	if seen, err := c.cards.seen(ctx, a.DraftID, a.PersonID, a.Revision); err != nil || seen {
		return err
	}
	err = c.sendCard(ctx, t, v, fmt.Sprintf("card:%d:%d:%d", a.DraftID, a.Revision, a.PersonID), cardDecide)
	return c.courtesy(ctx, a.PersonID, err)
}

// sendCard sends a draft's card and keeps where it stands.
func (c *Chat) sendCard(ctx context.Context, t *turn, v desk.DraftView, key string, mode cardMode) error {
	lead, m := cardMessage(t, v, mode, nil)
	if lead != nil {
		if err := c.deliver(ctx, t.job, delivery{key: key + ":post", person: t.by(), msg: *lead}); err != nil && !errors.Is(err, errUndeliverable) {
			return err
		}
	}
	after := func(ctx context.Context, tx pgx.Tx, id int64) error {
		return putCard(ctx, tx, card{draft: v.Draft.ID, person: t.by(), message: id, revision: v.Revision.Number, transition: v.Draft.Transition, photo: m.photo != ""})
	}
	err := c.deliver(ctx, t.job, delivery{key: key, person: t.by(), msg: m, after: after})
	if errors.Is(err, errUndeliverable) && m.photo != "" {
		// Telegram cannot fetch the picture: the card comes without it.
		m.photo, m.preview = "", preview{}
		return c.deliver(ctx, t.job, delivery{key: key + ":plain", person: t.by(), msg: m, after: after})
	}
	return err
}

// workRecard edits each card that shows an older state.
func (c *Chat) workRecard(ctx context.Context, job *queue.Job[RecardArgs]) error {
	list, err := c.cards.ofDraft(ctx, job.Args.DraftID)
	if err != nil {
		return err
	}
	for _, k := range list {
		t, err := c.speakTo(ctx, job, k.person)
		if err != nil {
			return err
		}
		v, err := c.desk.Draft(ctx, k.person, k.draft)
		if desk.CodeOf(err) != "" {
			continue
		}
		if err != nil {
			return err
		}
		if upToDate(k, v, job.Args) {
			continue
		}
		key := fmt.Sprintf("recard:%s:%d:%d", job.Key, k.person, k.message)
		if k.revision < job.Args.Revision {
			err = c.replaceCard(ctx, t, k, v, key) // job kind card brings the new one
		} else {
			err = c.editCard(ctx, t, k, v, key, cardDecide, nil)
		}
		if err := c.courtesy(ctx, k.person, err); err != nil {
			return err
		}
	}
	return nil
}

// upToDate reports whether a card needs no edit: the tap itself brought it up to
// date, or the decision whose Undo is to go was changed meanwhile.
func upToDate(k card, v desk.DraftView, a RecardArgs) bool {
	switch a.Note {
	case "":
		return k.transition >= v.Draft.Transition && k.revision >= v.Revision.Number
	case noteOver:
		decided := v.Draft.State == editorial.Scheduled || v.Draft.State == editorial.Skipped
		return !decided || v.Draft.Transition != a.Transition || undoable(v)
	}
	return false
}

// editCard shows the present state in a card that stands in the chat. An older
// card of a draft whose newer text has a card of its own makes way for that.
func (c *Chat) editCard(ctx context.Context, t *turn, k card, v desk.DraftView, key string, mode cardMode, slots []choice) error {
	if k.revision < v.Revision.Number && k.revision > 0 {
		seen, err := c.cards.seen(ctx, k.draft, k.person, v.Revision.Number)
		if err != nil {
			return err
		}
		if seen {
			return c.replaceCard(ctx, t, k, v, key)
		}
	}
	lead, m := cardMessage(t, v, mode, slots)
	if k.photo && m.photo == "" && lead == nil {
		m.text = cardAbout(t, v) // the picture's card lost its picture: keep what fits a caption
	}
	k.revision, k.transition = v.Revision.Number, v.Draft.Transition
	return c.deliver(ctx, t.job, delivery{
		key: key, person: k.person, edit: int(k.message), photo: k.photo, msg: m,
		after: func(ctx context.Context, tx pgx.Tx, _ int64) error { return putCard(ctx, tx, k) },
	})
}

// replaceCard points from a card to the newer one below it.
func (c *Chat) replaceCard(ctx context.Context, t *turn, k card, v desk.DraftView, key string) error {
	k.transition = v.Draft.Transition
	return c.deliver(ctx, t.job, delivery{
		key: key, person: k.person, edit: int(k.message), photo: k.photo,
		msg:   message{text: t.HTML("card.replaced", texts.Args{"Draft": v.Draft.ID})},
		after: func(ctx context.Context, tx pgx.Tx, _ int64) error { return putCard(ctx, tx, k) },
	})
}

// speakTo is a turn that no update started: the bot speaks by itself.
func (c *Chat) speakTo(ctx context.Context, job performer, person int64) (*turn, error) {
	p, err := c.desk.Person(ctx, person)
	if err != nil {
		return nil, err
	}
	return &turn{Locale: c.texts.For(p.Language), chat: c, job: job, person: p, now: c.now()}, nil
}

// courtesy ends a message that cannot reach its person: the job is done.
func (c *Chat) courtesy(ctx context.Context, person int64, err error) error {
	var gone *blockedError
	if errors.As(err, &gone) {
		return c.desk.Blocked(ctx, person)
	}
	if errors.Is(err, errUndeliverable) {
		return nil
	}
	return err
}
