package watch

import (
	"fmt"
	"time"

	"github.com/postonce/postonce/internal/queue"
)

// Severity says whether an incident may wait for the morning.
type Severity string

// The severities, as in the alert rules.
const (
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Condition is an alert rule that is true now.
type Condition struct {
	Name     string // the alert's name in docs/deploy/alerts.yml
	Subject  string // the tier, where there is one
	Severity Severity
	Detail   string        // one line with the figures, for the log and the table
	Args     Args          // the figures, for a text in somebody's language; not kept
	For      time.Duration // it has to stay true for so long before anybody is told
}

// Args fill a text.
type Args map[string]any

// History is what the depths were 5, 10 and 15 minutes ago, newest first; a
// value below 0 is unknown.
type History map[queue.Tier][3]int

// Thresholds of docs/deploy/alerts.yml; a test keeps the two equal in name.
const (
	snapshotLimit   = 15 * time.Minute
	archiveShare    = 0.01
	archiveFloor    = 3
	leasesFloor     = 3
	sourcesShare    = 0.3
	sourcesFloor    = 3
	budgetShare     = 0.9
	clockLimit      = 30 * time.Second
	stuckFactorLow  = 10 // critical: ten times its target
	stuckFactorHigh = 12
)

// target is how long the oldest job of a tier may wait.
func target(t queue.Tier) time.Duration {
	switch t {
	case queue.Critical:
		return 30 * time.Second
	case queue.Bulk:
		return time.Hour
	default:
		return 5 * time.Minute
	}
}

// stuckAfter is when waiting means that nothing runs: 5 min, 1 h, 6 h.
func stuckAfter(t queue.Tier) time.Duration {
	switch t {
	case queue.Critical:
		return stuckFactorLow * target(t)
	case queue.Bulk:
		return 6 * time.Hour
	default:
		return stuckFactorHigh * target(t)
	}
}

// Judge returns the alert rules that are true of f. budget is the model's
// tokens per day, 0 for unlimited.
func Judge(f Figures, h History, budget int64) []Condition {
	out := judgeLanes(f, h)
	add := func(is bool, c Condition) {
		if is {
			out = append(out, c)
		}
	}
	ended := f.Completed + f.Archived
	add(f.Archived >= archiveFloor && float64(f.Archived) > archiveShare*float64(ended), Condition{
		Name: "PostonceArchiveInflow", Severity: Warning, For: 5 * time.Minute,
		Detail: fmt.Sprintf("%d of the last 15 minutes' %d jobs went to the archive", f.Archived, ended),
		Args:   Args{"Archived": f.Archived, "All": ended},
	})
	add(f.StrictInDoubt > 0, Condition{
		Name: "PostonceUnconfirmed", Severity: Critical, For: 5 * time.Minute,
		Detail: fmt.Sprintf("%d outside effects are in doubt", f.StrictInDoubt),
		Args:   Args{"Count": f.StrictInDoubt},
	})
	add(f.OldestSnapshot > snapshotLimit, Condition{
		Name: "PostonceOldSnapshot", Severity: Warning, For: 5 * time.Minute,
		Detail: fmt.Sprintf("a transaction is open for %s; %d dead rows in jobs", f.OldestSnapshot.Round(time.Second), f.DeadRows),
		Args:   Args{"Minutes": minutes(f.OldestSnapshot)},
	})
	add(f.LeasesLost >= leasesFloor, Condition{
		Name: "PostonceLeasesLost", Severity: Warning,
		Detail: fmt.Sprintf("%d leases expired in the last 15 minutes", f.LeasesLost),
		Args:   Args{"Count": f.LeasesLost},
	})
	failing, healthy := f.Sources["failing"], f.Sources["healthy"]
	add(failing >= sourcesFloor && float64(failing) > sourcesShare*float64(failing+healthy), Condition{
		Name: "PostonceSourcesFailing", Severity: Warning, For: 30 * time.Minute,
		Detail: fmt.Sprintf("%d of %d sources fail", failing, failing+healthy),
		Args:   Args{"Failing": failing, "All": failing + healthy},
	})
	add(budget > 0 && float64(f.ModelTokensToday) >= budgetShare*float64(budget), Condition{
		Name: "PostonceModelBudget", Severity: Warning,
		Detail: fmt.Sprintf("%d of the day's %d tokens are used", f.ModelTokensToday, budget),
		Args:   Args{"Used": f.ModelTokensToday, "Budget": budget},
	})
	add(f.ChannelsHeld > 0, Condition{
		Name: "PostonceChannelsHeld", Severity: Warning, For: 15 * time.Minute,
		Detail: fmt.Sprintf("%d channels wait for reconciliation after a restore", f.ChannelsHeld),
		Args:   Args{"Count": f.ChannelsHeld},
	})
	add(f.ClockAhead.Abs() > clockLimit, Condition{
		Name: "PostonceClockSkew", Severity: Warning, For: 2 * time.Minute,
		Detail: fmt.Sprintf("the database's clock is %s ahead of this machine's", f.ClockAhead.Round(time.Second)),
		Args:   Args{"Seconds": int(f.ClockAhead.Abs() / time.Second)},
	})
	add(f.UpdatesStopped != "", Condition{
		Name: "PostonceUpdatesStopped", Severity: Critical, For: 2 * time.Minute, Detail: f.UpdatesStopped,
		Args: Args{"Why": f.UpdatesStopped},
	})
	return out
}

func judgeLanes(f Figures, h History) []Condition {
	var out []Condition
	for _, l := range f.Lanes {
		detail := fmt.Sprintf("%d jobs ready, the oldest for %s", l.Depth, l.OldestAge.Round(time.Second))
		args := Args{"Tier": string(l.Tier), "Depth": l.Depth, "Minutes": minutes(l.OldestAge)}
		if l.OldestAge > stuckAfter(l.Tier) {
			out = append(out, Condition{
				Name: "PostonceQueueStuck", Subject: string(l.Tier), Severity: Critical, Detail: detail, Args: args, For: 2 * time.Minute,
			})
		}
		if l.OldestAge > target(l.Tier) && rising(l.Depth, h, l.Tier) {
			out = append(out, Condition{
				Name: "PostonceQueueGrowing", Subject: string(l.Tier), Severity: Warning, Detail: detail, Args: args,
			})
		}
	}
	return out
}

// minutes are whole ones, at least one.
func minutes(d time.Duration) int { return max(1, int(d.Round(time.Minute)/time.Minute)) }

// rising reports whether each of the last three windows ended deeper than it
// began. A depth at the counting limit counts as deeper than the same.
func rising(now int, h History, t queue.Tier) bool {
	past, ok := h[t]
	if !ok {
		return false
	}
	for _, before := range past {
		if before < 0 || now < before || now == before && now < countLimit {
			return false
		}
		now = before
	}
	return true
}
