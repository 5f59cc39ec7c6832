package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

const (
	// pollerLease is short, because a killed process keeps the others waiting for
	// it; it is renewed three times within.
	pollerLease = 6 * time.Second
	pollerRenew = 2 * time.Second
	maxBackoff  = 30 * time.Second
)

// A lease that ends later than one that begins now was given by a clock that has been put back since: without the
// second alternative the bot would be deaf until that time comes, if its poller died.
const pollerTakeSQL = `
INSERT INTO update_pollers AS p (bot_id, holder, token, lease_until)
VALUES ($1, $2, 1, clock_timestamp() + $3::interval)
    ON CONFLICT (bot_id) DO UPDATE
   SET holder = excluded.holder,
       token = p.token + 1,
       lease_until = clock_timestamp() + $3::interval
 WHERE p.lease_until < clock_timestamp()
    OR p.lease_until > clock_timestamp() + $3::interval
RETURNING token`

const pollerRenewSQL = `
UPDATE update_pollers
   SET lease_until = clock_timestamp() + $3::interval
 WHERE bot_id = $1
   AND token = $2
   AND lease_until >= clock_timestamp()`

const pollerReleaseSQL = `
UPDATE update_pollers
   SET lease_until = clock_timestamp() - interval '1 millisecond'
 WHERE bot_id = $1
   AND token = $2`

const cursorReadSQL = `
SELECT next_offset
  FROM update_cursors
 WHERE bot_id = $1`

// cursorSetIfHeldSQL moves the cursor only for the holder of the lease.
const cursorSetIfHeldSQL = `
INSERT INTO update_cursors AS c (bot_id, next_offset)
SELECT $1,
       $2
  FROM update_pollers
 WHERE bot_id = $1
   AND token = $3
    ON CONFLICT (bot_id) DO UPDATE
   SET next_offset = excluded.next_offset,
       updated_at = clock_timestamp()`

var errLeaseLost = errors.New("another process polls now")

func newHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}

// pollLoop takes the lease and polls under it, for as long as ctx lives.
func (in *Intake) pollLoop(ctx context.Context) {
	for ctx.Err() == nil {
		token, ok, err := in.takeLease(ctx)
		switch {
		case err != nil:
			in.pollError(ctx, fmt.Errorf("take the poller's lease: %w", err))
			pause(ctx, time.Second)
		case !ok:
			in.trouble.Store(nil) // another process does it, and says how it goes
			pause(ctx, pollerRenew/2)
		default:
			in.pollUnderLease(ctx, token)
		}
	}
}

func (in *Intake) takeLease(ctx context.Context) (token int64, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollerLease)
	defer cancel()
	err = in.cfg.Pool.QueryRow(ctx, pollerTakeSQL, in.bot, in.cfg.Holder, pollerLease).Scan(&token)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return token, err == nil, err
}

// pollUnderLease polls until the lease or ctx ends, and gives the lease back.
func (in *Intake) pollUnderLease(ctx context.Context, token int64) {
	held, lose := context.WithCancel(ctx)
	defer lose()
	renewing := make(chan struct{})
	go func() { // ends with held; waited for below
		defer close(renewing)
		in.renewLease(held, lose, token)
	}()
	in.log.Info().Int64("bot_id", in.bot).Int64("token", token).Msg("polling for updates")
	if err := in.dropWebhook(held); err != nil {
		in.pollError(held, err)
	}
	for tries := 0; held.Err() == nil; {
		wait, err := in.pollOnce(held, token)
		if err == nil {
			tries = 0
			in.setTrouble(ctx, "")
			continue
		}
		if held.Err() != nil {
			break
		}
		in.pollError(held, err)
		if errors.Is(err, errLeaseLost) {
			break
		}
		tries++
		pause(held, max(wait, min(maxBackoff, time.Second<<min(tries-1, 5))))
	}
	lose()
	<-renewing
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if _, err := in.cfg.Pool.Exec(release, pollerReleaseSQL, in.bot, token); err != nil {
		in.log.Warn().Err(err).Msg("the poller's lease was not given back; it ends by itself")
	}
}

// renewLease ends the polling as soon as the lease cannot be renewed.
func (in *Intake) renewLease(ctx context.Context, lose context.CancelFunc, token int64) {
	defer lose()
	for {
		if !pause(ctx, pollerRenew) {
			return
		}
		attempt, cancel := context.WithTimeout(ctx, pollerRenew)
		tag, err := in.cfg.Pool.Exec(attempt, pollerRenewSQL, in.bot, token, pollerLease)
		cancel()
		if err != nil || tag.RowsAffected() == 0 {
			if ctx.Err() == nil {
				in.log.Warn().Err(err).Msg("the poller's lease is lost")
			}
			return
		}
	}
}

// pollOnce asks once, stores what came, and moves the cursor, all before the
// next question acknowledges it.
func (in *Intake) pollOnce(ctx context.Context, token int64) (wait time.Duration, err error) {
	var offset int64
	if err := in.cfg.Pool.QueryRow(ctx, cursorReadSQL, in.bot).Scan(&offset); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read the cursor: %w", err)
	}
	out := in.cfg.Client.Do(ctx, "getUpdates", map[string]any{
		"offset": offset, "limit": 100, "timeout": int(in.cfg.LongPoll.Seconds()), "allowed_updates": in.cfg.AllowedUpdates,
	}, Timeout(in.cfg.LongPoll+15*time.Second))
	ok, is := out.(Confirmed)
	if !is {
		return in.pollRefused(ctx, out)
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(ok.Result, &raws); err != nil {
		return 0, fmt.Errorf("getUpdates: not a list: %w", err)
	}
	if len(raws) == 0 {
		return 0, nil
	}
	return 0, in.takeBatch(ctx, token, raws)
}

func (in *Intake) takeBatch(ctx context.Context, token int64, raws []json.RawMessage) error {
	list := make([]received, 0, len(raws))
	var last int64
	for _, raw := range raws {
		r := decode(raw)
		if r.id != 0 {
			last = r.id
		}
		list = append(list, r)
	}
	in.preCheckout(list)
	var fresh map[int64]bool
	err := postgres.InTx(ctx, in.cfg.Pool, func(tx pgx.Tx) (err error) {
		if fresh, err = in.keepTx(ctx, tx, string(Polling), list); err != nil || last == 0 {
			return err
		}
		// The commit below is the commit point: only then does the next getUpdates,
		// by its offset, let Telegram forget these updates.
		tag, err := tx.Exec(ctx, cursorSetIfHeldSQL, in.bot, last+1, token)
		if err == nil && tag.RowsAffected() == 0 {
			err = errLeaseLost
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("keep %d updates: %w", len(list), err)
	}
	in.count(string(Polling), list, fresh)
	return nil
}

func (in *Intake) count(via string, list []received, fresh map[int64]bool) {
	for _, r := range list {
		switch {
		case r.update == nil:
			in.cfg.Observe(via, "dead")
			in.log.Error().Int64("update", r.id).Str("kind", r.kind).Err(r.err).Msg("an update does not decode; it is kept as a dead letter")
		case fresh[r.id]:
			in.cfg.Observe(via, "new")
		default:
			in.cfg.Observe(via, "known")
		}
	}
}

// pollRefused knows the two conflicts: a webhook that is set, which polling
// mode removes, and another poller that shares the token but not our database.
func (in *Intake) pollRefused(ctx context.Context, out Outcome) (time.Duration, error) {
	r, ok := out.(Refused)
	if !ok {
		return 0, AsError(out)
	}
	switch {
	case r.Kind == Conflict && strings.Contains(r.Description, "webhook"):
		if err := in.dropWebhook(ctx); err != nil {
			return 5 * time.Second, err
		}
		return 0, r
	case r.Kind == Conflict:
		return 5 * time.Second, r
	case r.Kind == Unauthorized:
		return maxBackoff, r
	}
	return r.RetryAfter, r
}

func (in *Intake) dropWebhook(ctx context.Context) error {
	info, out := in.cfg.Client.GetWebhookInfo(ctx)
	if err := AsError(out); err != nil {
		return fmt.Errorf("look for a webhook: %w", err)
	}
	if info == nil || info.URL == "" {
		return nil
	}
	in.log.Warn().Msg("a webhook was set for this bot; it is removed, because updates are polled for")
	if err := AsError(in.cfg.Client.DeleteWebhook(ctx, &bot.DeleteWebhookParams{})); err != nil {
		return fmt.Errorf("remove the webhook: %w", err)
	}
	return nil
}

func (in *Intake) pollError(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	switch {
	case RefusedAs(err, Unauthorized):
		in.setTrouble(ctx, "Telegram refuses the token: check TELEGRAM_BOT_TOKEN")
	case RefusedAs(err, Conflict):
		in.setTrouble(ctx, "another program polls with the same token: stop it, or give it a bot of its own")
	default:
		in.setTrouble(ctx, "updates do not come: "+err.Error())
	}
	in.log.Warn().Err(err).Msg("polling failed")
}

// pause waits, and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
