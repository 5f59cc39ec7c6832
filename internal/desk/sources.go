package desk

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
)

// baselineSome proposes the best few of what a source shows when it is followed.
// The others propose one, or nothing.
const (
	baselineSome   = "some"
	baselineLatest = "latest"
	baselineNone   = "none"
)

// sourceError turns what cannot be read into words for people.
func sourceError(err error) error {
	if p, ok := errors.AsType[*sources.Problem](err); ok {
		return &Error{Code: CodeSource + p.Code, Args: map[string]any{"detail": p.Detail}, Cause: err}
	}
	if errors.Is(err, sources.ErrUnknown) {
		return notYours()
	}
	return explain(err)
}

// Probe looks at what a person pasted: one request, two for a page that names a feed.
func (d *Desk) Probe(ctx context.Context, by int64, raw string) (ProbeView, error) {
	if err := d.admitted(ctx, d.pool, by); err != nil {
		return ProbeView{}, err
	}
	if err := d.slowly(d.rates.sources, by); err != nil {
		return ProbeView{}, err
	}
	found, err := d.sources.Reader().Look(ctx, raw)
	if err != nil {
		return ProbeView{}, sourceError(err)
	}
	return d.probeView(ctx, by, found)
}

const followsSQL = `
SELECT EXISTS (
       SELECT
         FROM people p
         JOIN subscriptions s ON s.channel_id = p.channel_id
         JOIN sources src ON src.id = s.source_id
        WHERE p.id = $1
          AND src.address = $2)`

func (d *Desk) probeView(ctx context.Context, by int64, f *sources.Found) (ProbeView, error) {
	v := ProbeView{Address: f.Address, URL: f.URL, Kind: string(f.Kind), Title: f.Title, IsFeed: f.Kind != sources.OPML && f.Address != ""}
	if f.Doc != nil {
		for _, e := range f.Doc.Entries[:min(3, len(f.Doc.Entries))] {
			v.Latest = append(v.Latest, ProbeItem{Title: e.Title, URL: e.Link, At: e.Published})
		}
	}
	for _, c := range f.Choices {
		v.Choices = append(v.Choices, ProbeItem{Title: c.Title, URL: c.URL})
	}
	err := d.pool.QueryRow(ctx, followsSQL, by, f.Address).Scan(&v.Known)
	return v, err
}

const followedSQL = `
SELECT EXISTS (
       SELECT
         FROM subscriptions
        WHERE channel_id = $1
          AND source_id = $2)`

// AddSource lets a channel follow what a person pasted. The source is read
// first, with no transaction open; the best few of what it shows are proposed.
func (d *Desk) AddSource(ctx context.Context, by, channelID int64, raw string) (SourceView, error) {
	return d.AddOneOf(ctx, by, channelID, raw, 1, 0)
}

// AddOneOf follows one address of a list of that length, of which added are
// followed already: the more there are, the less each proposes at first.
func (d *Desk) AddOneOf(ctx context.Context, by, channelID int64, raw string, length, added int) (SourceView, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return SourceView{}, err
	}
	if err := d.slowly(d.rates.sources, by); err != nil {
		return SourceView{}, err
	}
	found, err := d.sources.Reader().Look(ctx, raw)
	if err != nil {
		return SourceView{}, sourceError(err)
	}
	if found.Kind == sources.OPML {
		return SourceView{}, fail(CodeSource+"opml", nil)
	}
	var source sources.Added
	var fresh bool
	err = d.tx(ctx, func(tx pgx.Tx) (err error) {
		if source, err = d.sources.Add(ctx, tx, found); err != nil {
			return sourceError(err)
		}
		var followed bool
		if err := tx.QueryRow(ctx, followedSQL, channelID, source.ID).Scan(&followed); err != nil || followed {
			return err
		}
		if err := d.allowSource(ctx, tx, channelID); err != nil {
			return err // what was just added goes with the transaction
		}
		fresh, err = d.follow(ctx, tx, by, channelID, source.ID, listBaseline(length, added))
		return err
	})
	if err != nil {
		return SourceView{}, err
	}
	v, err := d.sourceView(ctx, channelID, source.ID)
	v.Already = !fresh
	return v, err
}

// follow subscribes a channel and asks for its first proposals; false when it
// followed the source already.
func (d *Desk) follow(ctx context.Context, tx pgx.Tx, by, channelID, sourceID int64, baseline string) (bool, error) {
	fresh, err := d.channels.Subscribe(ctx, tx, channelID, sourceID, by, baseline)
	if err != nil || !fresh {
		return false, err
	}
	return true, d.stories.Follow(ctx, tx, channelID, sourceID)
}

// Sources lists what a channel follows, with health.
func (d *Desk) Sources(ctx context.Context, by, channelID int64) ([]SourceView, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Viewer); err != nil {
		return nil, err
	}
	return d.sourceViews(ctx, channelID)
}

const draftsOfSourcesSQL = `
SELECT sc.source_id,
       count(*)
  FROM drafts d
  JOIN scores sc ON sc.channel_id = d.channel_id AND sc.story_id = d.story_id
 WHERE d.channel_id = $1
   AND d.created_at > clock_timestamp() - interval '7 days'
 GROUP BY sc.source_id`

func (d *Desk) sourceViews(ctx context.Context, channelID int64) ([]SourceView, error) {
	subs, err := channels.Subscriptions(ctx, d.pool, channelID)
	if err != nil {
		return nil, err
	}
	return d.viewsOfSources(ctx, channelID, subs)
}

func sourceIDs(subs []channels.Subscription) []int64 {
	ids := make([]int64, len(subs))
	for i, s := range subs {
		ids[i] = s.SourceID
	}
	return ids
}

// viewsOfSources shows some of what a channel follows.
func (d *Desk) viewsOfSources(ctx context.Context, channelID int64, subs []channels.Subscription) ([]SourceView, error) {
	if len(subs) == 0 {
		return []SourceView{}, nil
	}
	ids := sourceIDs(subs)
	health, err := d.sources.HealthOf(ctx, d.pool, ids)
	if err != nil {
		return nil, err
	}
	drafts, err := countBy(ctx, d.pool, draftsOfSourcesSQL, channelID)
	if err != nil {
		return nil, err
	}
	views := make([]SourceView, 0, len(health))
	for _, h := range health {
		i := slices.Index(ids, h.ID)
		views = append(views, sourceView(h, subs[i], drafts[h.ID]))
	}
	return views, nil
}

func sourceView(h sources.Health, s channels.Subscription, drafts int) SourceView {
	return SourceView{
		ID: h.ID, Address: h.Address, URL: h.URL, SiteURL: h.SiteURL, Title: h.Title, Kind: h.Kind, Language: h.Language,
		State: h.State, Paused: s.PausedAt != nil, Rests: s.RestsAt != nil,
		Weight: s.Weight, MustWords: s.MustWords, NeverWords: s.NeverWords, Pattern: s.Pattern,
		LastNewAt: h.LastNewAt, LastPollAt: h.LastPollAt, NextPollAt: h.NextPollAt,
		Error: h.Code, ErrorText: h.Text, FailingSince: h.FailingSince, Items: h.Items7d, Drafts: drafts,
	}
}

// countBy reads rows of a number and a count.
func countBy(ctx context.Context, q postgres.Querier, query string, args ...any) (map[int64]int, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	out := map[int64]int{}
	var id int64
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error { out[id] = n; return nil })
	return out, err
}

// sourceView returns one of them; error.not_yours when the channel does not follow it.
func (d *Desk) sourceView(ctx context.Context, channelID, sourceID int64) (SourceView, error) {
	subs, err := channels.Subscriptions(ctx, d.pool, channelID)
	if err != nil {
		return SourceView{}, err
	}
	subs = slices.DeleteFunc(subs, func(s channels.Subscription) bool { return s.SourceID != sourceID })
	list, err := d.viewsOfSources(ctx, channelID, subs)
	if err != nil {
		return SourceView{}, err
	}
	if len(list) == 0 {
		return SourceView{}, notYours()
	}
	return list[0], nil
}

// sickSources are those of what a channel follows that cannot be read, and how
// many it follows at all; only the sick ones are looked into.
func (d *Desk) sickSources(ctx context.Context, channelID int64) ([]SourceView, int, error) {
	subs, err := channels.Subscriptions(ctx, d.pool, channelID)
	if err != nil {
		return nil, 0, err
	}
	n := len(subs)
	sick, err := d.sources.Sick(ctx, d.pool, sourceIDs(subs))
	if err != nil {
		return nil, 0, err
	}
	subs = slices.DeleteFunc(subs, func(s channels.Subscription) bool { return !slices.Contains(sick, s.SourceID) })
	views, err := d.viewsOfSources(ctx, channelID, subs)
	return views, n, err
}

// RemoveSource ends a subscription; false when there was none. What was read stays known.
func (d *Desk) RemoveSource(ctx context.Context, by, channelID, sourceID int64) (bool, error) {
	return d.changeSource(ctx, by, channelID, func(tx pgx.Tx) (bool, error) {
		return d.channels.Unsubscribe(ctx, tx, channelID, sourceID)
	})
}

// PauseSource stops what a source brings to the channel; false when it was stopped.
func (d *Desk) PauseSource(ctx context.Context, by, channelID, sourceID int64) (bool, error) {
	return d.changeSource(ctx, by, channelID, func(tx pgx.Tx) (bool, error) {
		return d.channels.PauseSubscription(ctx, tx, channelID, sourceID, true)
	})
}

// ResumeSource starts it again; what came meanwhile is not proposed.
func (d *Desk) ResumeSource(ctx context.Context, by, channelID, sourceID int64) (bool, error) {
	return d.changeSource(ctx, by, channelID, func(tx pgx.Tx) (bool, error) {
		return d.channels.PauseSubscription(ctx, tx, channelID, sourceID, false)
	})
}

func (d *Desk) changeSource(ctx context.Context, by, channelID int64, do func(tx pgx.Tx) (bool, error)) (bool, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return false, err
	}
	var changed bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		changed, err = do(tx)
		return err
	})
	return changed, err
}

// RetrySource polls a source soon, whatever its schedule says.
func (d *Desk) RetrySource(ctx context.Context, by, channelID, sourceID int64) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return Submission{}, err
	}
	if _, err := d.sourceView(ctx, channelID, sourceID); err != nil {
		return Submission{}, err
	}
	var soon bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		soon, err = d.sources.PollSoon(ctx, tx, sourceID)
		return sourceError(err)
	})
	return Submission{Fresh: soon}, err
}

// SetSource changes weight and filters.
func (d *Desk) SetSource(ctx context.Context, by, channelID, sourceID int64, change SourceChange) (SourceView, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return SourceView{}, err
	}
	err := d.tx(ctx, func(tx pgx.Tx) error { return d.channels.UpdateSubscription(ctx, tx, channelID, sourceID, change) })
	if err != nil {
		return SourceView{}, err
	}
	return d.sourceView(ctx, channelID, sourceID)
}

// triedItems is how many items TestSource scores.
const triedItems = 3

// TestSource says how the last items of a source would score.
func (d *Desk) TestSource(ctx context.Context, by, channelID, sourceID int64) (TestView, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Viewer); err != nil {
		return TestView{}, err
	}
	source, err := d.sourceView(ctx, channelID, sourceID)
	if err != nil {
		return TestView{}, err
	}
	trials, err := d.scoring.Try(ctx, channelID, sourceID, triedItems)
	v := TestView{Source: source, Items: make([]DroppedView, len(trials))}
	for i, t := range trials {
		v.Items[i] = triedView(t, source.Title)
	}
	return v, err
}

func triedView(t scoring.Trial, source string) DroppedView {
	return DroppedView{Title: t.Title, URL: t.URL, Source: source, Score: t.Score, Verdict: t.Verdict, Reasons: t.Reasons, At: t.At}
}

// ExportOPML writes what a channel follows.
func (d *Desk) ExportOPML(ctx context.Context, by, channelID int64) ([]byte, error) {
	ch, _, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return nil, err
	}
	subs, err := channels.Subscriptions(ctx, d.pool, channelID)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = d.sources.Export(ctx, d.pool, &b, ch.Title, sourceIDs(subs))
	return b.Bytes(), err
}
