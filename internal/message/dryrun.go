package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// Schedule says how often a command would be retried, and after which delays.
func Schedule(retries int, delays []string, jitter any, waits string) string {
	return fmt.Sprintf("%d, after %s; jitter %v, %s", retries, strings.Join(delays, ", "), jitter, waits)
}

// AttemptLimit says how long an attempt may take.
func AttemptLimit(d time.Duration) string { return printable.Span(d) + " per attempt" }

// TotalLimit says how long everything may take.
func TotalLimit(d time.Duration) string { return printable.Span(d) + " in all" }

// StallLimit says how long a command may be silent.
func StallLimit(d time.Duration) string { return printable.Span(d) + " without activity" }

// ToolStallLimit says how long a command may be silent while a tool is running.
func ToolStallLimit(d time.Duration) string { return printable.Span(d) + " while a tool is running" }

// GateNow says how a gate stands; until is zero if that is not known.
func GateNow(key, state string, until time.Time, reason string) string {
	if !until.IsZero() {
		state += " until " + When(until)
	}
	return fmt.Sprintf("%s, %s: %s", key, state, reason)
}
