package gemini

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// Request implements [agent.Transferable].
func (p *Profile) Request() agent.Request {
	r := agent.Request{Prompt: p.prompt()}
	r.Add(options, &p.line)
	r.Command(r.Prompt)
	return r
}

// WithModel implements [agent.Transferable]. An option that gemini is given twice is a list to it.
func (p *Profile) WithModel(model string) []string {
	rest := p.line.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], []string{optModel, model}, rest)
}
