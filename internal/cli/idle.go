package cli

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/profile"
)

// idleFlags says which of the flags that were given do nothing for this command. Such a flag may stand in a script that runs
// all kinds of commands, so it is no mistake; but the user may count on what it does.
func idleFlags(s *config.Settings, r *engine.Runner, known agent.Profile) (list []string) {
	_, isAgent := known.(agent.Agent)
	_, isCaller := known.(agent.Caller)
	_, hasEffects := r.Profile.(agent.Caller)
	gated := s.Gate != "" || known != nil
	for _, f := range []struct {
		name  string
		works bool
		why   string
	}{
		{"on-busy", s.Scope != "" || isAgent, "there is no --scope"},
		{"retry-timeouts", r.Policy.Timeout > 0 || isCaller, "there is no --timeout"},
		{"max-wait", !s.NoWait, "--no-wait"},
		{"no-stdin", s.From("prompt") == "" && s.From("prompt-file") == "", "the prompt is what it reads"},
		{"verify-effect", hasEffects, "only what gh changes can be looked for"},
		{"retry-unsafe", hasEffects, "it is for gh"},
		{"rate-limit-buffer", isCaller, "it is for gh"},
		{"resume-prompt", isAgent, "only agents have sessions"},
		{"no-resume-on-retry", isAgent, "only agents have sessions"},
		{"log-dir", cliOf(known).OwnLog != "", "it is for " + profile.Or(withOwnLog())},
		{"breaker-failures", gated, "there is no --gate"},
		{"breaker-open", gated, "there is no --gate"},
		{"breaker-successes", gated, "there is no --gate"},
	} {
		if from := s.From(f.name); !f.works && strings.HasPrefix(from, "--") {
			list = append(list, fmt.Sprintf("%s does nothing here: %s", from, f.why))
		}
	}
	return list
}

// withOwnLog are the CLIs that have a log of invocations of their own.
func withOwnLog() (names []string) {
	for _, d := range profile.All() {
		if d.OwnLog != "" {
			names = append(names, d.Name)
		}
	}
	return names
}
