package supervise

import (
	"sync/atomic"
	"time"
)

// epoch makes a moment fit into one atomic word and keeps it monotonic.
var epoch = time.Now()

// moment is a point in time that other goroutines may set. Zero means never.
type moment struct{ ns atomic.Int64 }

func (m *moment) set(t time.Time) { m.ns.Store(max(1, int64(t.Sub(epoch)))) }

func (m *moment) clear() { m.ns.Store(0) }

func (m *moment) get() (time.Time, bool) {
	ns := m.ns.Load()
	return epoch.Add(time.Duration(ns)), ns != 0
}

// limits are the three clocks of a process.
type limits struct {
	timeout, stall, linger time.Duration
	start                  time.Time
	life                   *moment // last sign of life; unset means the start
	delivered              *moment // delivered; unset means not yet
}

// due says which limit has passed at now, or how long it takes until one can. A wait of 0 means that there is
// none to wait for.
func (l *limits) due(now time.Time) (reason Reason, wait time.Duration) {
	check := func(since time.Time, limit time.Duration, r Reason) {
		if limit <= 0 || reason != Exited {
			return
		}
		left := limit - now.Sub(since)
		if left <= 0 {
			reason, wait = r, 0
		} else if wait == 0 || left < wait {
			wait = left
		}
	}
	if t, ok := l.delivered.get(); ok {
		check(t, l.linger, Lingered)
	}
	alive := l.start
	if t, ok := l.life.get(); ok && t.After(alive) {
		alive = t
	}
	check(alive, l.stall, Stalled)
	check(l.start, l.timeout, Deadline)
	return reason, wait
}

// skip takes d out of the time that has passed: the process could not use it.
func (l *limits) skip(d time.Duration) {
	l.start = l.start.Add(d)
	if t, ok := l.delivered.get(); ok {
		l.delivered.set(t.Add(d))
	}
}
