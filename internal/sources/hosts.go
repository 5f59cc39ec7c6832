package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// hostClaimSQL takes a host for one request: nobody asks it at this moment,
// in any process, and it does not rest. A holder that died is forgotten when
// its time is over.
const hostClaimSQL = `
INSERT INTO hosts (host, busy_until, holder)
VALUES ($1, clock_timestamp() + $2::interval, $3)
    ON CONFLICT (host) DO UPDATE
   SET busy_until = excluded.busy_until,
       holder = excluded.holder
 WHERE hosts.busy_until <= clock_timestamp()
   AND hosts.rests_until <= clock_timestamp()
RETURNING true`

// hostWaitSQL takes no difference with -infinity, which is a free host's time:
// Postgres before 17 refuses that.
const hostWaitSQL = `
SELECT greatest(busy_until, rests_until, clock_timestamp()) - clock_timestamp()
  FROM hosts
 WHERE host = $1`

const hostReleaseSQL = `
UPDATE hosts
   SET busy_until = '-infinity',
       rests_until = clock_timestamp() + $2::interval
 WHERE host = $1
   AND holder = $3`

// hostHold is how long a host is held by a request that never reports back:
// longer than any fetch may take.
const hostHold = 75 * time.Second

// claimHost reports whether the host is ours for one request, and otherwise
// how long to wait.
func (s *Service) claimHost(ctx context.Context, host string, id int64) (bool, time.Duration, error) {
	var ok bool
	err := s.pool.QueryRow(ctx, hostClaimSQL, host, hostHold, s.holderOf(id)).Scan(&ok)
	if err == nil {
		return true, 0, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return false, 0, fmt.Errorf("claim host: %w", err)
	}
	wait, err := s.hostWait(ctx, host, id)
	return false, wait, err
}

// hostWait is how long to leave a host alone that was not free.
func (s *Service) hostWait(ctx context.Context, host string, id int64) (time.Duration, error) {
	var wait time.Duration
	err := s.pool.QueryRow(ctx, hostWaitSQL, host).Scan(&wait)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("ask host: %w", err)
	}
	return s.hostPause(host, id, wait), nil
}

func (s *Service) hostPause(host string, id int64, wait time.Duration) time.Duration {
	// A busy host is usually free long before its hold ends.
	gap := s.gap(host)
	wait = min(wait, max(gap, 2*time.Second)*4)
	return wait + time.Duration(phase(id)*float64(max(gap, time.Second))*2)
}

func (s *Service) holderOf(id int64) string { return fmt.Sprintf("%s/%d", s.holder, id) }

// gap is the pause between two requests to a host. Reddit allows about one a
// minute.
func (s *Service) gap(host string) time.Duration {
	if host == "reddit.com" || strings.HasSuffix(host, ".reddit.com") {
		return max(s.cfg.HostGap, time.Minute)
	}
	return s.cfg.HostGap
}

// releaseHost lets the host go after its gap, outside a transaction.
func (s *Service) releaseHost(ctx context.Context, host string, id int64, rest time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := s.pool.Exec(ctx, hostReleaseSQL, host, max(rest, s.gap(host)), s.holderOf(id)); err != nil {
		s.log.Warn().Err(err).Str("host", host).Msg("host not released; its hold ends by itself")
	}
}
