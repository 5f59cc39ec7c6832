package sources

import (
	"testing"
	"time"
)

// A host's times are -infinity before it was ever asked or let go.
func TestABusyOrRestingHostSaysHowLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for host, times := range map[string][2]string{
		"resting.example": {"-infinity", "later"},
		"busy.example":    {"later", "-infinity"},
		"free.example":    {"-infinity", "-infinity"},
	} {
		until := func(s string) any {
			if s == "-infinity" {
				return s
			}
			return time.Now().Add(time.Hour).Format(time.RFC3339)
		}
		if _, err := b.pool.Exec(t.Context(), "INSERT INTO hosts (host, busy_until, rests_until) VALUES ($1, $2::text::timestamptz, $3::text::timestamptz)",
			host, until(times[0]), until(times[1])); err != nil {
			t.Fatal(err)
		}
		ok, wait, err := b.svc.claimHost(t.Context(), host, 1)
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		if free := host == "free.example"; ok != free || free != (wait == 0) {
			t.Errorf("%s: claimed %t, wait %v", host, ok, wait)
		}
	}
}
