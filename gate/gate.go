// Package gate is the admission check for one limit: a service, an endpoint, an account. Any number of processes share
// what is known of it.
//
// A [State] is that knowledge: a hold ("no call starts before T"), a slow start after it, a circuit breaker and a retry
// budget. It is a plain value; what happens to it are functions of the state, an event and the time. The zero State
// is a healthy one.
//
// A [Store] keeps states by key and changes them atomically. [Memory] does so for one process, [Files] for all
// processes of a user on a machine: one small file a key, and no file at all while all is well, so that the check of a
// healthy gate is one system call. A caller that waits can be told of changes, see [Files.Watch].
//
// A [Gate] is one key of a store, as a caller uses it: [Gate.Enter] asks for admission, and the [Pass] it returns is
// told what became of the call. [Slots] bound how many run at the same time.
package gate

import (
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/retry"
)

// Settings say when a gate closes and opens. The zero value works.
type Settings struct {
	Breaker breaker.Settings

	// Hold is how long starts are held after a throttle that does not say how long; it doubles while throttles go on,
	// up to MaxHold. 0 means 5 s and 60 s; less than Hold means Hold.
	Hold, MaxHold time.Duration

	// Answer is how long a start may stay without an answer until it no longer counts in the slow start: its process
	// was killed, or the service says nothing. 0 means 30 s.
	Answer time.Duration
}

func (s Settings) hold() time.Duration    { return orElse(s.Hold, 5*time.Second) }
func (s Settings) maxHold() time.Duration { return max(orElse(s.MaxHold, 60*time.Second), s.hold()) }
func (s Settings) answer() time.Duration  { return orElse(s.Answer, 30*time.Second) }

// Holds returns how long starts are held after the first throttle that does not say how long, and how long at most.
func (s Settings) Holds() (first, longest time.Duration) { return s.hold(), s.maxHold() }

// holdAfter is how long starts are held after that many throttles in a row that did not say.
func (s Settings) holdAfter(row int) time.Duration {
	return retry.Policy{BaseDelay: s.hold(), MaxDelay: s.maxHold()}.Backoff(row - 1)
}

// renewal is how often a call that others wait for is to be renewed: in time for the shorter of the two.
func (s Settings) renewal() time.Duration {
	return min(s.answer(), orElse(s.Breaker.Lease, 30*time.Second)) / 3
}

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
	// Quota is how much of the limit is used, as far as the service tells. It refuses nothing by itself.
	Quota quota.Quota `json:"quota,omitempty"`
}

// Healthy reports whether nothing is worth keeping at now: the state is as good as the zero one.
func (s State) Healthy(now time.Time) bool {
	return !s.Hold.Live(now) && s.Hold.row(now) == 0 && s.Ramp.over(now) && s.Breaker.Healthy() && s.Budget.full(now) && len(s.Quota.At(now)) == 0
}

// admission is the right to start a call, as the state was told of it.
type admission struct {
	Holder  string
	Started time.Time
	Breaker breaker.Ticket
	// Awaited says that others are kept out until the call is answered, or until it has taken too long.
	Awaited bool
	// Answered says that the state has been told of the first answer.
	Answered bool
}

// Kind says what refuses a call.
type Kind string

const (
	KindHold      Kind = "hold"       // nothing starts before the end of a hold
	KindBreaker   Kind = "breaker"    // the breaker is open
	KindProbe     Kind = "probe"      // the breaker is half open, and its one probe is under way
	KindSlowStart Kind = "slow start" // after a hold, few start at a time
	KindSlots     Kind = "slots"      // all slots are taken
)

// Refusal says why a call may not start now.
type Refusal struct {
	// Kind is what refuses.
	Kind Kind
	// Reason is why, in words.
	Reason string
	// Until is when to ask again; zero if that depends on others.
	Until time.Time
}

// clip keeps a reason short and in one piece of valid UTF-8, so that a state stays small and comes back as it was.
func clip(reason string) string { return strings.ToValidUTF8(printable.Prefix(reason, 200), "\uFFFD") }
