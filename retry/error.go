package retry

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Why there was no further attempt: the Cause of an [Error]. Where the caller's context ended the call, Cause is
// its [context.Cause] instead, and [context.DeadlineExceeded] where its deadline is too near for the next wait.
var (
	ErrExhausted    = errors.New("retries used up")
	ErrMaxWait      = errors.New("max wait would be exceeded")
	ErrTotalTimeout = errors.New("no time left of the total timeout")
	ErrTimeout      = errors.New("attempt timeout")
	ErrPermanent    = errors.New("permanent failure")
)

// Error is how a call without success ends. [errors.Is] and [errors.As] find both Err and Cause in it.
type Error struct {
	Err      error         // what the last attempt said; nil if there was none
	Cause    error         // why there was no further attempt
	Attempts int           // how many attempts were made
	Waited   time.Duration // sum of all waits

	// NotBefore is the time before which another call is pointless: the hint of the last attempt or, where a wait
	// did not fit, its end. Zero if nothing is known.
	NotBefore time.Time
}

// Error gives the cause, what it took, and what the last attempt said.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprint(&b, e.Cause)
	switch e.Attempts {
	case 0:
		b.WriteString(" before the first attempt")
	case 1:
		b.WriteString(" after 1 attempt")
	default:
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	if e.Waited > 0 {
		fmt.Fprintf(&b, " and %v of waiting", e.Waited.Round(time.Millisecond))
	}
	if !e.NotBefore.IsZero() {
		fmt.Fprintf(&b, ", not before %s", e.NotBefore.UTC().Format(time.RFC3339))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns Cause and Err.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Err}
}
