package fleettest

import (
	"os/exec"
	"syscall"
)

// endsWithUs has a process end when the thread that starts it does.
func endsWithUs(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT }
