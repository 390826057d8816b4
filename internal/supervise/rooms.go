package supervise

import (
	"os"
	"time"

	"github.com/belay-run/belay/internal/supervise/ceiling"
	"github.com/belay-run/belay/internal/supervise/detach"
	"github.com/belay-run/belay/internal/supervise/executable"
	"github.com/belay-run/belay/internal/supervise/proctable"
	"github.com/belay-run/belay/internal/supervise/runrecord"
	"github.com/belay-run/belay/internal/supervise/stream"
	"github.com/belay-run/belay/internal/supervise/terminal"
)

// What other packages use of the rooms. They import supervise alone.

// Of the table of processes.
type (
	// Proc is one process of the system.
	Proc = proctable.Proc
	// Owner names the process that supervises a run.
	Owner = proctable.Owner
)

// RunIDVar is the environment variable that marks the descendants of a run.
const RunIDVar = proctable.RunIDVar

// The endings of ids within a run.
const (
	CheckPart = proctable.CheckPart
	SetupPart = proctable.SetupPart
)

// Mark returns env with id added to the marker.
func Mark(env []string, id string) []string { return proctable.Mark(env, id) }

// Self is this process as an owner.
func Self() (Owner, error) { return proctable.Self() }

// Of the records of runs.
type (
	// Records is a directory with the records of the runs under way.
	Records = runrecord.Records
	// Record tells others of a run.
	Record = runrecord.Record
	// Rows are the records of many short runs of one owner.
	Rows = runrecord.Rows
	// StopRequest says who asks a run to stop.
	StopRequest = runrecord.StopRequest
)

// The states of a run.
const (
	StateRunning = runrecord.StateRunning
	StateWaiting = runrecord.StateWaiting
	StateKilled  = runrecord.StateKilled
)

// RequestNames are how the names of requests to stop begin, or after a * end.
func RequestNames() []string { return runrecord.RequestNames() }

// Tail is a writer that keeps the last [MaxTail] bytes of what is written to it.
type Tail = stream.Tail

// MaxTail is how much a [Tail] keeps.
const MaxTail = stream.MaxTail

// Ceilings are the limits on what a tree uses.
type Ceilings = ceiling.Limits

// Excess is what a tree had too much of when it was ended for that.
type Excess = ceiling.Excess

// FreeDisk is how many bytes are free on the fullest of the disks that can be asked, beside how many must be.
func FreeDisk(disks []string, limit int64) Excess { return ceiling.FreeDisk(disks, limit) }

// Detach starts a program that goes on without us: in a session of its own, with nothing to read or write, in the root
// directory, and without the mark of a run, so that it is not taken for what a run has left. It is not waited for.
func Detach(path string, args []string) error { return detach.Start(path, args) }

// DetachFor does the same, waits for the program, and kills it if it takes longer. It is for a process that will start a command next: what
// is still there then cannot be told from what the command leaves running.
func DetachFor(limit time.Duration, path string, args []string) error {
	return detach.For(limit, path, args)
}

// DetachWith starts a program that goes on without us: in a session of its own, with these three streams, in our directory and our environment. Within a run it
// belongs to that run, as all that is started there. The caller waits for it, or does not.
func DetachWith(path string, args []string, stdin, stdout, stderr *os.File) (*os.Process, error) {
	return detach.With(path, args, stdin, stdout, stderr)
}

// Launched is what has become of a program that was launched.
type Launched = detach.Launched

// Launch runs a short program that starts what goes on without us, such as a detached batch: in a directory, in a session of its own, with nothing to read and
// without the mark of a run. What it leaves running is left alone. If it takes longer than the limit, it is killed.
func Launch(limit time.Duration, dir, path string, args []string) (Launched, error) {
	return detach.Launch(limit, dir, path, args)
}

// KeepAwake keeps the machine from going to sleep until this process ends, in whatever way.
func KeepAwake() error { return detach.KeepAwake() }

// Look finds the executable for name, as a shell would: on PATH, or as a path, relative to dir if that is set.
// The error is an [os.ErrNotExist] if there is none, an [os.ErrPermission] if what is there may not be executed.
func Look(name, dir string) (string, error) { return executable.Look(name, dir) }

// CheckArgs reports, before anything is started, what the system would surely refuse as too long.
func CheckArgs(args, env []string) error { return executable.CheckArgs(args, env) }

// Shell is the command that runs a line of the user's in a shell.
func Shell(line string) []string { return executable.Shell(line) }

// TerminalPlacement says where a command that the user has typed belongs, so that all works for it as it would without
// us: alone in front of a terminal as the foreground job; else in our own group. Where we share that with others (a
// pipeline, a script), taking the terminal would take it away from them; and a signal that kills a whole group, as CI
// sends, is meant for the command too.
func TerminalPlacement() Placement {
	if terminal.LedByUs() {
		return Foreground
	}
	return SharedGroup
}

// SharesTerminal reports whether we are in the foreground group of a terminal: then the kernel sends Ctrl-C to us and
// to a command in our group alike.
func SharesTerminal() bool { return terminal.Shared() }

// EarlyInterrupts reports how many interrupts of the terminal came to us before a child had it, and were passed on; and whether one that comes now will be.
func EarlyInterrupts() (passed int, expected bool) { return terminal.EarlyInterrupts() }

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return terminal.IsTerminal(f) }

// ReaderGone reports whether f is a pipe or a socket without a reader.
func ReaderGone(f *os.File) bool { return terminal.ReaderGone(f) }
