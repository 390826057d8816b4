package setup

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// SkipCheck takes out of the settings of a run the check of a command that works for a person, or in a conversation. Files and the environment are meant
// for many commands; a flag is refused.
func (r Recognized) SkipCheck(s *config.Settings) (skipped []string, err error) {
	if s.Check == "" {
		return nil, needs(s, "check", "check-rounds", "check-timeout", "check-prompt", "check-first")
	}
	known := r.Known
	if known == nil {
		known = r.found
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

// needs refuses flags that mean nothing without another one.
func needs(s *config.Settings, flag string, without ...string) error {
	for _, name := range without {
		if strings.HasPrefix(s.From(name), "--") {
			return command.Usage(message.Error("--"+name+" needs --"+flag), "")
		}
	}
	return nil
}

// check is the check that the settings ask for. What a check starts is not checked in turn, which might never end, unless a flag says so.
func check(s *config.Settings) engine.Check {
	if from := s.From("check"); from != "" && !strings.HasPrefix(from, "--") && engine.WithinCheck() {
		return engine.Check{}
	}
	c := engine.Check{Line: s.Check, Timeout: s.CheckTimeout, Rounds: s.CheckRounds, Prompt: s.CheckPrompt, First: s.CheckFirst, Repeat: s.Asked()}
	if s.From("check-rounds") != "" && s.CheckRounds == 0 {
		c.Rounds = -1
	}
	return c
}
