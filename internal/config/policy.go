package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
)

// The defaults of a policy. The tests compare them with those of package retry.
const (
	defaultFactor  = 2
	defaultMaxWait = 5 * time.Minute
)

// Asked reports whether the user asks for a failed command to be repeated. A project cannot.
func (s *Settings) Asked() bool { return s.asked }

// asksForRetries reports whether any setting so far asks for a failed command to be repeated.
func (s *Settings) asksForRetries() bool {
	if s.From("max-retries") != "" {
		return s.MaxRetries > 0
	}
	return slices.ContainsFunc([]string{"preset", "retry-on-exit", "retry-on", "retry-timeouts"}, func(name string) bool {
		return s.From(name) != ""
	})
}

// presetName is the preset that applies.
func (s *Settings) presetName(profile string, agent bool) string {
	switch {
	case s.Preset != "":
		return s.Preset
	case agent:
		return profile
	}
	return "default"
}

// RetryExits are the exit codes with which a failure that says nothing else is worth repeating. Those of the preset transport are
// seed 004's, for CLIs that Belay knows; any failure of a plain command is worth it then.
func (s *Settings) RetryExits(known bool) []int {
	if known && s.Preset == "transport" && len(s.RetryOnExit) == 0 && s.RetryOn == "" {
		return []int{1, 2}
	}
	return s.RetryOnExit
}

// Policy is the preset with what was given over it. An agent has a preset of its own, and is repeated without being
// asked to; any other command is not.
func (s *Settings) Policy(name string, agent bool) retry.Policy {
	p, _ := profile.Preset(s.presetName(name, agent))
	given := func(name string) bool { return s.From(name) != "" }
	if given("max-retries") {
		p.MaxRetries, p.CountThrottles = s.MaxRetries, true
	}
	if !agent && !s.asked || given("max-retries") && s.MaxRetries == 0 {
		p.MaxRetries = retry.None
	}
	if given("base-delay") {
		// In a Policy zero means the default; a nanosecond is as good as no delay.
		p.BaseDelay = max(s.BaseDelay, 1)
	}
	if given("max-delay") {
		p.MaxDelay = max(s.MaxDelay, 1)
	}
	if given("factor") {
		p.Factor = s.Factor
	}
	if given("jitter") {
		p.Jitter = s.Jitter
	}
	if given("max-wait") {
		p.MaxWait, p.NoBreakerWait = max(s.MaxWait, 1), false
	}
	if s.NoWait {
		p.MaxWait = 1
	}
	if given("timeout") {
		p.Timeout = s.Timeout
	}
	if s.AtMost.Timeout > 0 && (p.Timeout > 0 || !agent) { // else the CLI's profile may have a limit, which is not known here
		p.Timeout = lowest(p.Timeout, s.AtMost.Timeout)
	}
	p.TotalTimeout, p.RetryTimeouts = s.TotalTimeout, s.RetryTimeouts
	return p
}

// OnlyAttempt reports whether the user has set the number of attempts, by a variable that counts them, to one. Then its failure means that all attempts are
// used up, while no retries at all (--max-retries 0) means that the user has a loop of their own.
func (s *Settings) OnlyAttempt() bool {
	if s.MaxRetries > 0 {
		return false
	}
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			if v.Name == s.From("max-retries") && v.Convert != nil {
				return true
			}
		}
	}
	return false
}

// lowest is the lower of two limits, of which zero is none.
func lowest(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Throttles says what bounds the retries for a limit. starts is what bounds the starts in all beside the policy; 0 if nothing does.
func Throttles(p retry.Policy, starts int) string {
	switch {
	case p.CountThrottles:
		return "count as retries"
	case noWait(p):
		return "are not waited for"
	}
	return message.ThrottlesBounded(cmp.Or(p.MaxAttempts(), starts))
}

// Waits says what bounds all waits together.
func Waits(p retry.Policy) string {
	if noWait(p) {
		return "without waiting"
	}
	if p.MaxWait < 0 {
		return "no limit on waiting"
	}
	return "at most " + written(cmp.Or(p.MaxWait, defaultMaxWait)) + " of waiting"
}

// noWait says that nothing is waited for: --no-wait is the shortest wait there is.
func noWait(p retry.Policy) bool { return p.MaxWait > 0 && p.MaxWait <= time.Microsecond }

// written is a duration as one would write it; empty for none.
func written(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	text := d.String()
	if d >= time.Minute {
		text = strings.TrimSuffix(text, "m0s") + map[bool]string{true: "m"}[strings.HasSuffix(text, "m0s")]
	}
	if d >= time.Hour && strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
