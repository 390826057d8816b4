package codex

import "github.com/belay-run/belay/internal/agent"

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	if _, word := p.line.prompt(); word != nil && word.Values[0] != "-" {
		r.Prompt = word.Values[0]
	}
	switch {
	case p.line.resumes:
		r.Own = "resume"
	case p.line.reviews:
		r.Own = "review"
	}
	r.Add(rootOptions(), &p.line.root)
	r.Add(execOptions(), &p.line.exec)
	return r
}

// withModel is the command line with another model.
func (p *Profile) withModel(model string) []string {
	named := func(a agent.Arg) bool { return a.Name == Descriptor.StandIn.Model }
	l := p.line
	l.root.Args, l.exec.Args = l.root.Without(named), l.exec.Without(named)
	l.resume.Args, l.review.Args = l.resume.Without(named), l.review.Without(named)
	l.added = []string{Descriptor.StandIn.Model, model}
	return append([]string{p.args[0]}, l.args()...)
}
