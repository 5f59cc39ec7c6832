// Package planning gives drafts their times: the slots of a channel's week over
// its IANA zone, quiet hours, the daily cap, the next free slot, and what
// becomes of a slot that passed while the program was down.
//
// Its table: slots. The key (channel, instant) means that two drafts never hold
// one slot, whoever asks at once; everything here leans on that constraint and
// on the lock of the channel's row, never on having looked first.
//
// It must never change a draft or enqueue a publication: whoever calls it does
// so in the same transaction.
package planning

import (
	"errors"
	"time"
)

var (
	// ErrSlotTaken means that another draft of the channel holds that instant.
	ErrSlotTaken = errors.New("planning: the slot is taken")
	// ErrNoSlot means that the week has no free slot within Horizon, or no slots at all.
	ErrNoSlot = errors.New("planning: no free slot")
	// ErrPast means that the wanted time is over, or too far away.
	ErrPast = errors.New("planning: not a time to come")
)

const (
	// Horizon is how far ahead a free slot is looked for.
	Horizon = 60 * 24 * time.Hour
	// Farthest is how far ahead a person may plan.
	Farthest = 366 * 24 * time.Hour
	// lead keeps a slot that is about to pass from being taken: publishing needs a moment.
	lead = 30 * time.Second
)

// Service is the one writer of slots. It is safe for concurrent use.
type Service struct{ now func() time.Time }

// New returns a Service that goes by now, the clock of the calendar.
func New(now func() time.Time) *Service { return &Service{now: now} }
