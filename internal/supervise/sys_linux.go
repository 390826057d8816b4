package supervise

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
	fionread   = unix.TIOCINQ
	maxRSSUnit = 1024
)

// inhibitor keeps the machine awake while cat runs, which passes on what it reads.
var inhibitor = []string{"systemd-inhibit", "--what=idle:sleep", "--who=belay", "--why=runs are under way", "--mode=block", "cat"}

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{
		// If we are killed, the child learns of it. SIGTERM, so that it can end its own children; what is left is
		// found by the next start.
		Pdeathsig: syscall.SIGTERM,
	}
	if slices.ContainsFunc(p.streams.pumps, func(u *pump) bool { return u.inline }) {
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

// inBackground calls f, which changes the terminal. A process that does so from the background is stopped by SIGTTOU,
// unless the thread blocks it; nothing that a child could inherit is changed.
func inBackground(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ttou, before unix.Sigset_t
	ttou.Val[0] = 1 << (unix.SIGTTOU - 1)
	unix.PthreadSigmask(unix.SIG_BLOCK, &ttou, &before)
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	f()
}

// openPipe returns a pipe whose read end we can wait on with a deadline, and whose write end is an ordinary
// blocking one for the child.
func openPipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	unix.SetNonblock(fd[0], true)
	// Fewer and larger reads; refused to users with many pipes, and that is fine.
	unix.FcntlInt(uintptr(fd[0]), unix.F_SETPIPE_SZ, pumpBuffer)
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}
