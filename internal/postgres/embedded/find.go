package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

const oldestMajor = 14

// places are where packages put the server's programs.
func places() []string {
	return []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	}
}

// find gives the directory with the newest binaries, of that major version
// when one is named (a data directory starts only with its own).
func find(ctx context.Context, major string) (string, error) {
	var dirs []string
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	for _, g := range places() {
		m, _ := filepath.Glob(g)
		dirs = append(dirs, m...)
	}
	best, bestVersion := "", oldestMajor-1
	for _, d := range dirs {
		v, ok := version(ctx, d)
		if !ok {
			continue
		}
		if strconv.Itoa(v) == major {
			return d, nil
		}
		if major == "" && v > bestVersion {
			best, bestVersion = d, v
		}
	}
	switch {
	case best != "":
		return best, nil
	case major != "":
		return "", fmt.Errorf("the data directory was made by PostgreSQL %s, which is not installed here: install it, or use another DATA_DIR", major)
	}
	return "", ErrNoPostgres
}

// version asks the postgres in dir for its major version; false when dir does
// not hold a whole server.
func version(ctx context.Context, dir string) (int, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0, false
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, false
	}
	m := regexp.MustCompile(`\(PostgreSQL\) (\d+)`).FindSubmatch(out)
	if m == nil {
		return 0, false
	}
	v, err := strconv.Atoi(string(m[1]))
	return v, err == nil
}
