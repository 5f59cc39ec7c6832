package address

import (
	"errors"
	"strings"
	"testing"
)

func TestParseUnderstandsWhatPeoplePaste(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		kind Kind
		url  string
		page bool
	}{
		"https://example.org/feed.xml":                    {Feed, "https://example.org/feed.xml", false},
		"example.org/blog":                                {Feed, "https://example.org/blog", false},
		"feed://example.org/rss":                          {Feed, "https://example.org/rss", false},
		"feed:https://example.org/rss":                    {Feed, "https://example.org/rss", false},
		" <https://example.org/a>, and more":              {Feed, "https://example.org/a", false},
		"http://пример.рф/лента":                          {Feed, "http://xn--e1afmkfd.xn--p1ai/%D0%BB%D0%B5%D0%BD%D1%82%D0%B0", false},
		"127.0.0.1:8080/feed":                             {Feed, "https://127.0.0.1:8080/feed", false},
		"@durov":                                          {Telegram, "https://t.me/s/durov", false},
		"@durov ":                                         {Telegram, "https://t.me/s/durov", false},
		"t.me/durov":                                      {Telegram, "https://t.me/s/durov", false},
		"https://t.me/s/durov/123":                        {Telegram, "https://t.me/s/durov", false},
		"https://telegram.me/durov?before=5":              {Telegram, "https://t.me/s/durov", false},
		"durov.t.me":                                      {Telegram, "https://t.me/s/durov", false},
		"tg://resolve?domain=durov":                       {Telegram, "https://t.me/s/durov", false},
		"https://www.youtube.com/channel/UC123":           {YouTube, "https://www.youtube.com/feeds/videos.xml?channel_id=UC123", false},
		"https://www.youtube.com/playlist?list=PL1":       {YouTube, "https://www.youtube.com/feeds/videos.xml?playlist_id=PL1", false},
		"https://youtube.com/@handle/videos":              {YouTube, "https://www.youtube.com/@handle", true},
		"https://youtu.be/abc":                            {YouTube, "https://www.youtube.com/watch?v=abc", true},
		"r/golang":                                        {Reddit, "https://www.reddit.com/r/golang/.rss", false},
		"https://old.reddit.com/r/golang/top/?t=week":     {Reddit, "https://www.reddit.com/r/golang/top/.rss?t=week", false},
		"https://www.reddit.com/u/spez":                   {Reddit, "https://www.reddit.com/user/spez/.rss", false},
		"https://www.reddit.com/r/golang/.rss":            {Reddit, "https://www.reddit.com/r/golang/.rss", false},
		"https://news.ycombinator.com":                    {HackerNews, "https://news.ycombinator.com/rss", false},
		"https://news.ycombinator.com/newest":             {HackerNews, "https://hnrss.org/newest", false},
		"https://github.com/golang/go":                    {GitHub, "https://github.com/golang/go/releases.atom", false},
		"github.com/golang/go/releases":                   {GitHub, "https://github.com/golang/go/releases.atom", false},
		"https://github.com/golang/go/commits/master":     {GitHub, "https://github.com/golang/go/commits/master.atom", false},
		"https://github.com/golang/go/releases.atom":      {GitHub, "https://github.com/golang/go/releases.atom", false},
		"https://www.youtube.com/feeds/videos.xml?user=x": {YouTube, "https://www.youtube.com/feeds/videos.xml?user=x", false},
	} {
		got, err := Parse(in, "")
		if err != nil || got.Kind != want.kind || got.URL != want.url || got.Page != want.page {
			t.Errorf("Parse(%q) = %+v %v, want %+v", in, got, err, want)
		}
	}
}

func TestPagesOfPlatformsLeadToTheirFeeds(t *testing.T) {
	t.Parallel()
	const yt, hn, gh, rd = "https://www.youtube.com/", "https://hnrss.org/", "https://github.com/", "https://www.reddit.com/"
	for _, c := range [][2]string{
		{"https://m.youtube.com/@Handle?si=abc", yt + "@Handle"},
		{"youtube.com/@Имя", yt + "@%D0%98%D0%BC%D1%8F"},
		{"https://www.youtube.com/watch?v=abc_-123&list=PL1&t=7s", yt + "watch?v=abc_-123"},
		{"https://youtu.be/abc_-123?si=q", yt + "watch?v=abc_-123"},
		{"https://www.youtube.com/shorts/abc", yt + "watch?v=abc"},
		{"https://www.youtube.com/live/abc?feature=share", yt + "watch?v=abc"},
		{"https://www.youtube.com/embed/abc", yt + "watch?v=abc"},
		{"https://www.youtube.com/embed/videoseries?list=PL1", yt + "feeds/videos.xml?playlist_id=PL1"},
		{"https://music.youtube.com/playlist?list=OLAK5", yt + "feeds/videos.xml?playlist_id=OLAK5"},
		{"https://www.youtube.com/channel/UC123/videos", yt + "feeds/videos.xml?channel_id=UC123"},
		{"https://www.youtube.com/user/name/featured", yt + "feeds/videos.xml?user=name"},
		{"https://www.youtube.com/c/Name/about", yt + "c/Name"},
		{"https://www.youtube.com/SomeName", yt + "SomeName"},
		{"https://np.reddit.com/r/golang", rd + "r/golang/.rss"},
		{"https://new.reddit.com/r/golang/new/", rd + "r/golang/new/.rss"},
		{"old.reddit.com/r/golang+rust", rd + "r/golang+rust/.rss"},
		{"r/golang+rust", rd + "r/golang+rust/.rss"},
		{"u/spez", rd + "user/spez/.rss"},
		{"https://www.reddit.com/user/spez/submitted/", rd + "user/spez/submitted/.rss"},
		{"https://www.reddit.com/r/golang/comments/1abc/a_title/?utm_source=share&utm_medium=web2x&sort=new", rd + "r/golang/comments/1abc/a_title/.rss?sort=new"},
		{"https://www.reddit.com/r/golang/s/AbC123", rd + "r/golang/s/AbC123"},
		{"https://redd.it/1abc", rd + "comments/1abc/.rss"},
		{"https://www.reddit.com/", rd + ".rss"},
		{"https://news.ycombinator.com/news?p=2", "https://news.ycombinator.com/rss"},
		{"https://news.ycombinator.com/item?id=1", hn + "item?id=1"},
		{"https://news.ycombinator.com/user?id=pg", hn + "submitted?id=pg"},
		{"https://news.ycombinator.com/threads?id=pg", hn + "threads?id=pg"},
		{"https://news.ycombinator.com/shownew", hn + "show"},
		{"https://news.ycombinator.com/jobs", hn + "jobs"},
		{"https://github.com/golang", gh + "golang.atom"},
		{"https://github.com/orgs/golang/repositories", gh + "golang.atom"},
		{"https://github.com/golang/go.git", gh + "golang/go/releases.atom"},
		{"https://github.com/golang/go/releases/tag/go1.26", gh + "golang/go/releases.atom"},
		{"https://github.com/golang/go/tags", gh + "golang/go/tags.atom"},
		{"https://github.com/golang/go/wiki/Home", gh + "golang/go/wiki.atom"},
		{"https://github.com/golang/go/issues?q=is%3Aopen", gh + "golang/go/releases.atom"},
		{"t.me/s/@durov", "https://t.me/s/durov"},
		{"https://t.me/durov/12/345?single", "https://t.me/s/durov"},
		{"https://t.me/boost/durov", "https://t.me/s/durov"},
		{"https://t.me/iv?url=https%3A%2F%2Fe.org%2Fa&rhash=1", "https://e.org/a"},
		{"https://web.telegram.org/k/#@durov", "https://t.me/s/durov"},
		{"@user@mastodon.social", "https://mastodon.social/@user"},
		{"https://mastodon.social/@user/112345678901234567", "https://mastodon.social/@user"},
		{"https://mastodon.social/users/user/statuses/112345678901234567", "https://mastodon.social/@user"},
		{"https://mastodon.social/@user@other.example", "https://other.example/@user"},
		{"@Jay.bsky.social", "https://bsky.app/profile/jay.bsky.social/rss"},
		{"https://bsky.app/profile/jay.bsky.team/post/3k", "https://bsky.app/profile/jay.bsky.team/rss"},
		{"https://medium.com/@user/a-title-0123456789ab?source=x", "https://medium.com/feed/@user"},
		{"https://medium.com/publication", "https://medium.com/feed/publication"},
		{"https://medium.com/tag/golang", "https://medium.com/feed/tag/golang"},
		{"https://user.medium.com/a-title-0123456789ab", "https://user.medium.com/feed"},
		{"https://medium.com/feed/@user", "https://medium.com/feed/@user"},
		{"https://name.substack.com/p/a-post", "https://name.substack.com/feed"},
		{"https://open.substack.com/pub/name/p/a-post?r=1", "https://name.substack.com/feed"},
		{"https://name.tumblr.com/post/1/slug", "https://name.tumblr.com/rss"},
		{"https://www.tumblr.com/name/123/slug", "https://name.tumblr.com/rss"},
		{"https://www.tumblr.com/blog/view/name", "https://name.tumblr.com/rss"},
		{"https://name.tumblr.com/tagged/birds", "https://name.tumblr.com/tagged/birds/rss"},
		{"https://podcasts.apple.com/us/podcast/some-name/id1200361736?i=1000", "https://itunes.apple.com/lookup?entity=podcast&id=1200361736"},
		{"https://overcast.fm/itunes1200361736/some-name", "https://itunes.apple.com/lookup?entity=podcast&id=1200361736"},
		{"https://news.google.com/", "https://news.google.com/rss"},
		{"https://news.google.com/home?hl=en-US&gl=US&ceid=US:en", "https://news.google.com/rss?hl=en-US&gl=US&ceid=US:en"},
		{"https://news.google.com/topics/CAAq?hl=de", "https://news.google.com/rss/topics/CAAq?hl=de"},
		{"https://news.google.com/search?q=bridge&hl=en", "https://news.google.com/rss/search?q=bridge&hl=en"},
		{"https://news.google.com/rss/search?q=bridge", "https://news.google.com/rss/search?q=bridge"},
		{"https://www.linkedin.com/blog/engineering", "https://www.linkedin.com/blog/engineering"},
		{"view-source:https://e.org/feed", "https://e.org/feed"},
		{"[our feed](https://e.org/feed)", "https://e.org/feed"},
		{"look here: https://e.org/feed, it is good", "https://e.org/feed"},
		{"Лента (https://e.org/feed).", "https://e.org/feed"},
	} {
		got, err := Parse(c[0], "")
		if err != nil || got.URL != c[1] {
			t.Errorf("Parse(%q) = %+v %v, want %s", c[0], got, err, c[1])
			continue
		}
		if again, err := Parse(got.URL, ""); err != nil || again.URL != got.URL {
			t.Errorf("Parse(%q) leads to %s, and that to %+v %v", c[0], got.URL, again, err)
		}
	}
}

func TestParseSaysWhyNot(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"": ErrNothing, "hello world": ErrNothing, "https://t.me/+abcDEF": ErrTelegramPrivate, "t.me/c/123/4": ErrTelegramPrivate,
		"t.me/joinchat/x": ErrTelegramPrivate, "@x": ErrTelegramName, "ftp://e.org/x": ErrScheme, "mailto:a": ErrScheme, "file:///etc/passwd": ErrScheme,
		"http://" + strings.Repeat("a", 300) + ".org/": ErrNothing, "http://e.org/" + strings.Repeat("a", 5000): ErrNothing,
		"https://t.me/": ErrTelegramName, "https://t.me/share/url?url=x": ErrTelegramName, "https://t.me/addlist/x": ErrTelegramPrivate, "https://web.telegram.org/a/#-100123": ErrTelegramPrivate,
		"https://www.youtube.com/": ErrNoChannel, "https://www.youtube.com/results?search_query=x": ErrNoChannel, "https://www.youtube.com/feed/subscriptions": ErrNoChannel,
		"https://www.youtube.com/playlist?list=WL": ErrNoChannel, "https://www.youtube.com/playlist?list=RDabc": ErrNoChannel,
		"https://github.com/": ErrPage, "https://github.com/trending": ErrPage, "https://news.ycombinator.com/from?site=e.org": ErrPage, "https://news.ycombinator.com/item": ErrPage,
		"https://substack.com/@user": ErrPage, "https://www.tumblr.com/dashboard": ErrPage, "https://news.google.com/articles/CBMi": ErrPage, "https://news.google.com/stories/CAAq": ErrPage,
		"https://bsky.app/": ErrPage, "https://medium.com/": ErrPage,
		"https://x.com/user/status/1": ErrClosed, "twitter.com/user": ErrClosed, "https://www.instagram.com/user/": ErrClosed, "https://m.facebook.com/x": ErrClosed, "https://vk.com/durov": ErrClosed, "https://www.tiktok.com/@user": ErrClosed,
		"https://open.spotify.com/show/1": ErrPodcast, "https://music.yandex.ru/album/1": ErrPodcast,
	} {
		if _, err := Parse(in, ""); !errors.Is(err, want) {
			t.Errorf("Parse(%q) = %v, want %v", in, err, want)
		}
	}
}

func TestNormaliseIsTheNaturalKey(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"http://www.example.org/feed/", "https://EXAMPLE.org:443/feed#x", "http://example.org/feed"} {
		if got := Normalise(a); got != "example.org/feed" {
			t.Errorf("Normalise(%q) = %q", a, got)
		}
	}
	long := "http://e.org/?a=" + strings.Repeat("x", 3000)
	if k := Normalise(long); len(k) > 2000 || k == Normalise(long+"y") || k != Normalise(long) {
		t.Errorf("the key of a long address: %q", k)
	}
	if Normalise("http://e.org/f?a=1") == Normalise("http://e.org/f?a=2") {
		t.Error("queries fall together")
	}
	a, _ := Parse("@Durov", "http://127.0.0.1:1/s")
	b, _ := Parse("https://t.me/durov/5", "")
	if a.Key() != b.Key() || a.Key() != "t.me/durov" {
		t.Errorf("keys %q %q", a.Key(), b.Key())
	}
}

func FuzzParse(f *testing.F) {
	f.Add("https://t.me/s/durov/1")
	f.Add("feed:[::1]:80/x")
	f.Add(".#000.0000000") // no host but a dot
	f.Add("[a](https://t.me/iv?url=https://t.me/iv?url=x)")
	f.Add("@0@#.00")
	f.Add("https://medium.com/%0A")
	f.Add("https://www.reddit.com/%0A/%7F")
	f.Add("https://www.reddit.com/r/a/s/b?x=1")
	f.Add("https://overcast.fm/itunes1234/x")
	f.Add("feed:\x9e\x9e\x9e") // lower case is longer here
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Parse(s, ""); err == nil && got.Key() == "" {
			t.Errorf("Parse(%q) = %+v has no key", s, got)
		}
	})
}
