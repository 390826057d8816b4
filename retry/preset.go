package retry

import "time"

// presets in the order of the documentation. What is left out has the default of its field. Those from gateway on are
// policies that others have written down, with a number of retries that means every retry; gateway and sdk come with a breaker
// that fails fast.
var presets = []struct {
	name   string
	policy Policy
}{
	{"default", general},
	{"claude", Policy{MaxRetries: 4, BaseDelay: 2 * time.Second, MaxDelay: 2 * time.Minute, Jitter: Proportional(0.2)}},
	{"codex", general},
	{"gemini", general},
	{"opencode", general},
	{"gh", Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: Plus(time.Second)}},
	{"mcp", Policy{MaxRetries: 1, BaseDelay: 100 * time.Millisecond, MaxDelay: 30 * time.Second, Jitter: Full}},
	{"gateway", Policy{MaxRetries: 3, CountThrottles: true, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: NoJitter, Timeout: 2 * time.Minute, NoBreakerWait: true}},
	{"sdk", Policy{MaxRetries: 3, CountThrottles: true, BaseDelay: 2 * time.Second, MaxDelay: time.Minute, Jitter: Additive(0.25), NoBreakerWait: true}},
	{"transport", Policy{MaxRetries: 3, CountThrottles: true, BaseDelay: 2 * time.Second, MaxDelay: time.Minute, Jitter: Proportional(0.5)}},
	{"interactive", Policy{MaxRetries: 1, CountThrottles: true, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: Additive(0.25)}},
	{"background", Policy{MaxRetries: 5, CountThrottles: true, BaseDelay: 2 * time.Second, MaxDelay: time.Minute, Jitter: Additive(0.25)}},
	// Its ten delays are 487 s, 609 s with jitter: the usual 5 min of waiting would cut them off after seven or eight.
	{"critical", Policy{MaxRetries: 10, CountThrottles: true, BaseDelay: time.Second, MaxDelay: 2 * time.Minute, Jitter: Additive(0.25), MaxWait: 15 * time.Minute}},
	{"aggressive", Policy{MaxRetries: 5, CountThrottles: true, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: Additive(0.25)}},
	{"conservative", Policy{MaxRetries: 2, CountThrottles: true, BaseDelay: 5 * time.Second, MaxDelay: time.Minute, Jitter: Additive(0.25)}},
}

var general = Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: Full}

// Preset returns the policy of that name, to be used as it is or changed.
func Preset(name string) (Policy, bool) {
	for _, p := range presets {
		if p.name == name {
			return p.policy, true
		}
	}
	return Policy{}, false
}

// Presets returns the names that Preset knows.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}
