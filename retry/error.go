package retry

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Why there was no further attempt: the Cause of an [Error]. Where the caller's context ended the call, Cause is
// its [context.Cause] instead, and [context.DeadlineExceeded] where its deadline is too near for the next wait. Where the
// next attempt was not let through, Cause is the [Refusal].
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

// Error gives the cause, what it took, and what the last attempt said. A refusal says itself until when and why.
func (e *Error) Error() string {
	if _, ok := refusal(e.Cause); ok {
		if e.Attempts == 0 {
			return fmt.Sprintf("not attempted: %v", e.Cause)
		}
		return fmt.Sprintf("stopped%s: %v", e.effort(), e.Cause)
	}
	var b strings.Builder
	fmt.Fprint(&b, e.Cause)
	b.WriteString(e.effort())
	if !e.NotBefore.IsZero() {
		fmt.Fprintf(&b, ", not before %s", e.NotBefore.UTC().Format(time.RFC3339))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// effort is what the call took, as the end of a sentence.
func (e *Error) effort() string {
	var text string
	switch e.Attempts {
	case 0:
		text = " before the first attempt"
	case 1:
		text = " after 1 attempt"
	default:
		text = fmt.Sprintf(" after %d attempts", e.Attempts)
	}
	if e.Waited > 0 {
		text += fmt.Sprintf(" and %v of waiting", e.Waited.Round(time.Millisecond))
	}
	return text
}

// Unwrap returns Cause and Err.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Err}
}
