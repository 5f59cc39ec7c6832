package desk

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources"
)

// textError says what is wrong with a text that a person sent.
func textError(err error) error {
	var syntax *render.SyntaxError
	var long *drafting.TooLongError
	switch {
	case errors.As(err, &syntax):
		return &Error{Code: CodeText, Args: map[string]any{"why": "syntax", "detail": syntax.What}, Cause: err}
	case errors.As(err, &long):
		return &Error{Code: CodeText, Args: map[string]any{"why": "too_long", "length": long.Units, "limit": long.Limit}, Cause: err}
	case errors.Is(err, drafting.ErrEmpty):
		return &Error{Code: CodeText, Args: map[string]any{"why": "empty"}, Cause: err}
	}
	return err
}

// Edit replaces the text of a draft by a new revision. One that is scheduled
// keeps its slot; its author's text counts as approved.
func (d *Desk) Edit(ctx context.Context, by, draftID int64, transition int, html string) (Decision, error) {
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		res, err := drafting.AddRevision(ctx, tx, drafting.Edit{DraftID: draftID, Transition: transition, HTML: html, By: by})
		if err != nil {
			return w.draft, textError(err)
		}
		if !res.Done {
			return w.draft, errAlready
		}
		if err := d.drafting.EditTaughtTx(ctx, tx, res.Draft); err != nil {
			return w.draft, err
		}
		if res.Draft.State == editorial.Scheduled {
			_, err = d.publishing.EnqueueTx(ctx, tx, draftID, res.Draft.Transition, res.Draft.SlotAt)
		}
		return res.Draft, err
	})
}

// Rewrite asks for another text of a draft; the job writes it.
func (d *Desk) Rewrite(ctx context.Context, by, draftID int64, transition int, instruction string) (Submission, error) {
	var sub queue.Submission
	var done bool
	err := d.tx(ctx, func(tx pgx.Tx) error {
		if err := d.mayEdit(ctx, tx, by, draftID); err != nil {
			return err
		}
		if err := d.slowly(d.rates.drafts, by); err != nil {
			return err
		}
		res, s, err := d.drafting.Rewrite(ctx, tx, drafting.Edit{DraftID: draftID, Transition: transition, By: by}, instruction)
		sub, done = s, res.Done
		return err
	})
	return Submission{JobID: sub.JobID, DraftID: draftID, Fresh: done && sub.Fresh}, err
}

// OwnDraft makes a draft of what a person sent: a link, a text, or a post as it is.
func (d *Desk) OwnDraft(ctx context.Context, by, channelID int64, in OwnInput) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return Submission{}, err
	}
	if err := d.slowly(d.rates.drafts, by); err != nil {
		return Submission{}, err
	}
	if in.URL == "" && in.Text == "" && in.HTML == "" {
		return Submission{}, fail(CodeNothing, nil)
	}
	a := drafting.OwnArgs{ChannelID: channelID, By: by, Sent: in.UpdateID}
	switch { // exactly one of them says what to draft from
	case in.HTML != "":
		a.HTML = in.HTML
	case in.URL != "":
		a.URL = in.URL
	default:
		a.Text = in.Text
	}
	var sub queue.Submission
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		if err := d.draftsLeft(ctx, tx, channelID); err != nil {
			return err
		}
		sub, err = d.drafting.OwnTx(ctx, tx, a)
		return textError(err)
	})
	return Submission{JobID: sub.JobID, Fresh: sub.Fresh}, err
}

// AddForwarded keeps a forwarded post as an item of the channel that it came
// from, so that it is never proposed again, and drafts from it.
func (d *Desk) AddForwarded(ctx context.Context, by, channelID int64, post Forwarded) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return Submission{}, err
	}
	if err := d.slowly(d.rates.drafts, by); err != nil {
		return Submission{}, err
	}
	if post.Text == "" && post.Link == "" {
		return Submission{}, fail(CodeNothing, nil)
	}
	var sub queue.Submission
	err := d.tx(ctx, func(tx pgx.Tx) error {
		if err := d.draftsLeft(ctx, tx, channelID); err != nil {
			return err
		}
		if post.ChatID != 0 {
			_, _, err := d.sources.AddForwarded(ctx, tx, sources.Forward{
				ChatID: post.ChatID, Username: post.Username, Title: post.ChatTitle, MessageID: int(post.MessageID),
				Text: post.Text, Link: post.Link, Date: post.At,
			})
			if err != nil {
				return err
			}
		}
		a := drafting.OwnArgs{ChannelID: channelID, By: by, Text: post.Text, Sent: post.UpdateID}
		if post.Text == "" {
			a.URL = post.Link
		}
		var err error
		sub, err = d.drafting.OwnTx(ctx, tx, a)
		return textError(err)
	})
	return Submission{JobID: sub.JobID, Fresh: sub.Fresh}, err
}

// EditPost changes a published post; the job does it.
func (d *Desk) EditPost(ctx context.Context, by, draftID int64, html string) (Submission, error) {
	return d.changePost(ctx, by, draftID, func(ctx context.Context, tx pgx.Tx) (queue.Submission, error) {
		res, err := drafting.Amend(ctx, tx, drafting.Edit{DraftID: draftID, HTML: html, By: by})
		if err != nil {
			return queue.Submission{}, textError(err)
		}
		if !res.Done {
			return queue.Submission{}, fail(CodeNotPublished, nil)
		}
		if err := d.drafting.EditTaughtTx(ctx, tx, res.Draft); err != nil {
			return queue.Submission{}, err
		}
		return d.publishing.EditTx(ctx, tx, draftID, res.Revision.Number)
	})
}

// DeletePost deletes a published post; the job does it.
func (d *Desk) DeletePost(ctx context.Context, by, draftID int64) (Submission, error) {
	return d.changePost(ctx, by, draftID, func(ctx context.Context, tx pgx.Tx) (queue.Submission, error) {
		return d.publishing.DeleteTx(ctx, tx, draftID)
	})
}

func (d *Desk) changePost(ctx context.Context, by, draftID int64, do func(ctx context.Context, tx pgx.Tx) (queue.Submission, error)) (Submission, error) {
	var sub queue.Submission
	err := d.tx(ctx, func(tx pgx.Tx) error {
		if err := d.mayEdit(ctx, tx, by, draftID); err != nil {
			return err
		}
		var err error
		sub, err = do(ctx, tx)
		if errors.Is(err, publishing.ErrNotPublished) {
			return fail(CodeNotPublished, err)
		}
		return err
	})
	return Submission{JobID: sub.JobID, DraftID: draftID, Fresh: sub.Fresh}, err
}
