package opencode

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	var words []string
	for _, a := range p.line.run.Words() {
		words = append(words, a.Values[0])
	}
	r.Prompt = strings.Join(words, " ")
	r.Add(globalOptions(), &p.line.root)
	r.Add(options(), &p.line.run)
	return r
}

// withModel is the command line with another model. An option that opencode is given twice is a list to it.
func (p *Profile) withModel(model string) []string {
	rest := p.line.run.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], p.line.root.Args, []string{"run", optModel, model}, rest)
}
