package breaker

import "time"

// Refusal is what Ask would refuse a call with.
func (s State) Refusal(set Settings, now time.Time) error { return s.refusalAt(set, now) }

// OpenTime is how long a breaker stays open.
func (s Settings) OpenTime(opens int, jitter float64) time.Duration { return s.openTime(opens, jitter) }
