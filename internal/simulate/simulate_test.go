package simulate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/simulate"
)

func TestASmallSimulationMeasuresEverything(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	cfg := simulate.Config{
		URL: url, Name: fmt.Sprint("simulation_", os.Getpid()), Size: simulate.Size{Channels: 5, Sources: 40, Items: 2000},
		Shares: []int{50, 100}, Rounds: 1, Polled: 4, Say: t.Logf, Now: time.Now,
	}
	costs, err := simulate.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(costs) != 2 || costs[1].Size.Items != 2000 {
		t.Fatalf("costs: %+v", costs)
	}
	for _, c := range costs {
		if c.Idle <= 0 || c.Fresh <= 0 || c.Chain <= 0 || c.Through <= 0 || c.Bytes == 0 {
			t.Errorf("at %d %% something was not measured: %+v", c.Share, c)
		}
	}
	var b bytes.Buffer
	if err := simulate.Print(&b, costs); err != nil || !strings.Contains(b.String(), "×") {
		t.Errorf("%v\n%s", err, b.String())
	}
	t.Log("\n" + b.String())

	cfg.Shares, cfg.Keep, cfg.Rounds = []int{50}, true, -1 // the databases are gone: one can be made again, and is then in the way
	if _, err := simulate.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := simulate.Run(t.Context(), cfg); !errors.Is(err, simulate.ErrExists) {
		t.Errorf("a second one in the same place: %v", err)
	}
	cfg.Again, cfg.Keep, cfg.Rounds = true, false, 1
	if again, err := simulate.Run(t.Context(), cfg); err != nil || len(again) != 1 || again[0].Chain <= 0 {
		t.Errorf("measured again: %+v %v", again, err)
	}
	if _, err := simulate.Run(t.Context(), cfg); !errors.Is(err, simulate.ErrMissing) {
		t.Errorf("measured where nothing is: %v", err)
	}
}
