package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

var errNotLedger = errors.New("queue: Perform needs a kind with policy ledger or opaque")

// effectState is the state of a row of the ledger.
type effectState string

const (
	stateIntent  effectState = "intent"
	stateDone    effectState = "done"
	stateNotDone effectState = "not_done"
	stateUnknown effectState = "unknown"
)

// perform makes an outside effect in three steps: the intent is committed, the call is made with no transaction open,
// and the outcome is committed with what it changes. What the ledger knows already is answered from there.
func (r *run) perform(ctx context.Context, e Effect) (Outcome, error) {
	switch {
	case r.spec.policy == DB:
		return nil, Permanent(fmt.Errorf("kind %s: %w", r.kind, errNotLedger))
	case e.Key == "" || e.Call == nil:
		return nil, Permanent(errors.New("queue: an effect needs Key and Call"))
	case r.effectOpen.Load():
		return nil, ErrInDoubt
	case r.finished.Load():
		return nil, ErrLeaseLost
	}
	if !r.performing.CompareAndSwap(false, true) {
		return nil, Permanent(errors.New("queue: one effect at a time per job"))
	}
	defer r.performing.Store(false)
	// The deadline counts from before the intent: a process that was frozen in between must not call late.
	callCtx, cancel := context.WithTimeout(ctx, e.timeout())
	defer cancel()
	hash := sha256.Sum256(e.Request)
	known, err := r.intend(ctx, e, hash[:])
	if err != nil {
		return nil, err
	}
	if known != nil {
		return r.already(ctx, e, *known)
	}
	r.effectOpen.Store(true)
	out := safeCall(callCtx, e)
	failpoint.Hit("answer-read")
	return r.conclude(ctx, e, out)
}

// safeCall makes the outside call; a panic leaves it unknown.
func safeCall(ctx context.Context, e Effect) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Unknown{Err: fmt.Errorf("panic in call: %v", p)}
		}
	}()
	if ctx.Err() != nil {
		return Refused{Err: ctx.Err()}
	}
	if out = e.Call(ctx); out == nil {
		out = Unknown{Err: errors.New("the call returned no outcome")}
	}
	return out
}

// ledgerRow is what the ledger says about a key whose intent was not granted.
type ledgerRow struct {
	state      effectState
	hash       []byte
	token      int64
	jobID      int64
	externalID *string
	detail     json.RawMessage
	held       bool // its job runs now
}

// intend writes the intent. nil, nil: granted, and committed. A row: the effect is done already.
func (r *run) intend(ctx context.Context, e Effect, hash []byte) (*ledgerRow, error) {
	if failpoint.Control {
		return controlIntend(ctx, r, e, hash)
	}
	granted, err := r.writeIntent(ctx, e, hash)
	if err != nil {
		return nil, err
	}
	if granted {
		return nil, nil
	}
	row, err := readLedger(ctx, r.engine.pool, e.Key)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		r.lost()
		return nil, ErrLeaseLost
	case err != nil:
		return nil, fmt.Errorf("read effect %s: %w", e.Key, err)
	}
	return r.refused(e, row, hash)
}

// refused says what a conflict means.
func (r *run) refused(e Effect, row *ledgerRow, hash []byte) (*ledgerRow, error) {
	own := row.token == r.token
	switch {
	case row.state == stateDone && bytes.Equal(row.hash, hash):
		return row, nil
	case row.state == stateDone:
		return nil, fmt.Errorf("effect %s: %w", e.Key, ErrRequestDiffers)
	case row.state == stateIntent && own:
		return nil, nil // the reply to our own intent was lost; nothing has been called yet
	case row.state == stateIntent && row.held:
		return nil, Later(2*time.Second, "another job performs "+e.Key)
	case row.state == stateNotDone:
		r.lost() // it could have been taken over, so the lease was missing
		return nil, ErrLeaseLost
	}
	r.engine.metrics.intentsRefused.WithLabelValues(r.kind).Inc()
	r.inDoubt.Store(true)
	return nil, fmt.Errorf("effect %s: %w", e.Key, ErrInDoubt)
}

// already answers from the ledger, and lets the domain catch up.
func (r *run) already(ctx context.Context, e Effect, row ledgerRow) (Outcome, error) {
	out := Confirmed{ExternalID: deref(row.externalID), Detail: row.detail, Prior: true}
	if e.After == nil && !e.Completes {
		return out, nil
	}
	err := pgx.BeginFunc(ctx, r.engine.pool, func(tx pgx.Tx) error {
		if e.Completes {
			if err := r.deleteTx(ctx, tx); err != nil {
				return err
			}
		}
		if e.After == nil {
			return nil
		}
		return e.After(ctx, tx, out)
	})
	if err == nil && e.Completes {
		r.ended(outcomeCompleted)
	}
	return out, err
}

// conclude stores the outcome, then says what it means for the handler.
func (r *run) conclude(ctx context.Context, e Effect, out Outcome) (Outcome, error) {
	if err := r.storeOutcome(ctx, e, out); err != nil {
		return out, err
	}
	switch o := out.(type) {
	case Refused:
		return out, o.asError()
	case Unknown:
		return out, fmt.Errorf("effect %s: %w: %w", e.Key, ErrInDoubt, o)
	}
	return out, nil
}
