package publishing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// post is a published one, as editing and deleting need it.
type post struct {
	ChannelID int64
	ChatID    int64
	Form      form
	MessageID int64
	Messages  []int64
	Deleted   bool
	HTML      string
	Hash      []byte
	Image     string
}

const postSQL = `
SELECT p.channel_id,
       p.chat_id,
       p.form,
       coalesce(p.message_id, 0),
       p.message_ids,
       p.deleted_at IS NOT NULL,
       coalesce(r.html, ''),
       coalesce(r.html_hash, ''),
       coalesce(r.image, '')
  FROM publications p
  LEFT JOIN draft_revisions r ON r.draft_id = p.draft_id AND r.revision = $2
 WHERE p.draft_id = $1
   AND p.state = 'published'`

func (s *Service) readPost(ctx context.Context, draftID int64, revision int) (*post, error) {
	rows, err := s.cfg.Pool.Query(ctx, postSQL, draftID, revision)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[post])
}

const postExistsSQL = `
SELECT message_id IS NOT NULL AND message_id <> 0 AND deleted_at IS NULL
  FROM publications
 WHERE draft_id = $1
   AND state = 'published'`

// postExists fails with ErrNotPublished unless there is a post whose id is known.
func postExists(ctx context.Context, tx pgx.Tx, draftID int64) error {
	var there bool
	err := tx.QueryRow(ctx, postExistsSQL, draftID).Scan(&there)
	if postgres.NoRows(err) || err == nil && !there {
		return ErrNotPublished
	}
	return err
}

// EditTx makes the job that puts a revision's text into the published post.
func (s *Service) EditTx(ctx context.Context, tx pgx.Tx, draftID int64, revision int) (queue.Submission, error) {
	if err := postExists(ctx, tx, draftID); err != nil {
		return queue.Submission{}, err
	}
	return s.edit.EnqueueTx(ctx, tx, EditArgs{DraftID: draftID, Revision: revision})
}

const deleteAttemptSQL = `
UPDATE publications
   SET delete_attempt = delete_attempt + 1
 WHERE draft_id = $1
   AND state = 'published'
   AND deleted_at IS NULL
   AND NOT EXISTS (
       -- an earlier request is still to be done: the same one is meant
       SELECT
         FROM job_keys k
         JOIN jobs j ON j.id = k.job_id
        WHERE k.kind = 'post_delete'
          AND k.key = draft_id || ':' || delete_attempt
   )`

const deleteCurrentSQL = `
SELECT delete_attempt
  FROM publications
 WHERE draft_id = $1`

// DeleteTx makes the job that deletes the published post. Asked again after a
// doubt it is a new effect: a person decided so, and deleting twice harms nobody.
func (s *Service) DeleteTx(ctx context.Context, tx pgx.Tx, draftID int64) (queue.Submission, error) {
	if err := postExists(ctx, tx, draftID); err != nil {
		return queue.Submission{}, err
	}
	if _, err := tx.Exec(ctx, deleteAttemptSQL, draftID); err != nil {
		return queue.Submission{}, fmt.Errorf("delete post of draft %d: %w", draftID, err)
	}
	args := DeleteArgs{DraftID: draftID}
	if err := tx.QueryRow(ctx, deleteCurrentSQL, draftID).Scan(&args.Attempt); err != nil {
		return queue.Submission{}, err
	}
	return s.remove.EnqueueTx(ctx, tx, args)
}

const postEditedSQL = `
UPDATE publications
   SET edited_at = clock_timestamp(),
       html_hash = $2
 WHERE draft_id = $1
   AND state = 'published'
RETURNING id`

func (s *Service) workEdit(ctx context.Context, job *queue.Job[EditArgs]) error {
	p, err := s.readPost(ctx, job.Args.DraftID, job.Args.Revision)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (p.Deleted || p.HTML == "" || p.MessageID == 0) {
		return nil
	}
	if err != nil {
		return queue.Transient(err)
	}
	return s.change(ctx, job.Perform, job.Args.DraftID, queue.Effect{
		Key:     fmt.Sprintf("edit:draft:%d:%d", job.Args.DraftID, job.Args.Revision),
		Request: p.Hash,
	}, func(ctx context.Context) telegram.Outcome {
		return s.editPost(ctx, p)
	}, func(ctx context.Context, tx pgx.Tx) error {
		_, err := postgres.Affected(ctx, tx, postEditedSQL, job.Args.DraftID, p.Hash)
		return err
	})
}

func (s *Service) editPost(ctx context.Context, p *post) telegram.Outcome {
	opts := []telegram.Option{telegram.Publishing(), telegram.Timeout(s.cfg.Timeout), telegram.In(telegram.Posts)}
	if p.Form == formPhoto || p.Form == formAlbum {
		_, out := s.cfg.Telegram.EditMessageCaption(ctx, &telegram.EditMessageCaptionParams{
			ChatID: p.ChatID, MessageID: int(p.MessageID), Caption: p.HTML, ParseMode: parseHTML,
		}, opts...)
		return out
	}
	_, out := s.cfg.Telegram.EditMessageText(ctx, &telegram.EditMessageTextParams{
		ChatID: p.ChatID, MessageID: int(p.MessageID), Text: p.HTML, ParseMode: parseHTML,
		LinkPreviewOptions: preview(p.Image, p.Form), // an edit without them would bring back Telegram's own preview
	}, opts...)
	return out
}

const postDeletedSQL = `
UPDATE publications
   SET deleted_at = clock_timestamp()
 WHERE draft_id = $1
   AND state = 'published'
   AND deleted_at IS NULL
RETURNING id`

func (s *Service) workDelete(ctx context.Context, job *queue.Job[DeleteArgs]) error {
	p, err := s.readPost(ctx, job.Args.DraftID, 0)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (p.Deleted || p.MessageID == 0) {
		return nil
	}
	if err != nil {
		return queue.Transient(err)
	}
	// Each picture of an album is a message; the one with the text goes last, so that a half-deleted album is still found.
	for i := len(p.Messages) - 1; i >= 0; i-- {
		id := p.Messages[i]
		last := i == 0
		err := s.change(ctx, job.Perform, job.Args.DraftID, queue.Effect{
			Key:     fmt.Sprintf("delete:draft:%d:%d:%d", job.Args.DraftID, job.Args.Attempt, id),
			Request: fmt.Append(nil, p.ChatID, id),
		}, func(ctx context.Context) telegram.Outcome {
			return s.deletePost(ctx, p.ChatID, id)
		}, func(ctx context.Context, tx pgx.Tx) error {
			if !last {
				return nil
			}
			_, err := postgres.Affected(ctx, tx, postDeletedSQL, job.Args.DraftID)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deletePost takes a post that is gone already for deleted.
func (s *Service) deletePost(ctx context.Context, chatID, id int64) telegram.Outcome {
	out := s.cfg.Telegram.DeleteMessage(ctx, &telegram.DeleteMessageParams{ChatID: chatID, MessageID: int(id)},
		telegram.Publishing(), telegram.Timeout(s.cfg.Timeout), telegram.In(telegram.Posts))
	if r, is := out.(telegram.Refused); is && r.Kind == telegram.MessageNotFound {
		return telegram.Confirmed{Result: []byte("true"), Already: r.Kind}
	}
	return out
}

// change performs one change of a post and tells how it ended.
func (s *Service) change(
	ctx context.Context, perform func(context.Context, queue.Effect) (queue.Outcome, error), draftID int64, e queue.Effect,
	call func(context.Context) telegram.Outcome, done func(context.Context, pgx.Tx) error,
) error {
	e.Timeout = s.cfg.Timeout
	var refused *telegram.Refused
	e.Call = func(ctx context.Context) queue.Outcome {
		out := call(ctx)
		if r, is := out.(telegram.Refused); is {
			refused = &r
		}
		return ledgerOutcome(out, nil)
	}
	e.After = func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
		switch o.(type) {
		case queue.Confirmed:
			if err := done(ctx, tx); err != nil {
				return err
			}
			return s.cfg.OnChanged(ctx, tx, draftID, e.Key+":done")
		case queue.Refused:
			if refused.Temporary() {
				return nil
			}
			return s.cfg.OnChanged(ctx, tx, draftID, e.Key+":"+string(refused.Kind))
		case queue.Unknown:
			return s.cfg.OnChanged(ctx, tx, draftID, e.Key+":unconfirmed")
		}
		return nil
	}
	_, err := perform(ctx, e)
	if refused != nil && !refused.Temporary() && !errors.Is(err, queue.ErrLeaseLost) {
		return nil // the person was told why not
	}
	return err
}
