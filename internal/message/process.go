package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// NothingRunning says that there are no runs.
func NothingRunning() string { return "nothing is running" }

// Ended says what was ended.
func Ended(what string) string { return "ended " + what }

// WasKilled says that a run was killed, and where to read about it.
func WasKilled(id, command string) string {
	return fmt.Sprintf("%s (%s) was killed. See: belay log %s", id, command, id)
}

// KilledState says what a killed run left.
func KilledState(left []string) string { return "killed, left running: " + strings.Join(left, ", ") }

// RunningState says that a run is running, in which attempt, and how many bytes of memory it uses, if that is known.
func RunningState(attempt int, memory int64) string {
	text := "running"
	if attempt > 1 {
		text += fmt.Sprintf(", attempt %d", attempt)
	}
	if memory > 0 {
		text += ", " + printable.Size(memory)
	}
	return text
}

// WaitingState says what a run waits for, for how long and until when; clock is empty if that is not known.
func WaitingState(left time.Duration, clock, reason string) string {
	if clock == "" {
		return "waiting: " + reason
	}
	return fmt.Sprintf("waiting %s, until %s: %s", printable.Span(left), clock, reason)
}

// CannotCancel says that a run cannot be stopped.
func CannotCancel(pid int, err error) string {
	return fmt.Sprintf("cannot stop process %d: %v", pid, err)
}

// Cancelled says that a run was asked to stop.
func Cancelled(id, command string) string { return fmt.Sprintf("asked %s (%s) to stop", id, command) }

// NoRun says that no run has that id.
func NoRun(id string) string { return fmt.Sprintf("no run has the id %q", id) }

// SeveralRuns says that an id stands for several runs.
func SeveralRuns(n int, id string) string { return fmt.Sprintf("%d runs match the id %q", n, id) }

// StillDoing says that an agent is still running, for how long, and what it does.
func StillDoing(name string, since time.Duration, doing []string) string {
	return fmt.Sprintf("%s (%s): %s", StillRunning(name), printable.Span(since), strings.Join(doing, ", "))
}

// DaysAgo says how long ago a day was.
func DaysAgo(days int) string {
	switch {
	case days <= 0:
		return "today"
	case days == 1:
		return "yesterday"
	}
	return fmt.Sprintf("%d days ago", days)
}
