package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// handle is a pidfd: no other process can inherit it, as it can a pid.
type handle = int

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	p.handle = -1
	sys := &syscall.SysProcAttr{
		// If we are killed, the child learns of it. SIGTERM, so that it can end its own children; what is left is
		// found by the next start.
		Pdeathsig: syscall.SIGTERM,
		PidFD:     &p.handle,
	}
	switch p.spec.Placement {
	case OwnSession:
		sys.Setsid = true
	case OwnGroup, Foreground:
		sys.Setpgid = true
	}
	return sys
}

// signalRoot signals the command itself, and nothing once it is gone.
func (p *Process) signalRoot(sig syscall.Signal) {
	p.handleMu.Lock()
	defer p.handleMu.Unlock()
	if p.handle >= 0 {
		unix.PidfdSendSignal(p.handle, sig, nil, 0)
	}
}

// letGo closes the handle.
func (p *Process) letGo() {
	p.handleMu.Lock()
	defer p.handleMu.Unlock()
	if p.handle >= 0 {
		unix.Close(p.handle)
		p.handle = -1
	}
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
