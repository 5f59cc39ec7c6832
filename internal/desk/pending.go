package desk

import (
	"context"
	"errors"
	"time"

	"github.com/postonce/postonce/internal/editorial"
)

// errNeighbour answers until the feature behind a method is in the tree.
var errNeighbour = errors.New("desk: the feature behind this is not in the tree yet")

// Finding is what a person saw in the channel when a publication is in doubt.
type Finding string

// The findings of Settle.
const (
	FindingThere    Finding = "there"     // It's there
	FindingNotThere Finding = "not_there" // Not there, post it
	FindingLeave    Finding = "leave"     // Leave it
)

// Approve gives a proposed draft the next free slot.
func (d *Desk) Approve(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return Decision{}, errNeighbour
}

// PostNow publishes a proposed or scheduled draft at once.
func (d *Desk) PostNow(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return Decision{}, errNeighbour
}

// ScheduleAt gives a draft exactly this time.
func (d *Desk) ScheduleAt(ctx context.Context, by, draftID int64, transition int, at time.Time) (Decision, error) {
	return Decision{}, errNeighbour
}

// Move gives a scheduled draft another time.
func (d *Desk) Move(ctx context.Context, by, draftID int64, transition int, at time.Time) (Decision, error) {
	return Decision{}, errNeighbour
}

// Skip refuses a draft; the reason may be empty, and SkipBecause fills it in.
func (d *Desk) Skip(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (Decision, error) {
	return Decision{}, errNeighbour
}

// SkipBecause sets or changes the reason of a skipped draft; it teaches the score.
func (d *Desk) SkipBecause(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (Decision, error) {
	return Decision{}, errNeighbour
}

// Undo leads back to proposed, from scheduled, skipped or failed.
func (d *Desk) Undo(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return Decision{}, errNeighbour
}

// Retry gives a failed draft the next free slot.
func (d *Desk) Retry(ctx context.Context, by, draftID int64, transition int) (Decision, error) {
	return Decision{}, errNeighbour
}

// Edit replaces the text of a draft by a new revision.
func (d *Desk) Edit(ctx context.Context, by, draftID int64, transition int, html string) (Decision, error) {
	return Decision{}, errNeighbour
}

// Rewrite asks for another text of a draft.
func (d *Desk) Rewrite(ctx context.Context, by, draftID int64, transition int, instruction string) (Submission, error) {
	return Submission{}, errNeighbour
}

// Settle says what a person saw of an unconfirmed publication; link may lead to the post.
func (d *Desk) Settle(ctx context.Context, by, draftID int64, transition int, finding Finding, link string) (Decision, error) {
	return Decision{}, errNeighbour
}

// EditPost changes a published post; the job does it.
func (d *Desk) EditPost(ctx context.Context, by, draftID int64, html string) (Submission, error) {
	return Submission{}, errNeighbour
}

// DeletePost deletes a published post; the job does it.
func (d *Desk) DeletePost(ctx context.Context, by, draftID int64) (Submission, error) {
	return Submission{}, errNeighbour
}

// OwnDraft makes a draft of what a person sent.
func (d *Desk) OwnDraft(ctx context.Context, by, channelID int64, in OwnInput) (Submission, error) {
	return Submission{}, errNeighbour
}

// Draft returns one draft as a card shows it. For members.
func (d *Desk) Draft(ctx context.Context, by, draftID int64) (DraftView, error) {
	return DraftView{}, errNeighbour
}

// Drafts lists drafts, the newest first: those with an id below before (0: from the newest). For members.
func (d *Desk) Drafts(ctx context.Context, by, channelID int64, states []editorial.DraftState, before int64, limit int) ([]DraftView, error) {
	return nil, errNeighbour
}

// DeleteMe erases a person's data and says what stays and why.
func (d *Desk) DeleteMe(ctx context.Context, by int64) (Erasure, error) {
	return Erasure{}, errNeighbour
}

// AddForwarded takes a forwarded post as an item of a channel.
func (d *Desk) AddForwarded(ctx context.Context, by, channelID int64, post Forwarded) (Submission, error) {
	return Submission{}, errNeighbour
}

// Dropped lists what scored too low on a local day (YYYY-MM-DD; empty: today).
func (d *Desk) Dropped(ctx context.Context, by, channelID int64, day string) ([]DroppedView, error) {
	return nil, errNeighbour
}

// Rescue drafts a dropped story after all, and teaches the score.
func (d *Desk) Rescue(ctx context.Context, by, channelID, storyID int64) (Submission, error) {
	return Submission{}, errNeighbour
}

// Status says what is pending, running, failing and in doubt.
func (d *Desk) Status(ctx context.Context, by, channelID int64) (StatusView, error) {
	return StatusView{}, errNeighbour
}

// Why tells the life of one item: ref is a link, a draft's number, or a link to a post.
func (d *Desk) Why(ctx context.Context, by int64, ref string) (Life, error) {
	return Life{}, errNeighbour
}

// Activity lists what happened in a channel, the newest first.
func (d *Desk) Activity(ctx context.Context, by, channelID int64, before time.Time, limit int) ([]Event, error) {
	return nil, errNeighbour
}

// Ops is the operators' page.
func (d *Desk) Ops(ctx context.Context, by int64) (OpsView, error) { return OpsView{}, errNeighbour }

// PauseKind stops a kind of job; for operators.
func (d *Desk) PauseKind(ctx context.Context, by int64, kind string) (bool, error) {
	return false, errNeighbour
}

// ResumeKind starts it again.
func (d *Desk) ResumeKind(ctx context.Context, by int64, kind string) (bool, error) {
	return false, errNeighbour
}

// Archive lists the open archive, the newest first; for operators.
func (d *Desk) Archive(ctx context.Context, by int64, limit int) ([]ArchivedView, error) {
	return nil, errNeighbour
}

// ArchivedJob shows one job of the archive whole.
func (d *Desk) ArchivedJob(ctx context.Context, by, jobID int64) (ArchivedView, error) {
	return ArchivedView{}, errNeighbour
}

// ConfirmJob closes an archived job as done.
func (d *Desk) ConfirmJob(ctx context.Context, by, jobID int64) error { return errNeighbour }

// ReplayJob runs an archived job again; refused while an effect of it is in doubt.
func (d *Desk) ReplayJob(ctx context.Context, by, jobID int64) (Submission, error) {
	return Submission{}, errNeighbour
}

// DismissJob closes an archived job without effect.
func (d *Desk) DismissJob(ctx context.Context, by, jobID int64) error { return errNeighbour }
