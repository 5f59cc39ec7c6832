package jobdesk

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/postonce/postonce/internal/queue"
)

const longestCell = 70

func printRows(w io.Writer, rows []queue.Row) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no jobs")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tKIND\tKEY\tSTATE\tFAILED\tSINCE\tWHAT")
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%s\t%s\n", r.JobID, r.Kind, cut(r.Key, 40), state(r), r.Failures, since(r), cut(what(r), longestCell))
	}
	return t.Flush()
}

// state is one word for where a job is; the archive's reason and status together.
func state(r queue.Row) string {
	if r.State != "archived" {
		return r.State
	}
	if r.Status == queue.StatusOpen {
		return string(r.Reason)
	}
	return string(r.Reason) + ", " + string(r.Status)
}

func since(r queue.Row) string {
	at := r.EnqueuedAt
	if r.EndedAt != nil {
		at = r.EndedAt
	}
	return stamp(at)
}

func what(r queue.Row) string {
	switch {
	case r.ResolvedBy != "" && r.ReplayJobID != 0:
		return fmt.Sprintf("%s by %s as job %d", r.Resolution, r.ResolvedBy, r.ReplayJobID)
	case r.ResolvedBy != "":
		return r.Resolution + " by " + r.ResolvedBy
	case r.NeedsReconcile && r.LastError == "":
		return "in doubt"
	}
	return r.LastError
}

func printTrace(w io.Writer, t *queue.Trace) error {
	p := &printer{w: w}
	p.line("job         %d", t.JobID)
	p.line("kind        %s, %s tier", t.Kind, t.Tier)
	p.line("key         %s, generation %d", t.Key, t.Generation)
	p.line("state       %s", state(t.Row))
	p.line("enqueued    %s", stamp(t.EnqueuedAt))
	p.some("runs at     %s", stamp(t.RunAt))
	p.some("ended       %s", stamp(t.EndedAt))
	p.line("failures    %d, expired leases %d", t.Failures, t.Expiries)
	if t.ID != 0 {
		p.line("worker      %s", worker(t.Worker))
	}
	p.some("last error  %s", t.LastError)
	if t.ResolvedBy != "" {
		p.line("decision    %s", what(t.Row))
	}
	if t.NeedsReconcile {
		p.line("            an outside effect is in doubt: look outside, then confirm, replay --outside …, or dismiss")
	}
	p.line("asked by    %s", origin(t.Row))
	p.some("payload     %s", string(t.Payload))
	p.section("attempts that did not complete", len(t.Attempts))
	for _, a := range t.Attempts {
		p.line("  %s  %-13s %s  %s", stamp(&a.At), a.Outcome, worker(a.Worker), a.Error)
	}
	p.section("effects", len(t.Effects))
	for _, e := range t.Effects {
		p.line("  %-9s %s  %s, try %d, intent %s, request over by %s%s", e.State, e.Key, e.Class, e.Tries,
			stamp(&e.IntentAt), e.DeadlineAt.UTC().Format(time.TimeOnly), tail(e))
	}
	p.section("parents", len(t.Parents))
	for _, r := range t.Parents {
		p.line("  %d  %s %s  %s", r.JobID, r.Kind, r.Key, state(r))
	}
	p.section("children", len(t.Children))
	for _, r := range t.Children {
		p.line("  %d  %s %s  %s", r.JobID, r.Kind, r.Key, state(r))
	}
	return p.err
}

// worker names a process so that somebody can find it: its host (a container's
// is its short id), its process there, and what it was built from.
func worker(w queue.Worker) string {
	if w.ID == 0 {
		return "no worker"
	}
	return fmt.Sprintf("worker %d (process %d on %s, %s)", w.ID, w.PID, w.Host, w.Build)
}

func tail(e queue.EffectRow) string {
	var s strings.Builder
	if e.ExternalID != "" {
		s.WriteString(", known outside as " + e.ExternalID)
	}
	if e.Error != "" {
		s.WriteString(": " + e.Error)
	}
	if e.ReconciledBy != "" {
		s.WriteString(", settled by " + e.ReconciledBy)
	}
	return s.String()
}

func origin(r queue.Row) string {
	var parts []string
	if r.PersonID != 0 {
		parts = append(parts, fmt.Sprintf("person %d", r.PersonID))
	}
	if r.UpdateID != 0 {
		parts = append(parts, fmt.Sprintf("update %d", r.UpdateID))
	}
	if r.RequestID != "" {
		parts = append(parts, "request "+r.RequestID)
	}
	if len(parts) == 0 {
		return "the program itself"
	}
	return strings.Join(parts, ", ")
}

func printDecision(w io.Writer, id int64, d queue.Decision) error {
	text := fmt.Sprintf("job %d: %s by %s", id, d.Status, d.By)
	if d.ReplayJobID != 0 {
		text += fmt.Sprintf(" as job %d", d.ReplayJobID)
	}
	if !d.Fresh {
		text += fmt.Sprintf(" (that was decided before, at %s)", stamp(&d.At))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// some prints a line whose only value may be missing.
func (p *printer) some(format, value string) {
	if value != "" {
		p.line(format, value)
	}
}

func (p *printer) section(name string, n int) {
	if n > 0 {
		p.line("%s", name)
	}
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func cut(s string, most int) string {
	r := []rune(s)
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
