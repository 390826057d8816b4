package supervise

import (
	"time"

	"github.com/belay-run/belay/internal/supervise/stream"
)

// limits are the three clocks of a process.
type limits struct {
	timeout, stall, linger time.Duration
	start                  time.Time
	life                   *stream.Moment // last sign of life; unset means the start
	delivered              *stream.Moment // delivered; unset means not yet
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
	if t, ok := l.delivered.Get(); ok {
		check(t, l.linger, Lingered)
	}
	alive := l.start
	if t, ok := l.life.Get(); ok && t.After(alive) {
		alive = t
	}
	check(alive, l.stall, Stalled)
	check(l.start, l.timeout, Deadline)
	return reason, wait
}

// skip takes d out of the time that has passed: the process could not use it.
func (l *limits) skip(d time.Duration) {
	l.start = l.start.Add(d)
	if t, ok := l.delivered.Get(); ok {
		l.delivered.Set(t.Add(d))
	}
}
