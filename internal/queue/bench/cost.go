package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cost is what the server and this process have used so far.
type cost struct {
	at     time.Time
	server float64 // CPU seconds of the postmaster and its children
	self   float64
	xacts  int64
	wal    int64
}

// snap reads the counters of the whole cluster; call it on a quiet server.
func snap(ctx context.Context, s settings) cost {
	time.Sleep(1200 * time.Millisecond) // statistics arrive with up to a second's delay
	conn := get(pgx.Connect(ctx, s.dsn))
	defer conn.Close(ctx)
	var c cost
	var dir string
	must(conn.QueryRow(ctx, `SELECT sum(xact_commit), (SELECT pg_current_wal_lsn() - '0/0'), current_setting('data_directory')
		FROM pg_stat_database WHERE datname LIKE 'bench%'`).Scan(&c.xacts, &c.wal, &dir))
	c.at, c.server = time.Now(), serverCPU(dir)
	var ru syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &ru))
	c.self = float64(ru.Utime.Sec+ru.Stime.Sec) + float64(ru.Utime.Usec+ru.Stime.Usec)/1e6
	return c
}

func serverCPU(dir string) float64 {
	pid, _, _ := strings.Cut(string(get(os.ReadFile(filepath.Join(dir, "postmaster.pid")))), "\n")
	own, reaped, _ := procCPU(pid)
	total := own + reaped
	for _, stat := range get(filepath.Glob("/proc/[0-9]*/stat")) {
		child := filepath.Base(filepath.Dir(stat))
		if used, _, parent := procCPU(child); parent == pid {
			total += used
		}
	}
	return total
}

// procCPU returns a process's CPU seconds, those of its reaped children, and its parent.
func procCPU(pid string) (own, children float64, parent string) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0, ""
	}
	text := string(b)
	f := strings.Fields(text[strings.LastIndex(text, ")")+2:])
	n := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v / 100 }
	return n(11) + n(12), n(13) + n(14), f[1]
}

func report(name string, n int, wall time.Duration, a, b cost) {
	jobs := float64(n)
	fmt.Printf("%-46s %7d jobs %8.0f/s  CPU %5.1f µs/job (server %5.1f, client %5.1f)  %6.4f tx/job  %4.0f B WAL/job\n",
		name, n, jobs/wall.Seconds(), (b.server-a.server+b.self-a.self)/jobs*1e6, (b.server-a.server)/jobs*1e6,
		(b.self-a.self)/jobs*1e6, float64(b.xacts-a.xacts)/jobs, float64(b.wal-a.wal)/jobs)
}

func percentiles(d []time.Duration) string {
	if len(d) == 0 {
		return "no samples"
	}
	slices.Sort(d)
	at := func(p float64) time.Duration { return d[int(p*float64(len(d)-1))].Round(10 * time.Microsecond) }
	return fmt.Sprintf("n=%d p50=%v p95=%v p99=%v max=%v", len(d), at(.5), at(.95), at(.99), at(1))
}
