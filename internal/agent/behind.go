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

func (b behind) Plan(t Turn) (Plan, error) {
	p, err := b.Agent.Plan(t)
	if err == nil {
		p.Args = slices.Concat(b.prefix, p.Args)
	}
	return p, err
}

func (b behind) Info() Info {
	info := b.Agent.Info()
	if own := info.WithModel; own != nil {
		info.WithModel = func(model string) []string { return slices.Concat(b.prefix, own(model)) }
	}
	return info
}
