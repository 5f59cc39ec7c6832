package address

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/postonce/postonce/internal/article"
)

func isYouTube(host string) bool {
	switch host {
	case "youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be", "youtube-nocookie.com":
		return true
	}
	return false
}

// youtube reads the address of a channel, a playlist or a video. Where the
// address does not name the channel by its number, its page does.
func youtube(u *url.URL, host, path string) (Target, error) {
	const site, feed = "https://www.youtube.com/", "https://www.youtube.com/feeds/videos.xml?"
	q := u.Query()
	f := strings.Split(strings.Trim(path, "/"), "/")
	of := func(name, value, page string) (Target, error) {
		return Target{Kind: YouTube, URL: feed + name + "=" + url.QueryEscape(value), Site: site + page}, nil
	}
	on := func(page string) (Target, error) {
		return Target{Kind: YouTube, URL: site + page, Site: site + page, Page: true}, nil
	}
	switch list := q.Get("list"); {
	case path == "/feeds/videos.xml":
		return Target{Kind: YouTube, URL: u.String(), Site: site}, nil
	case host == "youtu.be" && f[0] != "":
		return on("watch?v=" + url.QueryEscape(f[0]))
	case f[0] == "watch" && q.Get("v") != "":
		return on("watch?v=" + url.QueryEscape(q.Get("v")))
	case slices.Contains([]string{"shorts", "live", "embed", "v", "e"}, f[0]) && len(f) > 1 && f[1] != "videoseries":
		return on("watch?v=" + url.QueryEscape(f[1]))
	case list == "WL" || list == "LL" || list == "HL" || strings.HasPrefix(list, "RD"):
		return Target{}, ErrNoChannel // one's own, or a mix that is made up for each visitor
	case list != "":
		return of("playlist_id", list, "playlist?list="+url.QueryEscape(list))
	case f[0] == "channel" && len(f) > 1:
		return of("channel_id", f[1], "channel/"+f[1])
	case f[0] == "user" && len(f) > 1:
		return of("user", f[1], "user/"+f[1])
	case (f[0] == "c" || f[0] == "clip" || f[0] == "post") && len(f) > 1:
		return on(f[0] + "/" + f[1])
	case f[0] == "" || slices.Contains([]string{"feed", "results", "gaming", "premium", "account", "playlist", "watch", "hashtag", "shorts", "live", "t"}, f[0]):
		return Target{}, ErrNoChannel
	}
	return on(f[0]) // @handle, or a channel's name alone
}

// reddit keeps of the query what changes the list, not where the reader came from.
func reddit(path, query string) Target {
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/.rss")
	path = strings.TrimSuffix(path, ".rss")
	if strings.HasPrefix(path, "/u/") {
		path = "/user/" + path[3:]
	}
	const site = "https://www.reddit.com"
	if f := strings.Split(strings.Trim(path, "/"), "/"); len(f) == 4 && f[2] == "s" { // a shared link leads to its post
		return Target{Kind: Reddit, Site: site + path, URL: site + path, Page: true}
	}
	t := Target{Kind: Reddit, Site: site + path + "/", URL: site + path + "/.rss"}
	if query != "" {
		t.URL = article.CleanURL(t.URL + "?" + query)
	}
	return t
}

// hackerNews knows the site's own two feeds, and hnrss.org for its other lists.
func hackerNews(u *url.URL, path string) (Target, error) {
	t := Target{Kind: HackerNews, Site: u.String(), URL: "https://news.ycombinator.com/rss"}
	id := url.QueryEscape(u.Query().Get("id"))
	switch path {
	case "", "/news", "/front", "/rss":
	case "/show", "/showrss":
		t.URL = "https://news.ycombinator.com/showrss"
	case "/newest", "/ask", "/best", "/jobs", "/active", "/newcomments", "/bestcomments", "/launches", "/classic":
		t.URL = "https://hnrss.org" + path
	case "/shownew":
		t.URL = "https://hnrss.org/show"
	case "/user", "/submitted":
		t.URL = "https://hnrss.org/submitted?id=" + id
	case "/item", "/threads", "/favorites":
		t.URL = "https://hnrss.org" + path + "?id=" + id
	default:
		return Target{}, ErrPage
	}
	if strings.HasSuffix(t.URL, "?id=") {
		return Target{}, ErrPage
	}
	return t, nil
}

func github(u *url.URL, path string) (Target, error) {
	t := Target{Kind: GitHub, Site: u.String(), URL: fetchable(u)}
	if strings.HasSuffix(path, ".atom") {
		return t, nil
	}
	f := strings.Split(strings.Trim(path, "/"), "/")
	if f[0] == "orgs" && len(f) > 1 {
		f = f[1:2]
	}
	switch f[0] {
	case "", "topics", "explore", "features", "marketplace", "trending", "search", "settings", "notifications", "sponsors",
		"collections", "about", "pricing", "login", "security", "enterprise", "readme", "events", "customer-stories", "site", "issues", "pulls", "apps":
		return Target{}, ErrPage
	}
	base := "https://github.com/" + strings.TrimSuffix(strings.Join(f[:min(len(f), 2)], "/"), ".git")
	switch {
	case len(f) == 1:
		t.URL = base + ".atom"
	case len(f) == 2 || f[2] == "releases":
		t.URL = base + "/releases.atom"
	case f[2] == "commits" && len(f) > 3:
		t.URL = base + "/commits/" + strings.Join(f[3:], "/") + ".atom"
	case f[2] == "tags", f[2] == "commits", f[2] == "discussions", f[2] == "wiki":
		t.URL = base + "/" + f[2] + ".atom"
	default:
		t.URL = base + "/releases.atom"
	}
	return t, nil
}

// page is the address of a page on one of the platforms.
type page struct {
	u    *url.URL
	host string   // lower case, without www
	path string   // without a slash at its end
	f    []string // the parts of the path
}

// platform knows where smaller platforms keep the feed of a page that people
// look at. It returns nil for all other addresses, and for feeds.
func platform(u *url.URL, host, path string) (*Target, error) {
	p := page{u, host, path, strings.Split(strings.Trim(path, "/"), "/")}
	last := p.f[len(p.f)-1]
	if p.f[0] == "feed" || p.f[0] == "rss" || last == "rss" || last == "feed" || strings.HasSuffix(path, ".xml") || strings.HasSuffix(path, ".rss") {
		return nil, nil
	}
	for _, read := range []func(page) (*Target, error){
		blueskyPage, mediumPage, substackPage, tumblrPage, googleNewsPage, podcastPage, closedPage, fediversePage,
	} {
		if t, err := read(p); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// feed is the target of a page whose feed stands at another address.
func (p page) feed(at string) (*Target, error) {
	return &Target{Kind: Feed, URL: at, Site: article.CleanURL(p.u.String())}, nil
}

// below is the name of a site under a platform's: "name" of name.medium.com.
func (p page) below(platform string) string {
	name, found := strings.CutSuffix(p.host, "."+platform)
	if !found {
		return ""
	}
	return name
}

// bluesky gives each account's posts as RSS.
func bluesky(account string) *Target {
	at := "https://bsky.app/profile/" + strings.ToLower(account)
	return &Target{Kind: Feed, URL: at + "/rss", Site: at}
}

func blueskyPage(p page) (*Target, error) {
	switch {
	case p.host != "bsky.app":
		return nil, nil
	case p.f[0] == "profile" && len(p.f) > 1:
		return bluesky(p.f[1]), nil
	}
	return nil, ErrPage
}

func mediumPage(p page) (*Target, error) {
	switch {
	case p.below("medium.com") != "":
		return p.feed("https://" + p.host + "/feed")
	case p.host != "medium.com" || slices.Contains([]string{"p", "m"}, p.f[0]): // a short link leads to its post
		return nil, nil
	case (p.f[0] == "tag" || p.f[0] == "tagged") && len(p.f) > 1:
		return p.feed("https://medium.com/feed/tag/" + p.f[1])
	case slices.Contains([]string{"", "me", "search", "tag", "topic", "topics", "explore-topics"}, p.f[0]):
		return nil, ErrPage
	}
	return p.feed("https://medium.com/feed/" + p.f[0])
}

func substackPage(p page) (*Target, error) {
	switch {
	case p.host == "open.substack.com" && p.f[0] == "pub" && len(p.f) > 1 && siteName.MatchString(p.f[1]):
		return p.feed("https://" + p.f[1] + ".substack.com/feed")
	case p.host == "substack.com" || p.host == "open.substack.com":
		return nil, ErrPage // a reader's page does not say which newsletter is meant
	case p.below("substack.com") != "":
		return p.feed("https://" + p.host + "/feed")
	}
	return nil, nil
}

func tumblrPage(p page) (*Target, error) {
	if p.below("tumblr.com") != "" {
		if p.f[0] == "tagged" && len(p.f) > 1 {
			return p.feed("https://" + p.host + "/tagged/" + p.f[1] + "/rss")
		}
		return p.feed("https://" + p.host + "/rss")
	}
	if p.host != "tumblr.com" {
		return nil, nil
	}
	f := p.f
	for len(f) > 1 && (f[0] == "blog" || f[0] == "view" || f[0] == "dashboard") {
		f = f[1:]
	}
	if slices.Contains([]string{
		"", "blog", "view", "dashboard", "explore", "search", "tagged", "login", "register", "settings", "about", "policy", "docs", "communities", "likes", "following", "inbox",
	}, f[0]) {
		return nil, ErrPage
	}
	name := strings.ToLower(strings.TrimPrefix(f[0], "@"))
	if !siteName.MatchString(name) {
		return nil, ErrPage
	}
	return p.feed("https://" + name + ".tumblr.com/rss")
}

// siteName is what a site below a platform's can be called.
var siteName = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`)

// googleNewsPage puts /rss in front of the pages that have it: the front page,
// a topic, a search, a publication.
func googleNewsPage(p page) (*Target, error) {
	if p.host != "news.google.com" {
		return nil, nil
	}
	at := "https://news.google.com/rss"
	switch p.f[0] {
	case "", "home":
	case "topics", "search", "headlines", "publications":
		at += "/" + strings.Join(p.f, "/")
	default: // a story, an article, one's own page
		return nil, ErrPage
	}
	if p.u.RawQuery != "" {
		at += "?" + p.u.RawQuery
	}
	return p.feed(at)
}

var (
	appleID    = regexp.MustCompile(`/id(\d{4,})$`)
	overcastID = regexp.MustCompile(`^/itunes(\d{4,})(?:/|$)`)
)

// podcastPage asks Apple's catalogue, which names the feed of each podcast in
// it; other players keep theirs to themselves.
func podcastPage(p page) (*Target, error) {
	var m []string
	switch p.host {
	case "podcasts.apple.com", "itunes.apple.com":
		m = appleID.FindStringSubmatch(p.path)
	case "overcast.fm":
		m = overcastID.FindStringSubmatch(p.path)
	case "open.spotify.com", "spotify.link", "music.yandex.ru":
		return nil, ErrPodcast
	}
	if m == nil {
		return nil, nil
	}
	t, _ := p.feed("https://itunes.apple.com/lookup?entity=podcast&id=" + m[1])
	t.Page, t.Lookup = true, true
	return t, nil
}

// closedPage names platforms that give no feed and show nothing to a program
// without an account.
func closedPage(p page) (*Target, error) {
	if p.f[0] == "blog" { // of the company, which is no part of the platform
		return nil, nil
	}
	switch strings.TrimPrefix(strings.TrimPrefix(p.host, "m."), "mobile.") {
	case "x.com", "twitter.com", "instagram.com", "facebook.com", "fb.com", "fb.me", "fb.watch", "threads.net", "threads.com", "tiktok.com", "vm.tiktok.com",
		"linkedin.com", "vk.com", "vk.ru", "ok.ru", "discord.com", "discord.gg", "whatsapp.com", "chat.whatsapp.com":
		return nil, ErrClosed
	}
	return nil, nil
}

var (
	// fediversePost is a post of an account: numbers this long are those of
	// Mastodon and its kin.
	fediversePost = regexp.MustCompile(`^/(?:@|users/)([A-Za-z0-9_.\-]+)/(?:statuses/)?\d{15,}$`)
	// fediverseName is what people call their account: user@host.
	fediverseName = regexp.MustCompile(`^([A-Za-z0-9_.\-]+)@([\p{L}\p{N}.\-]+\.\p{L}{2,}(?::\d+)?)/?$`)
	// fediverseAway is an account of another server.
	fediverseAway = regexp.MustCompile(`^/@([A-Za-z0-9_.\-]+)@([A-Za-z0-9.\-]+\.[A-Za-z]{2,})(?:/\d+)?$`)
)

func fediverse(user, host string) *Target {
	at := "https://" + host + "/@" + user
	return &Target{Kind: Feed, URL: at, Site: at, Page: true}
}

func fediversePage(p page) (*Target, error) {
	if m := fediverseAway.FindStringSubmatch(p.path); m != nil {
		return fediverse(m[1], m[2]), nil
	}
	if m := fediversePost.FindStringSubmatch(p.path); m != nil {
		t := fediverse(m[1], p.u.Host)
		if p.u.Scheme == "http" {
			t.URL = strings.Replace(t.URL, "https:", "http:", 1)
		}
		return t, nil
	}
	return nil, nil
}
