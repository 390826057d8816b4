package batch

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch/level"
	"github.com/belay-run/belay/internal/budget"
)

// Batch runs the tasks of a plan.
type Batch struct {
	Plan *Plan
	// Ledger takes the results; nil keeps none.
	Ledger *Ledger
	// Do runs one task to its end. It is called by several goroutines at a time, one for each [Job.Worker].
	Do func(context.Context, *Job) Outcome

	// Jobs is how many tasks run at a time; 0 means as many as the service and the machine take, at most MaxJobs.
	Jobs, MaxJobs int
	// RetryFailed runs tasks again whose result is a failure.
	RetryFailed bool
	// FailFast stops at the first failure; Abort after some number of them.
	FailFast bool
	Abort    Abort
	// MaxCost is what all tasks together may cost, with those of earlier starts; 0 means no limit.
	MaxCost float64
	// Book is where the tasks are charged while they run, each model call when it ends; its limit is MaxCost. Nil means one that only this
	// process sees.
	Book *budget.Book
	// Deadline is when no further task is started, and running ones are stopped; zero means never.
	Deadline time.Time
	// NoWait stops at a limit instead of waiting until it lifts.
	NoWait bool
	// MaxLack is, with NoWait, how long is waited for files, processes or memory that are missing to start even one task.
	MaxLack time.Duration
	// Ended is told of each task that has ended, one at a time and in that order, while others run; nil if that is of no use.
	Ended func(*Job, *Outcome)
	// Written is told of each task whose result is in the ledger; nil if that is of no use.
	Written func(*Job)
	// Halted is called once nothing more starts though tasks are left; nil if that is of no use.
	Halted func()
	// Overspent is called once when tasks that run elsewhere have cost what all of them may, so that those which are running are stopped; nil if that is of no use.
	Overspent func()
	// Elsewhere says that other machines run the tasks, and Do only waits for them. They know all tasks, and begin them without being asked.
	Elsewhere bool
	// FailuresOnly says that Ended need not be told of tasks that are done: to be told costs a goroutine's turn for each.
	FailuresOnly bool

	schedule
}

// StopReason says why a batch has ended before its tasks have.
type StopReason int

const (
	NotStopped StopReason = iota
	Cancelled             // by the context
	FatalError            // a key or the billing is wrong
	TooManyFailures
	CostReached
	DeadlinePassed
	LimitReached // and NoWait is set
	Unwritable   // results cannot be written
	SourceBroken // the tasks have changed since they were checked
	ResultsLost  // another program has taken results away
)

// stop is why nothing more starts.
type stop struct {
	reason StopReason
	err    error
	until  time.Time
}

// Summary is what has become of a batch.
type Summary struct {
	Counts [6]int
	Spent  float64
	Stop   StopReason
	Err    error     // why, where there is more to say
	Until  time.Time // when it is worth while to continue, if that is known
}

// Left says how many tasks are not over.
func (s *Summary) Left() int { return s.Counts[Waiting] + s.Counts[Running] + s.Counts[Paused] }

// Complete reports whether all tasks are over and nothing has stopped the batch.
func (s *Summary) Complete() bool { return s.Stop == NotStopped && s.Left() == 0 }

// schedule is what a batch knows while it runs. It is guarded by mu.
type schedule struct {
	mu      sync.Mutex
	changed sync.Cond
	level   level.Level
	running jobs
	workers int
	stop    stop
	halted  func()
	cancel  context.CancelCauseFunc
	wake    *time.Timer

	held      held
	lacking   time.Time // since when not even one task could be started
	overspent bool

	queue
	figures
	teller teller
}

// queue is what is to run next.
type queue struct {
	reader  Reader
	read    uint32 // tasks read so far
	atEnd   bool
	reading bool   // a worker waits for the next task of a stream
	again   []*Job // paused ones, and those that have waited for others
	graph   graph
}

// held is a limit that the whole batch waits for.
type held struct {
	until time.Time
	row   int // limits in a row that did not say how long
}

const (
	// firstHold is how long is waited for a limit that does not say how long it lasts; it doubles up to LongestHold.
	firstHold   = 5 * time.Second
	LongestHold = 10 * time.Minute
)

// next is how long is waited for something that does not say how long it lasts: longer each time in a row.
func (h *held) next() time.Duration {
	wait := LongestHold
	if h.row < 8 {
		wait = min(firstHold<<h.row, LongestHold)
	}
	h.row++
	return wait
}

// over reports whether nothing starts any more. The lock is held.
func (s *schedule) over() bool {
	return s.stop.reason != NotStopped || s.atEnd && len(s.again) == 0 && len(s.running) == 0
}

// wakeAfter lets those look again who wait for a time.
func (s *schedule) wakeAfter(d time.Duration) {
	if s.wake != nil {
		s.wake.Stop()
	}
	s.wake = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
}

// halt lets nothing more start. The first reason counts, unless it let the running tasks end and these are now stopped too. The lock is held.
func (s *schedule) halt(why stop) {
	switch s.stop.reason {
	case NotStopped:
		s.stop = why
		if s.halted != nil {
			go s.halted()
		}
	case TooManyFailures, CostReached, LimitReached:
		if why.reason == Cancelled && len(s.running) > 0 {
			s.stop = why
		}
	}
	s.changed.Broadcast()
}
