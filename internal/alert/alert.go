// Package alert raises an alert when something fails again and again: by default once for five failures in ten minutes.
//
// A [State] is a pure value: it is told of failures, and says when to raise an alert. An episode begins with the alert and
// ends when the failures have been fewer than that for as long a time again; until then there is no other. [Files] keeps a
// state for each integration, shared by all processes of a user. [Counts] says what a failure is.
package alert

import (
	"cmp"
	"slices"
	"time"
)

// Settings say how much is too much.
type Settings struct {
	// Failures is how many raise an alert; 0 means 5, less than 0 turns alerts off.
	Failures int
	// Within is the time in which they come; 0 means 10 minutes. An episode is over after the same time below the threshold.
	Within time.Duration
	// Forecast says that a limit of an account which will be full before it resets raises an alert too. It is set for all integrations.
	Forecast bool
}

// maxFailures bounds how many failures a state remembers.
const maxFailures = 1000

func (s Settings) failures() int {
	return min(cmp.Or(s.Failures, 5), maxFailures)
}

func (s Settings) within() time.Duration {
	if s.Within <= 0 {
		return 10 * time.Minute
	}
	return s.Within
}

// Off says that nothing raises an alert.
func (s Settings) Off() bool { return s.Failures < 0 }

// Raised is an alert.
type Raised struct {
	Integration string
	Failures    int
	Within      time.Duration
	At          time.Time
}

// State is what is known of one integration. The zero value knows of no failure.
type State struct {
	// Times are the times of the last failures, oldest first; no more than it takes for an alert.
	Times []time.Time `json:"times,omitempty"`
	// Above is until when the failures within the time have been, or will be, enough for an alert. Zero if they never were.
	Above time.Time `json:"above,omitzero"`
}

// Failed adds a failure and says whether it raises an alert.
func (s State) Failed(set Settings, now time.Time) (State, bool) {
	if set.Off() {
		return s, false
	}
	n, within := set.failures(), set.within()
	s = s.withoutFuture(within, now)
	s.Times = append(slices.Clone(s.Times), now)
	slices.SortFunc(s.Times, time.Time.Compare) // another process may have been faster with a later time
	s.Times = s.Times[max(0, len(s.Times)-n):]
	if len(s.Times) < n || now.Sub(s.Times[0]) > within {
		return s, false
	}
	fresh := s.Above.IsZero() || now.Sub(s.Above) >= within
	s.Above = s.Times[0].Add(within)
	return s, fresh
}

// withoutFuture drops times in the future: a clock that was set back must not silence alerts for hours.
func (s State) withoutFuture(within time.Duration, now time.Time) State {
	s.Times = slices.DeleteFunc(slices.Clone(s.Times), func(t time.Time) bool { return t.Sub(now) > within })
	if s.Above.Sub(now) > 2*within {
		s.Above = time.Time{}
	}
	return s
}

// Config is what a user has set: for all integrations, for some, and where alerts are sent.
type Config struct {
	Settings
	// Per are the settings of single integrations.
	Per map[string]Settings
	// Command is run with each alert, as JSON on its stdin. Webhook is a URL that it is posted to.
	Command []string
	Webhook string
}

// For are the settings of an integration: its own, and those for all where it has none. One that belongs to a kind, as a
// plain command does, is named after the kind, whose settings go between the two.
func (c Config) For(names ...string) Settings {
	s := c.Settings
	for _, name := range names {
		own := c.Per[name]
		if own.Failures != 0 {
			s.Failures = own.Failures
		}
		if own.Within != 0 {
			s.Within = own.Within
		}
	}
	return s
}

// The rules of verdicts on what Belay has stopped, or not started, for its cost: that of a run, and that of a budget.
const (
	RuleMaxCost = "max-cost"
	RuleBudget  = "cost-budget"
)

// Counts reports whether a run that ended with this verdict is a failure of what it called. An interruption and a limit on
// cost are intended by the user. Work that did not pass its check comes from a service that has answered. What was never started was refused by Belay, at a gate or a scope, unless the command could
// not be started.
func Counts(class, rule string, started bool) bool {
	switch class {
	case "ok", "interrupted", "breaker_open", "not_done", "conflict", "":
		return false
	}
	if rule == RuleMaxCost || rule == RuleBudget {
		return false
	}
	return started || class == "tool_missing"
}

// CountsCall reports whether a call of an MCP server that ended with this class is a failure of the server. What the client
// has asked wrongly, or for what the server does not offer, is not.
func CountsCall(class string) bool {
	return Counts(class, "", true) && class != "invalid_request" && class != "not_found"
}
