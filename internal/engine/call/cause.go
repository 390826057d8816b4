package call

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
)

// The causes below say why an invocation ended or was not begun, with what there is to know about it. Their texts name no
// flag of any command: see [Settings.Words].

// TooLate says that the next attempt would have come too late.
type TooLate struct {
	// Total says that it is the total timeout that would have passed, NoWait that no wait was allowed at all, Busy none for
	// a scope. Otherwise the longest wait would have been exceeded.
	Total, NoWait, Busy bool
	// Open says that the policy does not wait for an open breaker.
	Open bool
	// Limit is the total timeout or the longest wait; 0 if no wait was allowed.
	Limit time.Duration
	// Setting is the command's own setting that says so; empty where the caller does.
	Setting string
	// At is when the next attempt would have come; zero if that is not known, or said already.
	At time.Time
}

func (e *TooLate) Error() string {
	if e.Open {
		return message.NotWaiting(message.Bound{})
	}
	return message.NotWaiting(message.Bound{Flag: e.Setting, Limit: e.Limit, At: e.At})
}

// NotAdmitted is what there is to say of an attempt that was not made: why, and why that was not waited for. It is given to
// [Settings.Words] and is the cause of nothing.
type NotAdmitted struct {
	Cause error     // a [*GateRefused], [*ScopeTaken] or [*RetriesSpent]
	Late  *TooLate  // nil if no wait would be long enough
	At    time.Time // when there will be retries again
}

func (e *NotAdmitted) Error() string {
	switch cause := e.Cause.(type) {
	case *belaytype.GateRefused:
		return message.GateRefused(cause.Key, cause.Refusal, e.notWaiting(), false)
	case *belaytype.ScopeTaken:
		return message.ScopeTaken(cause.Key, e.notWaiting(), false)
	case *belaytype.RetriesSpent:
		return message.RetriesSpent(cause.Key, e.At, false)
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *NotAdmitted) Unwrap() error { return e.Cause }

func (e *NotAdmitted) notWaiting() string {
	if e.Late == nil {
		return ""
	}
	return e.Late.Error()
}

// WorkDone says that no fallback was asked because the agent before it has worked on the request already.
type WorkDone struct{ Command string }

func (e *WorkDone) Error() string { return message.FallbackWorked(e.Command, "") }

// OutputMatched says that the output of a command makes a failure of it, though it ended with 0 or because it did not.
type OutputMatched struct{ Code int }

func (e *OutputMatched) Error() string {
	return message.OutputMatched(e.Code, "")
}

// GaveUp says that no retries are left. Retries is how many were allowed, if it is for that; else 0. It is given to [Settings.Words] and is the cause of nothing.
type GaveUp struct {
	Attempts, Inner, Retries int
	Took                     time.Duration // all of it; zero if that is not to be said
	At                       time.Time     // before which another call is pointless; zero if that is not known, or said already
}

func (e *GaveUp) Error() string { return message.GaveUp(e.Attempts, e.Inner, e.Took, e.At) }

// AsInterrupt finds the signal in a cause.
func AsInterrupt(cause error) (*belaytype.Interrupt, bool) {
	return errors.AsType[*belaytype.Interrupt](cause)
}
