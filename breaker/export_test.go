package breaker

import "time"

// Refusal is what Ask would refuse a call with.
func (s State) Refusal(set Settings, now time.Time) error { return s.refusalAt(set, now) }
