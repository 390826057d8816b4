package message

import (
	"fmt"
	"strings"
)

// NothingDone says that a question was answered with no.
func NothingDone() string { return "nothing was done" }

// NoRunSelected says that there is no run to cancel.
func NoRunSelected() string { return "no run is selected" }

// RunEnded says that a run cannot be cancelled.
func RunEnded() string { return "this run has ended" }

// NoGateSelected says that there is no gate to reset.
func NoGateSelected() string { return "no gate is selected; press Tab for the gates" }

// SlotsInUse says that there is nothing to reset.
func SlotsInUse() string { return "nothing to reset: all slots of this gate are in use" }

// AskReap asks whether to end what killed runs left.
func AskReap(processes int) string {
	return fmt.Sprintf("End %d %s left by killed runs?", processes, verb(processes, "process", "processes"))
}

// AskCancel asks whether to cancel a run.
func AskCancel(id, command string) string { return fmt.Sprintf("Cancel %s (%s)?", id, command) }

// AskReset asks whether to reset a gate.
func AskReset(key, state string) string { return fmt.Sprintf("Reset gate %s (%s)?", key, state) }

// RetryAfter says after which time a run was retried.
func RetryAfter(d string) string { return "retry after " + d }

// Until says when something ends, and how long that is.
func Until(clock, left string) string { return fmt.Sprintf("%s (%s left)", clock, left) }

// AttemptFailed is the title of the annotation of a run that failed.
func AttemptFailed(command, class string) string {
	return fmt.Sprintf("belay: %s failed (%s)", command, class)
}

// AttemptSucceeded is the title of the annotation of a run that had to be retried.
func AttemptSucceeded(command string, classes []string) string {
	return fmt.Sprintf("belay: %s succeeded after retries (%s)", command, strings.Join(classes, ", "))
}

// ActionColumns are the headings of the table in the summary of a job.
func ActionColumns() string {
	return "| result | exit code | attempts | waited | took | tokens in | tokens out | cost |"
}

// ActionFailures are the headings of the table of failures there.
func ActionFailures() string { return "| attempt | error | times | what went wrong |" }

// MaxCost names the limit on the cost of a run, or of the run around it.
func MaxCost(outer bool) string {
	if outer {
		return "the maximum cost of the run around it"
	}
	return "the maximum cost"
}

// MaxCostFlag is MaxCost in the words of the command line.
func MaxCostFlag(outer bool) string {
	if outer {
		return "--max-cost of the run around it"
	}
	return "--max-cost"
}

// WaitingForCaller says that an agent waits for its caller.
func WaitingForCaller() string { return "waiting for its caller" }
