// Package supervise starts a command, watches it, and leaves nothing of it behind.
//
// A [Spec] says what to start and which limits hold: a hard deadline, a stall limit (no sign of life), and how
// long it may linger after it has delivered. [Supervisor.Run] runs it, without a shell, and returns how it ended as an
// [Exit]; meanwhile a [Process] is the handle for others to stop or signal it.
//
// Stopping a command means stopping its whole tree. A [Ladder] says which signals the command itself gets and how
// long it may take over each; whatever descendant is left then is ended too, also one that has left the process
// group or the session. How well that can be proved depends on the Supervisor:
//
//   - The zero [Supervisor] is for libraries. It changes nothing of the process it runs in: it signals the group
//     and walks the process table, finding strays by their parents and by two marks: [RunIDVar] in their environment,
//     and on Linux a limit (see limitMarkOf) that is set once the command has started. It cannot adopt orphans. A
//     descendant whose parent had ended before the stop, that leads a session of its own, and has lost its environment
//     and its limits or was started before the mark, is not found, and lives on.
//   - [Own] is for a program that owns its process, on Linux. It becomes the reaper of all orphaned descendants and
//     does all waiting in one place, so that the kernel's "no children left" (ECHILD) is the proof. A program that
//     has called Own must not start processes in any other way: their exit statuses would be taken away, and they
//     would be taken for a part of what runs.
//
// An owner finds orphans that show nothing of where they come from, because they become its children. If several of its
// runs were under way when one appeared, it is left alone until the last of them has ended: it is ended if that one
// was stopped, and reported in its [Exit] if it ended by itself. What a run that ended by itself has left running is not
// touched when a later one is stopped. Neither are children that the process had before its first run, nor an orphan that one
// of those may have left.
//
// [Records] of the runs under way let a later start find what a killed one left behind ([Records.Reclaim]).
//
// On macOS the tree is found by its group and by parent; on Windows a job object holds it.
package supervise

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Supervisor starts processes. The zero value works and is what a library should use; see [Own].
type Supervisor struct {
	owner *owner
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
	// MaxMemory is how many bytes of memory the tree may use, MinFree how many must stay free on the file systems that Disks are on. Zero means no such
	// limit. A library finds of the tree what it finds of it when it stops it.
	MaxMemory, MinFree int64
	Disks              []string
	// Using, if not nil, is told how much memory the tree uses, at each look, if there is a MaxMemory. It reports whether the tree is spared though that is more.
	Using func(bytes int64) (spared bool)

	// Ladder is how it is stopped when a limit has passed; nil means [Terminate].
	Ladder Ladder
}

// Run starts the command and waits for its end, on the calling goroutine. started, if not nil, is called once the
// process runs, with the handle that stops and signals it. The error is nil if and only if a process has
// run; it says what the system had against it in terms of [errors.Is].
func (s *Supervisor) Run(spec Spec, started func(*Process)) (Exit, error) {
	if spec.Ladder == nil {
		spec.Ladder = Terminate
	}
	p := &Process{spec: spec, owner: s.owner, exited: make(chan struct{}), clockChanged: make(chan struct{}, 1), pidfd: -1}
	if err := p.openStreams(); err != nil {
		return Exit{}, fmt.Errorf("cannot prepare the streams of %s: %w", spec.Path, err)
	}
	// The kernel sends the parent-death signal when the thread that started the child ends, not when the process
	// does. So this thread is ours until the child is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.launch()
	p.closeChildSide()
	if err != nil {
		p.closeOurSide()
		return Exit{}, err
	}
	if p.pidfd < 0 {
		p.startPumps()
	}
	if spec.Timeout > 0 || spec.Stall > 0 || spec.Linger > 0 || spec.hasCeiling() {
		p.watchOnce.Do(p.startWatch)
	}
	if started != nil {
		started(p)
	}
	if p.pidfd >= 0 {
		p.readInline()
		closeInline(p.pidfd)
	}
	p.await()
	return p.conclude(), nil
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

// Process is a running command and its tree. Its methods may be called from any goroutine, also after its end.
type Process struct {
	spec  Spec
	owner *owner
	pid   int
	pidfd int // waits for its end while the streams are read, by the same thread; -1 if pumps read them
	start time.Time
	born  uint64 // nothing of the tree has a smaller Proc.Start

	mu     sync.Mutex
	handle handle // what the system knows the root by; guarded by mu, or by the owner's

	life, delivered moment        // the last sign of life; when it had delivered
	stall           atomic.Int64  // takes the place of the spec's, if not 0
	clockChanged    chan struct{} // a clock has begun to run

	watchOnce sync.Once // a goroutine watches only when there is something to watch
	watched   chan struct{}
	stops     chan Ladder
	reason    Reason    // set by the watch
	gauge     gauge     // the watch's
	excess    *Excess   // set by the watch, with Exceeded
	forced    bool      // it had to be killed, so the rest of the tree is killed at once
	term      *terminal // Foreground only

	streams streams
	pumps   sync.WaitGroup
	writing atomic.Int32 // pumps that wait for their writer

	exited chan struct{} // the root has ended
	status waitStatus    // set when it is reaped, as are the two below
	cpu    time.Duration
	maxRSS int64
	alone  bool // Own: nothing else was left when the root had been reaped

	ordinal      int               // Own: its place in the order in which roots have ended; math.MaxInt before that
	knownMembers map[identity]Proc // members of the tree that remember has found
	others       bool              // the last walk saw children of ours that do not belong to it
	treeOver     atomic.Bool       // its tree has ended, if it was stopped
	over         atomic.Bool       // Run returns
}

// PID is the process id of the command itself.
func (p *Process) PID() int { return p.pid }

// Beat is a sign of life that does not show on the streams.
func (p *Process) Beat() { p.life.set(time.Now()) }

// Unlimited is the [Process.SetStall] with a command that is not expected to do anything.
const Unlimited time.Duration = -1

// SetStall changes how long the command may give no sign of life, where Spec.Stall sets a limit at all: a tool that
// runs may be silent for longer, and one that waits for its user for ever, which is [Unlimited].
func (p *Process) SetStall(stall time.Duration) {
	p.Beat()
	p.stall.Store(int64(stall))
	p.nudge()
}

// Working takes Delivered back: the command has begun something else.
func (p *Process) Working() { p.delivered.clear() }

// Delivered says that the command has delivered its result; from now on it may linger only for Spec.Linger.
func (p *Process) Delivered() {
	p.delivered.set(time.Now())
	p.nudge()
}

// nudge makes the watch look at its clocks again.
func (p *Process) nudge() {
	select {
	case p.clockChanged <- struct{}{}:
	default: // the watch has not yet looked since the last one
	}
}
