package breaker

import (
	"fmt"
	"math"
	"time"
)

// Settings are the thresholds and times of a breaker. The zero value works. All users of a [State] should have the
// same.
type Settings struct {
	// Failures is how many in a row open a closed breaker. 0 means [DefaultFailures].
	Failures int

	// Open is how long it stays open the first time, doubled each time that a probe fails. Each open time is spread
	// upward by up to a quarter. 0 means 60 s.
	Open time.Duration

	// MaxOpen caps the doubling, before the spread. 0 means 10 min; less than Open means Open.
	MaxOpen time.Duration

	// Successes is how many successful probes close a half-open breaker. 0 means 2.
	Successes int

	// Lease is how long a probe keeps others out unless it is renewed. A probe that takes longer still counts when it
	// is answered, but another one may start beside it. 0 means 30 s.
	Lease time.Duration
}

// DefaultFailures is how many failures in a row open a breaker that does not say so itself.
const DefaultFailures = 5

// Validate reports the first value of s that makes no sense, in words that can be shown to the user. A breaker
// does not call it; to a breaker, what Validate would refuse counts as not set.
func (s Settings) Validate() error {
	switch {
	case s.Failures < 0:
		return fmt.Errorf("number of failures %d is negative", s.Failures)
	case s.Open < 0:
		return fmt.Errorf("open time %v is negative", s.Open)
	case s.MaxOpen < 0:
		return fmt.Errorf("max open time %v is negative", s.MaxOpen)
	case s.Successes < 0:
		return fmt.Errorf("number of successes %d is negative", s.Successes)
	case s.Lease < 0:
		return fmt.Errorf("lease %v is negative", s.Lease)
	}
	return nil
}

func (s Settings) failures() int        { return or(s.Failures, DefaultFailures) }
func (s Settings) successes() int       { return or(s.Successes, 2) }
func (s Settings) open() time.Duration  { return or(s.Open, time.Minute) }
func (s Settings) lease() time.Duration { return or(s.Lease, 30*time.Second) }
func (s Settings) maxOpen() time.Duration {
	return max(or(s.MaxOpen, 10*time.Minute), s.open())
}

func or[N int | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// openTime returns how long a breaker stays open that has opened opens times in a row before: Open · 2^opens, at most
// MaxOpen, and then up to a quarter more as jitter in [0,1) says. It saturates.
func (s Settings) openTime(opens int, jitter float64) time.Duration {
	d, limit := s.open(), s.maxOpen()
	if opens = max(opens, 0); d > limit>>opens { // a shift by too much is 0
		d = limit
	} else {
		d <<= opens
	}
	if !(jitter > 0) { // unlike jitter <= 0 this catches NaN
		jitter = 0
	}
	return add(d, time.Duration(float64(d/4)*min(jitter, 1)))
}

// passed says whether at now a time is over that was set to at most longest after the now of then. One that is
// farther away than that, and a lease on top for clocks that differ a little, was set by a clock that has jumped
// back since, and waiting for it could take for ever: it counts as over. So whatever the clocks did before, a wait
// that begins at now is no longer than longest and a lease.
func (s Settings) passed(t, now time.Time, longest time.Duration) bool {
	return !now.Before(t) || t.After(now.Add(add(longest, s.lease())))
}

// add is a + b for durations that are not negative. It saturates.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
