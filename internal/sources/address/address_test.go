package address

import (
	"errors"
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
		"https://youtube.com/@handle/videos":              {YouTube, "https://youtube.com/@handle/videos", true},
		"https://youtu.be/abc":                            {YouTube, "https://youtu.be/abc", true},
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

func TestParseSaysWhyNot(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"": ErrNothing, "hello world": ErrNothing, "https://t.me/+abcDEF": ErrTelegramPrivate, "t.me/c/123/4": ErrTelegramPrivate,
		"t.me/joinchat/x": ErrTelegramPrivate, "@x": ErrTelegramName, "ftp://e.org/x": ErrScheme, "mailto:a": ErrScheme, "file:///etc/passwd": ErrScheme,
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
	f.Add(".#000.0000000")     // no host but a dot
	f.Add("feed:\x9e\x9e\x9e") // lower case is longer here
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Parse(s, ""); err == nil && got.Key() == "" {
			t.Errorf("Parse(%q) = %+v has no key", s, got)
		}
	})
}
