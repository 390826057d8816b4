package custom

import (
	"io"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// used is what the attempt has used: what the CLI says of all of it, else what it has said call by call. What it says of a session
// that was resumed includes earlier runs.
func (f *follower) used() verdict.Usage {
	if f.total != nil && (f.ResumeID == "" || !f.profile.def.Session.Cumulative) {
		return *f.total
	}
	return f.calls
}

// Account implements [agent.Reader].
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Usage, a.Turns, a.Status = f.used(), f.turns, f.status
	a.Usage.Unknown = f.Over && f.Active && f.total == nil && (f.turns == 0 || !f.ended)
	return a
}

// Answer implements [agent.Reader].
func (f *follower) Answer() agent.Answer {
	switch {
	case !f.began && f.Plain:
		return agent.Printed
	case f.failure != nil:
		return agent.Answer{}
	}
	return f.Final
}

// Render implements [agent.Reader]: the last answer, or all that the model has said, each in lines of its own.
func (f *follower) Render(w io.Writer, _ agent.Form) error {
	texts := f.texts
	if !f.profile.def.Output.All {
		texts = []agent.Answer{f.Final}
	}
	for _, text := range texts {
		if text.String() == "" {
			continue
		}
		if _, err := text.WriteTo(w); err != nil {
			return err
		}
		if strings.HasSuffix(text.String(), "\n") {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}
