package supervise

import (
	"syscall"
	"time"
)

// Reason says why a process ended.
type Reason int

const (
	// Exited: by itself, or by a signal that is not ours.
	Exited Reason = iota
	// Deadline: Spec.Timeout had passed.
	Deadline
	// Stalled: Spec.Stall had passed without a sign of life.
	Stalled
	// Lingered: it had delivered and did not leave within Spec.Linger.
	Lingered
	// Stopped: by [Process.Stop].
	Stopped
	// Exceeded: its tree used more memory, or left less of a disk free, than it may; see Exit.Excess.
	Exceeded
)

func (r Reason) String() string {
	return [...]string{"exited", "deadline", "stalled", "lingered", "stopped", "exceeded"}[r]
}

// Exit says how a command ended and what became of its tree.
type Exit struct {
	Code   int            // exit code; -1 if a signal ended it, or if other code has taken its status
	Signal syscall.Signal // the signal that ended it, else 0
	Reason Reason

	Started  time.Time
	Duration time.Duration
	CPU      time.Duration // used by it and by the children it waited for

	Excess *Excess // Exceeded only
	// Peak is the most memory that the command, or one of the descendants that were waited for, has had: of the largest of them alone. TreePeak is that of all of
	// them together, as far as it was seen, and 0 if there was no Spec.MaxMemory. Both are in bytes; 0 means that it is not known.
	Peak, TreePeak int64

	// Left are descendants that still run. After an exit by itself they are left alone ([Process.EndTree] ends
	// them); after a stop they are those that could not be ended.
	Left []Proc
	// Killed is how many descendants had to be ended after the command itself was gone.
	Killed int
}

// ShellCode is the code a shell would show: the exit code, or 128 + the signal's number. An unknown one is 125, as of
// all programs that run others: it was not the command that failed.
func (e Exit) ShellCode() int {
	switch {
	case e.Signal != 0:
		return 128 + int(e.Signal)
	case e.Code < 0:
		return 125
	}
	return e.Code
}
