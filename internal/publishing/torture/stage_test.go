package torture_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/queue/failpoint"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/telegram"
)

// patience is how long an answer of Telegram is waited for.
const patience = 1500 * time.Millisecond

// stage is the publisher as both the killed processes and the test itself
// build it: the real service and client, and small stand-ins for the features
// that own the neighbouring tables.
type stage struct {
	pool     *pgxpool.Pool
	client   *telegram.Client
	pub      *publishing.Service
	card     queue.Kind[cardArgs]
	registry *queue.Registry
}

// cardArgs name the courtesy that follows a publication.
type cardArgs struct {
	DraftID int64 `json:"draft_id"`
}

func newStage(ctx context.Context, database, api string, now func() time.Time) (*stage, error) {
	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 8
	s := &stage{registry: queue.NewRegistry()}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	// The limits' clock runs fast: they have tests of their own, and probes would take a second per id.
	began := time.Now()
	fast := telegram.NewLimits(func() time.Time { return began.Add(30 * time.Since(began)) })
	s.client, err = telegram.New(telegram.Config{Token: sandbox.DefaultToken, BaseURL: api, DialContext: watchedDial, Limits: fast})
	if err != nil {
		return nil, err
	}
	s.card = queue.Kind[cardArgs]{
		Name: "card", Tier: queue.Default, Policy: queue.Ledger, Class: queue.Courtesy, MaxFailures: 30,
		Key:  func(a cardArgs) string { return fmt.Sprint(a.DraftID) },
		Work: s.sendCard,
	}
	s.pub = publishing.New(publishing.Config{
		Pool: s.pool, Telegram: s.client, Logger: zerolog.Nop(),
		Now: now, Change: changeDraft, Missed: s.missed,
		ChannelState: channelState, MoveChat: func(context.Context, pgx.Tx, int64, int64) error { return nil }, KnowMessage: knowMessage,
		OnPublished: func(ctx context.Context, tx pgx.Tx, id int64) error {
			_, err := s.card.EnqueueTx(ctx, tx, cardArgs{DraftID: id})
			return err
		},
		OnFailed:      func(context.Context, pgx.Tx, int64, string) error { return nil },
		OnUnconfirmed: func(context.Context, pgx.Tx, int64) error { return nil },
		OnChanged:     func(context.Context, pgx.Tx, int64, string) error { return nil },
		PreviewURL:    api + "/s", Get: get, LogChatID: logChat, ProbeIDs: 4,
		Timeout: patience, Looks: []time.Duration{200 * time.Millisecond, 800 * time.Millisecond},
	})
	s.pub.Register(s.registry)
	queue.Register(s.registry, s.card)
	return s, nil
}

// child works until it is killed, or until its standard input ends.
func child(ctx context.Context) error {
	// The slots are at the epoch: half a minute late is punctual.
	now := func() time.Time { return time.Unix(30, 0) }
	s, err := newStage(ctx, os.Getenv("PUBLISHING_CHILD_DB"), os.Getenv("PUBLISHING_CHILD_API"), now)
	if err != nil {
		return err
	}
	engine := queue.New(queue.Config{
		Pool: s.pool, Registry: s.registry, Logger: zerolog.Nop(), LeaseMargin: patience,
		Workers:   map[queue.Tier]int{queue.Critical: 3, queue.Default: 2, queue.Bulk: 1},
		PollEvery: 30 * time.Millisecond, ReapEvery: 100 * time.Millisecond, KeepEvery: 100 * time.Millisecond,
	})
	if err := engine.Start(ctx); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the parent holds the other end
	return engine.Stop(ctx)
}

// watchedDial dies before a request is written and after all of it was.
func watchedDial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return watchedConn{conn}, err
}

type watchedConn struct{ net.Conn }

// Write implements net.Conn; a request of these sizes is one write.
func (c watchedConn) Write(b []byte) (int, error) {
	failpoint.Hit("before-request")
	n, err := c.Conn.Write(b)
	failpoint.Hit("request-written")
	return n, err
}

func get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

// sendCard tells the owner: a courtesy, through the same ledger.
func (s *stage) sendCard(ctx context.Context, job *queue.Job[cardArgs]) error {
	var person int64
	if err := s.pool.QueryRow(ctx, `SELECT c.created_by FROM drafts d JOIN channels c ON c.id = d.channel_id WHERE d.id = $1`, job.Args.DraftID).Scan(&person); err != nil {
		return err
	}
	text := fmt.Sprintf("card of draft %d", job.Args.DraftID)
	_, err := job.Perform(ctx, queue.Effect{
		Key: fmt.Sprintf("card:%d", job.Args.DraftID), Request: []byte(text), Timeout: patience, Completes: true,
		Call: func(ctx context.Context) queue.Outcome {
			return telegram.SentToQueue(s.client.SendMessage(ctx, &telegram.SendMessageParams{ChatID: person, Text: text}, telegram.Timeout(patience)))
		},
	})
	return err
}

// missed gives a draft that no job will publish another job, as a new slot does.
func (s *stage) missed(ctx context.Context, tx pgx.Tx, id int64, transition int) error {
	n, ok, err := changeDraft(ctx, tx, publishing.DraftChange{
		DraftID: id, From: []editorial.DraftState{editorial.Scheduled}, Transition: transition, To: editorial.Scheduled,
	})
	if err == nil && ok {
		_, err = s.pub.EnqueueTx(ctx, tx, id, n, time.Now())
	}
	return err
}

func changeDraft(ctx context.Context, tx pgx.Tx, c publishing.DraftChange) (n int, ok bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE drafts SET state = $3, transition = transition + 1, failure = $4
		 WHERE id = $1 AND state = ANY($2) AND ($5 = 0 OR transition = $5) RETURNING transition`,
		c.DraftID, c.From, c.To, c.Failure, c.Transition).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, err
}

func channelState(ctx context.Context, tx pgx.Tx, id int64, state editorial.ChannelState, why string) error {
	_, err := tx.Exec(ctx, `UPDATE channels SET state = $2, state_why = $3 WHERE id = $1`, id, state, why)
	return err
}

func knowMessage(ctx context.Context, tx pgx.Tx, id, message int64) error {
	_, err := tx.Exec(ctx, `UPDATE channels SET last_message_id = greatest(last_message_id, $2) WHERE id = $1`, id, message)
	return err
}
