package chaos_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fleet is the processes of the program under attack.
type fleet struct {
	t      *testing.T
	binary string
	env    []string
	logs   string
	births chan func() // run by the one thread that forks

	mu    sync.Mutex
	procs []*process
}

type process struct {
	n      int // which of the fleet
	starts int
	cmd    *exec.Cmd
	done   chan struct{}
}

func newFleet(t *testing.T, binary string, size int, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, binary: binary, env: env, logs: t.TempDir(), births: make(chan func())}
	go func() {
		// The kernel kills the children when the thread that forked them ends, so one
		// thread forks them all: a test that is killed leaves none behind.
		runtime.LockOSThread()
		for birth := range f.births {
			birth()
		}
	}()
	for i := range size {
		p := &process{n: i}
		f.procs = append(f.procs, p)
		f.start(p)
	}
	t.Cleanup(func() {
		for _, p := range f.procs {
			f.signal(p, syscall.SIGCONT)
			f.signal(p, syscall.SIGKILL)
			<-p.done
		}
		close(f.births)
	})
	return f
}

// start runs p again. Its output is appended, so that a failing run can be read.
func (f *fleet) start(p *process) {
	log, err := os.OpenFile(f.logFile(p), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command(f.binary, "serve")
	cmd.Env = append(os.Environ(), "HTTP_ADDR=127.0.0.1:0", "OPS_ADDR=127.0.0.1:0")
	cmd.Env = append(cmd.Env, f.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	born := make(chan error)
	f.births <- func() { born <- cmd.Start() }
	if err := <-born; err != nil {
		f.t.Fatal(err)
	}
	p.cmd, p.done, p.starts = cmd, make(chan struct{}), p.starts+1
	go func(done chan struct{}) {
		_ = cmd.Wait()
		_ = log.Close()
		close(done)
	}(p.done)
}

func (f *fleet) logFile(p *process) string {
	return filepath.Join(f.logs, fmt.Sprintf("process-%d.log", p.n))
}

func (f *fleet) signal(p *process, s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = p.cmd.Process.Signal(s)
	}
}

// kill ends one process as a power cut would, and starts it again.
func (f *fleet) kill(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signal(p, syscall.SIGKILL)
	<-p.done
	f.start(p)
}

// killAll ends all of them at once.
func (f *fleet) killAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.procs {
		f.signal(p, syscall.SIGKILL)
	}
	for _, p := range f.procs {
		<-p.done
	}
}

// startAll starts those that do not run.
func (f *fleet) startAll() { f.revive() }

// freeze stops one for a while, as a paused machine would, and lets it go on.
func (f *fleet) freeze(p *process, d time.Duration) {
	f.signal(p, syscall.SIGSTOP)
	time.Sleep(d)
	f.signal(p, syscall.SIGCONT)
}

// revive starts again what ended by itself, such as after a long outage of the database.
func (f *fleet) revive() (ended int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.procs {
		select {
		case <-p.done:
			ended++
			f.start(p)
		default:
		}
	}
	return ended
}

func (f *fleet) tail(bytes int64) string {
	var out string
	for _, p := range f.procs {
		b, _ := os.ReadFile(f.logFile(p))
		if int64(len(b)) > bytes {
			b = b[int64(len(b))-bytes:]
		}
		out += fmt.Sprintf("\n== process %d, %d starts\n%s", p.n, p.starts, b)
	}
	return out
}
