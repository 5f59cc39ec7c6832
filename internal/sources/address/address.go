// Package address reads what a person pastes: a link to a feed or a page, a
// Telegram channel in any of its spellings, YouTube, Reddit, Hacker News and
// GitHub by the address of the page that people look at. It is pure.
package address

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// Kind is what an address is to us.
type Kind string

// The kinds, as the table of sources keeps them.
const (
	Feed       Kind = "feed"
	Site       Kind = "site"
	Telegram   Kind = "telegram"
	YouTube    Kind = "youtube"
	Reddit     Kind = "reddit"
	HackerNews Kind = "hackernews"
	GitHub     Kind = "github"
	Forwarded  Kind = "forwarded"
)

// Target is a pasted address, understood.
type Target struct {
	Kind Kind
	URL  string // what is fetched
	Site string // what people see in a browser
	Page bool   // URL is a page on which the feed has yet to be found
	// Lookup: URL answers with JSON that names the feed (Apple Podcasts).
	Lookup bool
	Name   string // of a Telegram channel, without @, as typed
	// Plain is the http form of an address that was pasted without a scheme.
	Plain string
}

// Errors of Parse.
var (
	ErrNothing         = errors.New("no address in this text")
	ErrTelegramPrivate = errors.New("a private Telegram channel or an invitation cannot be read from outside")
	ErrTelegramName    = errors.New("no Telegram channel can have this name")
	ErrScheme          = errors.New("only web addresses can be read")
	ErrClosed          = errors.New("this platform shows its posts to no program")
	ErrPodcast         = errors.New("this player gives no feed of its podcasts")
	ErrNoChannel       = errors.New("no channel or public playlist stands at this address")
	ErrPage            = errors.New("this page of the platform has no feed")
)

// Preview is the default place at which public Telegram channels are read.
const Preview = "https://t.me/s"

var (
	telegramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	subreddit    = regexp.MustCompile(`^/?(r|u|user)/([A-Za-z0-9_\-+]{2,200})/?$`)
	hostLike     = regexp.MustCompile(`^[^\s/@]+\.[^\s/@.]{2,}(:\d+)?(/|\?|$)|^(\d{1,3}\.){3}\d{1,3}(:\d+)?(/|$)|^localhost(:\d+)?(/|$)|^\[[0-9a-fA-F:.]+\](:\d+)?(/|$)`)
)

// Parse reads one pasted address. preview is where Telegram channels are read
// ("" = Preview). The error is one of this package's.
func Parse(raw, preview string) (Target, error) {
	t, err := parse(raw, preview)
	if err == nil && t.Key() == "" {
		return Target{}, ErrNothing
	}
	return t, err
}

func parse(raw, preview string) (Target, error) {
	s := clean(raw)
	if preview == "" {
		preview = Preview
	}
	if s == "" {
		return Target{}, ErrNothing
	}
	if name, ok := strings.CutPrefix(s, "@"); ok {
		return handle(name, preview)
	}
	if m := subreddit.FindStringSubmatch(s); m != nil {
		return reddit("/"+m[1]+"/"+m[2], ""), nil
	}
	for _, p := range []string{"feed:", "rss:", "itpc:", "pcast:", "podcast:", "view-source:"} {
		if len(s) > len(p) && strings.EqualFold(s[:len(p)], p) {
			s = strings.TrimPrefix(s[len(p):], "//")
			break
		}
	}
	plain := ""
	if !strings.Contains(s, "://") {
		if !hostLike.MatchString(s) {
			if strings.Contains(s, ":") && !strings.Contains(s, ".") {
				return Target{}, ErrScheme
			}
			return Target{}, ErrNothing
		}
		plain, s = "http://"+s, "https://"+s
	}
	u, err := url.Parse(s)
	if err != nil {
		return Target{}, ErrNothing
	}
	if strings.EqualFold(u.Scheme, "tg") {
		return telegram(u.Query().Get("domain"), preview)
	}
	if sch := strings.ToLower(u.Scheme); sch != "http" && sch != "https" {
		return Target{}, ErrScheme
	}
	if strings.Trim(u.Hostname(), ".") == "" || len(u.Hostname()) > maxHost || len(s) > maxAddress {
		return Target{}, ErrNothing
	}
	t, err := known(u, preview)
	if err == nil && t.Plain == "" && plain != "" && t.Kind == Feed {
		t.Plain = plain
	}
	return t, err
}

// webAddress finds an address inside a sentence.
var webAddress = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"«»“”]+`)

// clean takes the first word and what messengers put around it. An address in
// the middle of a sentence, or in the form [text](address), is taken out of it.
func clean(raw string) string {
	if _, link, ok := strings.Cut(raw, "]("); ok && strings.HasPrefix(strings.TrimSpace(raw), "[") {
		raw, _, _ = strings.Cut(link, ")")
	}
	f := strings.Fields(strings.Trim(raw, " \t\r\n<>\"'«»“”()[]"))
	if len(f) == 0 {
		return ""
	}
	word := strings.TrimRight(f[0], ".,;!>\"'»”")
	if len(f) > 1 && !strings.ContainsAny(word, "@:/") && !hostLike.MatchString(word) {
		if found := webAddress.FindString(raw); found != "" {
			word = strings.TrimRight(found, ".,;!>)]\"'»”")
		}
	}
	return word
}

// handle reads @name: a channel of Telegram, unless the name can only be an
// account of Bluesky or of the fediverse.
func handle(name, preview string) (Target, error) {
	if m := fediverseName.FindStringSubmatch(name); m != nil {
		return *fediverse(m[1], m[2]), nil
	}
	if strings.HasSuffix(strings.ToLower(name), ".bsky.social") {
		return *bluesky(name), nil
	}
	return telegram(name, preview)
}

// known recognises the platforms; anything else may be a feed or a page.
func known(u *url.URL, preview string) (Target, error) {
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	path := strings.TrimRight(u.EscapedPath(), "/")
	switch {
	case host == "t.me" || host == "telegram.me" || host == "telegram.dog":
		return telegramPath(u, path, preview)
	case strings.HasSuffix(host, ".t.me"):
		return telegram(strings.TrimSuffix(host, ".t.me"), preview)
	case host == "web.telegram.org":
		return telegramWeb(u, preview)
	case isYouTube(host):
		return youtube(u, host, path)
	case host == "redd.it" && path != "":
		return reddit("/comments"+path, ""), nil
	case host == "reddit.com" || strings.HasSuffix(host, ".reddit.com"):
		return reddit(path, u.RawQuery), nil
	case host == "news.ycombinator.com":
		return hackerNews(u, path)
	case host == "github.com":
		return github(u, path)
	}
	if t, err := platform(u, host, path); err != nil {
		return Target{}, err
	} else if t != nil {
		return *t, nil
	}
	return Target{Kind: Feed, URL: fetchable(u), Site: "", Page: false}, nil
}

// fetchable is the address as it is asked for: punycode host, no fragment.
func fetchable(u *url.URL) string {
	c := *u
	c.Fragment = ""
	c.Scheme = strings.ToLower(c.Scheme)
	if a, err := idna.Lookup.ToASCII(c.Hostname()); err == nil {
		if p := c.Port(); p != "" {
			a += ":" + p
		}
		c.Host = a
	}
	if c.Path == "" {
		c.Path = "/"
	}
	return c.String()
}

func telegramPath(u *url.URL, path, preview string) (Target, error) {
	f := strings.Split(strings.Trim(path, "/"), "/")
	if (f[0] == "s" || f[0] == "boost") && len(f) > 1 {
		f = f[1:]
	}
	switch name := strings.TrimPrefix(f[0], "@"); {
	case name == "c", name == "joinchat", name == "addlist", strings.HasPrefix(name, "+"):
		return Target{}, ErrTelegramPrivate
	case name == "iv" && u.Query().Get("url") != "": // an article in Telegram's own view
		return Parse(u.Query().Get("url"), preview)
	case name == "s", name == "share", name == "proxy", name == "socks", name == "addstickers", name == "addemoji", name == "boost", name == "iv":
		return Target{}, ErrTelegramName
	default:
		return telegram(name, preview)
	}
}

// telegramWeb reads the address of Telegram in a browser: #@name.
func telegramWeb(u *url.URL, preview string) (Target, error) {
	if name, ok := strings.CutPrefix(u.Fragment, "@"); ok {
		return telegram(name, preview)
	}
	return Target{}, ErrTelegramPrivate // #-100123: a number that only its members can open
}

func telegram(name, preview string) (Target, error) {
	name = strings.TrimSpace(name)
	if i := strings.IndexAny(name, "/?"); i >= 0 {
		name = name[:i]
	}
	if !telegramName.MatchString(name) {
		return Target{}, ErrTelegramName
	}
	return Target{Kind: Telegram, Name: name, URL: strings.TrimRight(preview, "/") + "/" + name, Site: "https://t.me/" + name}, nil
}

// Normalise gives the natural key of a source: the address without scheme,
// www, default port, fragment and trailing slash. The query stays as it is:
// feeds are told apart by it.
func Normalise(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
	if a, err := idna.Lookup.ToASCII(host); err == nil {
		host = a
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && p != "80" && p != "443" {
		host += ":" + p
	}
	out := host + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return Indexable(out)
}

// maxKey bounds a natural key, in bytes, to what an index takes (2,704 in
// PostgreSQL).
const maxKey = 2000

// Indexable is a natural key as an index takes it: of one longer than 2,000
// bytes its beginning, and the digest of the whole.
func Indexable(key string) string {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return strings.ToValidUTF8(key[:maxKey-100], "") + "#" + hex.EncodeToString(sum[:16])
}

// maxAddress bounds an address to what is fetched, in bytes.
const maxAddress = 4096

// maxHost is the longest name that a host can have.
const maxHost = 253

// Key is the natural key of a target.
func (t Target) Key() string {
	if t.Kind == Telegram {
		return "t.me/" + strings.ToLower(t.Name)
	}
	return Normalise(t.URL)
}
