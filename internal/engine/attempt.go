package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

// launch is how an attempt is started.
type launch struct {
	args, env      []string
	input          input.Input
	stdout, stderr io.Writer
	// inMemory says that both writers only keep what they are given.
	inMemory bool
	// held says that output is held back until the attempt counts.
	held bool
	// started is told of the process, before anything else is done with it; nil if that is of no use.
	started func(call.Process)
}

// ending is what is known of an attempt when its process has ended.
type ending struct {
	err     error // why there was no process; nil if there was one
	exit    supervise.Exit
	process call.Process
	again   bool // its input can be had again
}

// started reports whether there was a process.
func (e *ending) started() bool { return e.process != nil }

// start starts the command once and waits for it. The admission belongs to the attempt.
func (cand *candidate) start(n int, l launch, ad admission.Admission) ending {
	c, ended := cand.call, make(chan struct{})
	defer close(ended)
	l.env = traced(c, l.env, n)
	return cand.supervised(l, supervise.Spec{RunID: c.ID, Timeout: c.Timeout(), Stall: c.Stall(false), Linger: c.Traits.Linger, Ladder: c.Traits.Ladder, Daemons: c.Traits.Daemons, Placement: cand.placement()}, func(p call.Process) {
		if l.started != nil {
			l.started(p)
		}
		c.Emit(belaytype.AttemptStarted{Attempt: n, Command: c.Command.Name(), PID: p.PID(), Held: l.held})
		if ad.Leased() && c.Traits.Kind != call.AgentConversation { // whose caller may take hours until the first request
			go ad.Renew(ended)
		}
	})
}

// supervised starts a process, the command's or that of its check, and waits for it. It ends with the invocation. The spec says how it is watched,
// the launch all else; started is called once it runs.
func (cand *candidate) supervised(l launch, spec supervise.Spec, started func(call.Process)) ending {
	c := cand.call
	path, err := c.Settings.StarterInUse().Look(l.args[0], c.Command.Dir)
	if err != nil {
		return ending{err: err, again: true}
	}
	stdin, err := l.input.Open()
	if err != nil {
		return ending{err: err, again: true}
	}
	var e ending
	disregard := func() {}
	cand.control.launching()
	spec.Path, spec.Args, spec.Dir, spec.Env = path, l.args, c.Command.Dir, l.env
	watchCeilings(c, &spec)
	spec.Stdin, spec.Stdout, spec.Stderr, spec.InMemory = stdin, l.stdout, l.stderr, l.inMemory
	e.exit, err = c.Settings.StarterInUse().Run(spec, func(p call.Process) {
		e.process = p
		cand.control.running(p)
		started(p)
		disregard = cand.stopWithContext(p, spec.Ladder)
	})
	disregard()
	cand.control.running(nil)
	again := l.input.Close()
	if err != nil {
		return ending{err: err, again: true}
	}
	e.again = again
	return e
}

// placement says where the command stands to the terminal.
func (cand *candidate) placement() supervise.Placement {
	switch {
	case cand.call.Profile.Headless() && !cand.call.Traits.Screen:
		return supervise.OwnSession
	case cand.call.Command.Terminal && cand.pace.MayRepeat():
		// It has the terminal as it would have it in a pipeline, and we see a Ctrl-C too: as a job of its own it could
		// handle that, end with 1, and be started again.
		return supervise.SharedGroup
	case cand.call.Command.Terminal:
		return supervise.TerminalPlacement()
	}
	return supervise.OwnGroup
}

// stopWithContext stops the process when the context ends, by its own ladder if it has one. The returned function ends that, and returns once a stop
// that has begun is under way.
func (cand *candidate) stopWithContext(p call.Process, own supervise.Ladder) (end func()) {
	asked := make(chan struct{})
	disregard := context.AfterFunc(cand.pace.Ctx, func() {
		defer close(asked)
		cand.stopProcess(p, own)
	})
	return func() {
		if !disregard() {
			<-asked
		}
	}
}

// stopProcess ends the process because the context has ended.
func (cand *candidate) stopProcess(p call.Process, own supervise.Ladder) {
	ladder := supervise.Terminate
	reason := "cancelled"
	cause := context.Cause(cand.pace.Ctx)
	if i, ok := call.AsInterrupt(cause); ok {
		ladder = supervise.Forward(syscall.Signal(i.Signal))
		reason = i.Name
	} else if errors.Is(cause, retry.ErrTotalTimeout) {
		reason = "total timeout"
	}
	if own != nil && !cand.call.Traits.Screen { // whose terminal's own program stops it as it likes
		ladder = own
	}
	if cand.control.isKilled() {
		ladder = supervise.Ladder{}
	}
	cand.call.Emit(belaytype.Stopping{Reason: reason})
	p.Stop(ladder)
}

// watchCeilings has what is started watched.
func watchCeilings(c *call.Call, spec *supervise.Spec) {
	spec.MaxMemory, spec.Using = c.Settings.Ceilings.Memory, c.Live.Using
	if spec.MinFree = c.Settings.Ceilings.FreeDisk; spec.MinFree > 0 {
		spec.Disks = disks(c)
	}
}

// disks are where a command writes: the directory that it works in, its home, and that of temporary files.
func disks(c *call.Call) []string {
	home, _ := os.UserHomeDir() // what cannot be asked does not count
	return []string{c.Dir(), home, os.TempDir()}
}
