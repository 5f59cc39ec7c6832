package editorial

import "time"

// DraftState is where a draft stands.
type DraftState string

// The states of a draft, spelled alike in SQL, Go, JSON and metrics.
const (
	Proposed    DraftState = "proposed"
	Scheduled   DraftState = "scheduled"
	Publishing  DraftState = "publishing"
	Published   DraftState = "published"
	Skipped     DraftState = "skipped"
	Failed      DraftState = "failed"      // certainly not posted; can be tried again
	Unconfirmed DraftState = "unconfirmed" // may have been posted; nothing touches it until it is settled
)

// CanBecome reports whether a draft may go from one state to another. Undo
// leads back to proposed; a published post is never published again.
func (s DraftState) CanBecome(next DraftState) bool {
	switch s {
	case Proposed:
		return next == Scheduled || next == Skipped
	case Scheduled:
		return next == Proposed || next == Publishing || next == Skipped || next == Failed || next == Scheduled
	case Publishing:
		return next == Published || next == Failed || next == Unconfirmed || next == Scheduled
	case Skipped:
		return next == Proposed
	case Failed:
		return next == Scheduled || next == Proposed || next == Skipped
	case Unconfirmed:
		return next == Published || next == Failed
	case Published:
		return false
	}
	return false
}

// Draft is a proposed post. Transition grows with every change of state:
// buttons carry it, so that a late press finds out what already happened.
type Draft struct {
	ID         int64
	ChannelID  int64
	StoryID    int64 // 0 for a digest and for what the owner sent
	Kind       DraftKind
	Subject    string
	State      DraftState
	Transition int
	Revision   int
	Score      int
	Explore    bool // proposed below the threshold, to learn
	SlotAt     time.Time
	DecidedBy  int64
	SkipReason SkipReason
	Failure    string
}

// Revision is one text of a draft, exactly as it is sent.
type Revision struct {
	DraftID  int64
	Number   int
	HTML     string // Telegram HTML
	Hash     []byte // SHA-256 of HTML, link and image: what an approval binds to
	Link     string
	Image    string
	Composer string // extractive, model, person, digest
	Fallback string // why the composer without a model wrote it; empty otherwise
}

// SkipReason is why a person skipped a draft.
type SkipReason string

// The reasons. Only SkipOffTopic says something about relevance.
const (
	SkipOffTopic     SkipReason = "off_topic"
	SkipOld          SkipReason = "old"
	SkipDuplicate    SkipReason = "duplicate"
	SkipBadSource    SkipReason = "bad_source"
	SkipBadlyWritten SkipReason = "badly_written"
	SkipMissed       SkipReason = "missed" // its slot passed while the program was down
	SkipOther        SkipReason = "other"
)

// PublicationState is where the one delivery of a draft stands.
type PublicationState string

// The states of a publication.
const (
	Sending                PublicationState = "sending"
	PublicationPublished   PublicationState = "published"
	PublicationFailed      PublicationState = "failed"
	PublicationUnconfirmed PublicationState = "unconfirmed"
)
