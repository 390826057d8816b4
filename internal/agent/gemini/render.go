package gemini

import (
	"io"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// printed is what gemini prints where text is asked for: all that the model says, in lines of its own before tools are run.
type printed struct {
	parts  []agent.Answer
	last   int // where what it has said since the last tool begins
	inLine bool
}

func (p *printed) say(a agent.Answer) {
	if a.String() == "" {
		return
	}
	p.parts = append(p.parts, a)
	p.inLine = !strings.HasSuffix(a.String(), "\n")
}

// endLine ends a line that has begun.
func (p *printed) endLine() {
	if p.inLine {
		p.parts = append(p.parts, agent.NewAnswer(agent.Line{}, "", "\n"))
		p.inLine = false
	}
}

// next says that tools have run: what comes now is another answer.
func (p *printed) next() {
	p.endLine()
	p.last = len(p.parts)
}

// answer is what the model has said last.
func (p *printed) answer() agent.Answer {
	if p.last >= len(p.parts) {
		return agent.Answer{}
	}
	return agent.JoinAnswers(p.parts[p.last:]...)
}

// Answer implements [agent.Reader].
func (f *follower) Answer() agent.Answer {
	switch {
	case f.document != nil && f.answer.String() != "":
		return f.answer
	case f.document != nil && f.document.Response != nil:
		return agent.NewAnswer(agent.Line{}, "", *f.document.Response)
	case f.document != nil:
		return agent.Answer{}
	case f.plan.Plain:
		return agent.Printed
	}
	if f.result == nil || f.result.Status != "success" {
		return agent.Answer{}
	}
	return f.said
}

// Render implements [agent.Reader]. Only text is made of events.
func (f *follower) Render(w io.Writer, _ agent.Form) error {
	for _, part := range f.printed.parts {
		if _, err := part.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}
