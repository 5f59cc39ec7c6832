package sandbox

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/telegram/html"
)

// world is everything that the stand-in remembers, as it is saved. All of it is
// guarded by Sandbox.mu.
type world struct {
	People       []*person
	Chats        map[int64]*chat
	Updates      []update // not yet confirmed, in order of id
	NextUpdate   int64
	NextFile     int64
	NextPerson   int64
	NextChannel  int64
	Files        map[string]*file
	Callbacks    map[string]*callback
	Payments     []*payment
	Checkouts    map[string]*checkout
	Commands     map[string]json.RawMessage // by scope and language
	Menus        map[int64]json.RawMessage  // by chat; 0 is the default
	Profile      map[string]string          // name, description, … by method and language
	Webhook      webhook
	AllowedTypes []string
	Links        map[string]*invoice // invoice links by slug
}

type person struct {
	ID        int64
	FirstName string
	LastName  string
	Username  string
	Lang      string
	Blocked   bool // blocked the bot
	Started   bool // ever wrote to the bot
	Deleted   bool
	Stars     int
}

func (p *person) name() string { return strings.TrimSpace(p.FirstName + " " + p.LastName) }

// Chat types and the bot's standings in them, in the Bot API's words.
const (
	typePrivate    = "private"
	typeGroup      = "group"
	typeSupergroup = "supergroup"
	typeChannel    = "channel"

	statusAdmin  = "administrator"
	statusMember = "member"
	statusLeft   = "left"
	statusKicked = "kicked"
	statusOwner  = "creator"
)

type chat struct {
	ID         int64
	Type       string
	Title      string
	Username   string
	About      string
	Owner      int64
	Admins     map[int64]map[string]bool // beside the owner
	Members    []int64
	BotStatus  string
	BotRights  map[string]bool
	LastID     int
	Messages   []*message
	Keyboard   json.RawMessage `json:",omitempty"` // the reply keyboard that a private chat shows
	MigratedTo int64
	NoPreview  bool // the public page is switched off
	Followers  int
	Deleted    bool
}

func (c *chat) channelNumber() string {
	return strings.TrimPrefix(strconv.FormatInt(c.ID, 10), "-100")
}

func (c *chat) find(id int) *message {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].ID == id {
			return c.Messages[i]
		}
	}
	return nil
}

type message struct {
	ID       int
	From     int64 // a person or the bot; 0 for a channel post
	Author   int64 // who really wrote a channel post: shown to nobody, decides about updates
	Date     int64
	Edited   int64
	Text     string
	Entities []html.Entity
	Photo    string // file id
	Document string // file id
	Album    string
	Above    bool            // caption above the media
	Markup   json.RawMessage `json:",omitempty"`
	Preview  json.RawMessage `json:",omitempty"` // link_preview_options as sent
	Origin   *origin
	ReplyTo  int
	Silent   bool
	Protect  bool
	Views    int
	Invoice  *invoice
	Service  json.RawMessage `json:",omitempty"` // fields of a service message, as the Bot API shows them
}

type origin struct {
	Type      string // user or channel
	ChatID    int64
	MessageID int
	UserID    int64
	Date      int64
}

type update struct {
	ID   int64
	Type string
	Chat int64 // for webhook order
	Body json.RawMessage
	Date int64
	// Told is set once the update was handed out: from then on its number and its body belong together.
	Told bool
}

type callback struct {
	ID       string
	Person   int64
	ChatID   int64
	Message  int
	Data     string
	Date     int64
	Answered bool
	Text     string
	Alert    bool
	URL      string
}

type invoice struct {
	Title       string
	Description string
	Payload     string
	Currency    string
	Amount      int
	Period      int // seconds; a subscription if set
}

type checkout struct {
	ID      string
	Person  int64
	Invoice invoice
	ChatID  int64
	Message int
	Date    int64
	Done    bool
	OK      bool
	Error   string
}

type payment struct {
	Charge   string
	First    string // a renewal: the charge of its subscription's first payment
	Provider string // the charge at a card's provider
	Failed   bool   // the renewal failed
	Person   int64
	Invoice  invoice
	Date     int64
	Refunded bool
	Refund   int64
	Canceled bool
	Until    int64
}

type file struct {
	ID     string
	Name   string
	Mime   string
	Size   int
	Width  int
	Height int
	Source string // the address that it came from
	data   []byte // saved beside the state
}

type webhook struct {
	URL       string
	Secret    string
	MaxConn   int
	LastError string
	ErrorDate int64
}

func (s *Sandbox) unix() int64 { return s.now().Unix() }

func (s *Sandbox) personByID(id int64) *person {
	for _, p := range s.w.People {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// chatByRef resolves a chat_id argument: a number or @username.
func (s *Sandbox) chatByRef(ref string) *chat {
	if name, ok := strings.CutPrefix(ref, "@"); ok {
		return s.chatByName(name)
	}
	id, err := strconv.ParseInt(ref, 10, 64)
	if err != nil {
		return nil
	}
	if c := s.w.Chats[id]; c != nil {
		return c
	}
	if p := s.personByID(id); p != nil {
		return s.privateChat(p)
	}
	return nil
}

func (s *Sandbox) chatByName(name string) *chat {
	for _, c := range s.w.Chats {
		if c.Username != "" && strings.EqualFold(c.Username, name) {
			return c
		}
	}
	return nil
}

func (s *Sandbox) privateChat(p *person) *chat {
	c := s.w.Chats[p.ID]
	if c == nil {
		c = &chat{ID: p.ID, Type: typePrivate, Owner: p.ID}
		s.w.Chats[p.ID] = c
	}
	return c
}

// keptMessages bounds what one chat remembers.
const keptMessages = 1000

// add appends a message, gives it its number and date, and tells the watchers.
func (s *Sandbox) add(c *chat, m *message) *message {
	c.LastID++
	m.ID = c.LastID
	if m.Date == 0 {
		m.Date = s.unix()
	}
	c.Messages = append(c.Messages, m)
	if n := len(c.Messages) - keptMessages; n > 0 {
		c.Messages = c.Messages[n:]
	}
	s.touch(c.ID)
	return m
}

// touch marks a chat as changed for those who watch it.
func (s *Sandbox) touch(chatID int64) {
	s.version++
	s.touched[chatID] = s.version
	s.dirty = true
	close(s.changed)
	s.changed = make(chan struct{})
}

// link is the public address of a post.
func (c *chat) link(id int) string {
	if c.Username != "" {
		return "https://t.me/" + c.Username + "/" + strconv.Itoa(id)
	}
	return "https://t.me/c/" + c.channelNumber() + "/" + strconv.Itoa(id)
}

func timeOf(unix int64) time.Time { return time.Unix(unix, 0).UTC() }
