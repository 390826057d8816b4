package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
)

const (
	// longPoll is how often a gate that holds is looked at: a reset must wake within a second, fifty who sleep must not
	// cost a hundredth of a core.
	longPoll = 700 * time.Millisecond
	// watchedPoll is how often it is looked at though the system says when it changes.
	watchedPoll = 30 * time.Second
	// shortPoll is for what may end at any moment; it grows to the long one.
	shortPoll = 150 * time.Millisecond
)

// patience is how long to sleep before the gate is looked at again, for the how-manieth time; or why there is no time
// for that.
func (inv *Invocation) patience(r *gate.Refusal, looks int, watched bool) (time.Duration, error) {
	now := time.Now()
	poll, need := min(time.Duration(looks)*shortPoll, longPoll), time.Duration(1)
	if !r.Until.IsZero() && (r.Kind == "hold" || r.Kind == "breaker") {
		need = r.Until.Sub(now)
		longest := longPoll
		if watched {
			longest = watchedPoll
		}
		poll = max(min(longest, need), time.Millisecond) // it may have passed since
	}
	untilReset := r.Kind == "breaker" && r.Until.IsZero() // opened by hand: no wait is long enough
	if inv.noWaiting() || untilReset || need > inv.series.Left(now) {
		return 0, &retry.Error{Cause: retry.ErrMaxWait, NotBefore: r.Until}
	}
	return poll + rand.N(min(poll, longPoll)/4+1), nil
}

// noWaiting says that the user has turned all waiting off.
func (inv *Invocation) noWaiting() bool { return inv.runner.NoWait }

// doze sleeps for d, or until the gate changes. What was really slept is charged.
func (inv *Invocation) doze(d time.Duration, changed <-chan struct{}) error {
	begun := time.Now()
	defer func() {
		now := time.Now()
		inv.series.Charge(now, min(now.Sub(begun), inv.series.Left(now)), nil)
		inv.waits.before += now.Sub(begun)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-inv.ctx.Done():
		return context.Cause(inv.ctx)
	case <-timer.C:
		return nil
	case <-changed:
		// Fifty may wait for the same.
		return retry.Sleep(inv.ctx, rand.N(100*time.Millisecond))
	}
}

// watcher says when a gate changes, where the system can, so that who waits for long need not look.
type watcher struct {
	gate    *gate.Gate
	changed <-chan struct{}
	stop    func()
	tried   bool
}

func newWatcher(g *gate.Gate) *watcher { return &watcher{gate: g} }

// changes is nil if one has to look. In a slow start, and for a slot, everybody's start would wake everybody. fresh says
// that it has just begun.
func (w *watcher) changes(r *gate.Refusal) (changed <-chan struct{}, fresh bool) {
	if r.Kind != "hold" && r.Kind != "breaker" {
		return nil, false
	}
	if !w.tried {
		w.tried = true
		w.changed, w.stop, _ = w.gate.Store.(*gate.Files).Watch(w.gate.Key)
		fresh = w.changed != nil
	}
	return w.changed, fresh
}

func (w *watcher) end() {
	if w.stop != nil {
		w.stop()
	}
}
