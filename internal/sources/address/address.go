// Package address reads what a person pastes: a link to a feed or a page, a
// Telegram channel in any of its spellings, YouTube, Reddit, Hacker News and
// GitHub by the address of the page that people look at. It is pure.
package address

import (
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
	Name string // of a Telegram channel, without @, as typed
	// Plain is the http form of an address that was pasted without a scheme.
	Plain string
}

// Errors of Parse.
var (
	ErrNothing         = errors.New("no address in this text")
	ErrTelegramPrivate = errors.New("a private Telegram channel or an invitation cannot be read from outside")
	ErrTelegramName    = errors.New("no Telegram channel can have this name")
	ErrScheme          = errors.New("only web addresses can be read")
)

// Preview is the default place at which public Telegram channels are read.
const Preview = "https://t.me/s"

var (
	telegramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	subreddit    = regexp.MustCompile(`^/?(r|u|user)/([A-Za-z0-9_\-]{2,50})/?$`)
	hostLike     = regexp.MustCompile(`^[^\s/@]+\.[^\s/@.]{2,}(:\d+)?(/|\?|$)|^(\d{1,3}\.){3}\d{1,3}(:\d+)?(/|$)|^localhost(:\d+)?(/|$)|^\[[0-9a-fA-F:.]+\](:\d+)?(/|$)`)
)

// Parse reads one pasted address. preview is where Telegram channels are read
// ("" = Preview). The error is one of this package's.
func Parse(raw, preview string) (Target, error) {
	s := clean(raw)
	if preview == "" {
		preview = Preview
	}
	if s == "" {
		return Target{}, ErrNothing
	}
	if name, ok := strings.CutPrefix(s, "@"); ok {
		return telegram(name, preview)
	}
	if m := subreddit.FindStringSubmatch(s); m != nil {
		return reddit("/"+m[1]+"/"+m[2], ""), nil
	}
	for _, p := range []string{"feed:", "rss:", "itpc:", "pcast:", "podcast:"} {
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
	if strings.Trim(u.Hostname(), ".") == "" {
		return Target{}, ErrNothing
	}
	t, err := known(u, preview)
	if err == nil && t.Plain == "" && plain != "" && t.Kind == Feed {
		t.Plain = plain
	}
	return t, err
}

// clean takes the first word and what messengers put around it.
func clean(raw string) string {
	f := strings.Fields(strings.Trim(raw, " \t\r\n<>\"'«»“”()[]"))
	if len(f) == 0 {
		return ""
	}
	return strings.TrimRight(f[0], ".,;!>\"'»”")
}

// known recognises the platforms; anything else may be a feed or a page.
func known(u *url.URL, preview string) (Target, error) {
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	path := strings.TrimRight(u.Path, "/")
	switch {
	case host == "t.me" || host == "telegram.me" || host == "telegram.dog":
		return telegramPath(path, preview)
	case strings.HasSuffix(host, ".t.me"):
		return telegram(strings.TrimSuffix(host, ".t.me"), preview)
	case host == "youtube.com" || host == "m.youtube.com" || host == "youtu.be":
		return youtube(u, path), nil
	case host == "reddit.com" || strings.HasSuffix(host, ".reddit.com"):
		return reddit(path, u.RawQuery), nil
	case host == "news.ycombinator.com":
		return hackerNews(u, path), nil
	case host == "github.com":
		return github(u, path), nil
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

func telegramPath(path, preview string) (Target, error) {
	f := strings.Split(strings.Trim(path, "/"), "/")
	if f[0] == "s" && len(f) > 1 {
		f = f[1:]
	}
	switch {
	case f[0] == "" || f[0] == "c" || f[0] == "joinchat" || f[0] == "addlist" || strings.HasPrefix(f[0], "+"):
		return Target{}, ErrTelegramPrivate
	}
	return telegram(f[0], preview)
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

func youtube(u *url.URL, path string) Target {
	const feed = "https://www.youtube.com/feeds/videos.xml?"
	t := Target{Kind: YouTube, Site: u.String(), URL: u.String()}
	q := u.Query()
	f := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/feeds/videos.xml":
	case f[0] == "channel" && len(f) > 1:
		t.URL = feed + "channel_id=" + url.QueryEscape(f[1])
	case f[0] == "user" && len(f) > 1:
		t.URL = feed + "user=" + url.QueryEscape(f[1])
	case q.Get("list") != "" && f[0] != "watch":
		t.URL = feed + "playlist_id=" + url.QueryEscape(q.Get("list"))
	default: // @handle, c/name, a video: the page names its channel
		t.Page = true
	}
	return t
}

func reddit(path, query string) Target {
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/.rss")
	path = strings.TrimSuffix(path, ".rss")
	if strings.HasPrefix(path, "/u/") {
		path = "/user/" + path[3:]
	}
	t := Target{Kind: Reddit, Site: "https://www.reddit.com" + path + "/", URL: "https://www.reddit.com" + path + "/.rss"}
	if query != "" {
		t.URL += "?" + query
	}
	return t
}

func hackerNews(u *url.URL, path string) Target {
	t := Target{Kind: HackerNews, Site: u.String(), URL: "https://news.ycombinator.com/rss"}
	switch path {
	case "/newest", "/ask", "/best":
		t.URL = "https://hnrss.org" + path
	case "/show", "/showrss":
		t.URL = "https://news.ycombinator.com/showrss"
	case "/user", "/submitted":
		t.URL = "https://hnrss.org/submitted?id=" + url.QueryEscape(u.Query().Get("id"))
	case "/item":
		t.URL = "https://hnrss.org/item?id=" + url.QueryEscape(u.Query().Get("id"))
	}
	return t
}

func github(u *url.URL, path string) Target {
	t := Target{Kind: GitHub, Site: u.String(), URL: fetchable(u)}
	if strings.HasSuffix(path, ".atom") {
		return t
	}
	f := strings.Split(strings.Trim(path, "/"), "/")
	base := "https://github.com/" + strings.Join(f[:min(len(f), 2)], "/")
	switch {
	case f[0] == "":
		t.Kind = Feed
	case len(f) == 1:
		t.URL = base + ".atom"
	case len(f) == 2 || f[2] == "releases":
		t.URL = base + "/releases.atom"
	case f[2] == "tags":
		t.URL = base + "/tags.atom"
	case f[2] == "commits" && len(f) > 3:
		t.URL = base + "/commits/" + strings.Join(f[3:], "/") + ".atom"
	case f[2] == "commits":
		t.URL = base + "/commits.atom"
	case f[2] == "discussions":
		t.URL = base + "/discussions.atom"
	default:
		t.URL = base + "/releases.atom"
	}
	return t
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
	return out
}

// Key is the natural key of a target.
func (t Target) Key() string {
	if t.Kind == Telegram {
		return "t.me/" + strings.ToLower(t.Name)
	}
	return Normalise(t.URL)
}
