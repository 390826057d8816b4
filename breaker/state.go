package breaker

import (
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// State is a breaker as a value. The zero value is closed and healthy, so where there is none, all is well. States
// can be compared with ==: a transition that changes nothing returns an equal one, and nothing need be stored.
//
// The transitions are Ask, then one of Success, Failure and Release, once, for each [Ticket]; Renew while a probe
// runs; Reset and Force at a person's request. None modifies its receiver.
type State struct {
	// Generation goes up with every change of phase, and with a reset. Results of an older one change nothing.
	Generation uint64 `json:"generation,omitempty"`

	Phase     Phase  `json:"phase,omitempty"`
	Failures  int    `json:"failures,omitempty"`  // in a row, while closed
	Caller    string `json:"caller,omitempty"`    // of the last failure, while closed: see [Ticket]
	Successes int    `json:"successes,omitempty"` // while half open
	Opens     int    `json:"opens,omitempty"`     // how often in a row it has opened without closing
	Forced    bool   `json:"forced,omitempty"`    // opened by Force
	Reason    string `json:"reason,omitempty"`    // of the last failure, or given to Force

	Since time.Time `json:"since,omitzero"` // when the phase began; zero if it has never changed
	Until time.Time `json:"until,omitzero"` // open until; zero with Forced means until reset
	Probe Lease     `json:"probe,omitzero"` // of half open, while a probe is out
}

// Lease is the right to be the one probe of a half-open breaker until it expires. The zero value is none.
type Lease struct {
	Holder  string    `json:"holder,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// Ticket is what a call gets that was let through, and what it has to show when it reports how it went. The zero
// value is a ticket of the zero State.
type Ticket struct {
	Generation uint64 `json:"generation,omitempty"`
	Holder     string `json:"holder,omitempty"`
	Probe      bool   `json:"probe,omitempty"` // of a half-open breaker: its result decides

	// Caller names the request that the call belongs to, where one request is repeated in several calls; the holder of
	// the ticket sets it. Failures of one Caller in a row count once until another's come: a request that always fails says
	// little of the service. Empty means that the call is a request by itself.
	Caller string `json:"caller,omitempty"`
}

// Healthy says that s is as good as the zero State: closed, with no failure to remember. A store may forget it. What
// it loses is the generation, with which a call from before s.Since is told apart; one that fails so late would
// count as one failure. To avoid that, keep a healthy State for as long after Since as calls may take.
func (s State) Healthy() bool { return s.Phase == Closed && s.Failures <= 0 }

// At returns the phase as a caller would meet it at now: an open State whose time has passed is half open, though it
// changes only with the next Ask.
func (s State) At(set Settings, now time.Time) Phase {
	if s.Phase == Open && !s.blocked(set, now) {
		return HalfOpen
	}
	return s.Phase
}

// refusalAt returns the [*OpenError] that Ask would refuse a call with at now, or nil if it would not.
func (s State) refusalAt(set Settings, now time.Time) error {
	if !s.blocked(set, now) {
		return nil
	}
	return s.refusal()
}

// blocked says whether calls are refused at now. What was forced open may last as long as Force was told; all other
// times are bounded by their own length and by the settings, see [Settings.passed]: a clock that was set back an
// hour must not make a minute one of an hour.
func (s State) blocked(set Settings, now time.Time) bool {
	switch {
	case s.Phase == Open && s.Forced:
		return s.Until.IsZero() || now.Before(s.Until)
	case s.Phase == Open:
		return !set.passed(s.Until, now, min(s.Until.Sub(s.Since), set.openTime(maxDoublings, 1)))
	case s.Phase == HalfOpen:
		return !set.passed(s.Probe.Expires, now, set.lease())
	}
	return false
}

// refusal is what calls are told while they are refused; nil if s lets the next one through at any time.
func (s State) refusal() *OpenError {
	e := &OpenError{Phase: s.Phase, Until: s.Until, Forced: s.Forced, Reason: s.Reason}
	switch {
	case s.Phase == HalfOpen && !s.Probe.Expires.IsZero():
		e.Until = s.Probe.Expires
	case s.Phase != Open:
		return nil
	}
	return e
}

// clip keeps a reason short and in one piece of valid UTF-8, so that a State stays small and comes back from JSON as
// it was.
func clip(reason string) string { return strings.ToValidUTF8(printable.Prefix(reason, 200), "\uFFFD") }
