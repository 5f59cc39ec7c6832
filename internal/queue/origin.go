package queue

import "context"

// Origin says who asked for something. It is stored with every job and inherited by its children, so that the
// whole story can be read from a job's number. Zero fields are unknown.
type Origin struct {
	// JobID is the job in whose completion the new one is enqueued: its parent.
	JobID int64
	// UpdateID is the Telegram update that started it all.
	UpdateID int64
	// PersonID is the person who asked.
	PersonID int64
	// RequestID is the HTTP request.
	RequestID string
}

type originKey struct{}

// WithOrigin returns a context that carries o; what is enqueued under it is linked to it.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginFrom returns the origin that ctx carries. In a handler its JobID is the job that runs.
func OriginFrom(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
