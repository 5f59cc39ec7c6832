package chaos_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sandbox"
)

const (
	shortKills = 12 // in CI
	fleetSize  = 4
)

// TestChaos attacks the built program as long as CHAOS_KILLS says and then
// looks for anything that happened twice or was lost.
func TestChaos(t *testing.T) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("CHAOS_KILLS"), strconv.Itoa(shortKills)))
	if err != nil {
		t.Fatalf("CHAOS_KILLS: %v", err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CHAOS_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("CHAOS_SEED: %v", err)
	}
	problems, report := attack(t, build(t, nil), seed, kills)
	t.Log(report)
	for _, p := range problems {
		t.Error(p)
	}
	if t.Failed() {
		t.Logf("play it again with CHAOS_SEED=%d CHAOS_KILLS=%d", seed, kills)
	}
}

// attack plays one run and returns what the checker found, and a summary.
func attack(t *testing.T, binary string, seed uint64, kills int) (problems []string, report string) {
	t.Helper()
	t.Logf("seed %d, %d kills", seed, kills)
	w := newWorld(t, seed)
	f := newFleet(t, binary, fleetSize, w.env()...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(f.tail(1500))
		}
	})
	w.healthy()
	w.settlers()

	stop := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var alive sync.WaitGroup
	alive.Go(func() { w.press.grow(stop, 700*time.Millisecond) })
	for _, a := range w.crew {
		alive.Go(func() { a.live(ctx) })
	}
	s := &storm{world: w, fleet: f, rng: rand.New(rand.NewPCG(seed, 2))}
	s.rage(ctx, kills)
	close(stop)
	cancel()
	alive.Wait()

	// Everything dies once more; what was under way is over, and one sound
	// process finds what is left.
	w.stand.ClearFaults()
	f.killAll()
	time.Sleep(longestDelay)
	w.ageLeases(t.Context())
	f.startAll()
	// A source whose poll was lost with its lease twice is found by the sweeper, after ten minutes at most.
	unrest := w.quiet(12 * time.Minute)
	f.killAll()
	found, err := check(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return append(unrest, found...), s.report() + w.report(t.Context())
}

// longestDelay is how long the stand-in sits on a call at most.
const longestDelay = 2 * time.Second

// storm gives the orders of a run, by its seed.
type storm struct {
	world *world
	fleet *fleet
	rng   *rand.Rand

	kills, freezes, cuts, crashes, revived, faults int
	thaw                                           sync.WaitGroup
}

// rage kills so many times, and does the rest in between. Every hundred kills
// it rests, so that work goes on to where the next ones find it.
func (s *storm) rage(ctx context.Context, kills int) {
	rest := 100
	for s.kills < kills {
		pause(ctx, time.Duration(30+s.rng.IntN(500))*time.Millisecond)
		victim := s.fleet.procs[s.rng.IntN(len(s.fleet.procs))]
		switch n := s.rng.IntN(100); {
		case n < 58:
			s.fleet.kill(victim)
			s.kills++
		case n < 62: // the machine lost its power
			s.fleet.killAll()
			s.kills += len(s.fleet.procs)
		case n < 68:
			s.freeze(victim)
		case n < 74:
			s.world.proxy.cut()
			s.cuts++
		case n < 76:
			s.world.restartDatabase(time.Duration(s.rng.IntN(1500)) * time.Millisecond)
			s.crashes++
		default:
			s.trouble()
		}
		s.revived += s.fleet.revive()
		if s.kills >= rest {
			rest += 100
			s.world.t.Logf("%d kills", s.kills)
			s.world.stand.ClearFaults()
			pause(ctx, 12*time.Second)
		}
	}
	s.thaw.Wait()
}

// freeze stops a process for up to one and a half leases while the rest goes on.
func (s *storm) freeze(p *process) {
	d := time.Duration(300+s.rng.IntN(15000)) * time.Millisecond
	s.freezes++
	s.thaw.Go(func() { s.fleet.freeze(p, d) })
}

// trouble orders a fault of Telegram: requests and answers get lost, in pairs.
func (s *storm) trouble() {
	s.faults++
	methods := []string{"sendMessage", "sendMessage", "sendMessage", "editMessageText", "answerCallbackQuery", "getUpdates"}
	f := sandbox.Fault{Method: methods[s.rng.IntN(len(methods))], Apply: s.rng.IntN(2) == 0, Times: 1 + s.rng.IntN(3), Skip: s.rng.IntN(3)}
	switch s.rng.IntN(12) {
	default: // a slow answer: kills fall between what was done and its record
		f = sandbox.Fault{Method: "sendMessage", Kind: sandbox.FaultSlow, DelayMS: 200 + s.rng.IntN(1500), Times: 6}
	case 0:
		f.Kind = sandbox.FaultLost
	case 1:
		f.Kind = sandbox.FaultReset
	case 2:
		f.Kind, f.DelayMS = sandbox.FaultHang, 1500
	case 3:
		f.Kind, f.RetryAfter = sandbox.FaultTooMany, 1
	case 4:
		f.Kind, f.Status, f.Description = sandbox.FaultStatus, 500, "Internal Server Error"
	case 5:
		f.Kind, f.Status = sandbox.FaultHTML, 502
	case 6:
		f.Kind = sandbox.FaultCut
	case 7:
		s.world.stand.UpdateFault([]string{"duplicate", "redeliver", "reorder"}[s.rng.IntN(3)], 2)
		return
	}
	s.world.stand.AddFault(f)
}

func (s *storm) report() string {
	return fmt.Sprintf("%d kills, %d freezes, %d cuts of all connections, %d crashes of Postgres, %d ended by themselves and were started again, %d faults of Telegram\n",
		s.kills, s.freezes, s.cuts, s.crashes, s.revived, s.faults)
}

// report counts what the run amounted to.
func (w *world) report(ctx context.Context) string {
	const counts = `
SELECT 'items ' || count(*) FROM items
 UNION ALL SELECT 'drafts ' || state || ' ' || count(*) FROM drafts GROUP BY state
 UNION ALL SELECT 'publications ' || state || ' ' || settled_how || ' ' || count(*) FROM publications GROUP BY state, settled_how
 UNION ALL SELECT 'archive ' || kind || ' ' || reason || ' ' || status || ' ' || count(*) FROM job_archive GROUP BY kind, reason, status
 UNION ALL SELECT 'effects ' || kind || ' ' || state || ' ' || count(*) FROM effects GROUP BY kind, state
 UNION ALL SELECT 'updates ' || count(*) FROM updates
 UNION ALL SELECT 'expired leases ' || count(*) FROM job_attempts WHERE outcome = 'lease_expired'`
	rows, err := w.pool.Query(ctx, counts)
	if err != nil {
		return err.Error()
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}
