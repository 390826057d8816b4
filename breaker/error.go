package breaker

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ErrOpen is what every refusal is, in the sense of [errors.Is].
var ErrOpen = errors.New("circuit breaker open")

// OpenError says why a call was refused and how long that will last. Treat it as read-only: calls that are refused
// for the same reason may share one.
type OpenError struct {
	// Name is the name of the [Breaker]; empty if it has none.
	Name string

	// Phase is Open, or HalfOpen where the probe is out.
	Phase Phase

	// Until is when a call will be let through as a probe; zero if only a reset helps. While half open it is when the
	// probe's lease expires, and a call may be let through any time before, when the probe has been answered.
	Until time.Time

	// Forced says that the breaker was opened by [State.Force].
	Forced bool

	// Reason is what the last failure said, or the reason given to [State.Force].
	Reason string

	// Cause is the last failure itself; nil if the breaker was forced open, and for a [State] without a Breaker. It is
	// not unwrapped: a refusal is no such failure, and code that retries failures would retry it too.
	Cause error
}

// Error gives the phase, the time and the reason.
func (e *OpenError) Error() string {
	var b strings.Builder
	b.WriteString("circuit breaker ")
	if e.Name != "" {
		b.WriteString(strconv.Quote(e.Name) + " ")
	}
	switch {
	case e.Phase == HalfOpen:
		b.WriteString("half open and its probe under way")
	case e.Forced:
		b.WriteString("opened by hand")
	default:
		b.WriteString("open")
	}
	if e.Until.IsZero() {
		b.WriteString(" until reset")
	} else {
		b.WriteString(" until ")
		b.WriteString(e.Until.UTC().Format(time.RFC3339))
	}
	if e.Reason != "" {
		b.WriteString(": ")
		b.WriteString(e.Reason)
	}
	return b.String()
}

// RefusedUntil is Until. By this method package retry knows a refusal, which is no attempt, from a failure.
func (e *OpenError) RefusedUntil() time.Time { return e.Until }

// Is makes every OpenError an [ErrOpen].
func (e *OpenError) Is(target error) bool { return target == ErrOpen }
