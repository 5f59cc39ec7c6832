package miniapp_test

import (
	"net/http"
	"testing"
	"time"
)

func TestTheAPIHasARatePerPerson(t *testing.T) {
	t.Parallel()
	at := time.Now()
	srv := start(t, newFakeDesk(at), func() time.Time { return at })
	token := session(t, srv.URL, ann)
	for n := 1; n <= 310; n++ {
		res, out := ask(t, "GET", srv.URL+"/api/v1/me", token, "")
		if res.StatusCode == http.StatusOK {
			continue
		}
		if res.StatusCode != http.StatusTooManyRequests || out["code"] != "error.too_fast" || res.Header.Get("Retry-After") != "1" || n < 290 {
			t.Errorf("call %d: %d %v, want a refusal after 300 that names the wait", n, res.StatusCode, out)
		}
		return
	}
	t.Error("no call was too many")
}
