package supervise

import (
	"io"
	"os"
	"regexp"
	"time"

	"github.com/belay-run/belay/internal/supervise/stream"
)

// Supervisor starts processes. The zero value works and is what a library should use; see [Own].
type Supervisor struct {
	owner owner // nil in a library
}

// Disown undoes Own. No process may be running, nor be left running: as long as there is a child, its end is waited
// for in the way of an owner.
func (s *Supervisor) Disown() {
	if s.owner != nil {
		s.owner.disown()
		s.owner = nil
	}
}

// Spec says what to start and how to watch it.
type Spec struct {
	// Path is the executable, as [Look] found it. Args[0] is what the command sees as its own name.
	Path string
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the whole environment; nil means the caller's. The marker is added to it.
	Env []string
	// RunID marks the process and its descendants, see [RunIDVar]. Empty means no marker.
	RunID string

	// Stdin is handed over as it is; nil means the null device.
	Stdin *os.File
	// Stdout and Stderr: an *os.File is handed over as it is, unless Stall is set; any other writer is fed through
	// a pipe, one pipe if both are the same; nil means the null device. A write error closes that pipe, so that the
	// command gets what it would have got without us: SIGPIPE. Both may be called from different goroutines at the
	// same time, and neither after Run has returned. A writer that blocks holds the command up, and Run too.
	Stdout, Stderr io.Writer
	// InMemory says that both writers only keep what they are given, and never wait for anything: Run may call them on the calling goroutine.
	InMemory bool
	// StdoutEnd, if not nil, is called when a Stdout that is fed through a pipe has come to its end, which may be long
	// before the command's own: a server that has closed its output is of no use any more.
	StdoutEnd func()

	// Placement says where the process stands to the terminal and to our group.
	Placement Placement

	// Timeout is the hard deadline. Stall is how long it may give no sign of life: output, or [Process.Beat]. Linger is
	// how long it may stay after [Process.Delivered]. Zero means no such limit. Time spent suspended does not count.
	Timeout, Stall, Linger time.Duration
	// Ceilings are the limits on what the tree uses. A library finds of the tree what it finds of it when it stops it.
	Ceilings

	// Ladder is how it is stopped when a limit has passed; nil means [Terminate].
	Ladder Ladder
	// Daemons are patterns of the command lines of its own daemons, which it leaves running on purpose: they are neither ended nor in [Exit.Left]. One is
	// the command's own program, in a session of its own. What it has started is no daemon. None is known without /proc.
	Daemons []*regexp.Regexp
	// Outlives lets it come to its end if we are killed: it is not told.
	Outlives bool
}

// Placement says where a process stands to the terminal and to our process group.
type Placement int

const (
	// OwnGroup puts it in a process group of its own in our session. The default.
	OwnGroup Placement = iota
	// OwnSession makes it lead a session of its own, without a terminal: for headless agents.
	OwnSession
	// SharedGroup leaves it in our group: for a command in a pipeline on a terminal, where the shell's job
	// control and the kernel's Ctrl-C and Ctrl-Z must reach all of it alike.
	SharedGroup
	// Foreground gives it a group of its own and the terminal, as a shell does for a job. When it is suspended
	// (Ctrl-Z) we are too, and when we are continued so is it.
	Foreground
)

// streams are the streams that the command is to have.
func (s *Spec) streams() stream.Wanted {
	return stream.Wanted{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Watched: s.Stall > 0, InMemory: s.InMemory, StdoutEnd: s.StdoutEnd}
}

// environ is the environment of the command, with the mark of its run.
func (s *Spec) environ() []string {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	if s.RunID != "" {
		env = Mark(env, s.RunID)
	}
	return env
}
