package engine

import (
	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/state"
)

// Preview asks the profile how the first attempt would be started. Nothing is started, written or read from stdin. It is
// asked before [Invocation.Run], in its place. The error says why it could not be started.
func (inv *Invocation) Preview() (belaytype.Preview, error) {
	c := inv.call
	p := belaytype.Preview{Args: c.Command.Args, Gate: c.GateKey(), Policy: inv.pace.Policy, Deadline: c.Timeout(),
		Stall: c.Stall(false), ToolStall: c.Stall(true)}
	if s := c.Settings.State; s != nil {
		dir := s.Dir
		if dir == "" {
			dir, _ = state.DefaultDir() // without a directory no session is found
		}
		c.State = &state.State{Dir: dir}
	}
	for _, s := range inv.standIns {
		next := inv.standInFor(&s, &inv.candidate)
		shown := belaytype.FallbackPreview{Name: s.Name(), Gate: next.call.GateKey()}
		plan, err := s.agent.Plan(next.kind.(*turn).next)
		if shown.Args = plan.Args; err != nil {
			shown.Refused = err.Error()
		}
		p.Fallbacks = append(p.Fallbacks, shown)
	}
	for _, refused := range inv.unfit {
		p.Fallbacks = append(p.Fallbacks, belaytype.FallbackPreview{Name: refused.Fallback, Refused: refused.Why})
	}
	return p, inv.kind.preview(&p)
}
