package gemini

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	r := agent.Request{Prompt: p.prompt()}
	r.Add(options(), &p.line)
	r.Command(r.Prompt)
	return r
}

// withModel is the command line with another model. An option that gemini is given twice is a list to it.
func (p *Profile) withModel(model string) []string {
	rest := p.line.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], []string{optModel, model}, rest)
}
