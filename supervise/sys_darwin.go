package supervise

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// handle is nothing more than the pid here.
type handle = int

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

func (p *Process) signalRoot(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		syscall.Kill(p.pid, sig)
	}
}

func (p *Process) letGo() {}

func openPipe() (r, w *os.File, err error) { return os.Pipe() }

// owner does not exist here: the system cannot make a process the reaper of its descendants.
type owner struct{}

func (o *owner) launch(*Process) error       { return nil }
func (o *owner) await(*Process)              {}
func (o *owner) shared() bool                { return false }
func (o *owner) settled(time.Duration) bool  { return true }
func (o *owner) descendants(*Process) []Proc { return nil }

// Own returns a Supervisor that works as the zero value does: this system has no reaper of descendants.
func Own() *Supervisor { return &Supervisor{} }

// Disown undoes Own.
func (s *Supervisor) Disown() {}
