package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

// Effect is one outside effect that must not repeat.
type Effect struct {
	// Key names it for ever, e.g. "publish:draft:42": deterministic, from natural keys, never from a job's id
	// or the time.
	Key string
	// Request is hashed: the same key with another request is refused, unless the earlier one was certainly
	// not performed.
	Request []byte
	// Timeout bounds the call; afterwards the request must not be under way any more. 0 is a minute.
	Timeout time.Duration
	// Before is the domain's precondition, in the intent's transaction; its error prevents the effect.
	Before func(ctx context.Context, tx pgx.Tx) error
	// Call makes the outside call. No transaction is open; ctx ends at Timeout. It must classify honestly.
	Call func(ctx context.Context) Outcome
	// After is the domain's change, in the outcome's transaction. It may run for an outcome that comes after
	// the lease was lost: positive evidence is never thrown away. It must be conditional on the domain's state.
	After func(ctx context.Context, tx pgx.Tx, o Outcome) error
	// Completes joins the job's completion to the outcome's transaction when Confirmed.
	Completes bool
}

const defaultEffectTimeout = time.Minute

func (e Effect) timeout() time.Duration {
	if e.Timeout <= 0 {
		return defaultEffectTimeout
	}
	return e.Timeout
}

// Outcome is what is known after an outside call: Confirmed, Refused or Unknown, nothing else.
type Outcome interface{ outcome() }

// Confirmed means that it happened.
type Confirmed struct {
	// ExternalID is the provider's identifier: a message id, a charge id.
	ExternalID string
	// Detail is kept in the ledger; no secrets, no bodies.
	Detail json.RawMessage
	// Prior is true when the ledger already knew: Call was not made.
	Prior bool
}

// Refused means that it certainly did not happen and may be tried again, unless Permanent.
type Refused struct {
	Err error
	// RetryAfter is the other side's delay, if it gave one.
	RetryAfter time.Duration
	Permanent  bool
}

// Unknown means that it may have happened. It is also an error: a handler may return it to archive its job as
// unconfirmed.
type Unknown struct{ Err error }

// Error implements error.
func (u Unknown) Error() string {
	if u.Err == nil {
		return "outcome unknown"
	}
	return "outcome unknown: " + u.Err.Error()
}

// Unwrap returns the cause.
func (u Unknown) Unwrap() error { return u.Err }

func (Confirmed) outcome() {}
func (Refused) outcome()   {}
func (Unknown) outcome()   {}

// asError is what a handler may return for a refusal.
func (r Refused) asError() error {
	err := r.Err
	if err == nil {
		err = errRefused
	}
	switch {
	case r.Permanent:
		return Permanent(err)
	case r.RetryAfter > 0:
		return RateLimited(err, r.RetryAfter)
	default:
		return Transient(err)
	}
}
