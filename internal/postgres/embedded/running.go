package embedded

import (
	"net"
	"path/filepath"
)

// Running returns how to reach the server that another process runs on dir,
// and whether one does: for commands beside a running program.
func Running(dir string) (url string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	socket := socketDir(dir)
	conn, err := net.Dial("unix", filepath.Join(socket, ".s.PGSQL.5432")) //nolint:noctx // a local socket answers at once
	if err != nil {
		return "", false
	}
	_ = conn.Close()
	return connString(socket), true
}
