// Package gate is the admission check for one limit: a service, an endpoint, an account. Any number of processes share
// what is known of it.
//
// A [State] is that knowledge: a hold ("nobody starts before T"), a slow start after it, a circuit breaker and a retry
// budget. It is a plain value; what happens to it are functions of the state, an event and the time. The zero State
// is a healthy one.
//
// A [Store] keeps states by key and changes them atomically. [Memory] does so for one process, [Files] for all
// processes of a user on a machine: one small file a key, and no file at all while all is well, so that the check of a
// healthy gate is one failed open.
//
// A [Gate] is one key of a store, as a caller uses it: [Gate.Enter] asks for admission, and the [Pass] it returns is
// told what became of the call. [Slots] bound how many run at the same time.
package gate

import (
	"time"

	"github.com/belay-run/belay/breaker"
)

// Settings say when a gate closes and opens. The zero value works.
type Settings struct {
	Breaker breaker.Settings

	// Hold is how long starts are held after a throttle that does not say how long; it doubles while throttles go on,
	// up to MaxHold. 0 means 5 s and 60 s.
	Hold, MaxHold time.Duration

	// Answer is how long a start may stay without an answer until it no longer counts in the slow start: its process
	// was killed, or the service says nothing. 0 means 30 s.
	Answer time.Duration
}

func (s Settings) hold() time.Duration    { return orElse(s.Hold, 5*time.Second) }
func (s Settings) maxHold() time.Duration { return orElse(s.MaxHold, 60*time.Second) }
func (s Settings) answer() time.Duration  { return orElse(s.Answer, 30*time.Second) }

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// State is what all processes know of one limit.
type State struct {
	Hold    Hold          `json:"hold,omitzero"`
	Ramp    Ramp          `json:"ramp,omitzero"`
	Breaker breaker.State `json:"breaker,omitzero"`
	Budget  Budget        `json:"budget,omitzero"`
}

// Healthy reports whether nothing is worth keeping at now: the state is as good as the zero one.
func (s State) Healthy(now time.Time) bool {
	return !s.Hold.Live(now) && s.Hold.Throttles == 0 && s.Ramp.over(now) && s.Breaker.Healthy() && s.Budget.full(now)
}

// Ticket is an admission.
type Ticket struct {
	Holder  string
	Started time.Time
	Breaker breaker.Ticket
}

// Refusal says why a call may not start now.
type Refusal struct {
	// Kind is what refuses: "hold", "breaker", "probe", "slow start", "slots".
	Kind string
	// Reason is why, in words.
	Reason string
	// Until is when to ask again; zero if that depends on others.
	Until time.Time
}
