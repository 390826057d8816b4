package message

import (
	"fmt"
	"strings"
	"time"
)

// HookBlocked says that a hook has failed, and that this blocks.
func HookBlocked(label, why string) string {
	return fmt.Sprintf("%s %s; blocking because of --fail-closed", label, why)
}

// HookSkipped says that a hook has failed, and that this blocks nothing.
func HookSkipped(label, why string) string {
	return fmt.Sprintf("%s %s; continuing without it", label, why)
}

// HookUnrecorded says that the failure of a hook is not recorded.
func HookUnrecorded(label string, err error) string {
	return fmt.Sprintf("the failure of %s is not recorded: %v", label, err)
}

// HookLeft says that what a hook has left running was ended.
func HookLeft(label string, processes []string) string {
	return fmt.Sprintf("ended what %s left running: %s. To let it run: belay hook --keep-background", label, strings.Join(processes, ", "))
}

// The following say how a hook has failed. Its label stands before them.

// HookNoInput says that a hook could not be given its input.
func HookNoInput(err error) string { return fmt.Sprintf("was not given its stdin: %v", err) }

// HookNotDelivered says that the decision of a hook could not be passed on.
func HookNotDelivered(err error) string {
	return fmt.Sprintf("made a decision that could not be passed on: %v", err)
}

// HookDecided says that a hook has failed and has decided all the same.
func HookDecided(why string) string { return why + "; its decision was passed on" }

// HookNotStarted says that a hook could not be started.
func HookNotStarted(err error) string { return "could not be started: " + err.Error() }

// HookTimedOut says that a hook was ended by its deadline.
func HookTimedOut(limit time.Duration) string {
	return fmt.Sprintf("exceeded its timeout (%s) and was terminated", seconds(limit))
}

// HookInterrupted says that a hook was stopped.
func HookInterrupted() string { return "was interrupted" }

// HookTooMuch says that the output of a hook could not be held.
func HookTooMuch(err error) string {
	return fmt.Sprintf("printed output that could not be held: %v", err)
}

// HookTooLong is why output could not be held.
func HookTooLong() string { return "more than 64 MiB" }

// HookKilled says that a hook was ended by a signal.
func HookKilled(signal string) string { return "was killed by " + signal }

// HookNotFound says that a hook has ended as a shell does that could not run a command: with 127 or 126.
func HookNotFound(code int) string {
	if code == 126 {
		return "exited 126: command not executable"
	}
	return fmt.Sprintf("exited %d: command not found", code)
}

// HookKilledInside says that a hook has ended as a shell does whose command was ended by a signal.
func HookKilledInside(code int, signal string) string {
	return fmt.Sprintf("exited %d: a command in it was killed by %s", code, signal)
}

// HookExited says that a hook has ended with an exit code that is no decision.
func HookExited(code int) string { return fmt.Sprintf("exited %d", code) }

// HookBadJSON says that a hook has printed something that only looks like a decision.
func HookBadJSON() string { return "printed broken JSON" }
