package engine

import (
	"sync"
	"syscall"

	"github.com/belay-run/belay/internal/engine/call"
)

// control is how an invocation is reached from outside while it runs: the present process, and what came for it before it
// was known.
type control struct {
	mu       sync.Mutex
	process  call.Process     // the one that runs now
	starting bool             // there will be one at once, or already is and is not known yet
	pending  []syscall.Signal // for the one that starts
	killed   bool             // as is every process that starts
	// interrupted is set when the command was sent a signal by the terminal, say: no further attempt.
	interrupted error
}

// launching says that a process is about to be started.
func (c *control) launching() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starting = true
}

// running takes note of the present process; nil when there is none.
func (c *control) running(p call.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := c.pending
	c.process, c.starting, c.pending = p, false, nil
	if p != nil {
		for _, sig := range pending {
			p.Signal(sig)
		}
		if c.killed {
			go p.Kill()
		}
	}
}

// signal passes a signal on to the process, or to the one that is just being started: it may run, and have told the sender
// of the signal so, before we know of it.
func (c *control) signal(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.process != nil:
		c.process.Signal(sig)
	case c.starting:
		c.pending = append(c.pending, sig)
	}
}

// interrupt takes note of an interruption. It reports whether there is no process that could have seen it, and whether it
// is not the first one.
func (c *control) interrupt(cause error) (idle, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle, again = c.process == nil && !c.starting, c.interrupted != nil
	c.interrupted = cause
	return idle, again
}

// interruption is why the command was interrupted; nil if it was not.
func (c *control) interruption() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interrupted
}

// kill says that the process and every one that starts are to be killed, and returns the present one; nil if there is none.
func (c *control) kill() call.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
	return c.process
}

// isKilled reports whether processes are killed, not asked to stop.
func (c *control) isKilled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}
