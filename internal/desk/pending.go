package desk

import (
	"context"
	"errors"
	"time"
)

// errNeighbour answers until the feature behind a method is in the tree.
var errNeighbour = errors.New("desk: the feature behind this is not in the tree yet")

// DeleteMe erases a person's data and says what stays and why.
func (d *Desk) DeleteMe(ctx context.Context, by int64) (Erasure, error) {
	return Erasure{}, errNeighbour
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
