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
	return fmt.Sprintf("%s %s; went on without it", label, why)
}

// HookUnrecorded says that the failure of a hook is not on record.
func HookUnrecorded(label string, err error) string {
	return fmt.Sprintf("that %s failed is not on record: %v", label, err)
}

// HookLeft says that what a hook has left running was ended.
func HookLeft(label string, processes []string) string {
	return fmt.Sprintf("ended what %s had left running: %s; to let it go on: belay hook --keep-background", label, strings.Join(processes, ", "))
}

// The following say how a hook has failed. Its label stands before them.

// HookNoInput says that the input of a hook could not be passed on.
func HookNoInput(err error) string { return fmt.Sprintf("its stdin could not be passed on: %v", err) }

// HookNotDelivered says that the decision of a hook could not be passed on.
func HookNotDelivered(err error) string {
	return fmt.Sprintf("decided something that could not be passed on: %v", err)
}

// HookDecided says that a hook has failed and has decided all the same.
func HookDecided(why string) string { return why + "; what it had decided was passed on" }

// HookNotStarted says that a hook could not be started.
func HookNotStarted(err error) string { return "could not be started: " + err.Error() }

// HookTimedOut says that a hook was ended by its deadline.
func HookTimedOut(limit time.Duration) string {
	return fmt.Sprintf("exceeded its timeout (%v s) and was terminated", limit.Seconds())
}

// HookInterrupted says that a hook was stopped.
func HookInterrupted() string { return "was interrupted" }

// HookTooMuch says that a hook has printed more than can be held.
func HookTooMuch(err error) string { return fmt.Sprintf("printed what could not be held: %v", err) }

// HookKilled says that a hook was ended by a signal.
func HookKilled(signal string) string { return "was killed by signal " + signal }

// HookNotFound says that a hook has ended as a shell does that could not run a command.
func HookNotFound(code int) string {
	return fmt.Sprintf("exited with code %d, which is a shell's for a command that it could not run", code)
}

// HookKilledInside says that a hook has ended as a shell does whose command was ended by a signal.
func HookKilledInside(code int, signal string) string {
	return fmt.Sprintf("exited with code %d, as after signal %s", code, signal)
}

// HookExited says that a hook has ended with an exit code that means nothing.
func HookExited(code int) string { return fmt.Sprintf("exited with code %d", code) }

// HookBadJSON says that a hook has printed something that only looks like a decision.
func HookBadJSON() string { return "printed what begins as a JSON object and is none" }
