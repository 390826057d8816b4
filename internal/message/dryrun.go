package message

import (
	"fmt"
	"strings"
	"time"
)

// AsWritten says that a command would be started as it is written.
func AsWritten(option string) string {
	return fmt.Sprintf("as you wrote it, because belay does not know its option %s", option)
}

// Schedule says how often a command would be retried, and after which delays.
func Schedule(retries int, delays []string, jitter any, waits string) string {
	return fmt.Sprintf("%d, after %s; jitter %v, %s", retries, strings.Join(delays, ", "), jitter, waits)
}

// ThrottleHolds says how long a limit that names no time holds the gate.
func ThrottleHolds(text, holds string) string {
	return sentences(text, "a limit that names no time holds the gate for "+holds)
}

// Doubling says that a time doubles up to another one.
func Doubling(first, longest time.Duration) string {
	return span(first) + ", doubling to " + span(longest)
}

// InnerRetriesCount says that an agent is stopped when its own retries are used up.
func InnerRetriesCount(name string) string {
	return fmt.Sprintf("%s's own retries count, and it is stopped when none is left", name)
}

// InnerRetriesBounded says for how long an agent may retry by itself.
func InnerRetriesBounded(name string, most time.Duration) string {
	return fmt.Sprintf("%s's own retries count, and may take as long as belay's would (%s)", name, span(most))
}

// InnerRetriesTold says that an agent retries by itself as its own settings say.
func InnerRetriesTold(name string) string {
	return fmt.Sprintf("%s retries by itself as its own settings say", name)
}

// AttemptLimit says how long an attempt may take.
func AttemptLimit(d time.Duration) string { return span(d) + " per attempt" }

// TotalLimit says how long everything may take.
func TotalLimit(d time.Duration) string { return span(d) + " in all" }

// StallLimit says how long a command may be silent.
func StallLimit(d time.Duration) string { return span(d) + " without activity" }

// ToolStallLimit says how long a command may be silent while a tool is running.
func ToolStallLimit(d time.Duration) string { return span(d) + " while a tool is running" }

// GateNow says how a gate stands; until is zero if that is not known.
func GateNow(key, state string, until time.Time, reason string) string {
	if !until.IsZero() {
		state += " until " + When(until)
	}
	return fmt.Sprintf("%s, %s: %s", key, state, reason)
}

// GateNowHealthy says that a gate lets everything start.
func GateNowHealthy(key string) string { return key + ", healthy" }

// BudgetNow says how a budget stands.
func BudgetNow(name, spent, limit, status string) string {
	return fmt.Sprintf("%s: %s of %s spent, %s", name, spent, limit, status)
}

// PerWindow is the limit of a budget: $5 a day.
func PerWindow(limit float64, window string) string { return fmt.Sprintf("$%g a %s", limit, window) }

// AtLeast is an amount of which parts are unknown.
func AtLeast(amount string, unknown int) string {
	return fmt.Sprintf("≥ %s, %d unknown", amount, unknown)
}

// SessionContinues says that a session would be continued.
func SessionContinues(id string) string { return id + " continues" }

// SessionNone says that there is no session to continue.
func SessionNone() string { return "none on record for this directory" }

// SetFrom says what a setting is, and where that comes from.
func SetFrom(name, value, from string) string { return fmt.Sprintf("%s = %s (%s)", name, value, from) }

// ComeBack says after which time a service wants the next call.
func ComeBack(d time.Duration) string { return "come back: in " + span(d) }
