package desk

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/publishing"
)

const draftViewsSQL = `
SELECT d.id,
       d.channel_id,
       coalesce(d.story_id, 0),
       d.kind,
       d.subject,
       d.state,
       d.transition,
       d.revision,
       d.score,
       d.explore,
       d.slot_at,
       coalesce(d.decided_by, 0),
       d.skip_reason,
       d.failure,
       d.autopilot_at,
       d.decided_at,
       d.created_at,
       d.decided_at > clock_timestamp() - interval '10 minutes',
       coalesce(w.first_name, ''),
       r.html,
       r.html_hash,
       r.link,
       r.image,
       r.composer,
       r.fallback,
       r.checks,
       r.evidence,
       (SELECT count(*) FROM draft_revisions x WHERE x.draft_id = d.id),
       (SELECT coalesce(sum(x.tokens_in + x.tokens_out), 0) FROM draft_revisions x WHERE x.draft_id = d.id),
       coalesce(i.source_id, 0),
       coalesce(s.title, ''),
       coalesce(i.url, ''),
       coalesce(i.title, ''),
       coalesce(i.published_at, i.first_seen_at),
       coalesce(v.reasons, '[]'),
       p.state,
       p.chat_id,
       coalesce(p.message_id, 0),
       p.started_at,
       p.published_at,
       p.settled_how,
       coalesce(p.settled_by, 0),
       p.error,
       p.edited_at,
       p.deleted_at,
       (SELECT count(*) FROM publication_reviews z WHERE z.publication_id = p.id AND z.finding = 'nothing_found'),
       ` + publishing.PublicationLeft + `,
       coalesce(h.change, '')
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
  LEFT JOIN people w ON w.id = d.decided_by
  LEFT JOIN stories t ON t.id = d.story_id
  LEFT JOIN items i ON i.id = t.lead_item_id
  LEFT JOIN sources s ON s.id = i.source_id
  LEFT JOIN publications p ON p.draft_id = d.id
  LEFT JOIN LATERAL (
       SELECT q.reasons
         FROM scores q
        WHERE q.channel_id = d.channel_id
          AND q.story_id = d.story_id
        ORDER BY q.version DESC
        LIMIT 1
       ) v ON true
  LEFT JOIN LATERAL (
       -- the last change of the post that is not in the channel, and where it stands
       SELECT c.what || CASE
                WHEN EXISTS (SELECT FROM jobs j WHERE j.id = k.job_id) THEN '_pending'
                WHEN EXISTS (SELECT FROM effects e WHERE e.job_id = k.job_id AND e.state IN ('intent', 'unknown')) THEN '_unknown'
                ELSE '_failed'
              END AS change
         FROM (
              SELECT 'edit' AS what,
                     'post_edit' AS kind,
                     d.id || ':' || d.revision AS key
               WHERE p.html_hash <> r.html_hash
               UNION ALL
              SELECT 'delete',
                     'post_delete',
                     d.id || ':' || p.delete_attempt
               WHERE p.delete_attempt > 0
              ) c
         JOIN job_keys k ON k.kind = c.kind AND k.key = c.key
        WHERE p.state = 'published'
          AND p.deleted_at IS NULL
        ORDER BY c.what DESC,
                 k.generation DESC
        LIMIT 1
       ) h ON true
 WHERE d.id = ANY($1)
 ORDER BY d.id DESC`

// draftRow is a line of draftViewsSQL, with its nulls.
type draftRow struct {
	view                                DraftView
	slot, pilot, decided, item          *time.Time
	checks, evidence, reasons           json.RawMessage
	state, how, failed                  *string
	chat, message, by                   *int64
	started, published, edited, deleted *time.Time
	looked                              int
	fresh                               *bool
	left                                *bool
	change                              string
}

func scanDraftView(row pgx.CollectableRow) (DraftView, error) {
	var r draftRow
	v, d := &r.view, &r.view.Draft
	err := row.Scan(&d.ID, &d.ChannelID, &d.StoryID, &d.Kind, &d.Subject, &d.State, &d.Transition, &d.Revision, &d.Score,
		&d.Explore, &r.slot, &d.DecidedBy, &d.SkipReason, &d.Failure, &r.pilot, &r.decided, &v.CreatedAt, &r.fresh, &v.DecidedBy,
		&v.Revision.HTML, &v.Revision.Hash, &v.Revision.Link, &v.Revision.Image, &v.Revision.Composer, &v.Revision.Fallback,
		&r.checks, &r.evidence, &v.Revisions, &v.Tokens, &v.SourceID, &v.SourceTitle, &v.ItemURL, &v.ItemTitle, &r.item, &r.reasons,
		&r.state, &r.chat, &r.message, &r.started, &r.published, &r.how, &r.by, &r.failed, &r.edited, &r.deleted, &r.looked, &r.left, &r.change)
	if err != nil {
		return r.view, err
	}
	v.Revision.DraftID, v.Revision.Number = d.ID, d.Revision
	v.JustDecided = deref(r.fresh)
	d.SlotAt, v.AutopilotAt, v.DecidedAt, v.ItemAt = deref(r.slot), deref(r.pilot), deref(r.decided), deref(r.item)
	// What another release wrote and this one cannot read is left out of the card.
	_ = json.Unmarshal(r.checks, &v.Checks)
	_ = json.Unmarshal(r.evidence, &v.Evidence)
	_ = json.Unmarshal(r.reasons, &v.Reasons)
	if r.state != nil {
		v.Publication = &PublicationView{
			State: editorial.PublicationState(*r.state), StartedAt: deref(r.started), PublishedAt: deref(r.published), SettledHow: deref(r.how),
			SettledBy: deref(r.by), Error: deref(r.failed), EditedAt: deref(r.edited), DeletedAt: deref(r.deleted), Looked: r.looked, Left: deref(r.left), Change: r.change,
			Post: PostLink{ChatID: deref(r.chat), MessageID: deref(r.message)},
		}
	}
	return r.view, nil
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

const storyAlsoSQL = `
SELECT story_id,
       source_id,
       title,
       url
  FROM (SELECT DISTINCT ON (t.id, i.source_id)
               t.id AS story_id,
               i.source_id,
               coalesce(s.title, '') AS title,
               i.url,
               m.added_at
          FROM stories t
          JOIN items lead ON lead.id = t.lead_item_id
          JOIN story_items m ON m.story_id = t.id
          JOIN items i ON i.id = m.item_id AND i.source_id IS DISTINCT FROM lead.source_id
          LEFT JOIN sources s ON s.id = i.source_id
         WHERE t.id = ANY($1)
         ORDER BY t.id,
               i.source_id,
               m.added_at) AS others
 ORDER BY story_id,
       added_at`

// also adds the further sources of each story, each once: one that told it twice
// tells nothing more.
func also(ctx context.Context, q postgres.Querier, views []DraftView) error {
	byStory := map[int64][]*DraftView{}
	var ids []int64
	for i := range views {
		if id := views[i].Draft.StoryID; id != 0 {
			byStory[id] = append(byStory[id], &views[i])
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.Query(ctx, storyAlsoSQL, ids)
	if err != nil {
		return err
	}
	var story int64
	var ref SourceRef
	_, err = pgx.ForEachRow(rows, []any{&story, &ref.ID, &ref.Title, &ref.URL}, func() error {
		for _, v := range byStory[story] {
			v.Also = append(v.Also, ref)
		}
		return nil
	})
	return err
}

// views reads drafts of one channel as its member sees them, the newest first.
func (d *Desk) views(ctx context.Context, q postgres.Querier, by int64, ch editorial.Channel, role editorial.Role, ids []int64) ([]DraftView, error) {
	rows, err := q.Query(ctx, draftViewsSQL, ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanDraftView)
	if err != nil {
		return nil, err
	}
	if err := also(ctx, q, list); err != nil {
		return nil, err
	}
	person, err := channels.Person(ctx, q, by)
	if err != nil {
		return nil, err
	}
	var next []time.Time
	for i := range list {
		v := &list[i]
		v.Channel, v.Role = brief(ch), role
		if person.Access != editorial.AccessOperator {
			v.Tokens = 0
		}
		if v.Publication != nil {
			v.Publication.Post = postLink(v.Publication.Post.ChatID, v.Publication.Post.MessageID, ch.Username)
		}
		if v.Draft.State == editorial.Proposed || v.Draft.State == editorial.Failed {
			if next == nil {
				if next, err = d.planning.FreeSlots(ctx, q, ch, 1); err != nil {
					return nil, err
				}
			}
			if len(next) > 0 {
				v.NextSlot = next[0]
			}
		}
	}
	return list, nil
}

const draftChannelSQL = `
SELECT channel_id
  FROM drafts
 WHERE id = $1`

// draftChannel is the channel of a draft, for a person with this role in it. A
// draft that does not exist and one of somebody else are the same.
func (d *Desk) draftChannel(ctx context.Context, q postgres.Querier, by, draftID int64, need editorial.Role) (editorial.Channel, editorial.Role, error) {
	var id int64
	err := q.QueryRow(ctx, draftChannelSQL, draftID).Scan(&id)
	if postgres.NoRows(err) {
		return editorial.Channel{}, "", notYours()
	}
	if err != nil {
		return editorial.Channel{}, "", err
	}
	return d.channel(ctx, q, by, id, need)
}

// Draft returns one draft as a card shows it. For members.
func (d *Desk) Draft(ctx context.Context, by, draftID int64) (DraftView, error) {
	ch, role, err := d.draftChannel(ctx, d.pool, by, draftID, editorial.Viewer)
	if err != nil {
		return DraftView{}, err
	}
	list, err := d.views(ctx, d.pool, by, ch, role, []int64{draftID})
	if err == nil && len(list) == 0 {
		err = notYours()
	}
	if err != nil {
		return DraftView{}, err
	}
	return list[0], nil
}

const draftIDsSQL = `
SELECT id
  FROM drafts
 WHERE channel_id = $1
   AND state = ANY($2)
   AND ($3::bigint = 0 OR id < $3::bigint)
 ORDER BY id DESC
 LIMIT $4`

// mostDrafts bounds one page of a list.
const mostDrafts = 50

// Drafts lists drafts in these states (none: all), the newest first: those with
// a number below before (0: from the newest), at most 50. For members.
func (d *Desk) Drafts(ctx context.Context, by, channelID int64, states []editorial.DraftState, before int64, limit int) ([]DraftView, error) {
	ch, role, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		states = []editorial.DraftState{
			editorial.Proposed, editorial.Scheduled, editorial.Publishing, editorial.Published, editorial.Skipped, editorial.Failed, editorial.Unconfirmed,
		}
	}
	rows, err := d.pool.Query(ctx, draftIDsSQL, channelID, states, before, max(1, min(limit, mostDrafts)))
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return d.views(ctx, d.pool, by, ch, role, ids)
}
