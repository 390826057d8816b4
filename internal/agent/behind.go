package agent

import "slices"

// Behind returns the profile of an agent that another program starts: node cli.js, npx some-package. prefix is what stands
// before the agent's own command line.
func Behind(prefix []string, a Agent) Agent {
	if len(prefix) == 0 {
		return a
	}
	return behind{a, prefix}
}

type behind struct {
	Agent
	prefix []string
}

// Tested implements [Versioned].
func (b behind) Tested() Tested {
	if v, ok := b.Agent.(Versioned); ok {
		return v.Tested()
	}
	return nil
}

func (b behind) Plan(t Turn) (Plan, error) {
	p, err := b.Agent.Plan(t)
	if err == nil {
		p.Args = slices.Concat(b.prefix, p.Args)
	}
	return p, err
}

// Request implements [Transferable].
func (b behind) Request() Request {
	if t, ok := b.Agent.(Transferable); ok {
		return t.Request()
	}
	return Request{Own: b.prefix[0]}
}

// WithModel implements [Transferable].
func (b behind) WithModel(model string) []string {
	if t, ok := b.Agent.(Transferable); ok {
		return slices.Concat(b.prefix, t.WithModel(model))
	}
	return nil
}
