package trial_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"

	"github.com/jackc/pgx/v5"
)

// long trials are left out of a short run; they take turns, as each loads the machine.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a trial under load: run without -short")
	}
}

func TestPostgresKilledUnderLoad(t *testing.T) {
	long(t)
	dir := dbtest.ServerDir(t)
	server := start(t, dir)
	l := newLoad(t, server.URL, server.URL)
	for range 2 {
		l.accept(150, 30*time.Second)
		if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-server.Done()
		server.Stop()
		server = start(t, dir)
	}
	l.accept(150, 30*time.Second)
	l.check()
	server.Stop()
}

// Longer than the leases: what ran before the freeze is fenced after it.
func TestPostgresFrozenUnderLoad(t *testing.T) {
	long(t)
	server := start(t, dbtest.ServerDir(t))
	l := newLoad(t, server.URL, server.URL)
	l.accept(150, 30*time.Second)
	signalAll(t, server.PID(), syscall.SIGSTOP)
	time.Sleep(8 * time.Second)
	signalAll(t, server.PID(), syscall.SIGCONT)
	l.accept(150, 60*time.Second)
	l.check()
	server.Stop()
}

// signalAll reaches the postmaster and all its backends.
func signalAll(t *testing.T, postmaster int, sig syscall.Signal) {
	t.Helper()
	pids := []int{postmaster}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// pid (name) state ppid …; the name may hold anything but ends at the last bracket.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(postmaster) {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}

func TestDiskFullUnderLoad(t *testing.T) {
	long(t)
	dir := dbtest.ServerDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=160m,mode=0755"); err != nil {
		t.Skipf("needs to mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	settings := []string{"max_wal_size=32MB", "min_wal_size=32MB", "wal_recycle=off"}
	server := start(t, dir, settings...)
	l := newLoad(t, server.URL, server.URL)
	l.accept(150, 30*time.Second)
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	before := l.refused.Load()
	for deadline := time.Now().Add(60 * time.Second); l.refused.Load() < before+20 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		fill(t, filler) // what a checkpoint frees is taken again
	}
	if l.refused.Load() == before {
		t.Error("nothing was refused: the disk was never full")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	select {
	case <-server.Done(): // it could not even write its log of changes
		t.Log("the server gave up and is started again")
		server.Stop()
		server = start(t, dir, settings...)
	case <-time.After(3 * time.Second):
	}
	l.accept(150, 60*time.Second)
	l.check()
	server.Stop()
}

func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, size := range []int{1 << 20, 4 << 10} {
		block := make([]byte, size)
		for {
			if _, err := f.Write(block); err != nil {
				break
			}
		}
	}
}

const (
	standbyReadySQL = `
SELECT count(*)
  FROM pg_stat_replication
 WHERE sync_state = 'sync'`

	promoteSQL = `
SELECT pg_promote(true, 30)`
)

// The primary dies under load and its synchronous standby is promoted; the
// program knows both addresses and writes to whichever is the primary.
func TestFailoverToAPromotedStandbyUnderLoad(t *testing.T) {
	long(t)
	one, two := dbtest.ServerDir(t), dbtest.ServerDir(t)
	primary := start(t, one)
	if out, err := exec.Command(filepath.Join(primary.Bin, "pg_basebackup"), "-d", primary.URL, "-D", filepath.Join(two, "data"),
		"-R", "-X", "stream", "--checkpoint=fast").CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	ownAs(t, filepath.Join(one, "data"), filepath.Join(two, "data"))
	standby := start(t, two)
	query(t, primary.URL, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	query(t, primary.URL, "SELECT pg_reload_conf()")
	waitFor(t, primary.URL, standbyReadySQL)

	both := fmt.Sprintf("host=%s,%s port=5432,5432 user=postgres dbname=postgres sslmode=disable target_session_attrs=read-write connect_timeout=2",
		filepath.Join(one, "run"), filepath.Join(two, "run"))
	l := newLoad(t, both, both)
	l.accept(300, 30*time.Second)
	if err := syscall.Kill(primary.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-primary.Done()
	query(t, standby.URL, promoteSQL)
	l.accept(300, 60*time.Second)
	l.check()
	primary.Stop()
	standby.Stop()
}

func ownAs(t *testing.T, like, dir string) {
	t.Helper()
	info, err := os.Stat(like)
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("needs owners of files")
	}
	err = filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, int(owner.Uid), int(owner.Gid))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func query(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func waitFor(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for range 300 {
		var n int
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("timed out: %s", sql)
}

// Everything runs behind pgbouncer in transaction mode, with a pool smaller
// than the program's own, so that transactions change backends all the time.
func TestBehindAPoolerInTransactionMode(t *testing.T) {
	long(t)
	bouncer, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bouncer = "/usr/sbin/pgbouncer"; !exists(bouncer) {
			t.Skip("pgbouncer is not installed")
		}
	}
	server := start(t, dbtest.ServerDir(t))
	dir := dbtest.ServerDir(t)
	config := fmt.Sprintf(`[databases]
postgres = host=%s port=5432 user=postgres
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
listen_addr =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = extra_float_digits
logfile = %s
`, socketOf(server.URL), dir, filepath.Join(dir, "log"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ownAs(t, filepath.Dir(socketOf(server.URL))+"/data", dir)
	cmd := exec.Command(bouncer, file)
	if os.Getuid() == 0 {
		info, err := os.Stat(filepath.Join(dir, "pgbouncer.ini"))
		if err != nil {
			t.Fatal(err)
		}
		owner := info.Sys().(*syscall.Stat_t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		if exists(filepath.Join(dir, ".s.PGSQL.6432")) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l := newLoad(t, fmt.Sprintf("host=%s port=6432 user=postgres dbname=postgres sslmode=disable", dir), server.URL)
	l.accept(500, 2*time.Minute)
	l.check()
	if got := l.text(archivedSQL); got != "nothing" {
		t.Errorf("archived behind a pooler: %s", got)
	}
	server.Stop()
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// socketOf is the host of a key=value address.
func socketOf(url string) string {
	fields := strings.Fields(url)
	i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "host=") })
	return strings.TrimPrefix(fields[i], "host=")
}
