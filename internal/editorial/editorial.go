// Package editorial is the vocabulary of the program: the words that people,
// tables and packages share, their states, and the rules that need nothing but
// the words. It imports the standard library only, owns no table, reads no
// clock and calls nobody.
//
//	Channel       a Telegram channel that an owner linked
//	Source        something polled, shared by all channels that follow it
//	Subscription  a channel following a source
//	Item          one entry of a source
//	Story         the items that tell the same news
//	Score         0 to 100: how well a story fits a channel, with its reasons
//	Draft         a proposed post, with revisions
//	Slot          a time in the channel's plan
//	Publication   the one delivery of a draft
package editorial

import "time"

// Role is what a person may do in a channel.
type Role string

// The roles, from all rights to none but seeing.
const (
	Owner  Role = "owner"  // everything, also settings, people, unlinking
	Editor Role = "editor" // sources and decisions about drafts
	Viewer Role = "viewer" // sees; changes nothing
)

// May reports whether the role reaches to what need asks for: an owner may do
// all that an editor may, an editor all that a viewer may.
func (r Role) May(need Role) bool {
	rank := map[Role]int{Viewer: 1, Editor: 2, Owner: 3}
	return rank[r] > 0 && rank[r] >= rank[need]
}

// Access is a person's standing with the bot as a whole.
type Access string

// The standings. With ACCESS=invite, a person with AccessNone is asked for an invitation.
const (
	AccessNone     Access = "none"
	AccessInvited  Access = "invited"
	AccessOperator Access = "operator"
	AccessBanned   Access = "banned"
)

// Person is somebody who talks to the bot; ID is Telegram's user id.
type Person struct {
	ID        int64
	FirstName string
	Username  string
	Language  string // of the interface: a key of the catalogues
	Access    Access
	ChannelID int64 // the channel that commands speak of; 0: none yet
}

// ChannelState says whether the bot can post in a channel.
type ChannelState string

// The states of a channel. Settings survive all of them.
const (
	ChannelActive   ChannelState = "active"
	ChannelNoRights ChannelState = "no_rights" // the right to post was taken away
	ChannelKicked   ChannelState = "kicked"    // the bot is no administrator any more
	ChannelUnlinked ChannelState = "unlinked"  // its owner unlinked it
)

// Autopilot is how far a channel publishes without a person.
type Autopilot string

// The levels of the autopilot.
const (
	AutopilotOff   Autopilot = "off"
	AutopilotDelay Autopilot = "delay" // after some minutes unless somebody objects
	AutopilotScore Autopilot = "score" // at once above a score, for chosen sources, with a window to undo
)

// Channel is a linked channel with the settings that features read.
type Channel struct {
	ID               int64
	ChatID           int64 // Telegram's
	Title            string
	Username         string // without @; empty: private
	State            ChannelState
	Paused           bool
	Rests            bool     // beyond its payer's plan
	Language         string   // of the posts: BCP 47
	ItemLanguages    []string // of items that may be proposed; empty: every one
	Tone             []string // rules of style, as its people wrote them
	LookFor          string
	Avoid            string
	Threshold        int // 0 to 100
	Footer           string
	LinkStyle        string   // title, bottom, none
	ImageStyle       string   // preview, photo, none
	Hashtags         []string // the only tags that a post may carry
	TimeZone         string   // IANA
	Week             Week
	Quiet            Quiet
	DailyCap         int    // posts per local day; 0: no cap
	Missed           string // move, skip: what becomes of a slot that passed while the program was down
	Autopilot        Autopilot
	AutopilotMinutes int
	AutopilotScore   int
	AutopilotSources []int64 // empty: all
	Digest           string  // off, daily, weekly
	DigestAt         Clock
	Version          int // grows with every change of settings
}

// DraftKind says what a draft is made of.
type DraftKind string

// The kinds of drafts. Together with channel, subject and ordinal the kind is
// a draft's natural key.
const (
	KindPost     DraftKind = "post"
	KindFollowUp DraftKind = "follow_up"
	KindDigest   DraftKind = "digest"
	KindOwn      DraftKind = "own"
)

// Reason is one thing that moved a score: a code for the catalogues of the
// interface, the words that it speaks of, and by how many points.
type Reason struct {
	Code   string   `json:"code"`            // liked_words, disliked_words, look_for, avoid, fresh, old, source, rule, explore, no_topics …
	Words  []string `json:"words,omitempty"` // shown as they are
	Points int      `json:"points,omitempty"`
}

// Item is one entry of a source as features read it.
type Item struct {
	ID          int64
	SourceID    int64
	URL         string // empty: the entry has no link
	Canonical   string
	Title       string
	Text        string // plain
	Image       string
	Language    string
	PublishedAt time.Time // zero: undated
	FirstSeenAt time.Time
}

// When is the time that an item is judged by: its own, or that of its first sight.
func (i Item) When() time.Time {
	if i.PublishedAt.IsZero() {
		return i.FirstSeenAt
	}
	return i.PublishedAt
}
