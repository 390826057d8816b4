package opencode

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// Request implements [agent.Transferable].
func (p *Profile) Request() agent.Request {
	var r agent.Request
	var words []string
	for _, a := range p.line.run.Words() {
		words = append(words, a.Values[0])
	}
	r.Prompt = strings.Join(words, " ")
	r.Add(globalOptions, &p.line.root)
	r.Add(options(), &p.line.run)
	return r
}

// WithModel implements [agent.Transferable]. An option that opencode is given twice is a list to it.
func (p *Profile) WithModel(model string) []string {
	rest := p.line.run.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], p.line.root.Args, []string{"run", optModel, model}, rest)
}
