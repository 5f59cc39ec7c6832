package queue

// archivedJob are the columns of jobs that the archive keeps as they are. Every statement that archives returns
// them from its `gone` and inserts them into archiveOf, followed by what it decides itself.
const archivedJob = `
       id,
       kind,
       tier,
       key,
       ordering,
       generation,
       payload,
       lease_token,
       leased_by,
       failures,
       expiries,
       enqueued_at`

const archiveOf = `job_archive (job_id, kind, tier, key, ordering, generation, payload, lease_token, leased_by, failures,
                         expiries, enqueued_at, reason, needs_reconcile, last_error`

const archiveResolved = `, status, resolved_at, resolved_by, resolution`

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
