package supervise

import (
	"syscall"
	"time"
)

// Rung is one step of stopping a command: a signal, and how long it may take over it. Signal 0 only waits, for
// where the kernel has sent the signal already (Ctrl-C to a whole foreground group).
type Rung struct {
	Signal syscall.Signal
	Wait   time.Duration
}

// Ladder is how a command is asked to stop, politely first. SIGKILL for the whole tree follows by itself.
type Ladder []Rung

// Terminate is the ladder for limits that have passed.
var Terminate = Ladder{{syscall.SIGTERM, 5 * time.Second}}

// Forward is the ladder for a signal that a person or a service manager has sent us. Ten seconds is what
// container runtimes grant before they kill.
func Forward(sig syscall.Signal) Ladder {
	if sig == syscall.SIGTERM {
		return Ladder{{sig, 10 * time.Second}}
	}
	return Ladder{{sig, 8 * time.Second}, {syscall.SIGTERM, 2 * time.Second}}
}

// Sent returns the ladder with its first signal taken as already delivered.
func (l Ladder) Sent() Ladder {
	sent := append(Ladder(nil), l...)
	if len(sent) > 0 {
		sent[0].Signal = 0
	}
	return sent
}

const (
	// politePause is the time between SIGTERM and SIGKILL for the processes that are left of a tree.
	politePause = 500 * time.Millisecond
	// killTimeout is how long we try to end them.
	killTimeout = 10 * time.Second
	// killPasses is how often we try at least: on an overloaded machine one pass can take seconds.
	killPasses = 100
)

const (
	// hasteSteps are the steps in which a tree is ended that is above a ceiling, of haste each: what it takes too much of grows meanwhile.
	hasteSteps = 8
	haste      = 75 * time.Millisecond
)

// inHaste is the ladder in short steps.
func (l Ladder) inHaste() (steps Ladder) {
	for _, rung := range l {
		steps = append(steps, Rung{rung.Signal, haste})
		for range hasteSteps/len(l) - 1 {
			steps = append(steps, Rung{0, haste})
		}
	}
	return steps
}
