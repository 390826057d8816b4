package message

import (
	"fmt"
	"strings"
	"time"
)

// NothingRunning says that there are no runs.
func NothingRunning() string { return "nothing is running" }

// ProcessesLeft says that a killed belay left processes.
func ProcessesLeft() string {
	return "a killed belay left processes running. To end them: belay ps --reap"
}

// NothingLeft says that there is nothing to end.
func NothingLeft() string { return "nothing was left running" }

// Ended says what was ended.
func Ended(what string) string { return "ended " + what }

// WasKilled says that a run was killed, and where to read about it.
func WasKilled(id, command string) string {
	return fmt.Sprintf("%s (%s) was killed. See: belay log %s", id, command, id)
}

// KilledState says what a killed run left.
func KilledState(left []string) string { return "killed, left running: " + strings.Join(left, ", ") }

// RunningState says which attempt of a run is running.
func RunningState(attempt int) string {
	if attempt > 1 {
		return fmt.Sprintf("running, attempt %d", attempt)
	}
	return "running"
}

// WaitingState says what a run waits for, for how long and until when; clock is empty if that is not known.
func WaitingState(left time.Duration, clock, reason string) string {
	if clock == "" {
		return "waiting: " + reason
	}
	return fmt.Sprintf("waiting %s, until %s: %s", span(left), clock, reason)
}

// CannotCancel says that a run cannot be stopped.
func CannotCancel(pid int, err error) string {
	return fmt.Sprintf("cannot stop process %d: %v", pid, err)
}

// Cancelled says that a run was asked to stop.
func Cancelled(id, command string) string { return fmt.Sprintf("asked %s (%s) to stop", id, command) }

// AlreadyEnded says that a run has ended.
func AlreadyEnded(id, command string) string {
	return fmt.Sprintf("%s (%s) has already ended", id, command)
}

// NoRun says that no run has that id.
func NoRun(id string) string { return fmt.Sprintf("no run has the id %q", id) }

// SeveralRuns says that an id is that of several runs.
func SeveralRuns(n int, id string) string { return fmt.Sprintf("%d runs match the id %q", n, id) }

// OneRun says that only one run can be named.
func OneRun(n int) string { return fmt.Sprintf("belay log takes the id of one run, not %d", n) }

// RunIDs says where the ids of runs are.
func RunIDs() string { return "belay cancel 1f0c9a3e (belay ps has the ids)" }

// StillDoing says that an agent is still running, for how long, and what it does.
func StillDoing(name string, since time.Duration, doing []string) string {
	return fmt.Sprintf("%s (%s): %s", StillRunning(name), span(since), strings.Join(doing, ", "))
}

// WaitingForInput says that an agent waits for its caller.
func WaitingForInput() string { return "waiting for input" }

// NoServersRunning says that there are no MCP servers to show.
func NoServersRunning() string { return "no MCP server is running behind belay" }

// FailedAgo says when an MCP server failed last, and why.
func FailedAgo(ago time.Duration, why string) string {
	return fmt.Sprintf("%s ago: %s", span(ago), why)
}

// NoPrice says that there is no price for a model.
func NoPrice(model string) string { return fmt.Sprintf("there is no price for %q", model) }

// SetPrice says how to set the price of a model.
func SetPrice(file, model string) string {
	return fmt.Sprintf("to set one, in %s: [prices.%q]", file, model)
}

// PriceUnit says what the prices are.
func PriceUnit() string { return "US dollars per million tokens" }

// PriceDate says how old the list of prices is.
func PriceDate(day time.Time, ago string) string {
	return fmt.Sprintf("list of %s (%s); if it differs from the pages above, they are right", day.Format(time.DateOnly), ago)
}

// PricesOld says that the list of prices is old.
func PricesOld(file string) string {
	return fmt.Sprintf("this list is old: update belay, or set prices of your own in %s", file)
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

// PriceLong is the price of a long prompt.
func PriceLong(input, output string, above int64) string {
	return fmt.Sprintf("%s/%s above %dK", input, output, above/1000)
}

// CommandNotFound is what a shell says of a command that is not there.
func CommandNotFound(name string) string { return name + ": command not found" }

// NotExecutable is what a shell says of a command that may not be executed.
func NotExecutable(name string) string { return name + ": permission denied" }

// StartTime is what a run waits for whose start was put off to a time of day.
func StartTime() string { return "its start time" }
