// Package level decides how many tasks run at a time.
package level

import "time"

// Level is how many tasks run at a time. One that finds itself begins low and grows with every answer until the service first asks for fewer
// calls. It is then cut, and grows quickly back to what the service has taken before; beyond that it is tried now and then whether it takes
// more, the less often the more often it did not.
type Level struct {
	fixed   bool
	lacks   bool // it was lowered because this machine could not start so many
	value   float64
	limit   int
	ceiling float64   // what the service has taken; 0 if it never asked for fewer
	caution float64   // how many rounds of answers it takes to try one more than that
	cut     time.Time // when it was last cut
	window  window
}

// window is how full the limit of the tasks' account is that is fullest.
type window struct {
	first, left float64 // the shares that were left to be used, as was told first and last
	ended       int     // the tasks that have ended in between
	resets      time.Time
	full        time.Time // when nothing was left first
	beyond      bool      // a task that began after that was answered: the service goes on
}

// Filled says how much of a limit is left, until when.
func (l *Level) Filled(left float64, resets time.Time) {
	if l.window.resets.Sub(resets).Abs() > time.Minute {
		l.window = window{first: left, left: left, resets: resets, ended: -1} // who tells it first has used its part before
	}
	l.window.left = min(l.window.left, left) // it is told by several at once, in any order
	if l.window.left <= 0 && l.window.full.IsZero() {
		l.window.full = time.Now()
	}
}

// room is how many tasks still fit into the window, if they use what others have used; ok is false if there is nothing to go by.
func (w *window) room() (tasks int, ok bool) {
	each := (w.first - w.left) / float64(w.ended)
	if w.beyond || w.ended <= 0 || each <= 0 || !time.Now().Before(w.resets) {
		return 0, false
	}
	return int(max(0, w.left)/each + 1e-6), true
}

const (
	// firstLevel is where a level begins that finds itself.
	firstLevel = 2
	// cutTo is what is left of a level after a throttle. A half, as TCP has it, is too little where tasks take minutes: it takes as many
	// rounds to grow back.
	cutTo = 0.85
	// maxCaution is the most rounds of answers before one more is tried.
	maxCaution = 16
)

// New is a level of so many jobs or, if that is 0, one that finds itself, at most most.
func New(jobs, most int) Level {
	if jobs > 0 {
		return Level{fixed: true, value: float64(jobs), limit: jobs}
	}
	most = max(most, 1)
	return Level{value: float64(min(firstLevel, most)), limit: most, caution: 1}
}

// Now is how many tasks may run. As a limit fills there are fewer of them, so that they do not meet its end together.
func (l *Level) Now() int {
	n := int(l.value)
	if room, ok := l.window.room(); ok && !l.fixed {
		n = min(n, room)
	}
	return max(1, n)
}

// Most is the most that it can rise to.
func (l *Level) Most() int { return l.limit }

// Fixed reports whether the user has said how many.
func (l *Level) Fixed() bool { return l.fixed }

// Answered says that a task has ended that began then.
func (l *Level) Answered(began time.Time) {
	l.window.ended++
	l.window.beyond = l.window.beyond || !l.window.full.IsZero() && began.After(l.window.full)
	if l.fixed && !l.lacks || began.Before(l.cut) {
		return // it says nothing of the level as it is now
	}
	step := 1.0
	if l.ceiling > 0 && l.value >= l.ceiling {
		step = 1 / (l.value * l.caution)
	}
	if l.value = min(l.value+step, float64(l.limit)); l.ceiling > 0 && l.value >= l.ceiling+2 {
		l.ceiling, l.caution = l.value, max(1, l.caution/2) // the service takes more by now
	}
}

// Lacked says that a task could not be started for lack of files, processes or memory while so many were running. A fixed level is lowered too, and
// grows back.
func (l *Level) Lacked(running int) {
	l.lacks, l.cut = true, time.Now()
	if l.ceiling > 0 {
		l.caution = min(l.caution*2, maxCaution)
	}
	l.caution = max(l.caution, 1)
	l.ceiling = max(1, float64(running))
	l.value = min(l.value, l.ceiling)
}

// Throttled says that the service asked for fewer calls, of a task that began then, while so many were running. What began before the last
// cut is a part of that one.
func (l *Level) Throttled(began time.Time, running int) {
	if l.fixed || began.Before(l.cut) {
		return
	}
	if l.ceiling > 0 {
		l.caution = min(l.caution*2, maxCaution)
	}
	l.ceiling = max(1, float64(running-1))
	l.value = max(1, min(l.value, float64(running))*cutTo)
	l.cut = time.Now()
}
