// Package breaker stops calls to a service that keeps failing, and finds out when it is well again.
//
// It starts [Closed]: every call goes through. Five failures in a row make it [Open]: every call is refused with an
// [*OpenError] that says until when. After 60 s it is [HalfOpen]: one call at a time goes through as a probe. Two
// successful probes close it, a failed one opens it again for twice as long, up to 10 min. [Settings] has the
// numbers; open times are spread upward by up to a quarter, so that clients that failed together do not come back
// together.
//
// There are two layers. [State] is the machine as a plain value: (State, event, now) → State. It has no clock, no
// lock and no randomness of its own, is small, encodes as JSON and can be kept anywhere, such as in a file that many
// processes share. [Breaker] is one State in this process, and [Do] a call through it:
//
//	var b breaker.Breaker // the zero value works
//	answer, err := breaker.Do(ctx, &b, fetch)
//	if errors.Is(err, breaker.ErrOpen) { … }
//
// Calls that are repeated go through it by retry.Through of package retry.
//
// What can be relied on:
//
//   - A result counts only in the phase in which its call was let through: each phase has a [State.Generation], each
//     call a [Ticket] of it. A call that was slow to succeed does not close a breaker that has opened since.
//   - Nothing sticks. A probe holds a [Lease] that expires by itself, so one that hangs, panics, exits its goroutine
//     or is killed keeps others out no longer than that. Times that the settings cannot explain, as left behind by
//     a clock that jumped, count as passed. After a refusal, a call is let through again when the longest open time
//     and two leases have passed, at the latest, unless the breaker was forced open.
//   - Some outcomes say nothing of the service: a cancelled call, a request that was wrong, a throttle. They neither
//     count nor reset, and a probe that ends so makes room for the next. See [Breaker.Counts].
//   - One request that is repeated and always fails does not open it: see the Caller of a [Ticket].
//   - The listener runs without a lock and sees all changes in their order.
//   - A success while all is well takes two atomic loads, allocates nothing and reads no clock.
package breaker

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Breaker keeps one [State] for the calls of this process. The zero value works. Set the fields before the first
// use and leave them alone after it; a Breaker must not be copied. All methods are safe for concurrent use.
//
// Give each thing that fails on its own a Breaker of its own. One that is wider turns a partial outage into a full
// one.
type Breaker struct {
	// Name is what the breaker is called in its refusals, such as the service behind it.
	Name string

	// Settings are the thresholds and times.
	Settings Settings

	// Counts says whether an error of a call is a failure of the service. One that is not neither counts nor resets:
	// the request was wrong, the key invalid, or the service is well and asks for fewer calls. Nil means that every
	// error counts but [ErrOpen], with which a breaker further in has refused the call. The caller's own cancel never
	// counts and is not asked about.
	Counts func(error) bool

	// OnChange is told of every change of the state: of the phase, of the counts, of a probe's lease. Compare
	// from.Phase and to.Phase for the phase only, or to.Failures with a number to warn before it opens.
	//
	// Calls come one at a time, in the order of the changes, from whichever goroutine makes one, and hold no lock: a
	// listener may use the Breaker, even make calls through it. It should be quick, since changes queue up behind it.
	OnChange func(from, to State)

	// Rand spreads the open times and returns numbers in [0,1). Nil means math/rand/v2.
	Rand func() float64

	// packed is what a healthy call needs of the state: the generation, shifted left by one, and in the lowest bit
	// whether there is anything that a success or a call to be let through has to look at.
	packed atomic.Uint64

	// refusal is what calls are told until its time. It comes with the state, so that being refused takes no lock and
	// allocates nothing.
	refusal atomic.Pointer[OpenError]

	mu        sync.Mutex
	state     State
	cause     error    // the last failure, for refusals; nil after a Force, whose Reason is not a failure's
	probes    uint64   // how many there were, to tell their holders apart
	changes   []change // that OnChange has not been told of
	notifying bool     // a goroutine is calling OnChange
}

// State returns what is kept. For the phase as it is at this moment see [Breaker.Phase].
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Phase returns the phase as a caller would meet it now: half open as soon as the open time has passed, though the
// state changes only with the next call.
func (b *Breaker) Phase() Phase { return b.State().At(b.Settings, time.Now()) }

// Reset closes the breaker and forgets its failures; calls that are under way then do not count any more. If there is
// nothing to forget, nothing changes.
func (b *Breaker) Reset() {
	b.mu.Lock()
	b.become(b.state.Reset(time.Now()))
}

// ForceOpen opens the breaker for d or, if that is not positive, until [Breaker.Reset]. After d it is half open.
func (b *Breaker) ForceOpen(d time.Duration, reason string) {
	now := time.Now()
	var until time.Time
	if d > 0 {
		until = now.Add(d)
	}
	b.mu.Lock()
	b.cause = nil
	b.become(b.state.Force(now, until, reason))
}

// ask is Allow where not all is well.
func (b *Breaker) ask() (Ticket, error) {
	now := time.Now()
	// A look at the time is enough here, without the rule for clocks that jump: these times are our own and monotonic.
	if e := b.refusal.Load(); e != nil && (e.Until.IsZero() || now.Before(e.Until)) {
		return Ticket{}, e
	}
	b.mu.Lock()
	var holder string
	if b.state.Phase != Closed {
		b.probes++
		holder = strconv.FormatUint(b.probes, 10)
	}
	next, ticket, err := b.state.Ask(b.Settings, now, holder)
	if e, ok := err.(*OpenError); ok {
		b.withNameAndCause(e)
	}
	b.become(next)
	return ticket, err
}

func (b *Breaker) success(t Ticket) {
	b.mu.Lock()
	b.become(b.state.Success(b.Settings, time.Now(), t))
}

func (b *Breaker) failure(t Ticket, err error) {
	jitter := rand.Float64
	if b.Rand != nil {
		jitter = b.Rand
	}
	r := jitter()
	var reason string
	if err != nil {
		reason = err.Error()
	}
	b.mu.Lock()
	next := b.state.Failure(b.Settings, time.Now(), t, r, reason)
	if next != b.state {
		b.cause = err
	}
	b.become(next)
}

func (b *Breaker) release(t Ticket) {
	b.mu.Lock()
	b.become(b.state.Release(t))
}

func (b *Breaker) renew(t Ticket) {
	b.mu.Lock()
	b.become(b.state.Renew(b.Settings, time.Now(), t))
}
