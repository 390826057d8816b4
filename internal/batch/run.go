package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch/level"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/message"
)

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
	var group, telling sync.WaitGroup
	if b.Ended != nil {
		telling.Go(b.teller.tell)
	}
	b.mu.Lock()
	for b.workers < b.level.Most() {
		if b.workers >= b.level.Now() && !b.level.Fixed() {
			break
		}
		b.spawn(ctx, &group)
	}
	// A level that finds itself needs more workers as it rises.
	for !b.level.Fixed() && !b.over() {
		b.changed.Wait()
		for b.workers < min(b.level.Now(), b.level.Most()) && !b.over() {
			b.spawn(ctx, &group)
		}
	}
	b.mu.Unlock()
	group.Wait()
	b.mu.Lock()
	b.teller.idle = true
	b.changed.Broadcast()
	b.mu.Unlock()
	telling.Wait()
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
	b.changed.L, b.halted = &b.mu, b.Halted
	b.teller = teller{mu: &b.mu, changed: &b.changed, ended: b.Ended, failuresOnly: b.FailuresOnly}
	b.level = level.New(b.Jobs, b.MaxJobs)
	b.running = jobs{}
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
	if b.Book != nil && charge(b.Book, b.spent) == nil {
		return
	}
	b.Book = budget.InMemory("batch", budget.Terms{Limit: b.MaxCost})
	charge(b.Book, b.spent)
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
			job.write(&outcome)
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
		if b.level.Fixed() && b.atEnd && len(b.again) == 0 && len(b.graph.waiting) == 0 {
			return nil // who has a job takes it up again, should it be paused; thousands of idle workers would be woken by each that ends
		}
		if !b.over() {
			b.changed.Wait()
		}
	}
}

// pick is the job that may start now; nil if one has to wait. The lock is held.
func (b *Batch) pick() *Job {
	if b.stop.reason != NotStopped || len(b.running) >= b.level.Now() || b.teller.behind() {
		return nil
	}
	if left := time.Until(b.held.until); left > 0 {
		b.wakeAfter(left)
		return nil
	}
	if b.MaxCost > 0 && b.spent+b.running.cost() >= b.MaxCost {
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

// start notes that a job begins. The lock is held.
func (b *Batch) start(job *Job, worker int) {
	job.Worker, job.started, job.doing, job.waiting, job.cost = worker, time.Now(), "", time.Time{}, 0
	if job.MaxCost = job.Task.MaxCost; b.MaxCost > 0 && b.Elsewhere {
		if left := b.MaxCost - b.spent - b.running.cost(); job.MaxCost == 0 || left < job.MaxCost {
			job.MaxCost = left
		}
	}
	b.running[worker] = job
	job.set(Running)
	if b.Ledger != nil {
		b.Ledger.note(startOf(job.Task.ID, job.hash, b.Ledger.offset()))
		if job.Session != "" {
			b.Ledger.note(note{Session: job.Session}.about(job.Task.ID))
		}
	}
}

// verify takes back what a summary says of tasks whose results another program has taken away.
func (b *Batch) verify(sum *Summary) {
	if b.Ledger == nil {
		return
	}
	lost, err := b.Ledger.missing(b.Plan)
	for _, n := range lost {
		state := b.Plan.state(n)
		sum.Counts[*state]--
		sum.Counts[Waiting]++
		*state = Waiting
	}
	switch {
	case sum.Stop != NotStopped:
	case err != nil:
		sum.Stop, sum.Err = Unwritable, err
	case len(lost) > 0:
		sum.Stop, sum.Err = ResultsLost, errors.New(message.BatchResultsLost(b.Ledger.path, b.Plan.idsOf(lost), len(lost)))
	}
}
