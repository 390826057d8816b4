package setup

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/supervise"
)

// refusedFlags are flags that are refused where they do nothing, and a hint where they do something. As settings, which are meant for many commands,
// they are left out.
var refusedFlags = map[string]string{
	"require-model": message.AsIn("belay run --require-model -- claude -p hi --model opus"),
	"reserve":       message.AsIn("belay run --reserve 20% -- claude -p hi"),
	"max-memory":    "",
	"max-agents":    message.AsIn("belay run --max-agents 5 -- claude -p hi"),
	"max-repeats":   message.AsIn("belay run --max-repeats 5 -- claude -p hi"),
}

// IdleFlags says which of the flags that were given do nothing for this command. Such a flag may stand in a script that runs
// all kinds of commands, so it is no mistake; but the user may count on what it does. err refuses one of [refusedFlags].
func IdleFlags(s *config.Settings, r *engine.Runner, known agent.Profile) (list []string, err error) {
	_, isAgent := known.(agent.Agent)
	_, isCaller := known.(agent.Caller)
	_, hasEffects := r.Profile.(agent.Caller)
	gated := s.Gate != "" || known != nil
	for _, f := range []struct {
		name  string
		works bool
		why   string
	}{
		{"on-busy", s.Scope != "" || isAgent, message.NoEffectWithout("scope")},
		{"retry-timeouts", r.Policy.Timeout > 0 || isCaller, message.NoEffectWithout("timeout")},
		{"max-wait", !s.NoWait, "--no-wait"},
		{"no-stdin", s.From("prompt") == "" && s.From("prompt-file") == "", "the command reads the prompt from stdin"},
		{"verify-effect", hasEffects, message.NoEffectExcept(callers())},
		{"retry-unsafe", hasEffects, message.NoEffectExcept(callers())},
		{"rate-limit-buffer", isCaller, message.NoEffectExcept(callers())},
		{"resume-prompt", isAgent, message.NoEffectSessions()},
		{"no-resume-on-retry", isAgent, message.NoEffectSessions()},
		{"log-dir", CLI(known).OwnLog != "", message.NoEffectExcept(withOwnLog())},
		{"require-model", r.RequireModel == s.RequireModel, message.ModelUntold("the command")},
		{"reserve", len(s.Reserve) == 0 || r.Reserve != nil, "only for agents that work by themselves, and take part in a gate, it is known how much of their limits is used"},
		{"max-memory", r.Ceilings.Memory == s.MaxMemory, message.MemoryUntold()},
		{"max-agents", r.Ceilings.Agents == s.MaxAgents, message.Untold("the command", "sub-agents")},
		{"max-repeats", r.Ceilings.Repeats == s.MaxRepeats, message.Untold("the command", "tool calls")},
		{"breaker-failures", gated, message.NoEffectWithout("gate")},
		{"breaker-open", gated, message.NoEffectWithout("gate")},
		{"breaker-successes", gated, message.NoEffectWithout("gate")},
	} {
		from := s.From(f.name)
		switch hint, refused := refusedFlags[f.name]; {
		case f.works:
		case refused && from == "--"+f.name:
			err = command.Usage(message.Error(from+" cannot be used here: "+f.why), hint)
		case refused || strings.HasPrefix(from, "--"):
			list = append(list, fmt.Sprintf("%s has no effect here: %s", from, f.why))
		}
	}
	return list, err
}

// callers are the CLIs that call a service for their user and are no agents.
func callers() []string {
	return profile.NamesOf(profile.All(), func(d *agent.Descriptor) bool { return !d.IsAgent() })
}

// withOwnLog are the CLIs that have a log of invocations of their own.
func withOwnLog() []string {
	return profile.NamesOf(profile.All(), func(d *agent.Descriptor) bool { return d.OwnLog != "" })
}

// KeepAwake keeps the machine from going to sleep as long as we run, where the settings ask for it. A flag that cannot be kept is refused; a setting is left out,
// which is said to a user who wants to know.
func KeepAwake(s *config.Settings, say func(string)) error {
	if !s.KeepAwake {
		return nil
	}
	err, from := supervise.KeepAwake(), s.From("keep-awake")
	if err != nil && from == "--keep-awake" {
		return command.Usage(message.Error(from+" cannot be used here: "+err.Error(), err), "")
	}
	if err != nil && s.Verbose {
		say(from + " has no effect here: " + err.Error())
	}
	return nil
}
