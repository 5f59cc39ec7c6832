package samples

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Source is one site of the newsroom.
type Source struct {
	Slug     string
	Name     string
	Lang     string
	About    string
	Format   string // rss, atom, json
	FeedPath string
	corpus   corpus
	seed     uint64
	phase    time.Duration
}

// Config says where the newsroom stands and how fast it writes.
type Config struct {
	// Base is the address under which the Handler is mounted, without a slash at
	// its end: "http://127.0.0.1:8080/samples".
	Base string
	// Every is the time between two entries of one source; default 3 minutes.
	Every time.Duration
	// Window is how many entries a feed shows; default 15.
	Window int
	Now    func() time.Time
}

// Newsroom serves the sites. It is safe for concurrent use.
type Newsroom struct {
	cfg     Config
	sources []*Source
	mux     *http.ServeMux
}

// Entry is one article.
type Entry struct {
	N         int64
	Title     string
	Body      []string
	Tags      []string
	Published time.Time
	URL       string
	Image     string
}

// New reads the texts and builds the newsroom.
func New(cfg Config) (*Newsroom, error) {
	if cfg.Every <= 0 {
		cfg.Every = 3 * time.Minute
	}
	if cfg.Window <= 0 {
		cfg.Window = 15
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Base = strings.TrimRight(cfg.Base, "/")
	n := &Newsroom{cfg: cfg}
	for i, s := range []*Source{
		{Slug: "gazette", Name: "Harbour Gazette", Lang: "en", Format: "rss", FeedPath: "feed.xml", About: "What moves the port and its city"},
		{Slug: "orbit", Name: "Open Orbit", Lang: "en", Format: "atom", FeedPath: "atom.xml", About: "Science, space and open technology"},
		{Slug: "vestnik", Name: "Северный вестник", Lang: "ru", Format: "json", FeedPath: "feed.json", About: "Новости города и области"},
	} {
		c, err := readCorpus(s.Slug)
		if err != nil {
			return nil, err
		}
		s.corpus, s.seed = c, uint64(1000+i)
		s.phase = time.Duration(i) * cfg.Every / 3
		n.sources = append(n.sources, s)
	}
	n.routes()
	return n, nil
}

// Sources lists the sites.
func (n *Newsroom) Sources() []*Source { return n.sources }

// Site is the address of a source's front page, which names its feed.
func (n *Newsroom) Site(s *Source) string { return n.cfg.Base + "/" + s.Slug + "/" }

// Feed is the address of a source's feed.
func (n *Newsroom) Feed(s *Source) string { return n.Site(s) + s.FeedPath }

func (n *Newsroom) source(slug string) *Source {
	for _, s := range n.sources {
		if s.Slug == slug {
			return s
		}
	}
	return nil
}

// latest is the number of the newest entry at a moment.
func (n *Newsroom) latest(s *Source, at time.Time) int64 {
	return int64(at.Add(-s.phase).UnixNano() / int64(n.cfg.Every))
}

// Entry writes entry number k of a source.
func (n *Newsroom) Entry(s *Source, k int64) Entry {
	title, tags, body := s.corpus.write(s.seed, k)
	id := strconv.FormatInt(k, 10)
	e := Entry{
		N: k, Title: title, Tags: tags, Body: body, URL: n.Site(s) + id,
		Published: time.Unix(0, k*int64(n.cfg.Every)).Add(s.phase).UTC(),
	}
	if k%3 != 2 { // not everything has a picture
		e.Image = n.Site(s) + "images/" + id + ".jpg"
	}
	return e
}

// Entries are what the feed of a source shows now, newest first.
func (n *Newsroom) Entries(s *Source) []Entry {
	last := n.latest(s, n.cfg.Now())
	list := make([]Entry, 0, n.cfg.Window)
	for k := last; k > last-int64(n.cfg.Window); k-- {
		list = append(list, n.Entry(s, k))
	}
	return list
}

// Find returns the entry behind an address of the newsroom.
func (n *Newsroom) Find(address string) (*Source, Entry, bool) {
	rest, ok := strings.CutPrefix(address, n.cfg.Base+"/")
	if !ok {
		return nil, Entry{}, false
	}
	slug, id, _ := strings.Cut(rest, "/")
	id, _, _ = strings.Cut(id, "?")
	s := n.source(slug)
	k, err := strconv.ParseInt(id, 10, 64)
	if s == nil || err != nil || k > n.latest(s, n.cfg.Now()) {
		return nil, Entry{}, false
	}
	return s, n.Entry(s, k), true
}
