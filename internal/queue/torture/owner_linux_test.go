package torture_test

import (
	"os/exec"
	"syscall"
)

// dieWithTest makes a killed test leave no orphans. The thread that starts cmd must outlive it.
func dieWithTest(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
