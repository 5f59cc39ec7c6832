// Command worker is the process that the torture test kills: an engine with kinds of every policy, whose
// outside world is an HTTP server in the test.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/queue/failpoint"
)

type task struct {
	N    int    `json:"n"`
	Chat string `json:"chat,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	hints := queue.NewHints()
	pool, err := connect(ctx, hints)
	if err != nil {
		return err
	}
	w := &worker{world: os.Getenv("WORLD_URL"), lease: milliseconds("FAILPOINT_LEASE_MS"), client: &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
	}}
	engine := queue.New(queue.Config{
		Pool: pool, Registry: w.registry(), Logger: logger(), Hints: hints,
		Workers:   map[queue.Tier]int{queue.Critical: 4, queue.Default: 8, queue.Bulk: 4},
		PollEvery: 50 * time.Millisecond, ReapEvery: 100 * time.Millisecond, KeepEvery: 50 * time.Millisecond,
		LeaseMargin: w.lease / 2,
	})
	for { // the database may be on its way up
		if err = engine.Start(ctx); err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("started")
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	return engine.Stop(grace)
}

func logger() zerolog.Logger {
	if os.Getenv("WORKER_LOG") == "" {
		return zerolog.Nop()
	}
	return zerolog.New(os.Stderr).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

func milliseconds(name string) time.Duration {
	n, _ := strconv.Atoi(os.Getenv(name))
	return time.Duration(n) * time.Millisecond
}

func connect(ctx context.Context, hints *queue.Hints) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 12
	cfg.AfterConnect = hints.ShareWith
	cut, _ := strconv.ParseFloat(os.Getenv("FAILPOINT_CUT"), 64)
	dial := (&net.Dialer{}).DialContext
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &cutter{Conn: conn, chance: cut}, err
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// cutter cuts a connection in both ways: before a request is sent, and after it but before the answer.
type cutter struct {
	net.Conn
	chance float64
}

// Write implements net.Conn.
func (c *cutter) Write(b []byte) (int, error) {
	fate := rand.Float64()
	switch {
	case fate < c.chance/2:
		fmt.Println("cut before")
		_ = c.Close()
		return 0, errors.New("cut before the request")
	case fate < c.chance:
		fmt.Println("cut after")
		n, err := c.Conn.Write(b)
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond) // often long enough for the server to commit
		_ = c.Close()
		return n, err
	}
	return c.Conn.Write(b)
}

type worker struct {
	world  string
	lease  time.Duration
	client *http.Client
}

func (w *worker) registry() *queue.Registry {
	r := queue.NewRegistry()
	queue.Register(r, w.post())
	queue.Register(r, w.pure())
	queue.Register(r, w.leaf())
	queue.Register(r, w.talk())
	return r
}

func (w *worker) kind(name string, t queue.Tier, p queue.Policy) queue.Kind[task] {
	return queue.Kind[task]{
		Name: name, Tier: t, Policy: p, Lease: w.lease, MaxFailures: 4,
		Key: func(a task) string { return strconv.Itoa(a.N) },
	}
}

// post has two strict effects, the second with everything: precondition, domain change, completion.
func (w *worker) post() queue.Kind[task] {
	k := w.kind("post", queue.Default, queue.Ledger)
	k.Work = func(ctx context.Context, j *queue.Job[task]) error {
		if _, err := j.Perform(ctx, w.effect(j, "A")); err != nil {
			return soon(err)
		}
		e := w.effect(j, "B")
		e.Before = func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO torture_posts (n, state) VALUES ($1, 'publishing') ON CONFLICT (n) DO UPDATE SET state = 'publishing' WHERE torture_posts.state <> 'published'", j.Args.N)
			return err
		}
		e.After = func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
			state := "failed"
			switch o.(type) {
			case queue.Confirmed:
				state = "published"
			case queue.Unknown:
				state = "unconfirmed"
			}
			_, err := tx.Exec(ctx, "UPDATE torture_posts SET state = $2 WHERE n = $1 AND state <> 'published'", j.Args.N, state)
			return err
		}
		e.Completes = true
		_, err := j.Perform(ctx, e)
		return soon(err)
	}
	return k
}

// pure changes only the database; its rows have no unique key, so that a second execution would show.
func (w *worker) pure() queue.Kind[task] {
	k, leaf := w.kind("pure", queue.Bulk, queue.DB), w.leaf()
	k.Work = func(ctx context.Context, j *queue.Job[task]) error {
		return soon(j.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO torture_rows (n) VALUES ($1)", j.Args.N); err != nil {
				return err
			}
			_, err := leaf.EnqueueManyTx(ctx, tx, []task{{N: 10 * j.Args.N}, {N: 10*j.Args.N + 1}})
			return err
		}))
	}
	return k
}

func (w *worker) leaf() queue.Kind[task] {
	k := w.kind("leaf", queue.Bulk, queue.DB)
	k.Work = func(context.Context, *queue.Job[task]) error { return nil }
	return k
}

// talk is a courtesy, one at a time and in order per chat.
func (w *worker) talk() queue.Kind[task] {
	k := w.kind("talk", queue.Critical, queue.Ledger)
	k.Class = queue.Courtesy
	k.Ordering = func(a task) string { return "chat:" + a.Chat }
	k.Work = func(ctx context.Context, j *queue.Job[task]) error {
		_, err := j.Perform(ctx, w.effect(j, "T"))
		return soon(err)
	}
	return k
}

// soon replaces the backoff by a short delay: the test has no minutes. What is in doubt stays in doubt.
func soon(err error) error {
	if err == nil || errors.Is(err, queue.ErrLeaseLost) || errors.Is(err, queue.ErrInDoubt) {
		return err
	}
	return queue.RateLimited(err, 20*time.Millisecond)
}

func (w *worker) effect(j *queue.Job[task], step string) queue.Effect {
	key := fmt.Sprintf("%s:%d:%s", j.Kind, j.Args.N, step)
	return queue.Effect{
		Key: key, Request: []byte(key), Timeout: w.lease / 2,
		Call: func(ctx context.Context) queue.Outcome { return w.call(ctx, key, j.Args.Chat, j.ID) },
	}
}

// call classifies as the telegram package does: a JSON refusal is certain, everything else but a success is not.
func (w *worker) call(ctx context.Context, key, chat string, jobID int64) queue.Outcome {
	failpoint.Hit("before-request")
	q := url.Values{"key": {key}, "chat": {chat}, "job": {strconv.FormatInt(jobID, 10)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.world+"?"+q.Encode(), nil)
	if err != nil {
		return queue.Refused{Err: err}
	}
	resp, err := w.client.Do(req)
	failpoint.Hit("request-written")
	if err != nil {
		return queue.Unknown{Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
		return queue.Confirmed{ExternalID: resp.Header.Get("X-Id")}
	case http.StatusBadRequest, http.StatusTooManyRequests:
		return queue.Refused{Err: errors.New("refused by the world"), RetryAfter: 20 * time.Millisecond}
	}
	return queue.Unknown{Err: errors.New(resp.Status)}
}
