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
	if f.total != nil && (f.resumeID == "" || !f.profile.def.Session.Cumulative) {
		return *f.total
	}
	return f.calls
}

// Account implements [agent.Reader].
func (f *follower) Account() agent.Account {
	a := agent.Account{Session: f.session, Active: f.active, Usage: f.used(), Tools: f.tools.Use(), Turns: f.turns, Model: f.model, Version: f.version,
		Status: f.status, Misunderstood: f.misread}
	a.Usage.Unknown = f.over && f.active && f.total == nil && (f.turns == 0 || !f.ended)
	return a
}

// Answer implements [agent.Reader].
func (f *follower) Answer() agent.Answer {
	if !f.began && f.plain {
		return agent.Printed
	}
	if f.failure != nil {
		return agent.Answer{}
	}
	return f.answer
}

// Render implements [agent.Reader]: the last answer, or all that the model has said, each in lines of its own.
func (f *follower) Render(w io.Writer, _ agent.Form) error {
	texts := f.texts
	if !f.profile.def.Output.All {
		texts = []agent.Answer{f.answer}
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
