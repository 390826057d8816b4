// Package merge brings together what two machines have learnt of a gate since they last agreed.
package merge

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/quota"
)

// Reserved is what the holders of starts begin with that no call has made: they keep the calls of one machine out while the turn is another's.
const Reserved = "fleet/"

// States merges two states that were the same, base, when the two last agreed. What only one of them has changed is as that one has it. A hold
// that both have set lasts until the later end; what both have counted is added up.
func States(base, a, b gate.State, now time.Time) gate.State {
	var s gate.State
	s.Hold = holds(base.Hold, a.Hold, b.Hold, now)
	s.Ramp = ramps(base, a, b, s.Hold)
	s.Breaker = breakers(base.Breaker, a.Breaker, b.Breaker, now)
	s.Budget = budgets(base.Budget, a.Budget, b.Budget, now)
	s.Quota = quotas(base.Quota, a.Quota, b.Quota, now)
	return s
}

// quotas is the newest that one of them was told of each window, unless one has forgotten it at a person's request. What a clock that is ahead has told is
// not the newest.
func quotas(base, a, b quota.Quota, now time.Time) quota.Quota {
	switch {
	case quota.Same(b, base):
		return a
	case quota.Same(a, base):
		return b
	}
	return quota.Merge(a.At(now), b.At(now))
}

// Meet is a base for two states of which it is not known when they last agreed: what both have in common. What both have counted is then not
// added up.
func Meet(a, b gate.State) (base gate.State) {
	if sameHold(a.Hold, b.Hold) {
		base.Hold, base.Ramp = a.Hold, a.Ramp
		base.Ramp.Answers = min(a.Ramp.Answers, b.Ramp.Answers)
		base.Ramp.Starts = slices.DeleteFunc(slices.Clone(a.Ramp.Starts), func(s gate.Start) bool { return find(b.Ramp.Starts, s.Holder) < 0 })
	}
	if a.Breaker.Generation == b.Breaker.Generation && a.Breaker.Phase == b.Breaker.Phase {
		base.Breaker = a.Breaker
		base.Breaker.Failures, base.Breaker.Successes = min(a.Breaker.Failures, b.Breaker.Failures), min(a.Breaker.Successes, b.Breaker.Successes)
	}
	if a.Budget.Spent < b.Budget.Spent {
		base.Budget = a.Budget
	} else {
		base.Budget = b.Budget
	}
	return base
}

// Since is a base for two states that agreed upon old some time ago, and perhaps on more since: what one of them has as it was then has not
// changed there, and what they have in common now both know.
func Since(old, a, b gate.State) gate.State {
	base := Meet(a, b)
	if sameHold(a.Hold, old.Hold) || sameHold(b.Hold, old.Hold) || !sameHold(a.Hold, b.Hold) {
		base.Hold, base.Ramp = old.Hold, old.Ramp
	}
	if sameBreaker(a.Breaker, old.Breaker) || sameBreaker(b.Breaker, old.Breaker) || a.Breaker.Generation != b.Breaker.Generation || a.Breaker.Phase != b.Breaker.Phase {
		base.Breaker = old.Breaker
	}
	if sameBudget(a.Budget, old.Budget) || sameBudget(b.Budget, old.Budget) {
		base.Budget = old.Budget
	}
	base.Quota = old.Quota
	return base
}

// Shifted is a state as a clock shows it that is ahead by so much.
func Shifted(s gate.State, by time.Duration) gate.State {
	if by == 0 {
		return s
	}
	s.Ramp.Starts, s.Quota = slices.Clone(s.Ramp.Starts), s.Quota.Shifted(by)
	times := []*time.Time{&s.Hold.Since, &s.Hold.Until, &s.Ramp.Ends, &s.Breaker.Since, &s.Breaker.Until, &s.Breaker.Probe.Expires, &s.Budget.At}
	for i := range s.Ramp.Starts {
		times = append(times, &s.Ramp.Starts[i].Expires)
	}
	for _, t := range times {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	return s
}

// Own is a state without what only keeps calls of this machine out.
func Own(s gate.State) gate.State {
	if slices.ContainsFunc(s.Ramp.Starts, isReserved) {
		s.Ramp.Starts = slices.DeleteFunc(slices.Clone(s.Ramp.Starts), isReserved)
	}
	return s
}

func isReserved(s gate.Start) bool { return strings.HasPrefix(s.Holder, Reserved) }

// Same reports whether two states say the same.
func Same(a, b gate.State) bool {
	return sameHold(a.Hold, b.Hold) && a.Hold.Throttles == b.Hold.Throttles && a.Hold.Manual == b.Hold.Manual && a.Hold.Reason == b.Hold.Reason &&
		sameRamp(a.Ramp, b.Ramp) && sameBreaker(a.Breaker, b.Breaker) && sameBudget(a.Budget, b.Budget) && quota.Same(a.Quota, b.Quota)
}

// sameHold reports whether two holds are of the same time.
func sameHold(a, b gate.Hold) bool { return a.Since.Equal(b.Since) && a.Until.Equal(b.Until) }

func sameRamp(a, b gate.Ramp) bool {
	return a.Allowed == b.Allowed && a.Answers == b.Answers && a.Last == b.Last && a.Ends.Equal(b.Ends) &&
		slices.EqualFunc(a.Starts, b.Starts, func(s, o gate.Start) bool { return s.Holder == o.Holder && s.Expires.Equal(o.Expires) })
}

func sameBreaker(a, b breaker.State) bool {
	equal := a.Since.Equal(b.Since) && a.Until.Equal(b.Until) && a.Probe.Expires.Equal(b.Probe.Expires)
	a.Since, a.Until, a.Probe.Expires = b.Since, b.Until, b.Probe.Expires // which may be written in different zones
	return equal && a == b
}

func holds(base, a, b gate.Hold, now time.Time) gate.Hold {
	switch {
	case sameHold(a, b):
		a.Throttles, a.Manual = max(a.Throttles, b.Throttles), a.Manual || b.Manual
		if base.Throttles > 0 && (sameHold(a, base) && min(a.Throttles, b.Throttles) == 0) {
			a.Throttles = 0 // a success has ended the row
		}
		return a
	case sameHold(b, base):
		return a
	case sameHold(a, base):
		return b
	case (a.Manual && a.Live(now)) != (b.Manual && b.Live(now)):
		if a.Manual && a.Live(now) {
			return a
		}
		return b
	case a.Until.After(b.Until) || a.Until.Equal(b.Until) && a.Since.After(b.Since):
		return a
	}
	return b
}

// ramps merges slow starts. One belongs to a hold: a new hold begins a new one.
func ramps(base, a, b gate.State, hold gate.Hold) gate.Ramp {
	switch {
	case sameRamp(b.Ramp, base.Ramp):
		return a.Ramp
	case sameRamp(a.Ramp, base.Ramp):
		return b.Ramp
	case !a.Hold.Since.Equal(b.Hold.Since): // the slow start of the hold that counts
		won, other := a.Ramp, b.Ramp
		if sameHold(hold, b.Hold) {
			won, other = b.Ramp, a.Ramp
		}
		if won.Allowed > 0 {
			won.Last = max(won.Last, other.Last)
		}
		return normal(won)
	case a.Ramp.Allowed == 0 || b.Ramp.Allowed == 0: // one has ended it, or both have begun it
		if base.Ramp.Allowed > 0 {
			return gate.Ramp{}
		}
		if a.Ramp.Allowed == 0 {
			return b.Ramp
		}
		return a.Ramp
	}
	r := gate.Ramp{Allowed: 1, Last: max(a.Ramp.Last, b.Ramp.Last), Ends: later(a.Ramp.Ends, b.Ramp.Ends)}
	from := 0
	if base.Ramp.Allowed > 0 && base.Hold.Since.Equal(a.Hold.Since) {
		from = base.Ramp.Answers
	}
	r.Answers = from + max(0, a.Ramp.Answers-from) + max(0, b.Ramp.Answers-from)
	r.Starts = starts(base.Ramp.Starts, a.Ramp.Starts, b.Ramp.Starts)
	return normal(r)
}

// normal sets how many may be unanswered, which follows from how many answers there were.
func normal(r gate.Ramp) gate.Ramp {
	switch {
	case r.Allowed <= 0:
	case r.Last > 0 && r.Answers >= r.Last:
		r.Allowed = 1 + r.Answers - r.Last
	default:
		r.Allowed = 1 + r.Answers
	}
	return r
}

// starts are those that both have, and those that one of them has added.
func starts(base, a, b []gate.Start) (list []gate.Start) {
	add := func(from, other []gate.Start) {
		for _, s := range from {
			i := find(other, s.Holder)
			if i < 0 && find(base, s.Holder) >= 0 || find(list, s.Holder) >= 0 {
				continue // it was answered meanwhile
			}
			if i >= 0 {
				s.Expires = later(s.Expires, other[i].Expires)
			}
			list = append(list, s)
		}
	}
	add(a, b)
	add(b, a)
	slices.SortStableFunc(list, func(s, o gate.Start) int { return strings.Compare(s.Holder, o.Holder) })
	return list
}

func find(list []gate.Start, holder string) int {
	return slices.IndexFunc(list, func(s gate.Start) bool { return s.Holder == holder })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func breakers(base, a, b breaker.State, now time.Time) breaker.State {
	switch {
	case sameBreaker(a, b), sameBreaker(b, base):
		return a
	case sameBreaker(a, base):
		return b
	}
	// A healthy breaker is forgotten, with its generation.
	closed := breaker.State{}
	stays := func(s breaker.State) bool { return s.Generation == base.Generation && s.Phase == base.Phase }
	if !base.Healthy() && (a == closed && stays(b) || b == closed && stays(a)) {
		return closed
	}
	if a.Generation != b.Generation {
		if a.Generation > b.Generation {
			return a
		}
		return b
	}
	if a.Phase != b.Phase {
		if a.Phase == breaker.Open || a.Phase == breaker.HalfOpen && b.Phase == breaker.Closed {
			return a
		}
		return b
	}
	won := a
	if b.Since.After(a.Since) || b.Since.Equal(a.Since) && (b.Until.After(a.Until) || b.Until.Equal(a.Until) && b.Caller > a.Caller) {
		won = b
	}
	from := base
	if base.Generation != a.Generation || base.Phase != a.Phase {
		from = breaker.State{}
	}
	won.Failures = counted(from.Failures, a.Failures, b.Failures)
	won.Successes = counted(from.Successes, a.Successes, b.Successes)
	won.Probe = probes(from.Probe, a.Probe, b.Probe, now)
	return won
}

// counted adds up what two have counted. One that has begun anew counts from there.
func counted(base, a, b int) int {
	switch {
	case a < base && b < base:
		return max(a, b)
	case a < base:
		return a + b - base
	case b < base:
		return b + a - base
	}
	return a + b - base
}

// probes is the one probe that is out.
func probes(base, a, b breaker.Lease, now time.Time) breaker.Lease {
	same := func(x, y breaker.Lease) bool { return x.Holder == y.Holder && x.Expires.Equal(y.Expires) }
	live := func(x breaker.Lease) bool { return x.Expires.After(now) }
	switch {
	case same(b, base):
		return a
	case same(a, base):
		return b
	case live(a) != live(b):
		if live(a) {
			return a
		}
		return b
	case a.Expires.After(b.Expires) || a.Expires.Equal(b.Expires) && a.Holder > b.Holder:
		return a
	}
	return b
}

const (
	bucket    = 10 // of package gate
	perMinute = 1
)

func sameBudget(a, b gate.Budget) bool { return a.Spent == b.Spent && a.At.Equal(b.At) }

// budgets adds up what both have taken from the bucket of retries.
func budgets(base, a, b gate.Budget, now time.Time) gate.Budget {
	switch {
	case sameBudget(a, b), sameBudget(b, base):
		return a
	case sameBudget(a, base):
		return b
	}
	spent := func(x gate.Budget) float64 {
		return max(0, min(x.Spent, bucket)-max(0, now.Sub(x.At).Minutes())*perMinute)
	}
	sum := min(bucket, max(0, spent(a)+spent(b)-spent(base)))
	if sum == 0 {
		return gate.Budget{}
	}
	return gate.Budget{Spent: sum, At: now}
}
