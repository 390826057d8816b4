package gate

import (
	"errors"
	"slices"
	"time"

	"github.com/belay-run/belay/breaker"
)

// Ask says whether a call may start at now: nobody before the end of a hold, one probe at a time while the breaker is
// half open, few at a time in a slow start. If it may, the refusal is nil and the ticket is for the report.
func (s State) Ask(set Settings, now time.Time, holder string) (State, Ticket, *Refusal) {
	t := Ticket{Holder: holder, Started: now}
	if left := s.Hold.Left(now); left > 0 {
		return s, t, &Refusal{Kind: "hold", Reason: s.Hold.Reason, Until: now.Add(left)}
	}
	after, ticket, err := s.Breaker.Ask(set.Breaker, now, holder)
	if err != nil {
		var open *breaker.OpenError
		errors.As(err, &open)
		kind := "breaker"
		if open.Phase == breaker.HalfOpen {
			kind = "probe"
		}
		return s, t, &Refusal{Kind: kind, Reason: open.Reason, Until: open.Until}
	}
	if !s.Ramp.over(now) {
		ramp, ok := s.Ramp.enter(now, set, holder)
		if !ok {
			return s, t, &Refusal{Kind: "slow start", Reason: s.Hold.Reason}
		}
		s.Ramp = ramp
	}
	s.Breaker, t.Breaker = after, ticket
	return s, t, nil
}

// Answered says that the service has begun to answer the call: it is well, however long the call goes on.
func (s State) Answered(set Settings, now time.Time, t Ticket) State {
	s.Breaker = s.Breaker.Success(set.Breaker, now, t.Breaker)
	s.Ramp = s.Ramp.leave(t.Holder, true)
	// A hold that was set before this call was let through, or by it, is not disproved by it.
	if t.Started.After(s.Hold.Since) {
		s.Hold.Throttles = 0
		if !s.Hold.Manual {
			s.Hold.Until = time.Time{}
		}
	}
	return s
}

// Succeeded says that the call is done.
func (s State) Succeeded(set Settings, now time.Time, t Ticket) State {
	s = s.Answered(set, now, t)
	s.Budget = s.Budget.earn(now)
	return s
}

// Throttled says that the service asks for fewer calls, and for how long if it said so. That is no failure.
func (s State) Throttled(set Settings, now time.Time, t Ticket, hint time.Duration, reason string) State {
	s.Breaker = s.Breaker.Release(t.Breaker)
	before := s.Hold
	s.Hold = s.Hold.extend(set, now, t.Started, hint, reason)
	if s.Hold != before {
		s.Ramp = begin(s.Hold.Until)
	}
	s.Ramp = s.Ramp.leave(t.Holder, false)
	return s
}

// Failed says that the call showed the service to be ill.
func (s State) Failed(set Settings, now time.Time, t Ticket, jitter float64, reason string) State {
	s.Breaker = s.Breaker.Failure(set.Breaker, now, t.Breaker, jitter, reason)
	s.Ramp = s.Ramp.leave(t.Holder, false)
	return s
}

// Released says that the call showed nothing of the service.
func (s State) Released(t Ticket) State {
	s.Breaker = s.Breaker.Release(t.Breaker)
	s.Ramp = s.Ramp.leave(t.Holder, false)
	return s
}

// Renewed says that the caller of an unanswered call still lives.
func (s State) Renewed(set Settings, now time.Time, t Ticket) State {
	s.Breaker = s.Breaker.Renew(set.Breaker, now, t.Breaker)
	for i := range s.Ramp.Starts {
		if s.Ramp.Starts[i].Holder == t.Holder {
			s.Ramp.Starts[i].Expires = now.Add(set.answer())
		}
	}
	return s
}

// Reset makes the state healthy by hand.
func (s State) Reset(now time.Time) State { return State{Breaker: s.Breaker.Reset(now)} }

// Held sets a hold by hand.
func (s State) Held(now, until time.Time, reason string) State {
	s.Hold = Hold{Since: now, Until: until, Reason: reason, Manual: true}
	s.Ramp = begin(until)
	return s
}

// clone makes a copy that shares nothing.
func (s State) clone() State {
	s.Ramp.Starts = slices.Clone(s.Ramp.Starts)
	return s
}
