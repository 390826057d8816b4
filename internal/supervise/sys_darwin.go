package supervise

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	fionread   = 0x4004667f // FIONREAD, which the unix package does not name here
	maxRSSUnit = 1
)

// inhibitor keeps the machine awake while cat runs, which passes on what it reads.
var inhibitor = []string{"caffeinate", "-i", "-s", "cat"}

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

// inBackground calls f, which changes the terminal. A process that does so from the background is stopped by SIGTTOU,
// unless it ignores it. It does so for this call only: the next child would inherit an ignored signal.
func inBackground(f func()) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	f()
}

func openPipe() (r, w *os.File, err error) { return os.Pipe() }

// owner does not exist here: the system cannot make a process the reaper of its descendants.
type owner struct{}

func (o *owner) launch(*Process) error      { return nil }
func (o *owner) await(*Process)             {}
func (*owner) hasOnlyRoots() bool           { return false }
func (o *owner) settled(time.Duration) bool { return true }

func (p *Process) reapLock() *sync.Mutex  { return &p.mu }
func (p *Process) inherits(Proc) bool     { return false }
func (p *Process) ofAnotherRun(Proc) bool { return false }
func (p *Process) keepLeftovers()         {}

// Own returns a Supervisor that works as the zero value does: this system has no reaper of descendants.
func Own() *Supervisor { return &Supervisor{} }

// Disown undoes Own.
func (s *Supervisor) Disown() {}

// dropDeathSignal reports false: there is no such signal.
func dropDeathSignal(*syscall.SysProcAttr) bool { return false }
