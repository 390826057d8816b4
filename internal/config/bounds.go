package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/retry"
)

// defaultLimitBuffer is how long the engine waits beyond the reset of a service's limit unless told otherwise.
const defaultLimitBuffer = 5 * time.Second

// inForce are the values that a project's file may lower or raise, as they are without it.
type inForce struct {
	Settings
	starts int    // at most; 0 if they are not bounded
	preset string // where the values come from that are not set
}

// inForce returns the values in force for commands of a profile. Of no profile they are those that the user has set, and
// whatever is not set is neither too low nor too high.
func (s *Settings) inForce(name string) *inForce {
	if name == "" {
		v := &inForce{Settings: *s}
		for setting, unset := range map[string]func(){
			"max-retries": func() { v.MaxRetries = math.MaxInt }, "retry-timeouts": func() { v.RetryTimeouts = math.MaxInt },
			"max-wait": func() { v.MaxWait = math.MaxInt64 },
		} {
			if !s.Chosen(setting) {
				unset()
			}
		}
		return v
	}
	agent := name != generic.Name
	p := s.Policy(name, agent)
	v := &inForce{preset: "preset " + s.presetName(name, agent)}
	v.MaxRetries, v.RetryTimeouts = max(p.MaxRetries, 0), p.RetryTimeouts
	v.BaseDelay, v.MaxDelay = cmp.Or(p.BaseDelay, time.Second), cmp.Or(p.MaxDelay, time.Minute)
	v.Factor, v.Jitter = cmp.Or(p.Factor, defaultFactor), p.Jitter
	v.MaxWait, v.LimitBuffer = cmp.Or(p.MaxWait, defaultMaxWait), defaultLimitBuffer
	v.Timeout, v.TotalTimeout, v.StallTimeout = p.Timeout, p.TotalTimeout, s.StallTimeout
	v.MaxParallel, v.MaxCost = s.MaxParallel, s.MaxCost
	if s.Chosen("rate-limit-buffer") {
		v.LimitBuffer = s.LimitBuffer
	}
	if !p.CountThrottles && p.MaxRetries > 0 {
		v.starts = p.MaxAttempts()
	}
	return v
}

// measure is how much a setting allows, or how much it slows down: what a project may only lower, or only raise.
func measure(name string, s *Settings) float64 {
	n := math.NaN() // neither lower nor higher than anything
	switch t := Find(name); at := t.reader().(type) {
	case *number:
		n = float64(*at.at(s))
	case duration:
		n = float64(*at(s))
	default:
		switch name {
		case "factor":
			n = s.Factor
		case "max-cost":
			n = s.MaxCost
		}
	}
	if n == 0 && slices.Contains([]string{"timeout", "total-timeout", "stall-timeout", "max-parallel", "max-cost"}, name) {
		return math.Inf(1) // no limit
	}
	return n
}

// nothing is the reason for which a project's value is ignored without a word: there is nothing that it could limit.
const nothing = "nothing to limit"

// refusal is why a project's value of a setting has no effect; empty if it has.
func (s *Settings) refusal(t *Setting, want *Settings, without *inForce, profile string) string {
	value, now := measure(t.Name, want), measure(t.Name, &without.Settings)
	from := cmp.Or(s.From(t.Name), without.preset)
	switch {
	case t.Name == "max-retries" && now == 0 && !s.Chosen(t.Name):
		if value == 0 {
			return nothing
		}
		return "a project's file cannot turn on retries. Use --max-retries, or set it in your own config.toml"
	case t.Name == "max-parallel" && profile == generic.Name && s.Gate == "":
		return nothing // and so no slots
	case t.Name == "max-wait" && s.NoWait:
		return nothing
	case t.Name == "stall-timeout" && s.Chosen(t.Name) && s.StallTimeout == 0:
		return "you turned it off in " + from
	case t.Name == "stall-timeout" && math.IsInf(value, 1) && profile != generic.Name:
		return "a project's file cannot turn it off"
	case math.IsInf(value, 1) && math.IsInf(now, 1):
		return nothing
	case value == 0 && now > 0 && t.Scope == Lower && (s.asked || s.Chosen(t.Name)):
		return "it would turn off what you asked for"
	case without.stricter(t, want):
		return ""
	case t.Name == "jitter":
		return fmt.Sprintf("a project's file may only make waits longer, and %v (%s) already makes them longer", without.Jitter, from)
	}
	may := map[Scope]string{Lower: "lower", Raise: "raise"}[t.Scope]
	return fmt.Sprintf("a project's file may only %s it, and it is %s (%s)", may, valueText(t.Name, &without.Settings), from)
}

// stricter reports whether a value bounds a command, or slows it down, no less than what is in force.
func (v *inForce) stricter(t *Setting, want *Settings) bool {
	value, now := measure(t.Name, want), measure(t.Name, &v.Settings)
	switch {
	case t.Name == "jitter":
		return slower(want.Jitter, v.Jitter, v.BaseDelay, v.MaxDelay)
	case t.Scope == Raise:
		return value >= now
	}
	return value <= now
}

// slower reports whether no wait with one jitter is shorter than with the other, for delays from one length to another.
func slower(j, than retry.Jitter, from, to time.Duration) bool {
	for _, d := range []time.Duration{from, to} {
		for _, r := range []float64{0, 1} {
			if j.Apply(d, r) < than.Apply(d, r) {
				return false
			}
		}
	}
	return true
}

// valueText is a value as one would write it.
func valueText(name string, s *Settings) string {
	switch name {
	case "max-retries", "retry-timeouts", "max-parallel", "factor":
		return strconv.FormatFloat(measure(name, s), 'f', -1, 64)
	}
	return cmp.Or(written(time.Duration(measure(name, s))), "0")
}
