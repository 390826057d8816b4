package engine

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

// Invocation is one request of a caller, from start to result.
type Invocation struct {
	id           string
	runner       *Runner
	command      Command
	env          []string
	profile      agent.Profile
	policy       retry.Policy
	series       retry.Series
	begun        time.Time
	input        input
	talk         *conversation // nil for a command that is no agent
	calls        *calls        // nil for a command that is no caller
	changes      *changes      // nil for a command that is not known to change anything
	events       *eventQueue   // nil if nobody can want them
	sessionSlot  *gate.Slot
	state        *State
	record       *supervise.Record
	recording    sync.Mutex // of changes of the record
	requests     int        // on record
	asked        int        // questions on the side, since the last line of the log
	gateTroubled bool
	waits        waits
	logTroubled  bool
	troubled     bool // the state's trouble has been said
	versionSaid  bool // as has the version of the CLI

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	process     *supervise.Process // the one that runs now
	starting    bool               // there will be one at once, or already is and we do not know it yet
	early       []syscall.Signal   // for the one that starts
	killed      bool               // as is whatever starts
	interrupted error              // by somebody else's hand: no further attempt

	done   chan struct{}
	result *Result
	err    error
}

func newInvocation(ctx context.Context, r *Runner, c Command, env []string) *Invocation {
	now := time.Now()
	inv := &Invocation{id: newID(now), runner: r, command: c, env: env, profile: r.profile(), begun: now, done: make(chan struct{})}
	inv.talk = newConversation(r, inv.profile, &c)
	inv.calls, inv.changes = newCalls(inv.profile)
	inv.policy = r.policy(inv.talk)
	inv.series = inv.policy.Start(now)
	inv.input = newInput(&c, inv.mayRepeat(), r.ReplayStdin)
	inv.ctx, inv.cancel = context.WithCancelCause(ctx)
	return inv
}

// ID names the invocation in records, in the log and to [belay cancel].
func (inv *Invocation) ID() string { return inv.id }

// Wait returns the result: see [Runner.Run].
func (inv *Invocation) Wait() (*Result, error) {
	inv.events.leave()
	<-inv.done
	return inv.result, inv.err
}

// Over reports whether Wait would return at once.
func (inv *Invocation) Over() bool {
	select {
	case <-inv.done:
		return true
	default:
		return false
	}
}

// Cancel ends the invocation: a running command is stopped with its whole tree, a wait is cut short. The cause may
// be an [*Interrupt].
func (inv *Invocation) Cancel(cause error) { inv.cancel(cause) }

// Signal passes a signal on to the running command, if there is one. One that is just being started gets it too: it may
// run, and have said so to whoever signals, before we know of it.
func (inv *Invocation) Signal(sig syscall.Signal) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	switch {
	case inv.process != nil:
		inv.process.Signal(sig)
	case inv.starting:
		inv.early = append(inv.early, sig)
	}
}

// Interrupt says that the command was sent a signal by somebody else's hand, as the terminal does that it shares with
// us. What it makes of that is left to it, as it would be without us; but there will be no further attempt, and a wait
// is cut short. Where more was asked for than to run the command, who says so a second time has it killed.
func (inv *Invocation) Interrupt(cause error) {
	inv.mu.Lock()
	waits := inv.process == nil && !inv.starting
	again := inv.interrupted != nil && inv.mayRepeat()
	inv.interrupted = cause
	inv.mu.Unlock()
	if waits || again {
		inv.cancel(cause)
	}
	if again {
		inv.Kill()
	}
}

// Kill ends the invocation at once, without asking the command first.
func (inv *Invocation) Kill() {
	inv.cancel(context.Canceled)
	inv.mu.Lock()
	p := inv.process
	inv.killed = true
	inv.mu.Unlock()
	if p != nil {
		p.Kill()
	}
}

// stall is how long the command may show no life; tools says that one of its tools runs.
func (inv *Invocation) stall(tools bool) time.Duration {
	switch {
	case inv.runner.Stall != 0:
		return max(inv.runner.Stall, 0)
	case inv.talk == nil:
		return 0
	case tools:
		return inv.talk.traits.ToolStall
	}
	return inv.talk.traits.Stall
}

// launching says that a process is about to be started.
func (inv *Invocation) launching() {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.starting = true
}

// running takes note of the present process; nil when there is none.
func (inv *Invocation) running(p *supervise.Process) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	early := inv.early
	inv.process, inv.starting, inv.early = p, false, nil
	if p != nil {
		for _, sig := range early {
			p.Signal(sig)
		}
		if inv.killed {
			go p.Kill()
		}
	}
}

// ended says why there must be no further attempt, whatever the last one was; nil if nobody has said so.
func (inv *Invocation) ended() error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.interrupted != nil {
		return inv.interrupted
	}
	return context.Cause(inv.ctx)
}

func (inv *Invocation) observe(e Event) {
	if inv.runner.Observe != nil {
		inv.runner.Observe(e)
	}
}
