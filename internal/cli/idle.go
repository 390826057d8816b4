package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// refusedFlags are flags that are refused where they do nothing. As settings, which are meant for many commands, they are left out.
var refusedFlags = []string{"require-model", "reserve", "max-memory", "max-agents", "max-repeats"}

// idleFlags says which of the flags that were given do nothing for this command. Such a flag may stand in a script that runs
// all kinds of commands, so it is no mistake; but the user may count on what it does.
func idleFlags(s *config.Settings, r *engine.Runner, known agent.Profile) (list []string) {
	_, isAgent := known.(agent.Agent)
	_, isCaller := known.(agent.Caller)
	_, hasEffects := r.Profile.(agent.Caller)
	gated := s.Gate != "" || known != nil
	_, unreserved := reserveOf(s, known, r.Budgets)
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
		{"log-dir", cliOf(known).OwnLog != "", message.NoEffectExcept(withOwnLog())},
		{"require-model", r.RequireModel == s.RequireModel, message.ModelUntold("the command")},
		{"reserve", unreserved == "", unreserved},
		{"max-memory", r.Ceilings.Memory == s.MaxMemory, message.MemoryUntold()},
		{"max-agents", r.Ceilings.Agents == s.MaxAgents, message.Untold("the command", "sub-agents")},
		{"max-repeats", r.Ceilings.Repeats == s.MaxRepeats, message.Untold("the command", "tool calls")},
		{"breaker-failures", gated, message.NoEffectWithout("gate")},
		{"breaker-open", gated, message.NoEffectWithout("gate")},
		{"breaker-successes", gated, message.NoEffectWithout("gate")},
	} {
		if from := s.From(f.name); !f.works && (strings.HasPrefix(from, "--") || slices.Contains(refusedFlags, f.name)) {
			list = append(list, fmt.Sprintf("%s has no effect here: %s", from, f.why))
		}
	}
	return list
}

// callers are the CLIs that call a service for their user and are no agents.
func callers() []string { return namesOf(func(d *agent.Descriptor) bool { return !d.IsAgent() }) }

// withOwnLog are the CLIs that have a log of invocations of their own.
func withOwnLog() []string { return namesOf(func(d *agent.Descriptor) bool { return d.OwnLog != "" }) }
