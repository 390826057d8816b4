package breaker

import (
	"math"
	"time"
)

// maxDoublings is more than any open time can be doubled.
const maxDoublings = math.MaxInt

// Ask says whether a call may start at now. If so, the error is nil and the Ticket is for the report. If not, the
// error is an [*OpenError] and the State unchanged. holder names the caller; it is kept while its call is the probe,
// and should be different for each call.
//
// Closed, every call may start. Open, none before Until; the first one after it makes the State half open and is its
// probe. Half open, one may start if no probe is out or if its lease has expired, which is then taken over.
func (s State) Ask(set Settings, now time.Time, holder string) (State, Ticket, error) {
	if err := s.refusalAt(set, now); err != nil {
		return s, Ticket{}, err
	}
	switch s.Phase {
	case Open:
		s = State{Generation: s.Generation + 1, Phase: HalfOpen, Opens: s.Opens, Reason: s.Reason, Since: now}
		fallthrough
	case HalfOpen:
		s.Probe = Lease{Holder: holder, Expires: now.Add(set.lease())}
		return s, Ticket{Generation: s.Generation, Holder: holder, Probe: true}, nil
	}
	return s, Ticket{Generation: s.Generation, Holder: holder}, nil
}

// Success says that the call of t showed the service to be well. Closed, it ends a row of failures. Half open, enough
// of them close.
//
// A probe counts even if its lease was taken over meanwhile. Otherwise a service whose calls all take longer than a
// lease would never be found healthy or failing: each probe would be overtaken before it is answered.
func (s State) Success(set Settings, now time.Time, t Ticket) State {
	switch {
	case !s.current(t):
	case s.Phase == Closed:
		s.Failures, s.Caller, s.Reason = 0, "", ""
	case s.Successes >= set.successes()-1:
		return s.close(now)
	default:
		s.Successes = max(s.Successes, 0) + 1
		s = s.Release(t)
	}
	return s
}

// Failure says that the call of t showed the service to be failing, and why. Closed, enough of them in a row open, but that of
// the same Caller as the last one changes nothing. Half open, one does, for twice as long as the last time. jitter in [0,1)
// spreads the open time, see openTime.
//
// Of reason the first 200 bytes are kept as they are: where States are stored, better name the kind of failure than
// quote what the service said.
func (s State) Failure(set Settings, now time.Time, t Ticket, jitter float64, reason string) State {
	if !s.current(t) {
		return s
	}
	caller := clip(t.Caller)
	if s.Phase == Closed && s.Failures > 0 && caller != "" && caller == s.Caller {
		return s
	}
	if s.Phase == Closed && s.Failures < set.failures()-1 {
		s.Failures, s.Caller, s.Reason = max(s.Failures, 0)+1, caller, clip(reason)
		return s
	}
	opens := max(s.Opens, 0)
	return State{
		Generation: s.Generation + 1,
		Phase:      Open,
		Opens:      min(opens, maxDoublings-1) + 1,
		Reason:     clip(reason),
		Since:      now,
		Until:      now.Add(set.openTime(opens, jitter)),
	}
}

// Release says that the call of t showed nothing: it was cancelled, throttled, or wrong in itself. That neither
// counts nor resets; a probe gives its lease back.
func (s State) Release(t Ticket) State {
	if s.holds(t) {
		s.Probe = Lease{}
	}
	return s
}

// Renew makes the lease of a probe last from now, unless another has taken it over.
func (s State) Renew(set Settings, now time.Time, t Ticket) State {
	if s.holds(t) {
		s.Probe.Expires = now.Add(set.lease())
	}
	return s
}

// Reset closes s and forgets its failures; calls that are under way then do not count any more. A healthy State stays
// as it is.
func (s State) Reset(now time.Time) State {
	if s.Healthy() {
		return s
	}
	return s.close(now)
}

// Force opens s until then, or until a reset if that is zero. After that it is half open.
func (s State) Force(now, until time.Time, reason string) State {
	return State{
		Generation: s.Generation + 1,
		Phase:      Open,
		Opens:      s.Opens,
		Forced:     true,
		Reason:     clip(reason),
		Since:      now,
		Until:      until,
	}
}

func (s State) close(now time.Time) State {
	return State{Generation: s.Generation + 1, Since: now}
}

// current says whether the call of t was let through in the present phase.
func (s State) current(t Ticket) bool {
	return t.Generation == s.Generation && s.Phase != Open && t.Probe == (s.Phase == HalfOpen)
}

// holds says whether t is the probe that has the lease.
func (s State) holds(t Ticket) bool {
	return s.current(t) && s.Probe != Lease{} && s.Probe.Holder == t.Holder
}
