package drafting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// TooLongError says by how much a text exceeds what Telegram takes.
type TooLongError struct{ Units, Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%d characters, at most %d", e.Units, e.Limit)
}

// ErrEmpty means that a text has nothing to show.
var ErrEmpty = errors.New("the text is empty")

// Edit is a new text by a person.
type Edit struct {
	DraftID    int64
	Transition int // that the person saw; 0: whatever it is
	HTML       string
	By         int64
}

// RevisionResult says whether the text was taken, and where the draft stands.
type RevisionResult struct {
	Result
	Revision editorial.Revision
}

// AddRevision takes a person's text as the draft's newest revision, in the
// caller's transaction. The draft may be proposed, failed or scheduled; the text of
// a scheduled one counts as approved by its author, and its Transition grows, so
// that the caller hands it to publishing anew. Errors: *render.SyntaxError,
// *TooLongError, ErrEmpty, ErrNotFound.
func AddRevision(ctx context.Context, tx pgx.Tx, e Edit) (RevisionResult, error) {
	return revise(ctx, tx, e, editorial.Proposed, editorial.Failed, editorial.Scheduled)
}

// Amend takes a person's text as the newest revision of a published draft, in the
// caller's transaction, which hands it to publishing. Errors as AddRevision's.
func Amend(ctx context.Context, tx pgx.Tx, e Edit) (RevisionResult, error) {
	return revise(ctx, tx, e, editorial.Published)
}

// revise takes a person's text as the newest revision of a draft in one of these states.
func revise(ctx context.Context, tx pgx.Tx, e Edit, states ...editorial.DraftState) (RevisionResult, error) {
	prev, err := current(ctx, tx, e.DraftID)
	if err != nil {
		return RevisionResult{}, err
	}
	html, err := normalise(e.HTML, prev.limit())
	if err != nil {
		return RevisionResult{}, err
	}
	w := written{html: html, link: prev.Link, image: prev.Image, composer: "person", author: e.By}
	return addRevision(ctx, tx, e.DraftID, e.Transition, w, states...)
}

// normalise checks a person's Telegram HTML against the allow-list and the limit
// and returns it in its one spelling.
func normalise(html string, limit int) (string, error) {
	nodes, err := render.Parse(html)
	if err != nil {
		return "", err
	}
	switch n := render.Units(nodes); {
	case n == 0:
		return "", ErrEmpty
	case n > limit:
		return "", &TooLongError{Units: n, Limit: limit}
	case render.Entities(nodes) > render.MaxEntities:
		return "", &render.SyntaxError{What: "more than 100 formattings"}
	}
	return render.HTML(nodes), nil
}

// written is a revision before it has a number.
type written struct {
	html, link, image               string
	composer, fallback, instruction string
	author                          int64
	checks                          []check.Finding
	evidence                        []check.Claim
	tokensIn, tokensOut             int
}

const draftReviseIfUnchangedSQL = `
UPDATE drafts d
   SET revision = d.revision + 1,
       transition = d.transition + 1,
       approved_hash = CASE WHEN d.state = 'scheduled' THEN $4 ELSE d.approved_hash END,
       autopilot_at = NULL,
       updated_at = clock_timestamp()
 WHERE d.id = $1
   AND d.state = ANY ($2)
   AND ($3 = 0 OR d.transition = $3)
RETURNING ` + draftColumnsSQL

const revisionInsertSQL = `
INSERT INTO draft_revisions (draft_id, revision, html, html_hash, link, image, composer, fallback, instruction, author_id, checks, evidence, tokens_in, tokens_out)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10::bigint, 0), $11, $12, $13, $14)`

func addRevision(ctx context.Context, tx pgx.Tx, draftID int64, transition int, w written, states ...editorial.DraftState) (RevisionResult, error) {
	hash := render.Hash(w.html, w.link, w.image)
	d, err := scanDraft(tx.QueryRow(ctx, draftReviseIfUnchangedSQL, draftID, states, transition, hash))
	if errors.Is(err, pgx.ErrNoRows) {
		d, err = Get(ctx, tx, draftID)
		return RevisionResult{Result: Result{Draft: d}}, err
	}
	if err != nil {
		return RevisionResult{}, fmt.Errorf("revise draft %d: %w", draftID, err)
	}
	rev, err := insertRevision(ctx, tx, draftID, d.Revision, w)
	return RevisionResult{Result: Result{Done: true, Draft: d}, Revision: rev}, err
}

func insertRevision(ctx context.Context, tx pgx.Tx, draftID int64, number int, w written) (editorial.Revision, error) {
	hash := render.Hash(w.html, w.link, w.image)
	checks, evidence := jsonList(w.checks), jsonList(w.evidence)
	_, err := tx.Exec(ctx, revisionInsertSQL, draftID, number, w.html, hash, w.link, w.image, w.composer, w.fallback,
		w.instruction, w.author, checks, evidence, w.tokensIn, w.tokensOut)
	if err != nil {
		return editorial.Revision{}, fmt.Errorf("revision %d of draft %d: %w", number, draftID, err)
	}
	return editorial.Revision{
		DraftID: draftID, Number: number, HTML: w.html, Hash: hash, Link: w.link, Image: w.image, Composer: w.composer, Fallback: w.fallback,
	}, nil
}

// jsonList never writes null.
func jsonList[T any](list []T) []byte {
	if len(list) == 0 {
		return []byte("[]")
	}
	b, err := json.Marshal(list)
	if err != nil { // plain structs always encode
		panic(err)
	}
	return b
}

// currentRevision is the newest text of a draft with what its channel says about images.
type currentRevision struct {
	editorial.Revision
	imageStyle string
}

// limit is Telegram's for the form in which the post will go out.
func (c currentRevision) limit() int { return limitFor(c.imageStyle, c.Image) }

func limitFor(imageStyle, image string) int {
	if imageStyle == "photo" && image != "" {
		return render.CaptionLimit
	}
	return render.TextLimit
}

const revisionCurrentSQL = `
SELECT r.draft_id,
       r.revision,
       r.html,
       r.html_hash,
       r.link,
       r.image,
       r.composer,
       r.fallback,
       coalesce(c.image_style, 'none')
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
  LEFT JOIN channels c ON c.id = d.channel_id
 WHERE d.id = $1`

func current(ctx context.Context, q postgres.Querier, draftID int64) (currentRevision, error) {
	var c currentRevision
	err := q.QueryRow(ctx, revisionCurrentSQL, draftID).Scan(&c.DraftID, &c.Number, &c.HTML, &c.Hash, &c.Link, &c.Image, &c.Composer, &c.Fallback, &c.imageStyle)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, ErrNotFound
	}
	if err != nil {
		return c, fmt.Errorf("read text of draft %d: %w", draftID, err)
	}
	return c, nil
}
