package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tier is one of the three lanes of work. Each has its own workers, so that bulk work never delays a tap.
type Tier string

// The tiers, from payments, taps and publishing at a slot, over polls, scores and drafts, down to imports,
// digests and clean-up.
const (
	Critical Tier = "critical"
	Default  Tier = "default"
	Bulk     Tier = "bulk"
)

// Tiers returns the tiers, most urgent first.
func Tiers() []Tier { return []Tier{Critical, Default, Bulk} }

// Policy says what an execution of a kind may leave behind when its worker dies.
type Policy string

const (
	// DB kinds change only this database, and only in the transaction that completes the job.
	DB Policy = "db"
	// Ledger kinds make every outside effect through Job.Perform.
	Ledger Policy = "ledger"
	// Opaque kinds do things that nobody records: an expired lease always goes to the archive.
	Opaque Policy = "opaque"
)

// Class says what a doubt about an effect means.
type Class string

const (
	// Strict effects in doubt wait for evidence or a person.
	Strict Class = "strict"
	// Courtesy effects in doubt close by themselves and wake nobody.
	Courtesy Class = "courtesy"
)

const (
	defaultLease       = 60 * time.Second
	defaultMaxFailures = 3
)

// Kind describes one kind of job in one place. A is the payload; it is stored as JSON.
//
// A Kind without Work may enqueue; only Register needs Work. The zero Tier is Default, the zero Policy DB, the
// zero Class Strict.
type Kind[A any] struct {
	// Name is stored with every job: renaming it orphans what is queued.
	Name   string
	Tier   Tier
	Policy Policy
	Class  Class
	// Lease is the floor of the lease; 0 leaves it to what was measured (60 s before that).
	Lease time.Duration
	// MaxFailures is how many transient failures are retried before the job is archived as exhausted; 0 is 3.
	MaxFailures int
	// KeepKeys is how long a natural key is remembered; 0 is for ever.
	KeepKeys time.Duration
	// Key is the natural key, unique together with Name.
	Key func(A) string
	// Ordering, where it returns a non-empty value, makes jobs of that value run one at a time and in the order
	// in which they were enqueued, across kinds: a later one starts only when no earlier one is unfinished.
	// Prefix it ("chat:42"). An archived job is finished in this sense.
	Ordering func(A) string
	// Work does the job. nil means done; errors are classified by Transient, RateLimited, Permanent, Unknown{}
	// and Later. The context is cancelled when the lease is lost.
	Work func(ctx context.Context, job *Job[A]) error
	// Settled, if set, is told in the same transaction when the operator's desk ends a doubt about an effect of
	// an archived job, so that the domain's own state follows.
	Settled func(ctx context.Context, tx pgx.Tx, args A, s Settlement) error
}

// spec is what the engine needs of a Kind, without its payload's type.
type spec struct {
	name        string
	tier        Tier
	policy      Policy
	class       Class
	lease       time.Duration // 0: measured
	maxFailures int
	keepKeys    time.Duration
	ordered     bool
	counting    atomic.Pointer[kindCounters]
	work        func(ctx context.Context, r *run) error
	settled     func(ctx context.Context, tx pgx.Tx, payload []byte, s Settlement) error
}

func (k Kind[A]) tier() Tier {
	if k.Tier == "" {
		return Default
	}
	return k.Tier
}

func (k Kind[A]) spec() *spec {
	s := &spec{
		name: k.Name, tier: k.tier(), policy: k.Policy, class: k.Class, lease: k.Lease,
		maxFailures: k.MaxFailures, keepKeys: k.KeepKeys, ordered: k.Ordering != nil,
	}
	if s.policy == "" {
		s.policy = DB
	}
	if s.class == "" {
		s.class = Strict
	}
	if s.maxFailures == 0 {
		s.maxFailures = defaultMaxFailures
	}
	s.work = func(ctx context.Context, r *run) error {
		job := &Job[A]{ID: r.id, Key: r.key, Kind: r.kind, Failures: r.failures, Generation: r.generation, run: r}
		if err := json.Unmarshal(r.payload, &job.Args); err != nil {
			return Permanent(fmt.Errorf("decode payload: %w", err))
		}
		return k.Work(ctx, job)
	}
	s.settled = func(ctx context.Context, tx pgx.Tx, payload []byte, end Settlement) error {
		if k.Settled == nil {
			return nil
		}
		var args A
		if err := json.Unmarshal(payload, &args); err != nil {
			return fmt.Errorf("decode payload: %w", err)
		}
		return k.Settled(ctx, tx, args, end)
	}
	return s
}

func (s *spec) check() error {
	switch {
	case s.name == "":
		return errors.New("a kind without a name")
	case s.tier != Critical && s.tier != Default && s.tier != Bulk:
		return fmt.Errorf("kind %s: unknown tier %q", s.name, s.tier)
	case s.policy != DB && s.policy != Ledger && s.policy != Opaque:
		return fmt.Errorf("kind %s: unknown policy %q", s.name, s.policy)
	case s.class != Strict && s.class != Courtesy:
		return fmt.Errorf("kind %s: unknown class %q", s.name, s.class)
	}
	return nil
}
