package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	selfTestEvery = 30 * time.Second
	selfTestWait  = 5 * time.Second
	echoAfter     = 25 * time.Millisecond // a hint that was held back is made up for after this
)

const (
	listenSQL = `LISTEN ` + hintChannel
	notifySQL = `SELECT pg_notify('` + hintChannel + `', $1)`
)

// listenLoop keeps one connection on LISTEN. Hints only save waiting: without them the lanes poll, and when
// hints are known to be swallowed (a pooler in between) they poll faster.
func (e *Engine) listenLoop(ctx context.Context) {
	for wait := time.Duration(0); e.pauseCtx(ctx, wait); wait = 2 * time.Second {
		err := e.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		e.blind.Store(true)
		e.log.Warn().Err(err).Msg("no hints: polling faster")
	}
}

func (e *Engine) listenConn(ctx context.Context) (*pgx.Conn, error) {
	if e.cfg.ListenDSN != "" {
		return pgx.Connect(ctx, e.cfg.ListenDSN)
	}
	return pgx.ConnectConfig(ctx, e.pool.Config().ConnConfig)
}

// listen serves one connection until it breaks.
func (e *Engine) listen(ctx context.Context) error {
	conn, err := e.listenConn(ctx)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, listenSQL); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	for _, l := range e.lanes {
		l.wake() // what came in before is found at once
	}
	test := selfTest{engine: e}
	for {
		wait, cancel := context.WithDeadline(ctx, test.due())
		n, err := conn.WaitForNotification(wait)
		timeout := wait.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			e.hinted(n.Payload, &test)
		case !timeout:
			return fmt.Errorf("listen: %w", err)
		default:
			test.step(ctx)
		}
	}
}

func (e *Engine) hinted(payload string, test *selfTest) {
	if word, ok := strings.CutPrefix(payload, "test:"); ok {
		test.heard(word)
		return
	}
	if l := e.lanes[Tier(payload)]; l != nil {
		if l.tier == Critical {
			e.gate.expect()
		}
		l.wake()
	}
}

// selfTest sends a word through a pooled connection and expects it back. Only used by listen.
type selfTest struct {
	engine *Engine
	word   string // sent and not yet heard
	next   time.Time
}

func (t *selfTest) due() time.Time {
	if t.next.IsZero() {
		t.next = time.Now()
	}
	return t.next
}

// step sends a word, or notes that the last one did not come.
func (t *selfTest) step(ctx context.Context) {
	if t.word != "" {
		if !t.engine.blind.Swap(true) {
			t.engine.log.Warn().Msg("a notification was swallowed (a pooler in between?): polling faster")
		}
		t.word, t.next = "", time.Now().Add(selfTestEvery)
		return
	}
	word := fmt.Sprintf("%d-%d", t.engine.worker, time.Now().UnixNano())
	t.next = time.Now().Add(selfTestWait)
	if _, err := t.engine.pool.Exec(ctx, notifySQL, "test:"+word); err == nil {
		t.word = word
	}
}

func (t *selfTest) heard(word string) {
	if word != t.word {
		return // another process's
	}
	t.word, t.next = "", time.Now().Add(selfTestEvery)
	t.engine.blind.Store(false)
}

// echoLoop makes up for hints that were held back: it wakes this process's lanes and tells the others.
func (e *Engine) echoLoop(ctx context.Context) {
	for e.pauseCtx(ctx, echoAfter) {
		for t, l := range e.lanes {
			if !e.cfg.Hints.takeHeld(t) {
				continue
			}
			l.wake()
			if _, err := e.pool.Exec(ctx, notifySQL, string(t)); err != nil {
				break
			}
		}
	}
}
