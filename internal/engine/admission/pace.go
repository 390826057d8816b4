package admission

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/retry"
)

// Pace is how the time of an invocation is used: how much of its retries and of its longest wait is left, and what was
// really waited.
type Pace struct {
	Ctx    context.Context
	Policy retry.Policy
	Series retry.Series
	Waits  waits
	NoWait bool // the caller wants no wait at a gate or a scope
}

// MayRepeat reports whether there may be more than one attempt.
func (p *Pace) MayRepeat() bool { return p.Policy.MaxRetries > 0 }

// Left is how much longer may be waited.
func (p *Pace) Left() time.Duration { return p.Series.Left(time.Now()) }

// Charge counts a wait that no failed attempt asked for, as far as there is room for it.
func (p *Pace) Charge(d time.Duration) {
	now := time.Now()
	p.Series.Charge(now, min(d, p.Series.Left(now)), nil)
}

// waits is what an invocation has really waited. Each line of the log tells what is new since the line before, and the
// result what they add up to. What bounds waits is another thing: see [retry.Series].
type waits struct {
	// Before is what was waited before an attempt was let in, at gate and scope, beyond what the line before has planned;
	// negative where that wait was cut short.
	Before time.Duration
	Inner  time.Duration // inside the CLI
	Total  time.Duration // on record
}

// Record puts what is new into a line of the log. planned is the wait that comes now: if it is not waited to its end, the
// next line takes the rest back.
func (w *waits) Record(e *journal.Entry, planned time.Duration) {
	e.GateWait, e.InnerWait, e.WaitTime = w.Before.Seconds(), w.Inner.Seconds(), (w.Inner + planned).Seconds()
	*w = waits{Total: w.Total + w.Before + w.Inner + planned}
}

const (
	// longPoll is how often a gate that holds is looked at: a reset must wake within a second, fifty waiters must not
	// cost a hundredth of a core.
	longPoll = 700 * time.Millisecond
	// watchedPoll is how often it is looked at though the system says when it changes.
	watchedPoll = 30 * time.Second
	// shortPoll is for what may end at any moment; it grows to the long one.
	shortPoll = 150 * time.Millisecond
	// slotPoll is how often a slot is looked for at least: one that short runs use must not be idle for as long as they last.
	slotPoll = 200 * time.Millisecond
)

// pollInterval is how long to sleep before a gate is looked at again; looks counts the looks so far, this one included. The
// error says that there is no time for that.
func (p *Pace) pollInterval(r *gate.Refusal, looks int, watched bool) (time.Duration, error) {
	poll, need := min(time.Duration(looks)*shortPoll, longPoll), time.Duration(1)
	if r.Kind == gate.KindSlots {
		poll = min(poll, slotPoll)
	}
	if !r.Until.IsZero() && (r.Kind == gate.KindHold || r.Kind == gate.KindBreaker) {
		need = r.Until.Sub(clock.Now())
		longest := longPoll
		if watched {
			longest = watchedPoll
		}
		poll = max(min(longest, need), time.Millisecond) // it may have passed since
	}
	untilReset := r.Kind == gate.KindBreaker && r.Until.IsZero() // opened by hand: no wait is long enough
	if p.NoWait || untilReset || need > p.Left() {
		return 0, &retry.Error{Cause: retry.ErrMaxWait, NotBefore: r.Until}
	}
	return poll + rand.N(min(poll, longPoll)/4+1), nil
}

// sleepAtGate sleeps for d, or until the gate changes. What was really slept is charged.
func (p *Pace) sleepAtGate(d time.Duration, changed <-chan struct{}) error {
	begun := time.Now()
	defer func() {
		slept := time.Since(begun)
		p.Charge(slept)
		p.Waits.Before += slept
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.Ctx.Done():
		return context.Cause(p.Ctx)
	case <-timer.C:
		return nil
	case <-changed:
		// Many processes may wait for the same gate.
		return retry.Sleep(p.Ctx, rand.N(100*time.Millisecond))
	}
}

// watcher says when a gate changes, where the store can, so that a long wait need not poll.
type watcher struct {
	shared  call.Shared
	key     string
	changed <-chan struct{}
	stop    func()
	tried   bool
}

// changes returns nil if the gate has to be polled. In a slow start, and for a slot, every start would wake every waiter. fresh says that
// the watch has just begun.
func (w *watcher) changes(r *gate.Refusal) (changed <-chan struct{}, fresh bool) {
	if r.Kind != gate.KindHold && r.Kind != gate.KindBreaker {
		return nil, false
	}
	if !w.tried {
		w.tried = true
		w.changed, w.stop, _ = w.shared.Watch(w.key)
		fresh = w.changed != nil
	}
	return w.changed, fresh
}

func (w *watcher) end() {
	if w.stop != nil {
		w.stop()
	}
}
