package supervise

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/supervise/ceiling"
	"github.com/belay-run/belay/internal/supervise/stream"
)

// Process is a running command and its tree. Its methods may be called from any goroutine, also after its end.
type Process struct {
	spec  Spec
	start time.Time
	tree
	streams stream.Set
	life    stream.Life
	watch   watch

	treeOver atomic.Bool // its tree has ended, if it was stopped
}

// watch is what there is to know of limits and of requests to stop. A goroutine looks at it only when there is something to watch.
type watch struct {
	once         sync.Once
	done         chan struct{} // nil if there is no goroutine
	stops        chan Ladder
	clockChanged chan struct{} // a clock has begun to run

	delivered stream.Moment // when it had delivered
	stall     atomic.Int64  // takes the place of the spec's, if not 0
	gauge     ceiling.Gauge
	meter     meter

	// Set by the goroutine.
	reason Reason
	excess *Excess // with Exceeded
	forced bool    // it had to be killed, so the rest of the tree is killed at once
}

// PID is the process id of the command itself.
func (p *Process) PID() int { return p.pid }

// Beat is a sign of life that does not show on the streams.
func (p *Process) Beat() { p.life.Beat() }

// Unlimited is the [Process.SetStall] with a command that is not expected to do anything.
const Unlimited time.Duration = -1

// SetStall changes how long the command may give no sign of life, where Spec.Stall sets a limit at all: a tool that
// runs may be silent for longer, and one that waits for its user for ever, which is [Unlimited].
func (p *Process) SetStall(stall time.Duration) {
	p.Beat()
	p.watch.stall.Store(int64(stall))
	p.nudge()
}

// Working takes Delivered back: the command has begun something else.
func (p *Process) Working() { p.watch.delivered.Clear() }

// Delivered says that the command has delivered its result; from now on it may linger only for Spec.Linger.
func (p *Process) Delivered() {
	p.watch.delivered.Set(time.Now())
	p.nudge()
}

// nudge makes the watch look at its clocks again.
func (p *Process) nudge() {
	select {
	case p.watch.clockChanged <- struct{}{}:
	default: // the watch has not yet looked since the last one
	}
}

// Signal sends one signal to the command, and to no other process: it is for the command to tell its children.
func (p *Process) Signal(sig syscall.Signal) { p.signalRoot(sig) }

// EndTree ends what a command that has exited by itself has left running ([Exit.Left]). It reports how many processes
// it ended and which it could not. It is for after Run, and does nothing before that.
func (p *Process) EndTree() (killed int, left []Proc) {
	if !p.over.Load() {
		return 0, nil
	}
	p.treeOver.Store(false)
	defer p.treeOver.Store(true)
	return p.endTree(p.watch.forced, p.outgrown)
}

// TreeEnded reports whether the command has ended, and so has its tree if it was to. Run may still be held up by a writer
// that blocks.
func (p *Process) TreeEnded() bool { return p.treeOver.Load() }
