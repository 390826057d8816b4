package batch

import "time"

// level is how many tasks run at a time. One that finds itself begins low, doubles until the service first asks for fewer calls, is
// then halved, and from there on grows by one for each round of answers.
type level struct {
	fixed   bool
	value   float64
	limit   int
	probing bool      // no throttle has come yet
	cut     time.Time // when it was last halved
}

// firstLevel is where a level begins that finds itself.
const firstLevel = 2

func newLevel(jobs, most int) level {
	if jobs > 0 {
		return level{fixed: true, value: float64(jobs), limit: jobs}
	}
	most = max(most, 1)
	return level{value: float64(min(firstLevel, most)), limit: most, probing: true}
}

func (l *level) now() int  { return max(1, int(l.value)) }
func (l *level) most() int { return l.limit }

// answered says that a task has ended that began then.
func (l *level) answered(began time.Time) {
	if l.fixed || began.Before(l.cut) {
		return // it says nothing of the level as it is now
	}
	step := 1 / l.value
	if l.probing {
		step = 1
	}
	l.value = min(l.value+step, float64(l.limit))
}

// throttled says that the service asked for fewer calls, of a task that began then. What began before the last cut is a part of that one.
func (l *level) throttled(began time.Time) {
	l.probing = false
	if l.fixed || began.Before(l.cut) {
		return
	}
	l.value = max(1, l.value/2)
	l.cut = time.Now()
}
