package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

const (
	patience  = 5    // failed looks, over about six minutes; then a person has to look
	maxDrafts = 5000 // newest first: what a backup of weeks ago can still hold undecided
)

// Post is one message of a channel as it stands there.
type Post struct {
	ID    int64
	At    time.Time
	Text  string   // as a reader sees it
	Links []string // addresses in it
}

// Look is what could be read of a channel.
type Look struct {
	Posts []Post // after the last known id, any order
	// Complete says that every post after the last known one was read, by a way
	// that shows that it would have shown them (the last known one itself was
	// seen, or each id was tried).
	Complete bool
	// Why says in a few words what kept it from being complete.
	Why string
}

// Report is what a look changed, for the owners of the channel.
type Report struct {
	RestoreID, ChannelID int64
	Found                []int64 // drafts that are published after all
	Alike                []int64 // drafts skipped as duplicates
	Returned             []int64 // scheduled drafts that wait for a decision again
	Released             bool    // the channel publishes again
	Why                  string  // when it is not
}

// Glance is the payload of one look.
type Glance struct {
	RestoreID int64 `json:"restore"`
	ChannelID int64 `json:"channel"`
}

// Kind is the job that looks at one held channel; after it the channel is
// released or waits for a person. It only reads outside; running it twice
// changes nothing.
func (s *Service) Kind() queue.Kind[Glance] {
	return queue.Kind[Glance]{
		Name:        "restore-look",
		Tier:        queue.Default,
		Policy:      queue.DB,
		Lease:       3 * time.Minute,
		MaxFailures: 10,
		Key:         func(g Glance) string { return fmt.Sprintf("%d:%d", g.RestoreID, g.ChannelID) },
		Work:        s.work,
	}
}

func (s *Service) enqueueLooks(ctx context.Context, tx pgx.Tx, restoreID int64, channels []int64) error {
	args := make([]Glance, len(channels))
	for i, c := range channels {
		args[i] = Glance{RestoreID: restoreID, ChannelID: c}
	}
	if _, err := s.Kind().EnqueueManyTx(ctx, tx, args, queue.After(s.cfg.FirstLook)); err != nil {
		return fmt.Errorf("enqueue looks of restore %d: %w", restoreID, err)
	}
	return nil
}

const holdOpenSQL = `
SELECT c.last_message_id,
       r.noticed_at
  FROM restore_holds h
  JOIN restores r ON r.id = h.restore_id
  JOIN channels c ON c.id = h.channel_id
 WHERE h.restore_id = $1
   AND h.channel_id = $2
   AND h.released_at IS NULL`

const holdLookedSQL = `
UPDATE restore_holds
   SET looks = looks + 1,
       found = found + $3,
       alike = alike + $4,
       returned = returned + $5,
       complete = $6,
       note = $7
 WHERE restore_id = $1
   AND channel_id = $2
   AND released_at IS NULL`

const holdReleaseIfHeldSQL = `
UPDATE restore_holds
   SET released_at = clock_timestamp(),
       released_by = $3
 WHERE ($1 = 0 OR restore_id = $1)
   AND ($2 = 0 OR channel_id = $2)
   AND released_at IS NULL
RETURNING channel_id`

// Every revision counts: the one that was approved after the backup may be an
// older one, or the newest that the backup has.
const draftsUndecidedSQL = `
SELECT d.id,
       d.state,
       d.slot_at,
       array_agg(r.html ORDER BY r.revision DESC) AS htmls,
       array_agg(DISTINCT r.link) FILTER (WHERE r.link <> '') AS links
  FROM (SELECT id,
               state,
               slot_at
          FROM drafts
         WHERE channel_id = $1
           AND state <> 'published'
         ORDER BY id DESC
         LIMIT $2) d
  JOIN draft_revisions r ON r.draft_id = d.id
 GROUP BY d.id, d.state, d.slot_at`

// undecided is a draft of which the backup does not know that it was published.
type undecided struct {
	ID     int64
	State  string
	SlotAt *time.Time
	HTMLs  []string
	Links  []string
}

func (s *Service) work(ctx context.Context, job *queue.Job[Glance]) error {
	g := job.Args
	var after int64
	var noticed time.Time
	err := s.cfg.Pool.QueryRow(ctx, holdOpenSQL, g.RestoreID, g.ChannelID).Scan(&after, &noticed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // released meanwhile
	}
	if err != nil {
		return fmt.Errorf("hold of channel %d: %w", g.ChannelID, err)
	}
	look, err := s.cfg.Look(ctx, g.ChannelID, after)
	if err != nil {
		if job.Failures < patience {
			return queue.Transient(fmt.Errorf("read channel %d: %w", g.ChannelID, err))
		}
		look = Look{Why: "the channel could not be read"}
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.settle(ctx, tx, g, look, noticed) })
}

// settle decides every draft of the channel by what stands in it, and releases
// the channel if all of it could be read.
func (s *Service) settle(ctx context.Context, tx pgx.Tx, g Glance, look Look, noticed time.Time) error {
	rows, err := tx.Query(ctx, draftsUndecidedSQL, g.ChannelID, maxDrafts)
	if err != nil {
		return fmt.Errorf("drafts of channel %d: %w", g.ChannelID, err)
	}
	drafts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[undecided])
	if err != nil {
		return fmt.Errorf("drafts of channel %d: %w", g.ChannelID, err)
	}
	report := Report{RestoreID: g.RestoreID, ChannelID: g.ChannelID, Released: look.Complete, Why: look.Why}
	shown := index(look.Posts)
	for _, d := range drafts {
		if err := s.decide(ctx, tx, d, shown, look.Complete, noticed, &report); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, holdLookedSQL, g.RestoreID, g.ChannelID,
		len(report.Found), len(report.Alike), len(report.Returned), look.Complete, look.Why); err != nil {
		return fmt.Errorf("record look: %w", err)
	}
	if look.Complete {
		if err := release(ctx, tx, g.RestoreID, g.ChannelID, "look"); err != nil {
			return err
		}
	}
	if s.cfg.Notify == nil {
		return nil
	}
	return s.cfg.Notify(ctx, tx, report)
}

func (s *Service) decide(ctx context.Context, tx pgx.Tx, d undecided, shown posts, complete bool, noticed time.Time, r *Report) error {
	if post, ok := shown.same(s.cfg.PlainText, d.HTMLs); ok {
		r.Found = append(r.Found, d.ID)
		return wrap(s.cfg.Published(ctx, tx, d.ID, post), "settle", d.ID)
	}
	switch d.State {
	case "proposed", "scheduled", "failed":
		if shown.alike(d.Links) {
			r.Alike = append(r.Alike, d.ID)
			return wrap(s.cfg.Duplicate(ctx, tx, d.ID), "skip", d.ID)
		}
	}
	// Where not every post could be read, and where the time has passed, the
	// owner decides again.
	if d.State == "scheduled" && (!complete || d.SlotAt == nil || !d.SlotAt.After(noticed)) {
		r.Returned = append(r.Returned, d.ID)
		return wrap(s.cfg.Return(ctx, tx, d.ID), "return", d.ID)
	}
	return nil
}

func wrap(err error, what string, draftID int64) error {
	if err != nil {
		return fmt.Errorf("%s draft %d: %w", what, draftID, err)
	}
	return nil
}

// posts finds a draft among what stands in the channel.
type posts struct {
	byText map[string]Post
	links  map[string]bool
}

func index(list []Post) posts {
	p := posts{byText: map[string]Post{}, links: map[string]bool{}}
	for _, post := range list {
		if t := squash(post.Text); t != "" {
			p.byText[t] = post
		}
		for _, l := range post.Links {
			p.links[l] = true
		}
	}
	return p
}

func (p posts) same(plain func(string) string, htmls []string) (Post, bool) {
	for _, h := range htmls {
		if post, ok := p.byText[squash(plain(h))]; ok {
			return post, true
		}
	}
	return Post{}, false
}

func (p posts) alike(links []string) bool {
	for _, l := range links {
		if p.links[l] {
			return true
		}
	}
	return false
}

// squash compares texts by their words: a preview page breaks lines differently.
func squash(s string) string { return strings.Join(strings.Fields(s), " ") }

func release(ctx context.Context, tx pgx.Tx, restoreID, channelID int64, by string) error {
	if _, err := tx.Exec(ctx, holdReleaseIfHeldSQL, restoreID, channelID, by); err != nil {
		return fmt.Errorf("release channel %d: %w", channelID, err)
	}
	if _, err := tx.Exec(ctx, restoreCloseIfReleasedSQL); err != nil {
		return fmt.Errorf("close restore: %w", err)
	}
	return nil
}
