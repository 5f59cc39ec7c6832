package embedded

import "syscall"

// attr: Setpgid keeps a terminal's Ctrl-C from the server, so that the program
// can drain first; Pdeathsig stops it (fast shutdown) when the program is killed.
func (o owner) attr() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	switch {
	case o.userns:
		a.Cloneflags = syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: o.uid, HostID: 0, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: o.gid, HostID: 0, Size: 1}}
	case o.uid != 0:
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return a
}
