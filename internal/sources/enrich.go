package sources

import (
	"context"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/language"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/identity"
)

// teaser is the length below which a text is only a teaser, in runes.
const teaser = 500

// articleArgs names an item whose page is to be read before it is handed on.
type articleArgs struct {
	ItemID int64 `json:"item_id"`
}

const itemTeasersSQL = `
SELECT id
  FROM items
 WHERE id = ANY ($1::bigint[])
   AND url <> ''
   AND length(text) < $2
 ORDER BY id`

// hand gives new items on: at once, or by a job that reads the page first
// where the feed gives only a teaser.
func (s *Service) hand(ctx context.Context, tx pgx.Tx, src *row, _ *outcome, fresh []int64) error {
	if len(fresh) == 0 {
		return nil
	}
	short := map[int64]bool{}
	if s.cfg.FullText && (src.kind == address.Feed || src.kind == address.Site) {
		rows, err := tx.Query(ctx, itemTeasersSQL, fresh, teaser)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		jobs := make([]articleArgs, 0, len(ids))
		for _, id := range ids {
			short[id] = true
			jobs = append(jobs, articleArgs{id})
		}
		if _, err := s.article.EnqueueManyTx(ctx, tx, jobs); err != nil {
			return err
		}
	}
	ready := make([]int64, 0, len(fresh))
	for _, id := range fresh {
		if !short[id] {
			ready = append(ready, id)
		}
	}
	return s.announce(ctx, tx, ready)
}

func (s *Service) announce(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 || s.cfg.OnNew == nil {
		return nil
	}
	return s.cfg.OnNew(ctx, tx, ids)
}

const itemPageSQL = `
SELECT i.source_id,
       i.url,
       i.text,
       i.title,
       i.image
  FROM items i
 WHERE i.id = $1`

const itemFillSQL = `
UPDATE items
   SET text = $2,
       title = $3,
       image = $4,
       language = CASE WHEN language = '' THEN $5 ELSE language END
 WHERE id = $1
   AND purged_at IS NULL`

// workArticle reads the page of one item and hands the item on, with the
// fuller text where the page gives one. A page that cannot be read is no
// reason to lose the item.
func (s *Service) workArticle(ctx context.Context, job *queue.Job[articleArgs]) error {
	id := job.Args.ItemID
	var it struct {
		source                  int64
		url, text, title, image string
	}
	err := s.pool.QueryRow(ctx, itemPageSQL, id).Scan(&it.source, &it.url, &it.text, &it.title, &it.image)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	host := identity.HostOf(it.url)
	ok, wait, err := s.claimHost(ctx, host, -id)
	if err != nil {
		return err
	}
	if !ok {
		return queue.Later(wait, "one request a host at a time")
	}
	page, err := s.reader.Article(ctx, it.url)
	s.releaseHost(ctx, host, -id, 0)
	if err != nil {
		s.log.Debug().Err(err).Int64("item_id", id).Msg("page not read; the item goes on with its teaser")
	}
	better := err == nil && utf8.RuneCountInString(page.Text) > utf8.RuneCountInString(it.text)
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if better {
			_, err := tx.Exec(ctx, itemFillSQL, id, page.Text, firstOf(it.title, page.Title), firstOf(it.image, page.Image), language.Tag(page.Language))
			if err != nil {
				return err
			}
		}
		return s.announce(ctx, tx, []int64{id})
	})
}

// Article reads the article behind a link, for full texts and for drafts that
// are asked for by link. The error is a *Problem.
func (r *Reader) Article(ctx context.Context, link string) (article.Page, error) {
	resp, err := r.web.Get(ctx, fetch.Request{URL: link, Accept: "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"})
	if err != nil {
		return article.Page{}, problemOf(err)
	}
	if p := statusProblem(resp, address.Feed, r.now()); p != nil {
		return article.Page{}, p
	}
	if resp.Status == http.StatusNotModified {
		return article.Page{}, &Problem{Code: CodeStatus}
	}
	select {
	case r.parses <- struct{}{}:
		defer func() { <-r.parses }()
	case <-ctx.Done():
		return article.Page{}, problemOf(ctx.Err())
	}
	body, _ := decode.ToUTF8(resp.Body, resp.ContentType())
	page, err := article.Extract(body, resp.FinalURL)
	if err != nil {
		return page, &Problem{Code: "no_article", Detail: err.Error()}
	}
	return page, nil
}
