package batch

import "time"

// Abort says after how many failures a batch is stopped; the zero value means never.
type Abort struct {
	Failures int
	Percent  float64 // of all tasks that have ended, once there are ten
}

// figures are how many tasks are in each state, what they have cost, and how long they took.
type figures struct {
	counts [6]int
	ended  int     // in this run
	spent  float64 // with earlier starts
	begun  time.Time
	paused time.Duration // for which nothing ran because of a limit
	since  time.Time     // when that began; zero if something runs
}

// move notes that a task changes from a state to another.
func (f *figures) move(from *State, to State) {
	f.counts[*from]--
	f.counts[to]++
	*from = to
	switch isPaused := f.counts[Running] == 0 && f.counts[Paused] > 0; {
	case isPaused && f.since.IsZero():
		f.since = time.Now()
	case !isPaused && !f.since.IsZero():
		f.paused, f.since = f.paused+time.Since(f.since), time.Time{}
	}
}

// took is how long tasks have run by now.
func (f *figures) took(now time.Time) time.Duration {
	took := now.Sub(f.begun) - f.paused
	if !f.since.IsZero() {
		took -= now.Sub(f.since)
	}
	return took
}

// tooMany reports whether so many of the tasks that have ended have failed that the batch is to stop.
func (f *figures) tooMany(a Abort) bool {
	failed := f.counts[Failed]
	over := failed + f.counts[Done]
	return a.Percent > 0 && failed > 0 && over >= 10 && float64(failed)*100 >= a.Percent*float64(over)
}
