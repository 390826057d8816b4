package gate

import "time"

// Hold says that nobody starts before Until.
type Hold struct {
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Throttles counts those in a row that did not say how long: each hold is longer than the last.
	Throttles int `json:"throttles,omitempty"`
	// Manual holds were set by a person; no success ends them.
	Manual bool `json:"manual,omitempty"`
}

// farthest is how far in the future a hold may lie: plans reset within a month.
const farthest = 32 * 24 * time.Hour

// Left is how long the hold still lasts at now. A clock that was set back must not make it longer than it ever was.
func (h Hold) Left(now time.Time) time.Duration {
	return max(0, min(h.Until.Sub(now), h.Until.Sub(h.Since), farthest))
}

// Live reports whether it still holds at now.
func (h Hold) Live(now time.Time) bool { return h.Left(now) > 0 }

// extend sets the hold for a throttle of a call that started at started. Calls that were under way when it was set say
// nothing new, unless they have a later time to tell.
func (h Hold) extend(set Settings, now, started time.Time, hint time.Duration, reason string) Hold {
	stale := h.Live(now) && started.Before(h.Since)
	switch {
	case hint > 0:
		if until := now.Add(min(hint, farthest)); !stale || until.After(h.Until) {
			return Hold{Since: now, Until: until, Reason: reason, Throttles: h.Throttles, Manual: h.Manual && h.Live(now)}
		}
		return h
	case stale:
		return h
	}
	d := set.hold()
	for range min(h.Throttles, 32) {
		d = min(2*d, set.maxHold())
	}
	return Hold{Since: now, Until: now.Add(d), Reason: reason, Throttles: h.Throttles + 1, Manual: h.Manual && h.Live(now)}
}
