package supervise

import (
	"syscall"
)

const maxRSSUnit = 1

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{}
	switch p.spec.Placement {
	case OwnSession:
		sys.Setsid = true
	case OwnGroup, Foreground:
		sys.Setpgid = true
	}
	return sys
}

// awaitUnreaped waits for nothing here: the child is reaped as soon as it ends.
func awaitUnreaped(pid, options int) bool { return false }

// Own returns a Supervisor that works as the zero value does: this system has no reaper of descendants.
func Own() *Supervisor { return &Supervisor{} }

// dropDeathSignal reports false: there is no such signal.
func dropDeathSignal(*syscall.SysProcAttr) bool { return false }
