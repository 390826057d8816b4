package engine

import (
	"time"

	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
)

// Preview is what an invocation would do, as far as that can be known before it has begun.
type Preview struct {
	// Args is how the command would be started, and Env are settings in addition to its environment.
	Args, Env []string
	// Unknown is the option that keeps the command line from being added to; empty if there is none.
	Unknown string
	// Session is the one that would be resumed; empty for none.
	Session string
	// Gate is the key of the gate that it would take part in; empty for none.
	Gate string
	// Policy is what is in force, the profile's own idea included.
	Policy retry.Policy
	// Deadline is how long an attempt may take, Stall how long it may show no life, and ToolStall while one of its tools
	// runs; 0 means no limit.
	Deadline, Stall, ToolStall time.Duration
}

// Preview asks the profile how the first attempt would be started. Nothing is started, written or read from stdin. It is
// asked before [Invocation.Run], in its place. The error says why it could not be started.
func (inv *Invocation) Preview() (Preview, error) {
	c := inv.call
	p := Preview{Args: c.command.Args, Gate: c.gateKey(), Policy: inv.pace.policy, Deadline: c.timeout(),
		Stall: c.stall(false), ToolStall: c.stall(true)}
	if s := c.runner.State; s != nil {
		dir := s.Dir
		if dir == "" {
			dir, _ = state.DefaultDir() // without one there is no session on record
		}
		c.state = &state.State{Dir: dir}
	}
	return p, inv.kind.preview(&p)
}
