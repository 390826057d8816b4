package supervise

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

const maxRSSUnit = 1024

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{
		// If we are killed, the child learns of it. SIGTERM, so that it can end its own children; what is left is
		// found by the next start.
		Pdeathsig: syscall.SIGTERM,
	}
	if p.spec.Outlives {
		sys.Pdeathsig = 0
	}
	if p.streams.Inline() {
		sys.PidFD = &p.pidfd
	}
	switch p.spec.Placement {
	case OwnSession:
		sys.Setsid = true
	case OwnGroup, Foreground:
		sys.Setpgid = true
	}
	return sys
}

// dropDeathSignal does without the signal that a child gets when we are killed, and reports whether it was asked for: some sandboxes let no process
// call prctl, and the command would not start at all.
func dropDeathSignal(sys *syscall.SysProcAttr) bool {
	asked := sys.Pdeathsig != 0
	sys.Pdeathsig = 0
	return asked
}

// awaitUnreaped waits until the child has ended, and does not reap it. False means that something else is the case: it
// has stopped, if options ask for that, or it is not our child.
func awaitUnreaped(pid, options int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
		if !errors.Is(err, unix.EINTR) {
			const stopped = 5 // CLD_STOPPED
			return err == nil && info.Code != stopped
		}
	}
}
