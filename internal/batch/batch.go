package batch

import (
	"context"
	"sync"
	"time"

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

	mu        sync.Mutex
	changed   sync.Cond
	level     level
	reader    Reader
	read      uint32 // tasks read so far
	atEnd     bool
	reading   bool   // a worker waits for the next task of a stream
	again     []*Job // paused ones, and those that have waited for others
	held      held
	lacking   time.Time // since when not even one task could be started
	graph     graph
	ended     int // in this run
	counts    [6]int
	spent     float64
	running   map[int]*Job // by worker
	workers   int
	stop      stop
	overspent bool
	untold    []notice
	idle      bool // all workers have ended
	begun     time.Time
	paused    time.Duration // for which nothing ran because of a limit, and since when it does so now
	since     time.Time
	cancel    context.CancelCauseFunc
	wake      *time.Timer
}

// Abort says after how many failures a batch is stopped; the zero value means never.
type Abort struct {
	Failures int
	Percent  float64 // of all tasks that have ended, once there are ten
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

// Run runs all tasks that are not over. It returns when they are, or when nothing more may start and all that were running have ended.
func (b *Batch) Run(ctx context.Context) (sum Summary, err error) {
	if b.reader, err = b.Plan.source.Open(); err != nil {
		return sum, err
	}
	defer b.reader.Close()
	b.prepare()
	if b.Book != nil {
		ctx = budget.Around(ctx, b.Book)
	}
	ctx, b.cancel = context.WithCancelCause(ctx)
	defer b.cancel(nil)
	disregard := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.halt(stop{reason: Cancelled, err: context.Cause(ctx)})
	})
	defer disregard()
	if !b.Deadline.IsZero() {
		late := time.AfterFunc(time.Until(b.Deadline), func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.halt(stop{reason: DeadlinePassed})
			b.cancel(DeadlineError{})
		})
		defer late.Stop()
	}
	var group, teller sync.WaitGroup
	if b.Ended != nil {
		teller.Go(b.tell)
	}
	b.mu.Lock()
	for b.workers < b.level.most() {
		if b.workers >= b.level.now() && !b.level.fixed {
			break
		}
		b.spawn(ctx, &group)
	}
	// A level that finds itself needs more workers as it rises.
	for !b.level.fixed && !b.over() {
		b.changed.Wait()
		for b.workers < min(b.level.now(), b.level.most()) && !b.over() {
			b.spawn(ctx, &group)
		}
	}
	b.mu.Unlock()
	group.Wait()
	b.mu.Lock()
	b.idle = true
	b.changed.Broadcast()
	b.mu.Unlock()
	teller.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wake != nil {
		b.wake.Stop()
	}
	sum = Summary{Counts: b.counts, Spent: b.spent, Stop: b.stop.reason, Err: b.stop.err, Until: b.stop.until}
	b.verify(&sum)
	return sum, nil
}

// DeadlineError is the cause with which tasks are stopped at the deadline.
type DeadlineError struct{}

func (DeadlineError) Error() string { return "the deadline of the batch has passed" }

func (b *Batch) prepare() {
	b.changed.L = &b.mu
	b.level = newLevel(b.Jobs, b.MaxJobs)
	b.running = map[int]*Job{}
	if b.RetryFailed {
		b.Plan.reset(Failed)
	}
	b.counts = b.Plan.Count()
	if b.Ledger != nil {
		b.spent = b.Ledger.Spent
	}
	b.openBook()
	b.graph = graph{plan: b.Plan}
	b.begun = time.Now()
	b.Note(b.Progress()) // so that who looks at once sees how many tasks there are
}

// openBook puts into the book what earlier starts have spent. Tasks that run elsewhere are charged there.
func (b *Batch) openBook() {
	if b.MaxCost <= 0 || b.Elsewhere {
		b.Book = nil
		return
	}
	if b.Book != nil && b.charge(b.spent) == nil {
		return
	}
	b.Book = budget.InMemory("batch", budget.Terms{Limit: b.MaxCost})
	b.charge(b.spent)
}

// charge adds to the book what is not charged by a run.
func (b *Batch) charge(usd float64) error {
	if b.Book == nil {
		return nil
	}
	_, err := b.Book.Charge(time.Now(), budget.Charge{USD: usd})
	return err
}

// costReached reports whether the tasks have cost what they may.
func (b *Batch) costReached() bool {
	if b.Book == nil {
		return false
	}
	s, err := b.Book.Check(time.Now())
	return err == nil && s.Reached()
}

// spawn starts a worker. The lock is held.
func (b *Batch) spawn(ctx context.Context, group *sync.WaitGroup) {
	worker := b.workers
	b.workers++
	group.Go(func() {
		var before *Job
		var outcome Outcome
		for {
			job := b.next(ctx, worker, before, &outcome)
			if job == nil {
				return
			}
			outcome = b.Do(ctx, job)
			b.write(job, &outcome)
			before = job
		}
	})
}

// next ends a worker's last job, if there was one, and returns its next; nil if there is no more.
func (b *Batch) next(ctx context.Context, worker int, before *Job, outcome *Outcome) *Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil { // who is to note that may not have had its turn yet
		b.halt(stop{reason: Cancelled, err: context.Cause(ctx)})
	}
	if before != nil {
		delete(b.running, worker)
		b.finish(before, outcome)
	}
	for {
		if b.over() {
			b.changed.Broadcast()
			return nil
		}
		if job := b.pick(); job != nil {
			b.start(job, worker)
			return job
		}
		if b.level.fixed && b.atEnd && len(b.again) == 0 && len(b.graph.waiting) == 0 {
			return nil // who has a job takes it up again, should it be paused; thousands of idle workers would be woken by each that ends
		}
		if !b.over() {
			b.changed.Wait()
		}
	}
}

// over reports whether nothing starts any more. The lock is held.
func (b *Batch) over() bool {
	return b.stop.reason != NotStopped || b.atEnd && len(b.again) == 0 && len(b.running) == 0
}

// pick is the job that may start now; nil if one has to wait. The lock is held.
func (b *Batch) pick() *Job {
	if b.stop.reason != NotStopped || len(b.running) >= b.level.now() || len(b.untold) >= mostUntold {
		return nil
	}
	if left := time.Until(b.held.until); left > 0 {
		b.wakeAfter(left)
		return nil
	}
	if b.MaxCost > 0 && b.spent+b.underWay() >= b.MaxCost {
		if len(b.running) == 0 {
			b.halt(stop{reason: CostReached})
		}
		return nil
	}
	if len(b.again) > 0 {
		job := b.again[0]
		b.again = b.again[1:]
		return job
	}
	return b.readNext()
}

// underWay is what the running tasks have cost so far.
func (b *Batch) underWay() (cost float64) {
	for _, job := range b.running {
		cost += job.cost
	}
	return cost
}

// wakeAfter lets those look again who wait for a time.
func (b *Batch) wakeAfter(d time.Duration) {
	if b.wake != nil {
		b.wake.Stop()
	}
	b.wake = time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
}

// halt lets nothing more start. The first reason counts, unless it let the running tasks end and these are now stopped too. The lock is held.
func (b *Batch) halt(s stop) {
	switch b.stop.reason {
	case NotStopped:
		b.stop = s
		if b.Halted != nil {
			go b.Halted()
		}
	case TooManyFailures, CostReached, LimitReached:
		if s.reason == Cancelled && len(b.running) > 0 {
			b.stop = s
		}
	}
	b.changed.Broadcast()
}

// start notes that a job begins. The lock is held.
func (b *Batch) start(job *Job, worker int) {
	job.Worker, job.started, job.doing, job.waiting, job.cost = worker, time.Now(), "", time.Time{}, 0
	if job.MaxCost = job.Task.MaxCost; b.MaxCost > 0 && b.Elsewhere {
		if left := b.MaxCost - b.spent - b.underWay(); job.MaxCost == 0 || left < job.MaxCost {
			job.MaxCost = left
		}
	}
	b.running[worker] = job
	b.set(job, Running)
	if b.Ledger != nil {
		b.Ledger.note(startOf(job.Task.ID, job.hash, b.Ledger.offset()))
		if job.Session != "" {
			b.Ledger.note(note{Session: job.Session}.about(job.Task.ID))
		}
	}
}

// set changes the state of a task. The lock is held.
func (b *Batch) set(job *Job, s State) {
	state := b.Plan.state(uint32(job.Index))
	b.counts[*state]--
	b.counts[s]++
	*state = s
	switch isPaused := b.counts[Running] == 0 && b.counts[Paused] > 0; {
	case isPaused && b.since.IsZero():
		b.since = time.Now()
	case !isPaused && !b.since.IsZero():
		b.paused, b.since = b.paused+time.Since(b.since), time.Time{}
	}
}
