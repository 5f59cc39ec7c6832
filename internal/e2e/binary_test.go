package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary builds the program once for all tests of this process.
// POSTONCE_BINARY names one that was built before: measurements do not compile.
var binary = sync.OnceValues(func() (string, error) {
	if built := os.Getenv("POSTONCE_BINARY"); built != "" {
		return built, nil
	}
	dir, err := os.MkdirTemp("", "postonce-bin-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "postonce")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/postonce")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// demo is a running `postonce demo`.
type demo struct {
	cmd  *exec.Cmd
	base string
	log  *syncBuffer
	args []string
}

// syncBuffer collects what a process says; tests print it when they fail.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startDemo starts the program and waits for its one line.
func startDemo(t *testing.T, dir, addr string, env ...string) *demo {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{log: &syncBuffer{}, args: []string{"demo", "--addr", addr, "--data-dir", dir, "--no-browser"}}
	d.cmd = exec.Command(path, d.args...)
	d.cmd.Env = append(os.Environ(), append([]string{"POLL_INTERVAL_MIN=1s", "LOG_LEVEL=info", "LOG_FORMAT=json"}, env...)...)
	d.cmd.Stderr = d.log
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			t.Logf("the program said:\n%s", tail(d.log.String(), 12000))
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the demo ended before it printed its address: %v\n%s", err, d.log)
	}
	m := regexp.MustCompile(`http://\S+`).FindString(line)
	if m == "" {
		t.Fatalf("no address in %q", line)
	}
	d.base = strings.TrimRight(m, "/")
	t.Logf("ready after %s", time.Since(began).Round(10*time.Millisecond))
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return d
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// kill ends the process as a power cut would; safe to call twice.
func (d *demo) kill() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Signal(syscall.SIGKILL)
		_ = d.cmd.Wait()
	}
}

// stop asks for an orderly end and returns the exit code.
func (d *demo) stop(t *testing.T) int {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = d.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(45 * time.Second):
		t.Fatal("the program did not stop within its grace")
	}
	return d.cmd.ProcessState.ExitCode()
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
