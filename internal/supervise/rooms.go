package supervise

import (
	"os"

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
