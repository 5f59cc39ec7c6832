//go:build failpoints

package failpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Enabled tells whether this binary was built for torture.
const Enabled = true

// Control switches fencing and the ledger off, to show that the test bites.
var Control = os.Getenv("FAILPOINT_CONTROL") == "1" //nolint:gochecknoglobals // set once, in torture builds only

// dice decides at each point: nothing, death, or a freeze. The stream is fixed by FAILPOINT_SEED.
// FAILPOINT_AT=point:n names one death beside it: where the point is passed for the nth time.
type dice struct {
	at     string // "point:n"
	passed map[string]int
	mu     sync.Mutex
	random *rand.Rand
	die    float64
	freeze float64
	lease  time.Duration
}

var shared = newDice() //nolint:gochecknoglobals // the process's one dice, in torture builds only

func newDice() *dice {
	number := func(name string) float64 { v, _ := strconv.ParseFloat(os.Getenv(name), 64); return v }
	return &dice{
		at: os.Getenv("FAILPOINT_AT"), passed: map[string]int{},
		random: rand.New(rand.NewPCG(uint64(number("FAILPOINT_SEED")), 1)),
		die:    number("FAILPOINT_DIE"), freeze: number("FAILPOINT_FREEZE"),
		lease: time.Duration(number("FAILPOINT_LEASE_MS")) * time.Millisecond,
	}
}

func (d *dice) roll(point string) (fate, length float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed[point]++
	if d.at == point+":"+strconv.Itoa(d.passed[point]) {
		return -1, 0
	}
	return d.random.Float64(), d.random.Float64()
}

// Hit kills the process, freezes it for half a lease to three, or does nothing. It says so on standard output,
// which the torture test counts.
func Hit(point string) {
	fate, length := shared.roll(point)
	switch {
	case fate < shared.die:
		fmt.Printf("die %s\n", point)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case fate < shared.die+shared.freeze:
		fmt.Printf("freeze %s\n", point)
		d := time.Duration((0.5 + 2.5*length) * float64(shared.lease))
		wake := fmt.Sprintf("sleep %.3f; kill -CONT %d", d.Seconds(), os.Getpid())
		if exec.Command("sh", "-c", wake).Start() == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
	}
}
