package cli

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// checkOf is the check that the settings ask for. One that files or the environment name is left out where the work cannot be checked: they are
// meant for many commands.
func checkOf(s *config.Settings, known agent.Profile) (engine.Check, error) {
	if s.Check == "" {
		for _, name := range []string{"check-rounds", "check-timeout", "check-prompt", "check-first"} {
			if strings.HasPrefix(s.From(name), "--") {
				return engine.Check{}, usage(message.Error("--"+name+" needs --check"), message.AsIn("belay run --check 'go test ./...' -- claude -p 'Fix the test'"))
			}
		}
		return engine.Check{}, nil
	}
	if engine.NoCheck(known) && !strings.HasPrefix(s.From("check"), "--") {
		return engine.Check{}, nil
	}
	c := engine.Check{Line: s.Check, Timeout: s.CheckTimeout, Rounds: s.CheckRounds, Prompt: s.CheckPrompt, First: s.CheckFirst, Repeat: s.Asked()}
	if s.From("check-rounds") != "" && s.CheckRounds == 0 {
		c.Rounds = -1
	}
	return c, nil
}

// checking says which check runs now.
func (v *view) checking(e belaytype.Checking) {
	v.end()
	what := "running the check"
	switch {
	case e.Attempt == 0:
		what += " before anything is started"
	case e.Round > 0:
		what += " again, after " + message.Count(e.Round, "round")
	}
	v.verbosely(what + ": " + e.Command)
	if v.status != nil {
		v.status.check(e)
		v.begin(v.pulse(v.name))
	}
}

// lastChecked shows the end of what a check has printed that never passed.
func (v *view) lastChecked(c *belaytype.Check) {
	if c == nil || c.Command == "" || c.Passed {
		return
	}
	for line := range strings.Lines(verdict.LastLines(c.Output, 10, 2000)) {
		v.line("  " + strings.TrimSuffix(line, "\n"))
	}
}

// checkPreview says how the work would be checked.
func checkPreview(r *engine.Runner) string {
	c := &r.Check
	text := fmt.Sprintf("%q, for at most %s", c.Line, printable.Span(c.Limit()))
	if c.First {
		text += ", also before the first attempt"
	}
	if _, ok := r.Profile.(agent.Agent); ok {
		text = message.Sentences(text, fmt.Sprintf("if it fails, %s is told at most %s", r.Profile.Name(), message.Count(c.Most(), "time")))
	}
	return text
}
