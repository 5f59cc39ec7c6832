package desk

import (
	"time"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
)

// Decision is the answer to a decision about a draft. Already means that
// nothing changed by this call: the rest says what had happened before.
type Decision struct {
	DraftID    int64                `json:"draft_id"`
	Done       bool                 `json:"done"`
	Already    bool                 `json:"already"`
	State      editorial.DraftState `json:"state"`
	Transition int                  `json:"transition"` // of the next button
	SlotAt     time.Time            `json:"slot_at,omitzero"`
	By         int64                `json:"by,omitempty"` // who decided; 0: the autopilot, or nobody
	ByName     string               `json:"by_name,omitempty"`
	SkipReason editorial.SkipReason `json:"skip_reason,omitempty"`
	Failure    string               `json:"failure,omitempty"` // code, for failed
	Post       PostLink             `json:"post,omitzero"`
}

// PostLink leads to a post in its channel. The zero value: there is none.
type PostLink struct {
	ChatID    int64  `json:"chat_id"`
	MessageID int64  `json:"message_id"`
	URL       string `json:"url"`
}

// Submission is something accepted that is not done yet: the job that does it.
type Submission struct {
	JobID   int64 `json:"job_id"`
	DraftID int64 `json:"draft_id,omitempty"` // where it is known already
	Fresh   bool  `json:"fresh"`              // false: it was submitted before
}

// ChannelBrief is what a card says of its channel.
type ChannelBrief struct {
	ID         int64                  `json:"id"`
	Title      string                 `json:"title"`
	Username   string                 `json:"username"`
	TimeZone   string                 `json:"time_zone"`
	State      editorial.ChannelState `json:"state"`
	Paused     bool                   `json:"paused"`
	Rests      bool                   `json:"rests"`       // beyond its payer's plan
	ImageStyle string                 `json:"image_style"` // preview, photo, none: how the card shows its picture
}

// ChannelView is a channel with what a person may do in it.
type ChannelView struct {
	editorial.Channel
	Role    editorial.Role `json:"role"`
	Notify  bool           `json:"notify"`
	Chosen  bool           `json:"chosen"`  // the one that commands speak of
	Missing []string       `json:"missing"` // rights that the bot lacks
	Sources int            `json:"sources"`
	Waiting int            `json:"waiting"` // drafts that wait for a decision
}

// LinkResult is a channel after linking; Missing names the rights that the bot
// still lacks (can_post_messages): it can be asked again when they are given.
type LinkResult struct {
	Channel ChannelView `json:"channel"`
	Missing []string    `json:"missing"`
}

// SourceRef names a source in a draft.
type SourceRef struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"` // of the item there
}

// PublicationView is the delivery of a draft as people see it.
type PublicationView struct {
	State       editorial.PublicationState `json:"state"`
	Post        PostLink                   `json:"post,omitzero"`
	StartedAt   time.Time                  `json:"started_at"`
	PublishedAt time.Time                  `json:"published_at,omitzero"`
	SettledHow  string                     `json:"settled_how,omitempty"` // answer, preview, probe, person, operator
	SettledBy   int64                      `json:"settled_by,omitempty"`
	Error       string                     `json:"error,omitempty"` // code
	EditedAt    time.Time                  `json:"edited_at,omitzero"`
	DeletedAt   time.Time                  `json:"deleted_at,omitzero"`
	Looked      int                        `json:"looked"`         // how often a doubt was looked into without finding the post
	Left        bool                       `json:"left,omitempty"` // a person left the doubt as it is
	// Change is a change of the post that is not in the channel (yet): edit_ or
	// delete_ with pending, unknown (may be there: look) or failed; "" for none.
	Change string `json:"change,omitempty"`
}

// Check is a soft finding about a text, shown as a badge.
type Check struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Evidence is a claim of a draft and the words of the source behind it.
type Evidence struct {
	Claim string `json:"claim"`
	Quote string `json:"quote"`
}

// DraftView is a draft as a card shows it.
type DraftView struct {
	Draft       editorial.Draft    `json:"draft"`
	Revision    editorial.Revision `json:"revision"` // the current text
	Channel     ChannelBrief       `json:"channel"`
	SourceID    int64              `json:"source_id"`
	SourceTitle string             `json:"source_title"`
	ItemURL     string             `json:"item_url"`
	ItemTitle   string             `json:"item_title"`
	ItemAt      time.Time          `json:"item_at,omitzero"`
	Also        []SourceRef        `json:"also"` // further sources of the same story
	Reasons     []editorial.Reason `json:"reasons"`
	Checks      []Check            `json:"checks"`
	Evidence    []Evidence         `json:"evidence"`
	NextSlot    time.Time          `json:"next_slot,omitzero"` // what Approve would take
	AutopilotAt time.Time          `json:"autopilot_at,omitzero"`
	DecidedAt   time.Time          `json:"decided_at,omitzero"`
	DecidedBy   string             `json:"decided_by"` // name
	// JustDecided holds within UndoShown of the decision: a card offers Undo then.
	JustDecided bool             `json:"-"`
	CreatedAt   time.Time        `json:"created_at"`
	Publication *PublicationView `json:"publication,omitempty"`
	Role        editorial.Role   `json:"role"`   // of the person who looks
	Tokens      int              `json:"tokens"` // cost, for operators only
	Revisions   int              `json:"revisions"`
}

// PlanView is a stretch of a channel's plan, with the drafts in it.
type PlanView struct {
	Channel    ChannelBrief `json:"channel"`
	From       time.Time    `json:"from"`
	To         time.Time    `json:"to"`
	Slots      []SlotView   `json:"slots"`
	LastsUntil time.Time    `json:"lasts_until,omitzero"`
	Gaps       int          `json:"gaps"` // free slots to come in the stretch
	Week       [7]int       `json:"week"` // slots per weekday, from Sunday
}

// SlotView is a slot in a plan.
type SlotView struct {
	At         time.Time            `json:"at"`
	DraftID    int64                `json:"draft_id,omitempty"` // 0: free
	Title      string               `json:"title,omitempty"`    // first line of the post, plain
	State      editorial.DraftState `json:"state,omitempty"`
	Transition int                  `json:"transition,omitempty"`
	Past       bool                 `json:"past"`
	Capped     bool                 `json:"capped"` // left empty by the daily cap
	Extra      bool                 `json:"extra"`  // a chosen time, no slot of the week
}

// OwnInput is what a person sent to make a draft of; one of URL, Text, HTML.
type OwnInput struct {
	URL      string `json:"url,omitempty"`
	Text     string `json:"text,omitempty"` // plain
	HTML     string `json:"html,omitempty"` // Telegram HTML, taken as it is
	Image    string `json:"image,omitempty"`
	UpdateID int64  `json:"-"` // of the message, so that it drafts once
}

// Event is one line of a life: what happened, to what, when.
type Event struct {
	At     time.Time      `json:"at"`
	Code   string         `json:"code"` // key of the catalogues: life.polled, life.scored, life.drafted …
	By     int64          `json:"by,omitempty"`
	ByName string         `json:"by_name,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
}

// Life is the life of one item in a channel, from the poll to the post.
type Life struct {
	ItemID  int64     `json:"item_id"`
	StoryID int64     `json:"story_id"`
	DraftID int64     `json:"draft_id"`
	Title   string    `json:"title"`
	URL     string    `json:"url"`
	Events  []Event   `json:"events"` // in order
	Post    PostLink  `json:"post,omitzero"`
	Waiting []JobView `json:"waiting"` // jobs of it that are not done
}

// JobView is a job as people and operators see it.
type JobView struct {
	ID       int64     `json:"id"`
	Kind     string    `json:"kind"`
	Key      string    `json:"key"`
	State    string    `json:"state"` // ready, leased, or a reason of the archive
	RunAt    time.Time `json:"run_at,omitzero"`
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"`
	Error    string    `json:"error,omitempty"`
	DraftID  int64     `json:"draft_id,omitempty"`
}

// StatusView is what is going on in a channel, with job numbers that support can trace.
type StatusView struct {
	Channel     ChannelBrief `json:"channel"`
	Pending     []JobView    `json:"pending"`
	Running     []JobView    `json:"running"`
	Failing     []JobView    `json:"failing"`     // to be tried again
	Archived    []JobView    `json:"archived"`    // will not run again by themselves
	Unconfirmed []DraftView  `json:"unconfirmed"` // may have been posted
	Failed      []DraftView  `json:"failed"`      // certainly not posted
	Proposed    int          `json:"proposed"`
	Scheduled   int          `json:"scheduled"`
	Next        time.Time    `json:"next,omitzero"` // the next post
	Sources     int          `json:"sources"`
	Sick        []SourceView `json:"sick"` // sources with something wrong
}

// DroppedView is a story that scored too low.
type DroppedView struct {
	StoryID int64              `json:"story_id"`
	Title   string             `json:"title"`
	URL     string             `json:"url"`
	Source  string             `json:"source"`
	Score   int                `json:"score"`
	Verdict string             `json:"verdict"` // below, ruled_out, baseline
	Reasons []editorial.Reason `json:"reasons"`
	At      time.Time          `json:"at"`
	DraftID int64              `json:"draft_id,omitempty"` // it was rescued
}

// SourceView is a source as a channel follows it.
type SourceView struct {
	ID           int64     `json:"id"`
	Address      string    `json:"address"`
	URL          string    `json:"url"`
	SiteURL      string    `json:"site_url"`
	Title        string    `json:"title"`
	Kind         string    `json:"kind"`
	Language     string    `json:"language"`
	State        string    `json:"state"`
	Paused       bool      `json:"paused"` // in this channel
	Rests        bool      `json:"rests"`  // beyond the plan's limit
	Weight       int       `json:"weight"`
	MustWords    []string  `json:"must_words"`
	NeverWords   []string  `json:"never_words"`
	Pattern      string    `json:"pattern"`
	LastNewAt    time.Time `json:"last_new_at,omitzero"`
	LastPollAt   time.Time `json:"last_poll_at,omitzero"`
	NextPollAt   time.Time `json:"next_poll_at,omitzero"`
	Error        string    `json:"error,omitempty"` // code; empty: healthy
	ErrorText    string    `json:"error_text,omitempty"`
	FailingSince time.Time `json:"failing_since,omitzero"`
	Items        int       `json:"items"`   // read in the last 7 days
	Drafts       int       `json:"drafts"`  // proposed here in the last 7 days
	Already      bool      `json:"already"` // AddSource: it was followed before
}

// ProbeView is what the program sees in what a person pasted, before he decides.
type ProbeView struct {
	Address string      `json:"address"`
	URL     string      `json:"url"`
	Kind    string      `json:"kind"` // feed, site, telegram, opml, article …
	Title   string      `json:"title"`
	Latest  []ProbeItem `json:"latest"`
	Choices []ProbeItem `json:"choices"` // several feeds on one page
	IsFeed  bool        `json:"is_feed"` // it can be followed
	Known   bool        `json:"known"`   // the channel follows it
}

// ProbeItem is an entry, or a choice, of a probe.
type ProbeItem struct {
	Title string    `json:"title"`
	URL   string    `json:"url"`
	At    time.Time `json:"at,omitzero"`
}

// PackView is a set of suggested sources.
type PackView struct {
	ID       string   `json:"id"`
	Language string   `json:"language"`
	Title    string   `json:"title"`
	Sources  []string `json:"sources"` // addresses
}

// TestView is how the last items of a source would score in a channel.
type TestView struct {
	Source SourceView    `json:"source"`
	Items  []DroppedView `json:"items"`
}

// InvitationView is what accepting an invitation gave.
type InvitationView struct {
	Channel  *ChannelView   `json:"channel,omitempty"` // nil: into the bot
	Role     editorial.Role `json:"role,omitempty"`
	Operator bool           `json:"operator"`
	Already  bool           `json:"already"`
}

// Erasure says what /delete_me erased, what stays, and why (codes).
type Erasure struct {
	Channels    int      `json:"channels"`    // unlinked: the person was their only owner
	Memberships int      `json:"memberships"` // left
	Erased      []string `json:"erased"`
	Stays       []string `json:"stays"` // payments, decisions …
}

// OpsView is the operator's page.
type OpsView struct {
	Tiers       []TierView           `json:"tiers"`
	Kinds       []KindView           `json:"kinds"`
	Archive     []ArchiveCount       `json:"archive"`
	Unconfirmed int                  `json:"unconfirmed"` // publications in doubt
	Findings    int                  `json:"findings"`    // payments that do not match
	Workers     []WorkerView         `json:"workers"`
	Schedules   map[string]time.Time `json:"schedules"` // last fire time
}

// TierView is the load of one tier.
type TierView struct {
	Tier   string        `json:"tier"`
	Depth  int           `json:"depth"`  // ready and due, counted up to 10,001
	Oldest time.Duration `json:"oldest"` // age of the oldest due job
	Leased int           `json:"leased"`
}

// KindView is one job kind.
type KindView struct {
	Kind   string  `json:"kind"`
	Tier   string  `json:"tier"`
	Paused bool    `json:"paused"`
	Done   int     `json:"done"`   // in the last hour
	Failed int     `json:"failed"` // attempts in the last hour
	Rate   float64 `json:"rate"`   // failed of all, 0 to 1
}

// ArchiveCount is a reason of the archive and how many rows are open.
type ArchiveCount struct {
	Reason string `json:"reason"`
	Open   int    `json:"open"`
}

// WorkerView is a process.
type WorkerView struct {
	ID    int64     `json:"id"`
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Build string    `json:"build"`
	Since time.Time `json:"since"`
	Seen  time.Time `json:"seen"`
}

// SourceChange changes how a channel follows a source: what is nil stays.
type SourceChange = channels.SubscriptionChange

// Forwarded is a post that a person forwarded to the bot.
type Forwarded struct {
	ChatID    int64     // of the channel that it came from; 0: hidden
	MessageID int64     // there
	ChatTitle string    //
	Username  string    // of that channel
	HTML      string    // as Telegram showed it
	Text      string    // plain
	Link      string    // first link in it
	At        time.Time // when it was posted there
	UpdateID  int64     // of the forward, so that it counts once
}

// ArchivedView is a job in the archive.
type ArchivedView struct {
	JobView
	Reason     string       `json:"reason"`
	Status     string       `json:"status"` // open, reconciled, replayed, closed
	Payload    string       `json:"payload"`
	Effects    []EffectView `json:"effects"`
	Doubt      bool         `json:"doubt"` // an effect has to be settled first
	ResolvedBy string       `json:"resolved_by,omitempty"`
}

// EffectView is a line of the ledger.
type EffectView struct {
	Key        string    `json:"key"`
	State      string    `json:"state"` // intent, done, not_done, unknown
	At         time.Time `json:"at"`
	ExternalID string    `json:"external_id,omitempty"`
	Error      string    `json:"error,omitempty"`
}
