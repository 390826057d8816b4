package setup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Fallbacks are the agents that a request may go to instead. Each has the settings of its own profile. One that only files or the
// environment name is left out where it does not fit: they are meant for many commands.
func Fallbacks(s *config.Settings, given config.Given, known agent.Profile) (list []engine.Fallback, err error) {
	asked := strings.HasPrefix(s.From("fallback"), "--")
	if _, isAgent := known.(agent.Agent); !isAgent && !asked {
		return nil, nil
	}
	for _, f := range s.Fallbacks {
		own, rules, err := config.Load(given, f.Profile)
		if err != nil {
			return nil, err
		}
		policy := own.Policy(f.Profile, true)
		fallback := engine.Fallback{Profile: f.Profile, Model: f.Model, Args: s.FallbackArgs[f.Profile], Policy: &policy, Optional: !asked}
		exits := own.RetryExits(true)
		judge, err := generic.New(generic.Options{RetryExit: exits, RetryOn: own.RetryOn, FailOn: own.FailOn, Rules: rules})
		if err != nil {
			return nil, err
		}
		if judge.Reads() || len(exits) > 0 {
			fallback.Judge = judge.Overrule
		}
		if fallback.Budgets, err = Budgets(own, f.Profile); err != nil {
			return nil, err
		}
		list = append(list, fallback)
	}
	return list, nil
}

// FallbackHint adds to an error that a fallback does not fit what to do about that.
func FallbackHint(err error) error {
	refused, ok := errors.AsType[*belaytype.FallbackRefused](err)
	if !ok {
		return err
	}
	name, _, _ := strings.Cut(refused.Fallback, ":")
	switch {
	case refused.Form:
		return command.Usage(err, "use belay's own --output-format, in front of the command")
	case refused.Args:
		return command.Usage(err, fmt.Sprintf("to say what %s may do, in %s: [fallback.%s] args = […]", name, config.UserFile(), name))
	}
	if near := message.Nearest(name, profile.Agents()); profile.Find(name) == nil && near != "" {
		return command.Usage(err, message.DidYouMeanOne(near))
	}
	return err
}
