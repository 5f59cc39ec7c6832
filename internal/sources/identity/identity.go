// Package identity decides under which names an entry of a document is known.
// It is pure. The rule it keeps: an entry is old if any of its keys was seen
// before, so a key must tell entries apart; one that does not, within the
// document that carries it, is left out.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
)

// Version is the version of the rule that makes keys. When it changes, the
// keys of what a document shows are written anew without a post.
const Version = 1

// substantial is how many runes of text make title and text together an
// identity of their own, beside an id and a link.
const substantial = 100

// Class is the kind of evidence that a key is.
type Class byte

// The classes, from strong to weak.
const (
	Platform Class = 'p' // a platform's own id: YouTube, Reddit, Telegram
	ID       Class = 'i' // the feed's id
	IDPath   Class = 'h' // the id without scheme and host
	Link     Class = 'l' // the canonical link
	LinkFrag Class = 'f' // the canonical link with its fragment
	Digest   Class = 'd' // title and text
)

// Key is one identity of an entry.
type Key struct {
	Class Class
	Value string
}

// String is the key as people see it: "link:example.org/a".
func (k Key) String() string {
	name := map[Class]string{Platform: "platform", ID: "id", IDPath: "id-path", Link: "link", LinkFrag: "link", Digest: "digest"}[k.Class]
	return name + ":" + k.Value
}

// Sum is the key as the database keeps it: its class and 15 bytes of its
// SHA-256. Among the 5 million keys of a source two collide with a chance of
// 1 in 10^23.
func (k Key) Sum() [16]byte {
	h := sha256.New()
	h.Write([]byte{byte(k.Class)})
	h.Write([]byte(k.Value))
	var out [16]byte
	sum := h.Sum(nil)
	out[0] = byte(k.Class)
	copy(out[1:], sum)
	return out
}

// Options are what is known about the source.
type Options struct {
	Home        string // the site's address: as a link it names no entry
	Address     string // the source's own address, likewise
	DistrustIDs bool   // its ids rotate
}

// Entry is an entry with its keys. Same is the index of an earlier entry in
// the document that is the same one, -1 otherwise.
type Entry struct {
	Keys []Key
	Same int
}

// Of gives each entry of a document its keys. An entry without any key says
// nothing at all; it is left out by the caller.
func Of(doc *decode.Document, opt Options) []Entry {
	a := newAnalysis(doc, opt)
	out := make([]Entry, len(doc.Entries))
	owner := make(map[Key]int, 3*len(out))
	for i := range doc.Entries {
		out[i] = Entry{Keys: a.keys(i), Same: -1}
		for _, k := range out[i].Keys {
			if j, ok := owner[k]; ok {
				out[i].Same = j
				break
			}
		}
		for _, k := range out[i].Keys {
			if _, ok := owner[k]; !ok {
				owner[k] = i
			}
		}
	}
	return out
}

// analysis holds the candidates of a document and which of them are weak.
type analysis struct {
	cand    []candidate
	weakID  map[string]bool
	weakLnk map[string]bool
	idsOff  bool
	lnksOff bool
}

// candidate is an entry's possible keys before they are judged.
type candidate struct {
	entry    *decode.Entry
	platform string
	id       string // as given, addresses in canonical form with fragment
	idPath   string
	link     string
	linkFrag string
}

func newAnalysis(doc *decode.Document, opt Options) *analysis {
	a := &analysis{cand: make([]candidate, len(doc.Entries)), weakID: map[string]bool{}, weakLnk: map[string]bool{}}
	home, address := article.Canonical(opt.Home), article.Canonical(opt.Address)
	byID, byLink := map[string][]int{}, map[string][]int{}
	for i := range doc.Entries {
		e := &doc.Entries[i]
		c := candidate{entry: e}
		if e.ID != "" && !opt.DistrustIDs {
			c.id, c.idPath = idForms(e.ID)
			byID[c.id] = append(byID[c.id], i)
		}
		l, frag := article.Canonicals(e.Link)
		c.platform = platform(e, l)
		if l != "" && l != home && l != address && !(article.IsHomeForm(l) && sameSite(l, home, address)) {
			c.link = l
			byLink[l] = append(byLink[l], i)
			if frag != l {
				c.linkFrag = frag
			}
		}
		a.cand[i] = c
	}
	a.judge(byID, byLink)
	return a
}

// sameSite reports whether a front page is the source's own, not one that a
// link blog points to.
func sameSite(l, home, address string) bool {
	host := func(s string) string { h, _, _ := strings.Cut(s, "/"); return h }
	return host(l) == host(home) || host(l) == host(address)
}

// judge finds the ids and links that name different entries.
func (a *analysis) judge(byID, byLink map[string][]int) {
	n := len(a.cand)
	many := func(set []int) bool { return len(set) >= 3 && 2*len(set) > n }
	weak := 0
	for id, set := range byID {
		// One id, one link: the same entry in two revisions. More of them, or no link, and it names nothing.
		if len(set) > 1 && !a.same(set) && (many(set) || !a.agree(set, func(c candidate) string { return c.link })) {
			a.weakID[id] = true
			weak += len(set)
		}
	}
	a.idsOff = n > 1 && 2*weak > n
	weak = 0
	for l, set := range byLink {
		if len(set) > 1 && !a.same(set) && (many(set) || !a.agree(set, func(c candidate) string { return c.id })) {
			a.weakLnk[l] = true
			weak += len(set)
		}
	}
	a.lnksOff = n > 1 && 2*weak > n
}

// same reports whether the entries say the same, word for word.
func (a *analysis) same(set []int) bool {
	for _, i := range set[1:] {
		if !a.cand[i].says(a.cand[set[0]]) {
			return false
		}
	}
	return true
}

// says reports whether two entries have one title and one text.
func (c candidate) says(o candidate) bool {
	return c.entry.Title == o.entry.Title && c.entry.Body == o.entry.Body
}

// agree reports whether the entries share another usable name.
func (a *analysis) agree(set []int, of func(candidate) string) bool {
	v := of(a.cand[set[0]])
	if v == "" || a.weakID[v] {
		return false
	}
	for _, i := range set[1:] {
		if of(a.cand[i]) != v {
			return false
		}
	}
	return true
}

// keys lists what names entry i.
func (a *analysis) keys(i int) []Key {
	c := a.cand[i]
	ks := make([]Key, 0, 4)
	if c.platform != "" {
		ks = append(ks, Key{Platform, c.platform})
	}
	idOK := c.id != "" && !a.weakID[c.id] && !a.idsOff
	linkOK := c.link != "" && !a.weakLnk[c.link] && !a.lnksOff
	if idOK {
		ks = append(ks, Key{ID, c.id})
		if c.idPath != "" {
			ks = append(ks, Key{IDPath, c.idPath})
		}
	}
	switch {
	case linkOK:
		ks = append(ks, Key{Link, c.link})
		if o := article.Canonical(c.entry.Origin); o != "" && o != c.link && !article.IsHomeForm(o) {
			ks = append(ks, Key{Link, o})
		}
	case c.linkFrag != "" && a.uniqueFragment(i):
		ks = append(ks, Key{LinkFrag, c.linkFrag})
		linkOK = true
	}
	if !idOK && !linkOK && c.platform == "" {
		if d := a.digest(i, 0); d != "" {
			ks = append(ks, Key{Digest, d})
		}
	}
	return ks
}

// uniqueFragment reports whether the fragment tells this entry from the others
// that share its page.
func (a *analysis) uniqueFragment(i int) bool {
	for j, c := range a.cand {
		if j != i && c.linkFrag == a.cand[i].linkFrag && !c.says(a.cand[i]) {
			return false
		}
	}
	return true
}

// ContentKey is the digest of an entry's title and text when the text is
// substantial, for entries that have other keys too: it finds an entry whose
// id and link both changed. It is recorded when an entry is first seen, and
// asked for only when an entry is not known otherwise.
func ContentKey(e *decode.Entry) (Key, bool) {
	if d := digest(e, substantial); d != "" {
		return Key{Digest, d}, true
	}
	return Key{}, false
}

// WordsKey is the path of an entry's link with its title and text, however
// short, for an entry whose only name is a link with a query, or an id made
// from one: a number in it may change at every fetch. It counts only where no
// such name of the document is known as it stands, and is recorded when an
// entry is first seen.
func WordsKey(e *decode.Entry, keys []Key) (Key, bool) {
	path := ""
	for _, k := range keys {
		if k.Class == Link {
			path = withoutQuery(k.Value)
			if path == k.Value {
				return Key{}, false
			}
			break
		}
	}
	for _, k := range keys {
		if k.Class == Platform || k.Class == ID && withoutQuery(k.Value) != path {
			return Key{}, false
		}
	}
	words := fold(e.Title) + "\x00" + fold(e.Text())
	if path == "" || words == "\x00" {
		return Key{}, false
	}
	sum := sha256.Sum256([]byte(path + "\x00" + words))
	return Key{Digest, "w" + hex.EncodeToString(sum[:12])}, true
}

func withoutQuery(s string) string {
	s, _, _ = strings.Cut(s, "?")
	return s
}

func (a *analysis) digest(i, least int) string { return digest(a.cand[i].entry, least) }

func digest(e *decode.Entry, least int) string {
	text := e.Text()
	if utf8.RuneCountInString(text) < least {
		return ""
	}
	title := fold(e.Title)
	text = fold(text)
	if title == "" && text == "" {
		if text = first(e.Enclosure, e.Image); text == "" {
			return ""
		}
	}
	sum := sha256.Sum256([]byte(title + "\x00" + text))
	return hex.EncodeToString(sum[:12])
}

// fold makes white space and case irrelevant.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// idForms gives an id as it is compared. An id that is an address loses
// scheme, www and tracking, and gets a second form without its host.
func idForms(id string) (full, withoutHost string) {
	c := article.CanonicalWithFragment(id)
	if c == "" {
		return id, ""
	}
	_, rest, found := strings.Cut(c, "/")
	if !found {
		if _, q, ok := strings.Cut(c, "?"); ok {
			return c, "?" + q
		}
		return c, ""
	}
	return c, "/" + rest
}

var (
	youtubeLink  = regexp.MustCompile(`^(?:youtube\.com/(?:watch\?(?:.*&)?v=|shorts/|live/|embed/|v/)|youtu\.be/)([A-Za-z0-9_-]{6,})`)
	redditLink   = regexp.MustCompile(`^(?:[a-z]+\.)?reddit\.com/(?:r/[^/]+/|user/[^/]+/)?comments/([a-z0-9]+)`)
	telegramLink = regexp.MustCompile(`^(?:t\.me|telegram\.me)/(?:s/)?([A-Za-z0-9_]{4,32})/(\d+)`)
	redditID     = regexp.MustCompile(`^t3_[a-z0-9]+$`)
)

// platform finds the id that a platform gives the entry itself; c is its
// canonical link.
func platform(e *decode.Entry, c string) string {
	if e.Platform != "" {
		return e.Platform
	}
	if v, ok := strings.CutPrefix(e.ID, "yt:video:"); ok && v != "" {
		return "youtube:" + v
	}
	if redditID.MatchString(e.ID) {
		return "reddit:" + e.ID
	}
	host, _, _ := strings.Cut(c, "/")
	switch {
	case host == "t.me" || host == "telegram.me":
		if m := telegramLink.FindStringSubmatch(c); m != nil {
			return "telegram:" + strings.ToLower(m[1]) + "/" + m[2]
		}
	case strings.HasSuffix(host, "youtube.com") || host == "youtu.be":
		// Only when the entry itself is the video: a blog that links to one has its own id.
		if m := youtubeLink.FindStringSubmatch(c); m != nil && (e.ID == "" || strings.Contains(e.ID, m[1])) {
			return "youtube:" + m[1]
		}
	case strings.HasSuffix(host, "reddit.com"):
		if m := redditLink.FindStringSubmatch(c); m != nil && e.ID == "" {
			return "reddit:t3_" + m[1]
		}
	}
	return ""
}

// PlatformOf names what a pasted link is on its platform, "" when nothing.
func PlatformOf(link string) string {
	return platform(&decode.Entry{Link: link}, article.Canonical(link))
}

// HostOf is the host of an address as politeness counts it: lower case,
// without www, with its port when that is no usual one.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	h := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if p := u.Port(); p != "" && p != "80" && p != "443" {
		h += ":" + p
	}
	return h
}

func first(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}
