package miniapp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatHappenedNamesItsDraft reads the log: each line says of which draft it tells.
func TestWhatHappenedNamesItsDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(80, 4)
	_, out := ask(t, "GET", fmt.Sprintf("%s/api/v1/channels/%d/activity?limit=100", w.srv.URL, w.channel), session(t, w.srv.URL, ann), "")
	events, _ := out["events"].([]any)
	for _, e := range events {
		args, _ := e.(map[string]any)["args"].(map[string]any)
		id, _ := args["Draft"].(float64)
		if title, _ := args["Title"].(string); id == 0 || !strings.HasPrefix(title, "Harbour opens pier") {
			t.Errorf("%v does not say which draft", e)
		}
	}
	if len(events) != 100 {
		t.Errorf("%d events", len(events))
	}
}
