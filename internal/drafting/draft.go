package drafting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// DraftArgs asks for the draft of a story in a channel.
type DraftArgs struct {
	ChannelID int64 `json:"channel_id"`
	StoryID   int64 `json:"story_id"`
	Score     int   `json:"score"`
	Explore   bool  `json:"explore,omitempty"`
	// FollowUp counts follow-ups of a story that grew; 0 is the post itself.
	FollowUp int `json:"follow_up,omitempty"`
}

func (a DraftArgs) key() string {
	if a.FollowUp > 0 {
		return fmt.Sprintf("%d:%d:follow_up:%d", a.ChannelID, a.StoryID, a.FollowUp)
	}
	return fmt.Sprintf("%d:%d", a.ChannelID, a.StoryID)
}

func (a DraftArgs) kind() editorial.DraftKind {
	if a.FollowUp > 0 {
		return editorial.KindFollowUp
	}
	return editorial.KindPost
}

// DraftTx asks for a draft in the caller's transaction. A story has one per
// channel, however often it is asked for.
func (s *Service) DraftTx(ctx context.Context, tx pgx.Tx, a DraftArgs) (queue.Submission, error) {
	return s.draft.EnqueueTx(ctx, tx, a)
}

// workDraft writes the first text without a model, so that a draft never stands
// without one, and hands over to the model where there is one. People are told when
// the model is through.
func (s *Service) workDraft(ctx context.Context, job *queue.Job[DraftArgs]) error {
	a := job.Args
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		m, err := readMaterial(ctx, tx, origin{channelID: a.ChannelID, storyID: a.StoryID, followUp: a.FollowUp > 0})
		if errors.Is(err, errGone) {
			return nil // unlinked, unfollowed or purged meanwhile
		}
		if err != nil {
			return err
		}
		w, ok := m.offline()
		if !ok {
			return nil
		}
		n := newDraft{
			channelID: a.ChannelID, storyID: a.StoryID, kind: a.kind(), subject: fmt.Sprintf("story:%d", a.StoryID),
			ordinal: a.FollowUp, score: a.Score, explore: a.Explore, model: true,
		}
		told := false
		if a.FollowUp == 0 { // a follow-up is like its post, and more
			if told, err = toldBefore(ctx, tx, m, w); err != nil {
				return err
			}
		}
		if told {
			return s.createTold(ctx, tx, n, w)
		}
		_, err = s.create(ctx, tx, n, w)
		return ignorePlan(err)
	})
}

// newDraft is a draft before it has a number.
type newDraft struct {
	channelID, storyID int64
	kind               editorial.DraftKind
	subject            string
	ordinal, score     int
	explore            bool
	by                 int64
	material           []byte // of kind own
	model              bool   // the model may write it anew
	silent             bool   // nobody is told, and it does not count against the plan
}

const draftInsertSQL = `
INSERT INTO drafts (channel_id, story_id, kind, subject, ordinal, score, explore, created_by, material)
VALUES ($1, nullif($2::bigint, 0), $3, $4, $5, $6, $7, nullif($8::bigint, 0), $9)
    ON CONFLICT (channel_id, kind, subject, ordinal) DO NOTHING
RETURNING id`

// insert makes the row of a draft and counts it against the plan, both or
// neither. 0: it exists already; errPlan.
func (s *Service) insert(ctx context.Context, tx pgx.Tx, n newDraft) (id int64, err error) {
	err = postgres.InTx(ctx, tx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, draftInsertSQL, n.channelID, n.storyID, n.kind, n.subject, n.ordinal, n.score, n.explore, n.by, n.material).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("draft of %s in channel %d: %w", n.subject, n.channelID, err)
		}
		if n.silent {
			return nil
		}
		return s.use(ctx, tx, n.channelID, MeterDrafts)
	})
	return id, err
}

// create inserts a draft with its first revision. 0: it exists already. errPlan:
// there is none, and people were told; the caller's transaction goes on.
func (s *Service) create(ctx context.Context, tx pgx.Tx, n newDraft, w written) (int64, error) {
	id, err := s.insert(ctx, tx, n)
	if errors.Is(err, errPlan) {
		if err := s.beyondPlan(ctx, tx, n.channelID, MeterDrafts); err != nil {
			return 0, err
		}
		return 0, errPlan
	}
	if err != nil || id == 0 {
		return 0, err
	}
	if _, err := insertRevision(ctx, tx, id, 1, w); err != nil {
		return 0, err
	}
	s.metrics.drafts.WithLabelValues(w.composer, "").Inc()
	if n.silent {
		return id, nil
	}
	if !n.model || s.cfg.Model == nil {
		return id, s.announce(ctx, tx, id, 1)
	}
	return id, s.askModel(ctx, tx, ComposeArgs{DraftID: id, Revision: 2})
}

// watchAfter is when somebody looks whether a model's text ever came.
const watchAfter = 5 * time.Minute

func (s *Service) askModel(ctx context.Context, tx pgx.Tx, a ComposeArgs) error {
	if _, err := s.compose.EnqueueTx(ctx, tx, a); err != nil {
		return err
	}
	_, err := s.watch.EnqueueTx(ctx, tx, a, queue.After(watchAfter))
	return err
}

const draftAnnounceSQL = `
UPDATE drafts
   SET announced_at = clock_timestamp()
 WHERE id = $1
   AND announced_at IS NULL`

// announce tells people of a new draft, once.
func (s *Service) announce(ctx context.Context, tx pgx.Tx, draftID int64, revision int) error {
	tag, err := tx.Exec(ctx, draftAnnounceSQL, draftID)
	if err != nil {
		return fmt.Errorf("announce draft %d: %w", draftID, err)
	}
	if tag.RowsAffected() == 0 || s.cfg.OnDraft == nil {
		return nil
	}
	return s.cfg.OnDraft(ctx, tx, draftID, revision)
}

const draftMaterialSQL = `
SELECT d.channel_id,
       coalesce(d.story_id, 0),
       d.kind,
       d.state,
       d.revision,
       d.material
  FROM drafts d
 WHERE d.id = $1`

// standing is what a writer must know of a draft that exists.
type standing struct {
	state    editorial.DraftState
	revision int
	m        material
}

// read returns a draft's state and what it is written from; errGone.
func (s *Service) read(ctx context.Context, draftID int64) (standing, error) {
	var (
		st             standing
		channel, story int64
		kind           editorial.DraftKind
		raw            []byte
	)
	err := s.cfg.Pool.QueryRow(ctx, draftMaterialSQL, draftID).Scan(&channel, &story, &kind, &st.state, &st.revision, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return st, errGone
	}
	if err != nil {
		return st, fmt.Errorf("read draft %d: %w", draftID, err)
	}
	if story != 0 {
		st.m, err = readMaterial(ctx, s.cfg.Pool, origin{channelID: channel, storyID: story, followUp: kind == editorial.KindFollowUp, drafted: true})
		return st, err
	}
	if st.m, err = readChannel(ctx, s.cfg.Pool, channel); err != nil {
		return st, err
	}
	if len(raw) == 0 {
		return st, errGone
	}
	var own ownMaterial
	if err := json.Unmarshal(raw, &own); err != nil {
		return st, fmt.Errorf("material of draft %d: %w", draftID, err)
	}
	own.into(&st.m)
	return st, nil
}

// ignorePlan makes nothing of errPlan: people were told.
func ignorePlan(err error) error {
	if errors.Is(err, errPlan) {
		return nil
	}
	return err
}

// ignoreGone makes nothing of errGone: there is nothing left to do.
func ignoreGone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

const followUpOfSQL = `
SELECT d.score
  FROM drafts d
 WHERE d.channel_id = $1
   AND d.story_id = $2
   AND d.kind = 'post'
   AND d.state = 'published'`

// FollowUpTx asks for the one marked follow-up of a story that grew after its post
// was published, in the caller's transaction. False: it was not published, or has
// its follow-up already.
func (s *Service) FollowUpTx(ctx context.Context, tx pgx.Tx, channelID, storyID int64) (bool, error) {
	a := DraftArgs{ChannelID: channelID, StoryID: storyID, FollowUp: 1}
	err := tx.QueryRow(ctx, followUpOfSQL, channelID, storyID).Scan(&a.Score)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow-up of story %d: %w", storyID, err)
	}
	sub, err := s.DraftTx(ctx, tx, a)
	return sub.Fresh, err
}
