// Package embedded runs a private PostgreSQL server as a supervised child
// process: for the demo, for tests and for small installations. It finds the
// binaries that are installed, keeps its data under one directory, listens on
// a unix socket only, and survives kill -9 of either side. It never downloads
// anything and never touches a data directory of another major version.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Errors that a person can mend.
var (
	ErrInUse      = errors.New("another process holds this data directory")
	ErrNoPostgres = errors.New("no PostgreSQL 14 or newer found: install it (Debian: apt-get install postgresql; macOS: brew install postgresql), or set DATABASE_URL")
)

const (
	startPatience = 10 * time.Second // zombies and dying backends of a killed server hold the cluster for a moment
	stopPatience  = 15 * time.Second // per signal
	maxSocketPath = 85               // sun_path is 104 bytes on macOS, 108 on Linux
)

// Server is a running private server.
type Server struct {
	// URL connects to it as a key=value string.
	URL string
	// Bin is the directory of the binaries in use.
	Bin string

	cmd  *exec.Cmd
	lock *os.File
	done chan struct{} // closed when the postmaster has exited
}

// cluster is one data directory with all that is needed to work on it.
type cluster struct {
	dir, data, initDir, socket string
	bin                        string
	owner                      owner
	log                        *os.File
}

// Start brings up a server whose whole state lives under dir; settings are
// further name=value pairs. It returns ErrInUse when another process runs on
// dir, and ErrNoPostgres when no binaries are installed.
func Start(ctx context.Context, dir string, settings ...string) (_ *Server, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o755); err != nil { // 0755: the account that we drop to has to traverse it
		return nil, fmt.Errorf("data directory: %w", err)
	}
	s := &Server{}
	if s.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	c, err := openCluster(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.log.Close() }()
	s.Bin = c.bin

	// Pdeathsig is tied to the forking thread: keep it for initdb and pg_ctl.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.stopOrphan(); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if err := s.launchPatiently(ctx, c, settings); err != nil {
		return nil, err
	}
	s.URL = connString(c.socket)
	return s, nil
}

// lockDir makes sure that two programs never share one directory.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = f.Close()
		return nil, ErrInUse
	}
	return f, nil
}

// socketDir is where the server of a directory listens: in it, but for paths
// that are too long for a socket.
func socketDir(dir string) string {
	socket := filepath.Join(dir, "run")
	if len(socket) > maxSocketPath {
		socket = fmt.Sprintf("/tmp/postonce-%d-%08x", os.Getuid(), crc32.ChecksumIEEE([]byte(dir)))
	}
	return socket
}

func connString(socket string) string {
	return "host=" + socket + " port=5432 user=postgres dbname=postgres sslmode=disable"
}

func openCluster(ctx context.Context, dir string) (*cluster, error) {
	c := &cluster{
		dir:     dir,
		data:    filepath.Join(dir, "data"),
		initDir: filepath.Join(dir, "init"),
		socket:  socketDir(dir),
	}
	var err error
	if c.owner, err = runAs(dir, c.data); err != nil {
		return nil, err
	}
	have, _ := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if c.bin, err = find(ctx, strings.TrimSpace(string(have))); err != nil {
		return nil, err
	}
	c.log, err = os.OpenFile(filepath.Join(dir, "postgres.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return c, nil
}

// tool prepares one of the server's programs with a clean environment, under
// the cluster's account.
func (c *cluster) tool(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...) //nolint:noctx // a server outlives the call that starts it
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.socket, c.log, c.log
	// Nothing that PG* or LC_* variables of the caller could change.
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = c.owner.attr()
	return cmd
}

func (c *cluster) fail(what string, err error) error {
	b, _ := os.ReadFile(c.log.Name())
	const tail = 600
	if len(b) > tail {
		b = b[len(b)-tail:]
	}
	return fmt.Errorf("private postgres: %s as %s in %s: %w\n%s", what, c.owner, c.dir, err, b)
}

// stopOrphan ends a server whose parent was killed where the kernel offers no
// death signal.
func (c *cluster) stopOrphan() error {
	conn, err := net.Dial("unix", filepath.Join(c.socket, ".s.PGSQL.5432")) //nolint:noctx // a local socket answers at once
	if err != nil {
		return nil //nolint:nilerr // nobody listens: there is no orphan
	}
	_ = conn.Close()
	if err := c.tool("pg_ctl", "stop", "-w", "-m", "fast", "-D", c.data).Run(); err != nil {
		return c.fail("stopping an orphan", err)
	}
	return nil
}

// prepare makes the socket folder anew and, on a new directory, the cluster:
// beside its place and then renamed, so that a killed initdb never leaves half
// of one.
func (c *cluster) prepare() error {
	for _, d := range []string{c.socket, c.initDir} {
		if err := c.remake(d); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		return nil
	}
	ctype := "C.UTF-8" // plain C would not fold Cyrillic case
	if runtime.GOOS == "darwin" {
		ctype = "en_US.UTF-8"
	}
	initdb := c.tool("initdb", "-D", c.initDir, "-U", "postgres", "--auth=trust", "-E", "UTF8",
		"--locale=C", "--lc-ctype="+ctype, "--data-checksums")
	if err := initdb.Run(); err != nil {
		return c.fail("initdb", err)
	}
	return os.Rename(c.initDir, c.data)
}

func (c *cluster) remake(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return c.owner.chown(dir)
}

// launchPatiently starts the postmaster, again for a moment while remains of a
// killed one still hold the cluster.
func (s *Server) launchPatiently(ctx context.Context, c *cluster, settings []string) error {
	args := []string{
		"-D", c.data, "-k", c.socket,
		"-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "max_connections=100",
	}
	for _, p := range settings {
		args = append(args, "-c", p)
	}
	for deadline := time.Now().Add(startPatience); ; time.Sleep(100 * time.Millisecond) {
		err := s.launch(ctx, c.tool("postgres", args...), filepath.Join(c.data, "postmaster.pid"))
		if err == nil {
			return nil
		}
		err = c.fail("postgres", err)
		held := strings.Contains(err.Error(), `postmaster.pid" already exists`) || strings.Contains(err.Error(), "still in use")
		if !held || time.Now().After(deadline) {
			return err
		}
	}
}

// launch starts the postmaster and waits until it takes connections.
func (s *Server) launch(ctx context.Context, c *exec.Cmd, pidFile string) error {
	started, done := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig fires when the forking thread ends: pin one for the child's whole life.
		runtime.LockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.cmd, s.done = c, done
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ready(pidFile, c.Process.Pid) {
		select {
		case <-done:
			return errors.New(c.ProcessState.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// ready reads line 8 of postmaster.pid, which turns "ready" once connections
// are taken (PostgreSQL 10 and newer).
func ready(pidFile string, pid int) bool {
	b, err := os.ReadFile(pidFile)
	if err != nil {
		return false
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) <= 7 || lines[0] != fmt.Sprint(pid) {
		return false
	}
	status := strings.TrimSpace(lines[7])
	return status == "ready" || status == "standby" // a standby takes readers
}

// Done is closed when the server has exited, asked for or not.
func (s *Server) Done() <-chan struct{} { return s.done }

// PID is the postmaster's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop shuts the server down: fast, then immediate, then by SIGKILL.
func (s *Server) Stop() {
	defer func() { _ = s.lock.Close() }()
	if s.cmd == nil {
		return
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		_ = s.cmd.Process.Signal(sig)
		select {
		case <-s.done:
			return
		case <-time.After(stopPatience):
		}
	}
}

// InUse reports whether some process holds dir.
func InUse(dir string) bool {
	f, err := lockDir(dir)
	if err != nil {
		return true
	}
	_ = f.Close()
	return false
}
