package gate

import (
	"slices"
	"time"
)

// Ramp is the slow start after a hold: one start that has not been answered at a time, one more for each first answer.
// Without it all waiting calls would start in the same instant, and be refused again.
//
// Where the last one was ended by a throttle, it has shown how many the service takes: after so many answers it begins
// anew. Otherwise as many again would be under way just when the limit is reached (twenty clients with five calls each
// and a limit of twenty a minute then need 170 requests instead of 147, without a hint; with one 160 instead of 138).
type Ramp struct {
	// Allowed is how many may be unanswered at the same time; 0 means that there is no ramp.
	Allowed int     `json:"allowed,omitempty"`
	Starts  []Start `json:"starts,omitempty"`
	// Answers counts the first answers since it began; Last is how many there were before the last throttle.
	Answers int `json:"answers,omitempty"`
	Last    int `json:"last,omitempty"`
	// Ends is when it ends if no further call starts.
	Ends time.Time `json:"ends,omitzero"`
}

// Start is one that has not been answered yet.
type Start struct {
	Holder  string    `json:"holder"`
	Expires time.Time `json:"expires"`
}

const (
	// maxAllowed is the number of allowed starts at which a ramp is over.
	maxAllowed = 1000
	// idle is how long a ramp outlasts its hold, or the last start.
	idle = 2 * time.Minute
)

// begin is the ramp for a hold that lasts until. One that was ended before it was answered has shown nothing.
func (r Ramp) begin(until time.Time) Ramp {
	last := r.Last
	if r.Answers > 0 {
		last = r.Answers
	}
	return Ramp{Allowed: 1, Last: last, Ends: until.Add(idle)}
}

// Live reports whether it still restrains calls at now.
func (r Ramp) Live(now time.Time) bool { return !r.over(now) }

// over reports whether the ramp no longer restrains calls. One that ends farther away than any can was written by a
// clock that was wrong.
func (r Ramp) over(now time.Time) bool {
	return r.Allowed <= 0 || r.Allowed >= maxAllowed || !now.Before(r.Ends) || r.Ends.Sub(now) > longestHold+idle
}

// expired reports whether a start no longer counts at now. One that expires much later than a start of now would was
// written by a clock that has been set back. A little later is normal: the caller read the clock before it got the
// lock, and others may have started meanwhile.
func (s Start) expired(now time.Time, set Settings) bool {
	left := s.Expires.Sub(now)
	return left <= 0 || left > set.answer()+skew
}

// enter counts a start.
func (r Ramp) enter(now time.Time, set Settings, holder string) (Ramp, bool) {
	live := 0
	for _, s := range r.Starts {
		if !s.expired(now, set) {
			live++
		}
	}
	if live >= r.Allowed || r.Answers < r.Last && r.Answers+live >= r.Last {
		return r, false
	}
	starts := slices.DeleteFunc(slices.Clone(r.Starts), func(s Start) bool { return s.expired(now, set) })
	r.Starts = append(starts, Start{Holder: holder, Expires: now.Add(set.answer())})
	r.Ends = now.Add(idle)
	return r, true
}

// renew lets a start count from now.
func (r Ramp) renew(now time.Time, set Settings, holder string) Ramp {
	if i := r.find(holder); i >= 0 {
		r.Starts = slices.Clone(r.Starts)
		r.Starts[i].Expires = now.Add(set.answer())
		r.Ends = now.Add(idle)
	}
	return r
}

// leave takes a start out; answered says that the service has answered it.
func (r Ramp) leave(holder string, answered bool) Ramp {
	i := r.find(holder)
	if i < 0 {
		return r
	}
	r.Starts = slices.Delete(slices.Clone(r.Starts), i, i+1)
	if answered {
		r.Allowed++
		r.Answers++
		if r.Answers == r.Last {
			r.Allowed = 1
		}
	}
	return r
}

func (r Ramp) find(holder string) int {
	return slices.IndexFunc(r.Starts, func(s Start) bool { return s.Holder == holder })
}

func (r Ramp) same(o Ramp) bool {
	return r.Allowed == o.Allowed && r.Answers == o.Answers && r.Last == o.Last && r.Ends == o.Ends && slices.Equal(r.Starts, o.Starts)
}
