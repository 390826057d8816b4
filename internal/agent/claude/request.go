package claude

import "github.com/belay-run/belay/internal/agent"

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	r.Prompt, _ = p.prompt()
	r.Add(options(), &p.line)
	r.Command(r.Prompt)
	return r
}

// withModel is the command line with another model.
func (p *Profile) withModel(model string) []string {
	rest := p.line.Without(func(a agent.Arg) bool { return a.Name == Descriptor.StandIn.Model })
	// In front, where no option that takes every word that follows can take it.
	return append([]string{p.args[0], Descriptor.StandIn.Model, model}, rest...)
}
