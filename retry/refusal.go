package retry

import (
	"errors"
	"time"
)

// Refusal is an error of a call that never reached its service, because something in front of it lets none through for
// now. The error of an open circuit breaker is one: that of package breaker has the method.
//
// A refusal is neither an attempt nor a permanent failure. Where Classify does not ask for a retry, it ends the call at
// once: it is the Cause of the [Error], whose NotBefore is when the next call may be let through.
type Refusal interface {
	error
	// RefusedUntil is when a call may be let through again; zero if that is not known.
	RefusedUntil() time.Time
}

// refusal finds the Refusal in err.
func refusal(err error) (Refusal, bool) {
	if err == nil {
		return nil, false
	}
	return errors.AsType[Refusal](err)
}

// refused ends a series whose next attempt was not let through.
func (s *Series) refused(err error) *Error {
	stop := s.stop(s.last, err, time.Time{})
	if r, ok := refusal(err); ok {
		stop.NotBefore = r.RefusedUntil()
	}
	return stop
}
