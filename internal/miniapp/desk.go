package miniapp

import (
	"context"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// Desk is what the API calls; *desk.Desk is it. Each method checks the rights
// of `by` itself and answers error.not_yours to a stranger.
type Desk interface {
	People
	Drafts
	Planning
	Channels
	Sources
	Happenings
}

// People is who is there.
type People interface {
	Seen(ctx context.Context, p desk.Profile) (editorial.Person, error)
	Person(ctx context.Context, id int64) (editorial.Person, error)
	Admitted(p editorial.Person) bool
	SetLanguage(ctx context.Context, by int64, language string) error
	Choose(ctx context.Context, by, channelID int64) error
}

// Drafts are the decisions about drafts and posts.
type Drafts interface {
	Approve(ctx context.Context, by, draftID int64, transition int) (desk.Decision, error)
	PostNow(ctx context.Context, by, draftID int64, transition int) (desk.Decision, error)
	ScheduleAt(ctx context.Context, by, draftID int64, transition int, at time.Time) (desk.Decision, error)
	Move(ctx context.Context, by, draftID int64, transition int, at time.Time) (desk.Decision, error)
	Skip(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (desk.Decision, error)
	SkipBecause(ctx context.Context, by, draftID int64, transition int, reason editorial.SkipReason) (desk.Decision, error)
	Undo(ctx context.Context, by, draftID int64, transition int) (desk.Decision, error)
	Retry(ctx context.Context, by, draftID int64, transition int) (desk.Decision, error)
	Edit(ctx context.Context, by, draftID int64, transition int, html string) (desk.Decision, error)
	Rewrite(ctx context.Context, by, draftID int64, transition int, instruction string) (desk.Submission, error)
	Settle(ctx context.Context, by, draftID int64, transition int, finding desk.Finding, link string) (desk.Decision, error)
	EditPost(ctx context.Context, by, draftID int64, html string) (desk.Submission, error)
	DeletePost(ctx context.Context, by, draftID int64) (desk.Submission, error)
	OwnDraft(ctx context.Context, by, channelID int64, in desk.OwnInput) (desk.Submission, error)
	Draft(ctx context.Context, by, draftID int64) (desk.DraftView, error)
	Drafts(ctx context.Context, by, channelID int64, states []editorial.DraftState, before int64, limit int) ([]desk.DraftView, error)
}

// Planning is the plan of a channel.
type Planning interface {
	Plan(ctx context.Context, by, channelID int64, from, to time.Time) (desk.PlanView, error)
	FreeSlots(ctx context.Context, by, channelID int64, n int) ([]time.Time, error)
	Pause(ctx context.Context, by, channelID int64) (bool, error)
	Resume(ctx context.Context, by, channelID int64) (bool, error)
}

// Channels are settings and members.
type Channels interface {
	Channels(ctx context.Context, by int64) ([]desk.ChannelView, error)
	Channel(ctx context.Context, by, id int64) (desk.ChannelView, error)
	Update(ctx context.Context, by, id int64, change desk.ChannelChange) (desk.ChannelView, error)
	Members(ctx context.Context, by, channelID int64) ([]desk.Member, error)
	Invite(ctx context.Context, by, channelID int64, role editorial.Role, token string) (string, error)
	RemoveMember(ctx context.Context, by, channelID, person int64) (bool, error)
	SetRole(ctx context.Context, by, channelID, person int64, role editorial.Role) error
	SetNotify(ctx context.Context, by, channelID int64, notify bool) error
}

// Sources is what a channel follows.
type Sources interface {
	Probe(ctx context.Context, by int64, raw string) (desk.ProbeView, error)
	AddSource(ctx context.Context, by, channelID int64, raw string) (desk.SourceView, error)
	Packs(ctx context.Context, by int64, language string) ([]desk.PackView, error)
	AddPack(ctx context.Context, by, channelID int64, pack string) (desk.Submission, error)
	Sources(ctx context.Context, by, channelID int64) ([]desk.SourceView, error)
	RemoveSource(ctx context.Context, by, channelID, sourceID int64) (bool, error)
	PauseSource(ctx context.Context, by, channelID, sourceID int64) (bool, error)
	ResumeSource(ctx context.Context, by, channelID, sourceID int64) (bool, error)
	RetrySource(ctx context.Context, by, channelID, sourceID int64) (desk.Submission, error)
	SetSource(ctx context.Context, by, channelID, sourceID int64, change desk.SourceChange) (desk.SourceView, error)
	TestSource(ctx context.Context, by, channelID, sourceID int64) (desk.TestView, error)
	ImportOPML(ctx context.Context, by, channelID int64, file []byte) (desk.Submission, error)
	ExportOPML(ctx context.Context, by, channelID int64) ([]byte, error)
}

// Happenings is what happened and what goes on.
type Happenings interface {
	Dropped(ctx context.Context, by, channelID int64, day string) ([]desk.DroppedView, error)
	Rescue(ctx context.Context, by, channelID, storyID int64) (desk.Submission, error)
	Status(ctx context.Context, by, channelID int64) (desk.StatusView, error)
	Why(ctx context.Context, by int64, ref string) (desk.Life, error)
	Activity(ctx context.Context, by, channelID int64, before time.Time, limit int) ([]desk.Event, error)
}
