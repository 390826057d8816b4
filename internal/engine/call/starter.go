package call

import (
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// Starter starts processes. [Supervised] starts real ones; tests may script them.
type Starter interface {
	// Look finds the executable of a command.
	Look(name, dir string) (path string, err error)
	// Run starts a process and waits for its end, as [supervise.Supervisor.Run] does.
	Run(spec supervise.Spec, started func(Process)) (supervise.Exit, error)
}

// Process is a running command, as [supervise.Process] is one.
type Process interface {
	PID() int
	Signal(syscall.Signal)
	Stop(supervise.Ladder)
	Kill()
	// EndTree ends what an exited command has left running.
	EndTree() (killed int, left []supervise.Proc)
	// SetStall changes how long it may show no life.
	SetStall(stall time.Duration)
	// Delivered says that its result is there, so that it is about to leave; Working takes that back.
	Delivered()
	Working()
}

// Supervised starts real processes. A nil Supervisor is the library's way, see [supervise.Own].
type Supervised struct{ *supervise.Supervisor }

// Look implements [Starter].
func (Supervised) Look(name, dir string) (string, error) { return supervise.Look(name, dir) }

// Run implements [Starter].
func (s Supervised) Run(spec supervise.Spec, started func(Process)) (supervise.Exit, error) {
	supervisor := s.Supervisor
	if supervisor == nil {
		supervisor = &supervise.Supervisor{}
	}
	return supervisor.Run(spec, func(p *supervise.Process) { started(p) })
}
