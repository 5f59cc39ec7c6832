package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// eventsSQL is what happened to a story (or, with none, a draft) in a channel.
// Each line is one fact that some table keeps; nothing is told from memory.
const eventsSQL = `
SELECT i.first_seen_at,
       'life.polled',
       0::bigint,
       jsonb_build_object('Source', coalesce(s.title, ''), 'result', i.result)
  FROM items i
  LEFT JOIN sources s ON s.id = i.source_id
 WHERE i.id = $3
 UNION ALL
SELECT m.added_at,
       'life.grouped',
       0,
       jsonb_build_object('How', m.how, 'Items', t.items)
  FROM story_items m
  JOIN stories t ON t.id = m.story_id
 WHERE m.item_id = $3
   AND m.how <> 'lead'
 UNION ALL
SELECT v.scored_at,
       'life.scored',
       0,
       jsonb_build_object('Score', v.score, 'Verdict', v.verdict)
  FROM scores v
 WHERE v.channel_id = $1
   AND v.story_id = $4
 UNION ALL
SELECT d.created_at,
       'life.drafted',
       coalesce(d.created_by, 0),
       jsonb_build_object('Draft', d.id)
  FROM drafts d
 WHERE d.id = $2
 UNION ALL
SELECT r.created_at,
       'life.revised',
       coalesce(r.author_id, 0),
       jsonb_build_object('Revision', r.revision, 'How', r.composer)
  FROM draft_revisions r
 WHERE r.draft_id = $2
   AND r.revision > 1
 UNION ALL
SELECT d.decided_at,
       'life.' || CASE WHEN d.state = 'skipped' THEN 'skipped' WHEN d.state = 'proposed' THEN 'taken_back' ELSE 'approved' END,
       coalesce(d.decided_by, 0),
       jsonb_build_object('Reason', d.skip_reason)
  FROM drafts d
 WHERE d.id = $2
   AND d.decided_at IS NOT NULL
 UNION ALL
SELECT p.started_at,
       'life.sent',
       0,
       jsonb_build_object('Attempt', p.attempt)
  FROM publications p
 WHERE p.draft_id = $2
 UNION ALL
SELECT coalesce(p.published_at, p.settled_at, e.outcome_at, p.started_at),
       'life.' || p.state,
       coalesce(p.settled_by, 0),
       jsonb_build_object('How', p.settled_how, 'Why', p.error)
  FROM publications p
  LEFT JOIN effects e ON e.effect_key = p.effect_key
 WHERE p.draft_id = $2
   AND p.state <> 'sending'
 UNION ALL
SELECT z.at,
       'life.looked',
       coalesce(z.person_id, 0),
       jsonb_build_object('How', z.how, 'Finding', z.finding)
  FROM publication_reviews z
  JOIN publications p ON p.id = z.publication_id
 WHERE p.draft_id = $2
 UNION ALL
SELECT p.edited_at,
       'life.edited',
       0,
       '{}'
  FROM publications p
 WHERE p.draft_id = $2
   AND p.edited_at IS NOT NULL
 UNION ALL
SELECT p.deleted_at,
       'life.deleted',
       0,
       '{}'
  FROM publications p
 WHERE p.draft_id = $2
   AND p.deleted_at IS NOT NULL
 ORDER BY 1,
       2`

const namesSQL = `
SELECT id,
       first_name
  FROM people
 WHERE id = ANY($1)`

const draftPlaceSQL = `
SELECT d.channel_id,
       coalesce(d.story_id, 0),
       coalesce(i.id, 0),
       coalesce(i.title, ''),
       coalesce(i.url, r.link),
       r.html
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
  LEFT JOIN stories t ON t.id = d.story_id
  LEFT JOIN items i ON i.id = t.lead_item_id
 WHERE d.id = $1`

// itemPlaceSQL finds an item by its link in what the person's channels follow,
// and the draft that came of it there; the newest first.
const itemPlaceSQL = `
SELECT m.channel_id,
       coalesce(si.story_id, 0),
       i.id,
       i.title,
       i.url,
       coalesce((SELECT max(d.id) FROM drafts d WHERE d.channel_id = m.channel_id AND d.story_id = si.story_id), 0)
  FROM items i
  JOIN subscriptions s ON s.source_id = i.source_id
  JOIN memberships m ON m.channel_id = s.channel_id AND m.person_id = $1
  LEFT JOIN story_items si ON si.item_id = i.id
 WHERE i.canonical = $2
 ORDER BY m.channel_id = $3 DESC,
       6 DESC,
       i.id DESC
 LIMIT 1`

const postPlaceSQL = `
SELECT p.draft_id
  FROM publications p
  JOIN channels c ON c.id = p.channel_id
  JOIN memberships m ON m.channel_id = c.id AND m.person_id = $1
 WHERE p.message_id = $2
   AND (lower(c.username) = lower($3) OR c.chat_id::text = '-100' || $3)
 LIMIT 1`

// Why tells the life of one item in a channel of the person's: ref is a draft's
// number, a link to an item, or a link to a post. For members;
// error.not_yours where the person's channels know nothing of it.
func (d *Desk) Why(ctx context.Context, by int64, ref string) (Life, error) {
	ref = strings.TrimPrefix(strings.TrimSpace(ref), "#")
	if id, err := strconv.ParseInt(ref, 10, 64); err == nil {
		return d.lifeOfDraft(ctx, by, id)
	}
	if name, message, ok := postAddress(ref); ok {
		var id int64
		err := d.pool.QueryRow(ctx, postPlaceSQL, by, message, name).Scan(&id)
		if err == nil {
			return d.lifeOfDraft(ctx, by, id)
		}
		if !postgres.NoRows(err) {
			return Life{}, err
		}
	}
	return d.lifeOfLink(ctx, by, ref)
}

func (d *Desk) lifeOfDraft(ctx context.Context, by, draftID int64) (Life, error) {
	ch, _, err := d.draftChannel(ctx, d.pool, by, draftID, editorial.Viewer)
	if err != nil {
		return Life{}, err
	}
	l := Life{DraftID: draftID}
	var post string
	if err := d.pool.QueryRow(ctx, draftPlaceSQL, draftID).Scan(&ch.ID, &l.StoryID, &l.ItemID, &l.Title, &l.URL, &post); err != nil {
		return Life{}, err
	}
	if l.Title == "" {
		l.Title = titleOf(post)
	}
	return d.fill(ctx, ch, l)
}

func (d *Desk) lifeOfLink(ctx context.Context, by int64, link string) (Life, error) {
	person, err := channels.Person(ctx, d.pool, by)
	if err != nil {
		return Life{}, explain(err)
	}
	var l Life
	var channelID int64
	err = d.pool.QueryRow(ctx, itemPlaceSQL, by, article.Canonical(link), person.ChannelID).
		Scan(&channelID, &l.StoryID, &l.ItemID, &l.Title, &l.URL, &l.DraftID)
	if postgres.NoRows(err) {
		return Life{}, notYours()
	}
	if err != nil {
		return Life{}, err
	}
	ch, _, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return Life{}, err
	}
	return d.fill(ctx, ch, l)
}

// fill adds the events, the post and the jobs that are not done.
func (d *Desk) fill(ctx context.Context, ch editorial.Channel, l Life) (Life, error) {
	rows, err := d.pool.Query(ctx, eventsSQL, ch.ID, l.DraftID, l.ItemID, l.StoryID)
	if err != nil {
		return l, err
	}
	if l.Events, err = pgx.CollectRows(rows, scanEvent); err != nil {
		return l, err
	}
	if err := d.name(ctx, l.Events); err != nil {
		return l, err
	}
	var message int64
	err = d.pool.QueryRow(ctx, postOfDraftSQL, l.DraftID).Scan(&message)
	if err != nil && !postgres.NoRows(err) {
		return l, err
	}
	l.Post = postLink(ch.ChatID, message, ch.Username)
	all, err := d.jobs(ctx, ch.ID)
	if err != nil {
		return l, err
	}
	for _, j := range all {
		if l.DraftID != 0 && j.DraftID == l.DraftID || l.StoryID != 0 && ofStory(j, ch.ID, l.StoryID) {
			l.Waiting = append(l.Waiting, j)
		}
	}
	return l, nil
}

// ofStory tells a job that scores a story for a channel or drafts it: by its key, channel:story and what follows.
func ofStory(j JobView, channelID, storyID int64) bool {
	rest, ok := strings.CutPrefix(j.Key, fmt.Sprintf("%d:%d", channelID, storyID))
	return ok && (j.Kind == "score" || j.Kind == "draft") && (rest == "" || rest[0] == ':')
}

const postOfDraftSQL = `
SELECT coalesce(message_id, 0)
  FROM publications
 WHERE draft_id = $1
   AND state = 'published'
   AND deleted_at IS NULL`

func scanEvent(row pgx.CollectableRow) (Event, error) {
	var e Event
	var args json.RawMessage
	if err := row.Scan(&e.At, &e.Code, &e.By, &args); err != nil {
		return e, err
	}
	return e, json.Unmarshal(args, &e.Args)
}

// name fills in who did it.
func (d *Desk) name(ctx context.Context, events []Event) error {
	var ids []int64
	for _, e := range events {
		if e.By != 0 {
			ids = append(ids, e.By)
		}
	}
	rows, err := d.pool.Query(ctx, namesSQL, ids)
	if err != nil {
		return err
	}
	names := map[int64]string{}
	var id int64
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		names[id] = name
		return nil
	}); err != nil {
		return err
	}
	for i := range events {
		events[i].ByName = names[events[i].By]
	}
	return nil
}

// postAddress reads a link to a post: t.me/name/12 or t.me/c/1234/12. name is
// the channel's name, or the number of a private one.
func postAddress(link string) (name string, message int64, ok bool) {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		u, err = url.Parse("https://" + link)
	}
	if err != nil || (u.Host != "t.me" && u.Host != "telegram.me") {
		return "", 0, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) > 0 && (parts[0] == "c" || parts[0] == "s") {
		parts = parts[1:]
	}
	if len(parts) != 2 {
		return "", 0, false
	}
	message, err = strconv.ParseInt(parts[1], 10, 64)
	return parts[0], message, err == nil && message > 0
}

// activitySQL is what happened in a channel before a time, the newest first.
const activitySQL = `
SELECT d.created_at,
       'life.drafted',
       coalesce(d.created_by, 0),
       jsonb_build_object('Draft', d.id)
  FROM drafts d
 WHERE d.channel_id = $1
   AND d.created_at < $2
 UNION ALL
SELECT d.decided_at,
       'life.' || CASE WHEN d.state = 'skipped' THEN 'skipped' WHEN d.state = 'proposed' THEN 'taken_back' ELSE 'approved' END,
       coalesce(d.decided_by, 0),
       jsonb_build_object('Draft', d.id, 'Reason', d.skip_reason)
  FROM drafts d
 WHERE d.channel_id = $1
   AND d.decided_at < $2
 UNION ALL
SELECT coalesce(p.published_at, p.settled_at, p.started_at),
       'life.' || p.state,
       coalesce(p.settled_by, 0),
       jsonb_build_object('Draft', p.draft_id, 'How', p.settled_how, 'Why', p.error)
  FROM publications p
 WHERE p.channel_id = $1
   AND coalesce(p.published_at, p.settled_at, p.started_at) < $2
   AND p.state <> 'sending'
 ORDER BY 1 DESC
 LIMIT $3`

// Activity lists what happened in a channel before a time (zero: until now), the
// newest first, at most 100. For members.
func (d *Desk) Activity(ctx context.Context, by, channelID int64, before time.Time, limit int) ([]Event, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Viewer); err != nil {
		return nil, err
	}
	if before.IsZero() {
		before = d.now().Add(time.Hour)
	}
	const most = 100
	rows, err := d.pool.Query(ctx, activitySQL, channelID, before, max(1, min(limit, most)))
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanEvent)
	if err != nil {
		return nil, err
	}
	if err := d.entitle(ctx, channelID, list); err != nil {
		return nil, err
	}
	return list, d.name(ctx, list)
}

// entitle fills in the title of the draft that something happened to.
func (d *Desk) entitle(ctx context.Context, channelID int64, events []Event) error {
	of := map[int64][]Event{}
	for _, e := range events {
		id, _ := e.Args["Draft"].(float64)
		of[int64(id)] = append(of[int64(id)], e)
	}
	rows, err := d.pool.Query(ctx, plannedDraftsSQL, slices.Collect(maps.Keys(of)), channelID)
	if err != nil {
		return err
	}
	var id int64
	var state editorial.DraftState
	var transition int
	var html string
	_, err = pgx.ForEachRow(rows, []any{&id, &state, &transition, &html}, func() error {
		for _, e := range of[id] {
			e.Args["Title"] = titleOf(html)
		}
		return nil
	})
	return err
}
