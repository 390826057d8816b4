package message

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/gate"
)

// CannotDetach says that a run cannot be started in the background.
func CannotDetach(err error) string { return fmt.Sprintf("cannot detach: %v", err) }

// Detached says that a run continues by itself, and how to look at it.
func Detached(id string) string {
	return fmt.Sprintf("running in the background. Its output is kept on disk until it is shown: belay attach %s", id)
}

// DetachInterrupted is why a run was stopped whose user was gone before it had begun.
func DetachInterrupted() string { return "belay run --detach was interrupted" }

// StdinTooLargeToDetach says that stdin is larger than what a detached run keeps of it.
func StdinTooLargeToDetach(mib int) string {
	return fmt.Sprintf("stdin is larger than %d MiB, which --detach cannot keep in memory. Let the command read a file instead", mib)
}

// LeftDetached says that a run continues though it is not looked at any more.
func LeftDetached(id string) string {
	return fmt.Sprintf("the run continues. To see it again: belay attach %s", id)
}

// AlreadyShown says that the output of a run is not there any more.
func AlreadyShown(id string) string {
	return fmt.Sprintf("the output of %s has been shown by another belay attach, and deleted", id)
}

// NotDetached says that a run has another place for its output.
func NotDetached(id, command string) string {
	return fmt.Sprintf("%s (%s) is not detached; its output is where it was started", id, command)
}

// DetachedIDs says where the ids of detached runs are.
func DetachedIDs() string { return "belay attach 1f0c9a3e (belay ps has the ids)" }

// OutputLost says that a part of the output of a run could not be kept.
func OutputLost(bytes int64, why string) string {
	return fmt.Sprintf("%s of its output could not be kept: %s", count(int(bytes), "byte"), why)
}

// EndedState says that a detached run has ended and that its output is still there.
func EndedState(code int) string {
	return fmt.Sprintf("ended with exit code %d; output not yet shown", code)
}

// DetachedState is a state of a run that is detached.
func DetachedState(state string) string { return state + " (detached)" }

// StartsAt says when a command starts.
func StartsAt(name string, at time.Time) string {
	return fmt.Sprintf("%s starts at %s", name, When(at))
}

// StartsWhenLifted says that a command starts when a limit is over, and when that is.
func StartsWhenLifted(name, key string, r gate.Refusal) string {
	return fmt.Sprintf("%s; %s starts when it is lifted", refusal(key, r), name)
}

// Start is what a countdown counts down to.
func Start(name string) string { return "start of " + name }

// TheBatch is what a batch is called in the place of a command.
func TheBatch() string { return "the batch" }
