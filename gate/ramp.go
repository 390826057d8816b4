package gate

import (
	"slices"
	"time"
)

// Ramp is the slow start after a hold: one start that has not been answered at a time, one more for each first answer.
// Without it all who waited would start in the same instant, and be refused again.
type Ramp struct {
	// Allowed is how many may be unanswered at the same time; 0 means that there is no ramp.
	Allowed int     `json:"allowed,omitempty"`
	Starts  []Start `json:"starts,omitempty"`
	// Ends is when it ends if nobody starts any more.
	Ends time.Time `json:"ends,omitzero"`
}

// Start is one that has not been answered yet.
type Start struct {
	Holder  string    `json:"holder"`
	Expires time.Time `json:"expires"`
}

const (
	// wide is where a ramp has become so wide that it is none.
	wide = 1000
	// idle is how long a ramp outlasts its hold.
	idle = 2 * time.Minute
)

// begin is the ramp for a hold that lasts until.
func begin(until time.Time) Ramp { return Ramp{Allowed: 1, Ends: until.Add(idle)} }

// over reports whether the ramp no longer restrains anybody. One that ends farther away than any can was written by a
// clock that was wrong.
func (r Ramp) over(now time.Time) bool {
	return r.Allowed == 0 || r.Allowed >= wide || !now.Before(r.Ends) || r.Ends.Sub(now) > farthest+idle
}

// live are the starts that still count at now: neither answered nor expired.
func (r Ramp) live(now time.Time, set Settings) []Start {
	var list []Start
	for _, s := range r.Starts {
		if left := s.Expires.Sub(now); left > 0 && left <= set.answer() {
			list = append(list, s)
		}
	}
	return list
}

// enter counts a start.
func (r Ramp) enter(now time.Time, set Settings, holder string) (Ramp, bool) {
	live := r.live(now, set)
	if len(live) >= r.Allowed {
		return r, false
	}
	r.Starts = append(live, Start{Holder: holder, Expires: now.Add(set.answer())})
	return r, true
}

// leave takes a start out; answered says that the service has spoken to it.
func (r Ramp) leave(holder string, answered bool) Ramp {
	i := slices.IndexFunc(r.Starts, func(s Start) bool { return s.Holder == holder })
	if i < 0 {
		return r
	}
	r.Starts = slices.Delete(slices.Clone(r.Starts), i, i+1)
	if answered {
		r.Allowed++
	}
	return r
}
