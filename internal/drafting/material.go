package drafting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/drafting/extract"
	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/drafting/voice"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// material is everything that a post is written from: the channel's habits, the
// item, and who else tells the story.
type material struct {
	channelID  int64
	title      string // of the channel
	language   string
	tone       []string
	voice      voice.Voice
	footer     string
	linkStyle  string
	imageStyle string
	hashtags   []string

	item     editorial.Item
	source   string
	also     []render.Also
	followUp bool
}

const materialChannelSQL = `
SELECT id,
       title,
       language,
       tone,
       voice,
       footer,
       link_style,
       image_style,
       hashtags
  FROM channels
 WHERE id = $1
   AND state <> 'unlinked'`

// materialItemSQL takes the item of the story that says most, among sources that the channel
// follows; a follow-up is about the newest one that is no mere copy. For a draft that is there
// already ($4) a source will do that is followed no more.
const materialItemSQL = `
SELECT i.id,
       i.source_id,
       i.url,
       i.canonical,
       i.title,
       i.text,
       i.image,
       i.language,
       coalesce(s.title, '')
  FROM story_items si
  JOIN items i ON i.id = si.item_id
  LEFT JOIN sources s ON s.id = i.source_id
  LEFT JOIN subscriptions b ON b.channel_id = $2 AND b.source_id = i.source_id AND b.paused_at IS NULL
 WHERE si.story_id = $1
   AND i.purged_at IS NULL
   AND ($4 OR b.source_id IS NOT NULL)
 ORDER BY (b.source_id IS NOT NULL) DESC,
          ($3 AND NOT si.certain) DESC,
          CASE WHEN $3 THEN i.id ELSE 0 END DESC,
          (length(i.text) >= 200) DESC,
          (si.how = 'lead') DESC,
          length(i.text) DESC,
          i.id
 LIMIT 1`

// materialAlsoSQL lists one item of each other source that tells the story.
const materialAlsoSQL = `
SELECT DISTINCT ON (i.source_id)
       coalesce(nullif(s.title, ''), s.host, ''),
       i.url
  FROM story_items si
  JOIN items i ON i.id = si.item_id
  LEFT JOIN sources s ON s.id = i.source_id
 WHERE si.story_id = $1
   AND NOT si.certain
   AND i.source_id <> $2
   AND i.url <> ''
   AND EXISTS (SELECT FROM subscriptions b WHERE b.channel_id = $3 AND b.source_id = i.source_id AND b.paused_at IS NULL)
 ORDER BY i.source_id,
          i.id
 LIMIT 3`

// errGone means that the channel or the item is not there any more: nothing to write.
var errGone = errors.New("nothing to write from")

func readChannel(ctx context.Context, q postgres.Querier, channelID int64) (material, error) {
	var m material
	err := q.QueryRow(ctx, materialChannelSQL, channelID).Scan(&m.channelID, &m.title, &m.language, &m.tone, &m.voice, &m.footer, &m.linkStyle, &m.imageStyle, &m.hashtags)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, errGone
	}
	if err != nil {
		return m, fmt.Errorf("read channel %d: %w", channelID, err)
	}
	m.follow()
	return m, nil
}

// follow takes the channel's habits over where its owner set nothing.
func (m *material) follow() {
	m.voice = m.voice.For(m.tone)
	if m.footer == "" {
		m.footer = render.HTML([]render.Node{render.T(render.Clean(m.voice.Footer))})
	}
	if len(m.hashtags) == 0 {
		m.hashtags = m.voice.Hashtags
	}
}

// origin is what a text is written from.
type origin struct {
	channelID, storyID int64
	followUp           bool // it adds to a post that is out
	drafted            bool // there is a draft of it already
}

func readMaterial(ctx context.Context, q postgres.Querier, o origin) (material, error) {
	m, err := readChannel(ctx, q, o.channelID)
	if err != nil {
		return m, err
	}
	m.followUp = o.followUp
	i := &m.item
	err = q.QueryRow(ctx, materialItemSQL, o.storyID, o.channelID, o.followUp, o.drafted).Scan(&i.ID, &i.SourceID, &i.URL, &i.Canonical, &i.Title, &i.Text, &i.Image, &i.Language, &m.source)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, errGone
	}
	if err != nil {
		return m, fmt.Errorf("read story %d: %w", o.storyID, err)
	}
	rows, err := q.Query(ctx, materialAlsoSQL, o.storyID, i.SourceID, o.channelID)
	if err != nil {
		return m, fmt.Errorf("read story %d: %w", o.storyID, err)
	}
	m.also, err = pgx.CollectRows(rows, pgx.RowToStructByPos[render.Also])
	if o.followUp {
		m.also = nil
	}
	return m, err
}

// template is the channel's, in the language of its posts.
func (m material) template() render.Template {
	t := render.Template{LinkStyle: m.linkStyle, Footer: m.footer, Limit: limitFor(m.imageStyle, m.image())}
	t.AlsoLabel, t.LinkLabel = phrase(m.language, "also"), ""
	if m.voice.Lead != "" {
		t.Mark = m.voice.Lead + " "
	}
	if m.followUp {
		t.Mark += phrase(m.language, "update")
	}
	return t
}

// image is the item's picture as far as the channel shows any.
func (m material) image() string {
	if m.imageStyle == "none" || !render.Address(m.item.Image) {
		return ""
	}
	return m.item.Image
}

func (m material) link() string {
	if !render.Address(m.item.URL) {
		return ""
	}
	return m.item.URL
}

// phrase is one of the few words that the template itself adds to posts.
func phrase(language, which string) string {
	lang, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch lang + " " + which {
	case "ru also":
		return "Также: "
	case "ru update":
		return "Обновление: "
	case "ru digest":
		return "Главное за день"
	}
	switch which {
	case "also":
		return "Also: "
	case "update":
		return "Update: "
	}
	return "Today in short"
}

// offline writes a post without a model. It always gives a text where the item has
// a title, a sentence or a link.
func (m material) offline() (written, bool) {
	d := extract.Compose(extract.Input{Title: m.item.Title, Text: m.item.Text, Source: m.source, Units: m.voice.BodyUnits()})
	if d.Headline == "" && len(d.Body) == 0 {
		if m.link() == "" {
			return written{}, false
		}
		d.Headline = hostOf(m.link())
	}
	w := m.lay(render.Post{Headline: d.Headline, Body: d.Body})
	w.composer = "extractive"
	text := d.Headline + "\n" + strings.Join(d.Body, "\n")
	if got := check.DetectLanguage(text); got != "" && m.language != "" && !strings.HasPrefix(m.language, got) {
		w.checks = append(w.checks, check.Finding{Code: check.Language, Detail: got, Soft: true})
	}
	return w, true
}

// lay puts a post into the channel's template, with what is the item's own.
func (m material) lay(p render.Post) written {
	p.Link, p.Also = m.link(), m.also
	if m.voice.Emoji == "none" {
		p.Headline = voice.WithoutEmoji(p.Headline)
		for i := range p.Body {
			p.Body[i] = voice.WithoutEmoji(p.Body[i])
		}
	}
	if len(p.Tags) == 0 && m.voice.AlwaysTags {
		p.Tags = m.hashtags[:min(len(m.hashtags), 3)]
	}
	return written{html: render.HTML(render.Lay(p, m.template())), link: p.Link, image: m.image()}
}

func hostOf(link string) string {
	_, rest, _ := strings.Cut(link, "://")
	host, _, _ := strings.Cut(rest, "/")
	host = strings.TrimPrefix(host, "www.")
	if i := strings.LastIndexByte(host, '.'); i > 0 {
		host = host[:i] // a bare domain would become a link of its own
	}
	return host
}
