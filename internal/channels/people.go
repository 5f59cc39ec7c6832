package channels

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Profile is what an update tells about its sender.
type Profile struct {
	ID        int64
	FirstName string
	Username  string
	Language  string // Telegram's language_code, may be empty
}

// personSeenSQL writes nothing when it knows all of it already: every tap begins here, and a write is a flush to disk.
const personSeenSQL = `
WITH known AS MATERIALIZED (
  SELECT id,
         first_name,
         username,
         language,
         access,
         channel_id
    FROM people
   WHERE id = $1
     AND first_name = $2
     AND username = $3
     AND (language_set OR language = $4)
     AND ($5 <> 'operator' OR access IN ('operator', 'banned'))
     AND blocked_at IS NULL
     AND erased_at IS NULL
     AND seen_at > clock_timestamp() - interval '1 minute'
), written AS (
  INSERT INTO people AS p (
         id,
         first_name,
         username,
         language,
         access
  )
  SELECT $1,
         $2,
         $3,
         $4,
         $5
   WHERE NOT EXISTS (
           SELECT
             FROM known
         )
  ON CONFLICT (id) DO UPDATE
     SET first_name = excluded.first_name,
         username = excluded.username,
         language = CASE WHEN p.language_set THEN p.language ELSE excluded.language END,
         access = CASE WHEN excluded.access = 'operator' AND p.access <> 'banned' THEN 'operator' ELSE p.access END,
         blocked_at = NULL,
         erased_at = NULL,
         seen_at = clock_timestamp()
  RETURNING id,
            first_name,
            username,
            language,
            access,
            channel_id
)
SELECT id,
       first_name,
       username,
       language,
       access,
       coalesce(channel_id, 0)
  FROM known
UNION ALL
SELECT id,
       first_name,
       username,
       language,
       access,
       coalesce(channel_id, 0)
  FROM written`

// Seen records that somebody talked to the bot, with the name that Telegram
// shows now. The interface speaks ru or en, as Telegram does to this person,
// until he chooses. operator makes him one (he is named in OPERATOR_IDS).
func (s *Service) Seen(ctx context.Context, q postgres.Querier, p Profile, operator bool) (editorial.Person, error) {
	access := editorial.AccessNone
	if operator {
		access = editorial.AccessOperator
	}
	row := q.QueryRow(ctx, personSeenSQL, p.ID, p.FirstName, p.Username, editorial.InterfaceLanguageFor(p.Language), access)
	out, err := scanPerson(row)
	if err != nil {
		return out, fmt.Errorf("see person %d: %w", p.ID, err)
	}
	return out, nil
}

const personByIDSQL = `
SELECT id,
       first_name,
       username,
       language,
       access,
       coalesce(channel_id, 0)
  FROM people
 WHERE id = $1`

// Person returns one by Telegram's user id; ErrNotFound for somebody who never talked to the bot.
func Person(ctx context.Context, q postgres.Querier, id int64) (editorial.Person, error) {
	return scanPerson(q.QueryRow(ctx, personByIDSQL, id))
}

func scanPerson(row pgx.Row) (editorial.Person, error) {
	var p editorial.Person
	err := row.Scan(&p.ID, &p.FirstName, &p.Username, &p.Language, &p.Access, &p.ChannelID)
	if postgres.NoRows(err) {
		return p, ErrNotFound
	}
	return p, err
}

const personLanguageSQL = `
UPDATE people
   SET language = $2,
       language_set = true
 WHERE id = $1
RETURNING id`

// SetLanguage chooses the language of the interface for good.
func (s *Service) SetLanguage(ctx context.Context, q postgres.Querier, id int64, language string) error {
	if !editorial.IsInterfaceLanguage(language) {
		return &InvalidError{"language", language}
	}
	return must(postgres.Affected(ctx, q, personLanguageSQL, id, language))
}

const personChooseSQL = `
UPDATE people
   SET channel_id = $2
 WHERE id = $1
RETURNING id`

// Choose sets the channel that a person's commands speak of; the caller has checked his rights.
func (s *Service) Choose(ctx context.Context, q postgres.Querier, id, channelID int64) error {
	return must(postgres.Affected(ctx, q, personChooseSQL, id, channelID))
}

const personBlockedSQL = `
UPDATE people
   SET blocked_at = clock_timestamp()
 WHERE id = $1
   AND blocked_at IS NULL
RETURNING id`

// Blocked records that a person blocked the bot: nothing is sent until he talks to it again.
func (s *Service) Blocked(ctx context.Context, q postgres.Querier, id int64) error {
	_, err := postgres.Affected(ctx, q, personBlockedSQL, id)
	return err
}

// must turns "nothing changed" into ErrNotFound.
func must(changed bool, err error) error {
	if err == nil && !changed {
		return ErrNotFound
	}
	return err
}
