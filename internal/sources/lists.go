package sources

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/opml"
)

// Imported is what became of one line of an imported list.
type Imported struct {
	Outline opml.Outline
	Added   Added
	Code    string // why not, empty: it was taken
}

// ReadList reads an OPML document; bad tells of the lines that are none.
func ReadList(body []byte) ([]opml.Outline, []opml.Bad, error) {
	list, bad, err := opml.Parse(body)
	if err != nil {
		return nil, nil, problemOf(err)
	}
	return list, bad, nil
}

// ImportLine keeps one line of a list as a source. A line that cannot be taken
// is an answer, not an error. The caller subscribes in the same transaction
// and imports long lists in several.
func (s *Service) ImportLine(ctx context.Context, tx pgx.Tx, o opml.Outline) (Imported, error) {
	in := Imported{Outline: o}
	added, err := s.AddAddress(ctx, tx, o.URL, o.Title)
	if p, ok := err.(*Problem); ok { //nolint:errorlint // only a Problem itself is an answer
		in.Code = p.Code
		return in, nil
	}
	in.Added = added
	return in, err
}

const exportSQL = `
SELECT url,
       title,
       site_url
  FROM sources
 WHERE id = ANY ($1::bigint[])
   AND kind <> 'forwarded'
 ORDER BY title,
          id`

// Export writes sources as OPML. Telegram channels go under the address at
// which they are read.
func (s *Service) Export(ctx context.Context, q querier, w io.Writer, title string, ids []int64) error {
	rows, err := q.Query(ctx, exportSQL, ids)
	if err != nil {
		return fmt.Errorf("export sources: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (o opml.Outline, err error) {
		err = r.Scan(&o.URL, &o.Title, &o.Site)
		return o, err
	})
	if err != nil {
		return fmt.Errorf("export sources: %w", err)
	}
	return opml.Write(w, title, list)
}
