package gate

import (
	"errors"
	"slices"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/quota"
)

// ask says whether a call may start at now: none before the end of a hold, one probe at a time while the breaker is
// half open, few at a time in a slow start. If it may, the refusal is nil and the ticket is for the report. If not, the
// state is unchanged.
func (s State) ask(set Settings, now time.Time, holder string) (State, admission, *Refusal) {
	t := admission{Holder: holder, Started: now}
	if left := s.Hold.Left(now); left > 0 {
		return s, t, &Refusal{Kind: KindHold, Reason: s.Hold.Reason, Until: now.Add(left)}
	}
	after, ticket, err := s.Breaker.Ask(set.Breaker, now, holder)
	if err != nil {
		return s, t, refusalOf(err)
	}
	ramp, slow := s.Ramp, !s.Ramp.over(now)
	if slow {
		var ok bool
		if ramp, ok = ramp.enter(now, set, holder); !ok {
			return s, t, &Refusal{Kind: KindSlowStart, Reason: s.Hold.Reason}
		}
	}
	s.Breaker, s.Ramp = after, ramp
	if s.Hold.ahead(now) {
		s.Hold = Hold{} // or it would hold when the clock, which was set back, gets there again
	}
	t.Breaker, t.Awaited = ticket, slow || ticket.Probe
	return s, t, nil
}

// refusalOf says what a breaker's refusal means for a gate.
func refusalOf(err error) *Refusal {
	var open *breaker.OpenError
	errors.As(err, &open)
	r := &Refusal{Kind: KindBreaker, Reason: open.Reason, Until: open.Until}
	if open.Phase == breaker.HalfOpen {
		r.Kind = KindProbe
	}
	return r
}

// answered says that the service has begun to answer the call: it is healthy, however long the call goes on. A probe is
// judged by that. What ends a row of failures or of throttles is the end of a call, as it is while all is well: many
// commands print something before they fail.
func (s State) answered(set Settings, now time.Time, t admission) State {
	if t.Breaker.Probe {
		s.Breaker = s.Breaker.Success(set.Breaker, now, t.Breaker)
	}
	s.Ramp = s.Ramp.leave(t.Holder, true)
	if s.disproves(t) {
		s.Hold = s.Hold.end(now)
	}
	return s
}

// disproves says whether an answer to the call says anything of the hold: not if it was set after the call was let
// through, or by it.
func (s State) disproves(t admission) bool { return t.Started.After(s.Hold.Since) }

// succeeded says that the call is done.
func (s State) succeeded(set Settings, now time.Time, t admission) State {
	if !t.Answered { // a probe must not count twice
		s = s.answered(set, now, t)
	}
	if !t.Breaker.Probe {
		s.Breaker = s.Breaker.Success(set.Breaker, now, t.Breaker)
	}
	if s.disproves(t) {
		s.Hold.Throttles = 0
	}
	s.Budget = s.Budget.earn(now)
	return s
}

// throttled says that the service asks for fewer calls, and for how long if it said so. That is no failure.
func (s State) throttled(set Settings, now time.Time, t admission, hint time.Duration, reason string) State {
	s.Breaker = s.Breaker.Release(t.Breaker)
	s.Ramp = s.Ramp.leave(t.Holder, false)
	if hold := s.Hold.extend(set, now, t.Started, hint, reason); hold != s.Hold {
		s.Hold, s.Ramp = hold, s.Ramp.begin(hold.Until)
	}
	return s
}

// failed says that the call showed the service to be failing. That counts also if it was answered first: an answer that
// breaks off is none.
func (s State) failed(set Settings, now time.Time, t admission, jitter float64, reason string) State {
	s.Breaker = s.Breaker.Failure(set.Breaker, now, t.Breaker, jitter, reason)
	s = s.withNewGeneration(now)
	s.Ramp = s.Ramp.leave(t.Holder, false)
	return s
}

// released says that the call showed nothing of the service.
func (s State) released(t admission) State {
	s.Breaker = s.Breaker.Release(t.Breaker)
	s.Ramp = s.Ramp.leave(t.Holder, false)
	return s
}

// renewed says that the caller of an unanswered call is still running.
func (s State) renewed(set Settings, now time.Time, t admission) State {
	s.Breaker = s.Breaker.Renew(set.Breaker, now, t.Breaker)
	s.Ramp = s.Ramp.renew(now, set, t.Holder)
	return s
}

// spend takes one retry from the budget, and reports whether there was one.
func (s State) spend(now time.Time) (after State, ok bool) {
	s.Budget, ok = s.Budget.take(now)
	return s, ok
}

// Reset makes the state healthy, at a person's request.
func (s State) Reset(now time.Time) State { return State{Breaker: s.Breaker.Reset(now)} }

// Opened opens the breaker, at a person's request, until then, or until a reset if that is zero.
func (s State) Opened(now, until time.Time, reason string) State {
	s.Breaker = s.Breaker.Force(now, until, reason)
	return s.withNewGeneration(now)
}

// Held sets a hold, at a person's request.
func (s State) Held(now, until time.Time, reason string) State {
	s.Hold = Hold{Since: now, Until: until, Reason: clip(reason), Manual: true}
	s.Ramp = s.Ramp.begin(until)
	return s
}

// same reports whether a transition has changed nothing.
func (s State) same(o State) bool {
	return s.Hold == o.Hold && s.Breaker == o.Breaker && s.Budget == o.Budget && s.Ramp.same(o.Ramp) && quota.Same(s.Quota, o.Quota)
}

// withNewGeneration gives an open breaker a generation that no earlier outage had. They begin anew when a healthy state
// is forgotten, and a probe of an earlier outage, which has hung until now, must not look like one of this.
func (s State) withNewGeneration(now time.Time) State {
	if s.Breaker.Phase == breaker.Open {
		s.Breaker.Generation = max(s.Breaker.Generation, uint64(max(0, now.UnixMilli())))
	}
	return s
}

// clone makes a copy that shares nothing.
func (s State) clone() State {
	s.Ramp.Starts, s.Quota = slices.Clone(s.Ramp.Starts), slices.Clone(s.Quota)
	return s
}
