package gate

import "time"

// Hold says that no call starts before Until.
type Hold struct {
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Throttles counts those in a row that did not say how long: each hold is longer than the last.
	Throttles int `json:"throttles,omitempty"`
	// Manual holds were set by a person; no success ends them.
	Manual bool `json:"manual,omitempty"`
}

const (
	// longestHold is how long a hold may last that no person has set: plans reset within a month.
	longestHold = 32 * 24 * time.Hour
	// skew is how much earlier than the beginning of a hold it may be. Clocks are corrected by a little now and then;
	// by more than that, the clock that the hold was set by was wrong.
	skew = 30 * time.Second
)

// Left is how long the hold still lasts at now. One that a person has set lasts as set. Any other hold is over if the
// clock was set back since: waiting for that time could take for ever, and the next throttle will say more.
func (h Hold) Left(now time.Time) time.Duration {
	left := max(0, h.Until.Sub(now))
	if h.Manual {
		return left
	}
	length := h.Until.Sub(h.Since)
	if length > longestHold || h.ahead(now) {
		return 0
	}
	return max(0, min(left, length))
}

// ahead reports whether it was set at a time that has not come yet.
func (h Hold) ahead(now time.Time) bool { return now.Before(h.Since.Add(-skew)) }

// Live reports whether it still holds at now.
func (h Hold) Live(now time.Time) bool { return h.Left(now) > 0 }

// row is how many throttles without a hint there have been in a row. Those of long ago are forgotten with the slow
// start that they led to.
func (h Hold) row(now time.Time) int {
	if now.After(h.Until.Add(idle)) || h.ahead(now) {
		return 0
	}
	return max(0, h.Throttles)
}

// extend sets the hold for a throttle of a call that started at started. A hold that lasts is never made shorter. Calls
// that were under way when it was set say nothing new of the row, and nothing at all unless they have a later time to
// tell.
func (h Hold) extend(set Settings, now, started time.Time, hint time.Duration, reason string) Hold {
	live, stale, row := h.Live(now), started.Before(h.Since), h.row(now)
	length := min(hint, longestHold)
	if hint <= 0 {
		if live && stale {
			return h
		}
		if !stale || row == 0 {
			row++
		}
		length = set.holdAfter(row)
	}
	if live && length <= h.Left(now) {
		return h
	}
	return Hold{Since: now, Until: now.Add(length), Reason: clip(reason), Throttles: row, Manual: live && h.Manual}
}

// end ends the hold at now, unless a person has set it: a call that began after it was let through and answered.
func (h Hold) end(now time.Time) Hold {
	if !h.Manual && h.Live(now) {
		h.Until = now
	}
	return h
}
