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
	// Fallbacks are those that would be asked, in this order.
	Fallbacks []FallbackPreview
}

// FallbackPreview is how a fallback would be started.
type FallbackPreview struct {
	Name string
	// Args is how it would be started; nil if it would not, for the reason that Refused gives.
	Args []string
	// Gate is the key of the gate that it would take part in; empty for none.
	Gate    string
	Refused string
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
	for _, s := range inv.standIns {
		next := inv.standInFor(&s, &inv.candidate)
		shown := FallbackPreview{Name: s.Name(), Gate: next.call.gateKey()}
		plan, err := s.agent.Plan(next.kind.(*turn).next)
		if shown.Args = plan.Args; err != nil {
			shown.Refused = err.Error()
		}
		p.Fallbacks = append(p.Fallbacks, shown)
	}
	for _, refused := range inv.unfit {
		p.Fallbacks = append(p.Fallbacks, FallbackPreview{Name: refused.Fallback, Refused: refused.Why})
	}
	return p, inv.kind.preview(&p)
}
