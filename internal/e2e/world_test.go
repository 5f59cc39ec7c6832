package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/play"
	"github.com/postonce/postonce/internal/sandbox/samples"
)

// town is the stand-in for Telegram and the sample sources, in this process.
type town struct {
	stand *sandbox.Sandbox
	base  string
	stage *play.Stage
}

func newTown(t *testing.T, webhooks *http.Client) *town {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	newsroom, err := samples.New(samples.Config{Base: server.URL + "/samples"})
	if err != nil {
		t.Fatal(err)
	}
	stand, err := sandbox.New(sandbox.Config{Webhooks: webhooks, Preview: newsroom.Preview})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/samples/", http.StripPrefix("/samples", newsroom))
	mux.Handle("/", stand)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = stand.Close()
	})
	return &town{stand: stand, base: server.URL, stage: play.New(server.URL)}
}

// env is what `serve` needs to live here.
func (tw *town) env(database string) []string {
	return []string{
		"TELEGRAM_BOT_TOKEN=" + string(tw.stand.Token()), "TELEGRAM_API_URL=" + tw.base, "TELEGRAM_PREVIEW_URL=" + tw.base + "/s",
		"DATABASE_URL=" + database, "DATABASE_CONNS=8", "ACCESS=open", "FETCH_ALLOW_NETS=127.0.0.0/8", "POLL_INTERVAL_MIN=1s",
		"LOG_LEVEL=info", "LOG_FORMAT=json", "SHUTDOWN_GRACE=5s",
	}
}

// replica is a running `postonce serve`.
type replica struct {
	cmd       *exec.Cmd
	log       *syncBuffer
	http, ops string
}

// serve starts one and waits until it says that it started.
func serve(t *testing.T, env ...string) *replica {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{log: &syncBuffer{}}
	r.cmd = exec.Command(path, "serve")
	r.cmd.Env = append(append(os.Environ(), "HTTP_ADDR=127.0.0.1:0", "OPS_ADDR=127.0.0.1:0"), env...)
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.kill()
		if t.Failed() {
			t.Logf("a replica said:\n%s", tail(r.log.String(), 6000))
		}
	})
	started := regexp.MustCompile(`"http":"([^"]+)","ops":"([^"]+)".*"message":"started"`)
	for range 600 {
		if m := started.FindStringSubmatch(r.log.String()); m != nil {
			r.http, r.ops = "http://"+m[1], "http://"+m[2]
			return r
		}
		time.Sleep(50 * time.Millisecond) // another process's start has no signal but its log
	}
	t.Fatalf("not started after 30 s:\n%s", r.log)
	return nil
}

// kill ends it as a power cut would; safe to call twice.
func (r *replica) kill() {
	if r.cmd.ProcessState == nil {
		_ = r.cmd.Process.Signal(syscall.SIGKILL)
		_ = r.cmd.Wait()
	}
}

// run executes the program once and returns its exit code and what it said.
func run(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &errs
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), errs.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String(), errs.String()
}

// busyPort is an address that somebody holds for the length of the test.
func busyPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// body fetches an address; a status other than 200 is in the error.
func body(t *testing.T, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t, 20*time.Second), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return b.String(), fmt.Errorf("%s: %s", address, res.Status)
	}
	return b.String(), nil
}
