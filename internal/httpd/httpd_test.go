package httpd_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/httpd"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestReadyNamesWhatFails(t *testing.T) {
	t.Parallel()
	var down error
	public := httpd.Public{Checks: []httpd.Check{
		{Name: "database", Run: func(context.Context) error { return down }},
		{Name: "workers", Run: func(context.Context) error { return nil }},
	}}
	srv := httptest.NewServer(public.Handler())
	defer srv.Close()
	if status, body := get(t, srv.URL+"/readyz"); status != http.StatusOK {
		t.Errorf("all well: %d %s", status, body)
	}
	down = errors.New("cannot be reached")
	status, body := get(t, srv.URL+"/readyz")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"database":"cannot be reached"`) {
		t.Errorf("database down: %d %s", status, body)
	}
	if status, _ := get(t, srv.URL+"/healthz"); status != http.StatusOK {
		t.Errorf("the process lives, yet /healthz says %d", status)
	}
	if status, _ := get(t, srv.URL+"/metrics"); status != http.StatusNotFound {
		t.Errorf("metrics are on the public face: %d", status)
	}
}

func TestBusyPortIsAnErrorOfTheStart(t *testing.T) {
	t.Parallel()
	first, err := httpd.Listen(t.Context(), "127.0.0.1:0", httpd.Ops(prometheus.NewRegistry()), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	first.Serve()
	defer first.Stop(t.Context())
	if status, _ := get(t, "http://"+first.Addr()+"/metrics"); status != http.StatusOK {
		t.Errorf("metrics: %d", status)
	}
	if _, err := httpd.Listen(t.Context(), first.Addr(), http.NotFoundHandler(), zerolog.Nop()); err == nil {
		t.Error("a busy port was taken twice")
	}
}

func TestListenTakesANameForAnAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	s, err := httpd.Listen(t.Context(), "localhost:0", http.NotFoundHandler(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.HasPrefix(s.Addr(), "127.0.0.1:") {
		t.Errorf("localhost is %s", s.Addr())
	}
	for _, addr := range []string{"postonce.invalid:0", "nonsense", "192.0.2.1:0"} {
		if other, err := httpd.Listen(t.Context(), addr, http.NotFoundHandler(), zerolog.Nop()); err == nil {
			other.Close()
			t.Errorf("listens on %s", addr)
		}
	}
}
