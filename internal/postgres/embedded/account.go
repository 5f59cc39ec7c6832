package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the account that the server runs as; zero is the current one.
type owner struct {
	uid, gid int
	userns   bool // stay root outside, appear as uid inside: for folders that only root can reach
}

func (o owner) String() string {
	switch {
	case o.uid == 0:
		return "the current user"
	case o.userns:
		return fmt.Sprintf("uid %d in a user namespace", o.uid)
	}
	return fmt.Sprintf("uid %d", o.uid)
}

func (o owner) chown(path string) error {
	if o.uid == 0 || o.userns {
		return nil
	}
	return os.Chown(path, o.uid, o.gid)
}

// runAs picks the account: PostgreSQL refuses to run as root. A cluster that
// is already there keeps its owner.
func runAs(dir, data string) (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	o, err := lookup("postgres", "nobody")
	if err != nil {
		return o, err
	}
	if fi, err := os.Stat(data); err == nil {
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			o.userns = st.Uid == 0
			if !o.userns {
				o.uid, o.gid = int(st.Uid), int(st.Gid)
			}
			return o, nil
		}
	}
	for p := dir; p != "/"; p = filepath.Dir(p) { // can it reach the folder? /root is usually 0700
		if fi, err := os.Stat(p); err != nil || fi.Mode()&1 == 0 {
			o.userns = true
		}
	}
	return o, nil
}

func lookup(names ...string) (owner, error) {
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if errU == nil && errG == nil && uid != 0 {
			return owner{uid: uid, gid: gid}, nil
		}
	}
	return owner{}, errors.New("running as root, and no account 'postgres' or 'nobody' to drop to: PostgreSQL refuses to run as root")
}
