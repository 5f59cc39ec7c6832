package queue

// Reason says why a job is in the archive.
type Reason string

// The reasons.
const (
	ReasonUnconfirmed    Reason = "unconfirmed"
	ReasonLeaseLostTwice Reason = "lease_lost_twice"
	ReasonPermanent      Reason = "permanent"
	ReasonExhausted      Reason = "exhausted"
	ReasonCancelled      Reason = "cancelled"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{ReasonUnconfirmed, ReasonLeaseLostTwice, ReasonPermanent, ReasonExhausted, ReasonCancelled}
}

// Status says what has been decided about an archived job.
type Status string

// The statuses.
const (
	StatusOpen       Status = "open"
	StatusReconciled Status = "reconciled"
	StatusReplayed   Status = "replayed"
	StatusClosed     Status = "closed"
)
