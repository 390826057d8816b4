package belay

import (
	"iter"
	"syscall"

	"github.com/belay-run/belay/internal/engine"
)

// Invocation is a command that [Runner.Start] has begun to run, from its first attempt to its result. Its methods may be
// called from any goroutine.
type Invocation struct{ engine *engine.Invocation }

// ID names the invocation in the log and in events.
func (inv *Invocation) ID() string { return inv.engine.ID() }

// Wait waits for the end and returns the result: see [Runner.Run].
func (inv *Invocation) Wait() (*Result, error) { return inv.engine.Wait() }

// Over reports whether Wait would return at once.
func (inv *Invocation) Over() bool { return inv.engine.Over() }

// Cancel ends the invocation: a running command is stopped with its whole tree, a wait is cut short. The cause is in the
// error that Wait returns; it may be an [*Interrupt].
func (inv *Invocation) Cancel(cause error) { inv.engine.Cancel(cause) }

// Kill ends the invocation at once, without asking the command first.
func (inv *Invocation) Kill() { inv.engine.Kill() }

// Signal passes a signal on to the running command, if there is one, or to the one that is just being started.
func (inv *Invocation) Signal(sig syscall.Signal) { inv.engine.Signal(sig) }

// Interrupt says that the command was sent a signal by the terminal that it shares with the caller: see
// [Command.Terminal]. What it makes of that is left to it, but there will be no further attempt, and a wait is cut short.
// Where retries were asked for, the second interrupt kills it.
func (inv *Invocation) Interrupt(cause error) { inv.engine.Interrupt(cause) }

// Events are what happens, as [Runner.Observe] is told, and the lines that an agent prints, as [AgentEvent] values. The
// first reader gets everything from the start on; every other one gets what happens after its call. They end with the
// invocation. A reader that does not keep up holds nothing up: it misses lines, and a [Missed] event says how many.
func (inv *Invocation) Events() iter.Seq[Event] { return inv.engine.Events() }
