package queue

import (
	"errors"
	"fmt"
	"time"
)

var errRefused = errors.New("refused by the other side")

// Errors that callers branch on.
var (
	// ErrLeaseLost means that the job is no longer this execution's: another one has it, or it is finished.
	// Nothing that was to be committed with it was committed. Stop.
	ErrLeaseLost = errors.New("queue: lease lost")
	// ErrInDoubt means that an outside effect may have happened. It must not be tried again by the program;
	// the job is archived as unconfirmed (a courtesy job is completed). Return it.
	ErrInDoubt = errors.New("queue: effect in doubt")
	// ErrRequestDiffers means that an effect's key is in use for another request: a bug in the key.
	ErrRequestDiffers = errors.New("queue: same effect key, another request")
	// ErrNotFound means that no such job, archive row or effect exists.
	ErrNotFound = errors.New("queue: not found")
	// ErrUnsettled refuses a replay while an effect of the job is in doubt.
	ErrUnsettled = errors.New("queue: an effect of this job is in doubt; say first what the outside world shows")
	// ErrInFlight refuses "it did not happen" while the request may still be under way: what is not there yet may
	// still come. The error is an *InFlightError.
	ErrInFlight = errors.New("queue: the request may still be under way")
	// ErrDecided means that an archive row was already decided in another way.
	ErrDecided = errors.New("queue: already decided otherwise")
)

// InFlightError is an ErrInFlight that says until when, by the database's clock.
type InFlightError struct{ Until time.Time }

// Error implements error.
func (e *InFlightError) Error() string {
	return ErrInFlight.Error() + " until " + e.Until.UTC().Format(time.RFC3339)
}

// Is makes it an ErrInFlight.
func (e *InFlightError) Is(target error) bool { return target == ErrInFlight }

type errorClass int

const (
	classNone errorClass = iota
	classTransient
	classRateLimited
	classPermanent
	classUnknown
	classLater
)

// classified is an error with its class, decided where it arose.
type classified struct {
	class errorClass
	after time.Duration
	err   error
}

func (c *classified) Error() string { return c.err.Error() }
func (c *classified) Unwrap() error { return c.err }

func classify(class errorClass, err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &classified{class: class, err: err, after: after}
}

// Transient marks an error as: did not happen, may work later. The job runs again after 1, 4, 16 … s.
func Transient(err error) error { return classify(classTransient, err, 0) }

// RateLimited marks an error as a refusal with a delay; it is no failure and the delay wins over any backoff.
func RateLimited(err error, after time.Duration) error { return classify(classRateLimited, err, after) }

// Permanent marks an error as: did not happen, never will. The job is archived.
func Permanent(err error) error { return classify(classPermanent, err, 0) }

// Later is no failure: the job runs again after d. why is kept as the last error.
func Later(d time.Duration, why string) error {
	return &classified{class: classLater, after: d, err: fmt.Errorf("later: %s", why)}
}

// classOf returns the class of the outermost classified error in the chain.
func classOf(err error) (errorClass, time.Duration) {
	var c *classified
	if errors.As(err, &c) {
		return c.class, c.after
	}
	var u Unknown
	if errors.Is(err, ErrInDoubt) || errors.As(err, &u) {
		return classUnknown, 0
	}
	if errors.Is(err, ErrRequestDiffers) {
		return classPermanent, 0
	}
	return classNone, 0
}
