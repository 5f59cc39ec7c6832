package sources

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/identity"
	"github.com/postonce/postonce/internal/sources/preview"
)

// Forward is a post that a person forwarded from a channel.
type Forward struct {
	ChatID    int64  // of the channel it came from, 0 when hidden
	Username  string // of that channel, without @, "" when it has none
	Title     string // of that channel
	MessageID int    // there, 0 when hidden
	Text      string // plain or HTML
	Image     string // an address, "" when none
	Link      string // the post's own link when it has one
	Date      time.Time
}

// sourceQuietSQL makes a source that is never polled.
const sourceQuietSQL = `
UPDATE sources
   SET state = 'paused',
       baseline_at = coalesce(baseline_at, clock_timestamp())
 WHERE id = $1
   AND kind = 'forwarded'
   AND state <> 'merged'`

// AddForwarded keeps a forwarded post as an item of the channel that it came
// from and returns its number. A post that was seen before, forwarded or
// polled, is the same item (fresh is false). OnNew is not called: whoever
// forwards decides what is made of it.
func (s *Service) AddForwarded(ctx context.Context, tx pgx.Tx, f Forward) (itemID int64, fresh bool, err error) {
	src, err := s.forwardSource(ctx, tx, f)
	if err != nil {
		return 0, false, fmt.Errorf("keep forwarded post: %w", err)
	}
	e := decode.Entry{
		Title: preview.Headline((&decode.Entry{Body: f.Text}).Text()), Body: f.Text, Summary: f.Text, Image: f.Image, Published: f.Date,
		Link: f.Link,
	}
	if f.MessageID > 0 {
		name := strconv.FormatInt(f.ChatID, 10)
		if f.Username != "" {
			name = strings.ToLower(f.Username)
			e.Link = firstOf(e.Link, "https://t.me/"+f.Username+"/"+strconv.Itoa(f.MessageID))
		}
		e.Platform = "telegram:" + name + "/" + strconv.Itoa(f.MessageID)
	}
	out := &outcome{src: src, at: s.now(), doc: &decode.Document{Entries: []decode.Entry{e}}, url: src.url}
	out.ids = identity.Of(out.doc, identity.Options{})
	if len(out.ids[0].Keys) == 0 {
		return 0, false, &Problem{Code: string(decode.CodeEmpty)}
	}
	at := out.at
	src.baselineAt, src.lastSuccess, src.oldest = &at, &at, nil // a forwarded post is never a baseline
	o := newSorting(s, src, out)
	if err := o.lookUp(ctx, tx); err != nil {
		return 0, false, err
	}
	if o.item[0] != 0 {
		return o.item[0], false, nil
	}
	o.count()
	ids, err := o.insert(ctx, tx)
	if err != nil || len(ids) != 1 {
		return 0, false, fmt.Errorf("keep forwarded post: %w", errors.Join(err, errNotInserted))
	}
	return ids[0], true, nil
}

var errNotInserted = errors.New("the item was not inserted")

// forwardSource finds or makes the source of a forwarded post: the channel's
// own when it is followed.
func (s *Service) forwardSource(ctx context.Context, tx pgx.Tx, f Forward) (*row, error) {
	key := "forward:" + strconv.FormatInt(f.ChatID, 10)
	if f.Username != "" {
		src, err := scanRow(tx.QueryRow(ctx, sourceByAddressSQL, "t.me/"+strings.ToLower(f.Username)))
		if err == nil {
			return scanRow(tx.QueryRow(ctx, sourceLockSQL, src.id))
		}
		if !errors.Is(err, ErrUnknown) {
			return nil, err
		}
	}
	src, err := scanRow(tx.QueryRow(ctx, sourceByAddressSQL, key))
	if errors.Is(err, ErrUnknown) {
		found := &Found{Address: key, Kind: address.Forwarded, Title: f.Title}
		if f.Username != "" {
			found.SiteURL = "https://t.me/" + f.Username
		}
		src, err = s.insert(ctx, tx, found)
	}
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, sourceQuietSQL, src.id); err != nil {
		return nil, err
	}
	return scanRow(tx.QueryRow(ctx, sourceLockSQL, src.id))
}
