package cli

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/verdict"
)

// skipCheck takes out of the settings of a run the check of a command that works for a person, or in a conversation. Files and the environment are meant
// for many commands; a flag is refused.
func skipCheck(s *config.Settings, given config.Given, known agent.Profile, args []string) (skipped []string, err error) {
	if s.Check == "" {
		for _, name := range []string{"check-rounds", "check-timeout", "check-prompt", "check-first"} {
			if strings.HasPrefix(s.From(name), "--") {
				return nil, command.Usage(message.Error("--"+name+" needs --check"), "")
			}
		}
		return nil, nil
	}
	if known == nil && given["profile"] == "" {
		known = profile.Of(args, nil, given["cwd"])
	}
	if !engine.NoCheck(known) {
		return nil, nil
	}
	from := s.From("check")
	if strings.HasPrefix(from, "--") {
		return nil, command.Usage(message.Error(message.NoCheck(known.Name())), "")
	}
	s.Check = ""
	return []string{fmt.Sprintf("%s has no effect here: %s", from, message.NoCheck(known.Name()))}, nil
}

// checkOf is the check that the settings ask for. What a check starts is not checked in turn, which might never end, unless a flag says so.
func checkOf(s *config.Settings) engine.Check {
	if from := s.From("check"); from != "" && !strings.HasPrefix(from, "--") && engine.WithinCheck() {
		return engine.Check{}
	}
	c := engine.Check{Line: s.Check, Timeout: s.CheckTimeout, Rounds: s.CheckRounds, Prompt: s.CheckPrompt, First: s.CheckFirst, Repeat: s.Asked()}
	if s.From("check-rounds") != "" && s.CheckRounds == 0 {
		c.Rounds = -1
	}
	return c
}

// lastChecked shows the end of what a check has printed that never passed.
func (v *view) lastChecked(c *belaytype.Check) {
	if c == nil || c.Command == "" || c.Passed {
		return
	}
	for line := range strings.SplitSeq(checkedText(c), "\n") {
		v.line("  " + line)
	}
}

// checkedText is a check with the last lines that it has printed.
func checkedText(c *belaytype.Check) string {
	return strings.TrimSuffix("$ "+printable.Line(c.Command)+"\n"+verdict.LastLines(c.Output, 10, 2000), "\n")
}

// checkPreview says how the work would be checked.
func checkPreview(r *engine.Runner) string {
	c := &r.Check
	text := fmt.Sprintf("%q, for at most %s", c.Line, printable.Span(c.Limit()))
	if _, ok := r.Profile.(agent.Agent); ok {
		text = message.Sentences(text, fmt.Sprintf("if it fails, %s is told at most %s", r.Profile.Name(), message.Count(c.Most(), "time")))
	}
	return text
}
