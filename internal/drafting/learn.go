package drafting

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/drafting/voice"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// learnArgs asks to learn a channel's voice, once per cause.
type learnArgs struct {
	ChannelID int64  `json:"channel_id"`
	Cause     string `json:"cause"` // day:<date>, edit:<draft>:<revision>, or what a person did
	// Edits learns from edits alone: the posts in the channel have not changed.
	Edits bool `json:"edits,omitempty"`
}

func (a learnArgs) key() string { return fmt.Sprintf("%d:%s", a.ChannelID, a.Cause) }

// LearnVoiceTx asks to learn how a channel writes, from its posts and from edits,
// once per cause, in the caller's transaction.
func (s *Service) LearnVoiceTx(ctx context.Context, tx pgx.Tx, channelID int64, cause string) (queue.Submission, error) {
	if s.cfg.KeepVoice == nil {
		return queue.Submission{}, nil
	}
	return s.learn.EnqueueTx(ctx, tx, learnArgs{ChannelID: channelID, Cause: cause})
}

// EditTaughtTx asks to learn from a person's edit of a draft, in its transaction.
func (s *Service) EditTaughtTx(ctx context.Context, tx pgx.Tx, d editorial.Draft) error {
	if s.cfg.KeepVoice == nil {
		return nil
	}
	_, err := s.learn.EnqueueTx(ctx, tx, learnArgs{
		ChannelID: d.ChannelID, Cause: fmt.Sprintf("edit:%d:%d", d.ID, d.Revision), Edits: true,
	})
	return err
}

// workLearn reads the channel's public page first, with no transaction open; a
// page that cannot be read leaves what the database knows.
func (s *Service) workLearn(ctx context.Context, job *queue.Job[learnArgs]) error {
	a := job.Args
	var shown []string
	if !a.Edits {
		var err error
		if shown, err = s.shownPosts(ctx, a.ChannelID); err != nil {
			return err
		}
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		edits, err := editsOf(ctx, tx, a.ChannelID)
		if err != nil {
			return err
		}
		taught, err := json.Marshal(voice.FromEdits(edits))
		if err != nil {
			return err
		}
		var posts []byte
		if !a.Edits {
			if err := keepPosts(ctx, tx, a.ChannelID, shown); err != nil {
				return err
			}
			if posts, err = learned(ctx, tx, a.ChannelID, shown); err != nil {
				return err
			}
		}
		_, err = s.cfg.KeepVoice(ctx, tx, a.ChannelID, posts, taught)
		return err
	})
}

// learned is what the posts of a channel teach, as it is stored; nil: too few.
func learned(ctx context.Context, tx pgx.Tx, channelID int64, shown []string) ([]byte, error) {
	kept, err := keptPosts(ctx, tx, channelID)
	if err != nil {
		return nil, err
	}
	v := voice.Learn(distinct(append(shown, kept...)))
	if !v.Knows() {
		return nil, nil
	}
	return json.Marshal(v)
}

const voiceChannelSQL = `
SELECT username
  FROM channels
 WHERE id = $1
   AND state <> 'unlinked'
   AND username <> ''`

// shownPosts are the posts on the channel's public page; none where it has none.
func (s *Service) shownPosts(ctx context.Context, channelID int64) ([]string, error) {
	if s.cfg.Posts == nil {
		return nil, nil
	}
	names, err := texts(ctx, s.cfg.Pool, voiceChannelSQL, channelID)
	if err != nil {
		return nil, fmt.Errorf("read channel %d: %w", channelID, err)
	}
	if len(names) == 0 {
		return nil, nil
	}
	posts, err := s.cfg.Posts(ctx, names[0])
	if err != nil {
		s.cfg.Logger.Debug().Err(err).Int64("channel", channelID).Msg("the public page of the channel cannot be read")
		return nil, nil // a private page is usual; tomorrow is another try
	}
	return posts, nil
}

// voicePublishedSQL are our posts as they stand in the channel.
const voicePublishedSQL = `
SELECT r.html
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
 WHERE d.channel_id = $1
   AND d.state = 'published'
 ORDER BY d.id DESC
 LIMIT 40`

// voiceForwardedSQL are posts of the channel that somebody forwarded to the bot.
const voiceForwardedSQL = `
SELECT i.text
  FROM channels c
  JOIN sources s ON s.address = 'forward:' || c.chat_id OR c.username <> '' AND s.address = 't.me/' || lower(c.username)
  JOIN items i ON i.source_id = s.id
 WHERE c.id = $1
   AND i.text <> ''
   AND i.purged_at IS NULL
 ORDER BY i.id DESC
 LIMIT 40`

// keptPosts are the posts of a channel that the database knows, plain, newest first.
func keptPosts(ctx context.Context, tx pgx.Tx, channelID int64) ([]string, error) {
	forwarded, err := texts(ctx, tx, voiceForwardedSQL, channelID)
	if err != nil {
		return nil, fmt.Errorf("posts of channel %d: %w", channelID, err)
	}
	published, err := texts(ctx, tx, voicePublishedSQL, channelID)
	if err != nil {
		return nil, fmt.Errorf("posts of channel %d: %w", channelID, err)
	}
	return append(forwarded, plainOfAll(published)...), nil
}

func plainOfAll(posts []string) []string {
	plain := make([]string, len(posts))
	for i, html := range posts {
		plain[i] = plainOf(html)
	}
	return plain
}

// plainOf is a post without its markup; empty where the markup is broken.
func plainOf(html string) string {
	nodes, err := render.Parse(html)
	if err != nil {
		return ""
	}
	return render.Text(nodes)
}

// distinct drops what says the same as an earlier post: ours stand on the page, too.
func distinct(posts []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, p := range posts {
		same := strings.Join(strings.Fields(p), " ")
		if same != "" && !seen[same] {
			seen[same] = true
			out = append(out, p)
		}
	}
	return out
}

// voiceEditsSQL are the newest edited drafts: the last text that no person wrote,
// and what a person made of it in the end.
const voiceEditsSQL = `
SELECT was.html,
       made.html
  FROM (SELECT id
          FROM drafts
         WHERE channel_id = $1
         ORDER BY id DESC
         LIMIT 500) d
  JOIN LATERAL (
         SELECT revision,
                html
           FROM draft_revisions
          WHERE draft_id = d.id
            AND composer = 'person'
          ORDER BY revision DESC
          LIMIT 1
       ) made ON true
  JOIN LATERAL (
         SELECT html
           FROM draft_revisions
          WHERE draft_id = d.id
            AND composer <> 'person'
            AND revision < made.revision
          ORDER BY revision DESC
          LIMIT 1
       ) was ON true
 ORDER BY d.id DESC
 LIMIT 20`

func editsOf(ctx context.Context, tx pgx.Tx, channelID int64) ([]voice.Edit, error) {
	rows, err := tx.Query(ctx, voiceEditsSQL, channelID)
	if err != nil {
		return nil, fmt.Errorf("edits in channel %d: %w", channelID, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[voice.Edit])
	for i := range list {
		list[i] = voice.Edit{Draft: plainOf(list[i].Draft), Made: plainOf(list[i].Made)}
	}
	return list, err
}

// learnDayArgs is one day's round of all channels.
type learnDayArgs struct {
	At int64 `json:"at"` // when it fires, in seconds
}

const voiceChannelsSQL = `
SELECT id
  FROM channels
 WHERE state <> 'unlinked'
 ORDER BY id`

// learnSpread is the part of a day over which the channels' pages are read.
const learnSpread = 20 * time.Hour

func (s *Service) learnDayKind() queue.Kind[learnDayArgs] {
	return queue.Kind[learnDayArgs]{
		Name: "learn_voices", Tier: queue.Bulk, Policy: queue.DB, KeepKeys: 72 * time.Hour,
		Key: func(a learnDayArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: func(ctx context.Context, job *queue.Job[learnDayArgs]) error {
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
				return s.learnAll(ctx, tx, time.Unix(job.Args.At, 0).UTC())
			})
		},
	}
}

// learnAll asks for the voice of each channel, each at its own time of the day.
func (s *Service) learnAll(ctx context.Context, tx pgx.Tx, day time.Time) error {
	if s.cfg.KeepVoice == nil {
		return nil
	}
	rows, err := tx.Query(ctx, voiceChannelsSQL)
	if err != nil {
		return fmt.Errorf("list channels: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return err
	}
	args, at := make([]learnArgs, len(ids)), make([]time.Time, len(ids))
	for i, id := range ids {
		args[i] = learnArgs{ChannelID: id, Cause: "day:" + day.Format(time.DateOnly)}
		at[i] = day.Add(learnOffset(id))
	}
	_, err = s.learn.EnqueueManyTx(ctx, tx, args, queue.RunAtEach(at))
	return err
}

// learnOffset is when within learnSpread a channel's page is read, by its number: neighbours lie far apart.
func learnOffset(channelID int64) time.Duration {
	const step = 7919 // seconds; a prime, so that all of them are used
	return time.Duration(channelID*step%int64(learnSpread/time.Second)) * time.Second
}

const voiceReadSQL = `
SELECT voice
  FROM channels
 WHERE id = $1`

// Voice returns what was learned about how a channel writes.
func Voice(ctx context.Context, q postgres.Querier, channelID int64) (voice.Voice, error) {
	var v voice.Voice
	if err := q.QueryRow(ctx, voiceReadSQL, channelID).Scan(&v); err != nil {
		return v, fmt.Errorf("voice of channel %d: %w", channelID, err)
	}
	return v, nil
}
