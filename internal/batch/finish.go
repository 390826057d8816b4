package batch

import (
	"errors"
	"time"
)

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

// finish takes the outcome of a job. The lock is held.
func (b *Batch) finish(job *Job, o *Outcome) {
	if !o.Lacked {
		b.lacking = time.Time{}
	}
	b.spent += o.Cost
	if job.cost = 0; o.State != Done && o.State != Failed && o.Cost > 0 {
		job.paid += o.Cost
		b.Ledger.note(note{Paid: job.paid}.about(job.Task.ID))
	}
	switch o.State {
	case Done:
		b.held.row = 0
		b.level.answered(job.started)
		b.record(job, o)
	case Failed:
		b.level.answered(job.started)
		b.record(job, o)
		if b.FailFast || b.Abort.Failures > 0 && b.counts[Failed] >= b.Abort.Failures {
			b.halt(stop{reason: TooManyFailures})
		}
	case Paused:
		if o.Lacked {
			b.lack(job, o)
			break
		}
		b.pause(job, o)
	default:
		b.set(job, Waiting)
		if !o.Fatal {
			b.again = append(b.again, job) // for what has stopped it has not stopped the batch, as where an earlier start of a batch over a fleet was
		}
	}
	b.checkShare()
	b.checkCost()
	switch {
	case o.Fatal:
		b.halt(stop{reason: FatalError, err: errorOf(o)})
	case o.Spent:
		b.halt(stop{reason: CostReached, err: errorOf(o), until: o.Until})
	}
	b.changed.Broadcast()
}

// lack keeps a job for later that could not be started because something was missing. The tasks that run have it, so that fewer are to run at a
// time; where none does, other programs have it, which is waited for.
func (b *Batch) lack(job *Job, o *Outcome) {
	b.set(job, Paused)
	b.again = append(b.again, job)
	if b.level.lacked(len(b.running)); len(b.running) > 0 {
		return
	}
	now := time.Now()
	if b.lacking.IsZero() {
		b.lacking = now
	}
	wait := b.nextHold()
	if b.NoWait {
		left := b.MaxLack - now.Sub(b.lacking)
		if left <= 0 {
			b.halt(stop{reason: LimitReached, err: errorOf(o)})
			return
		}
		wait = min(wait, left)
	}
	b.held.until = now.Add(wait)
}

// nextHold is how long is waited for something that does not say how long it lasts: longer each time in a row.
func (b *Batch) nextHold() time.Duration {
	wait := LongestHold
	if b.held.row < 8 {
		wait = min(firstHold<<b.held.row, LongestHold)
	}
	b.held.row++
	return wait
}

// pause keeps a job that has met a limit for later.
func (b *Batch) pause(job *Job, o *Outcome) {
	b.set(job, Paused)
	b.level.throttled(job.started, len(b.running)+1)
	if o.Session != "" {
		job.Session = o.Session
	}
	if b.costReached() && o.Spent {
		b.halt(stop{reason: CostReached})
		return
	}
	if b.NoWait || o.Spent {
		b.halt(stop{reason: LimitReached, err: errorOf(o), until: o.Until})
		return
	}
	until := o.Until
	if until.IsZero() {
		until = time.Now().Add(b.nextHold())
	}
	if until.After(b.held.until) {
		b.held.until = until
	}
	b.again = append(b.again, job)
}

// write writes the result of a job that has ended, before others are told of it.
func (b *Batch) write(job *Job, o *Outcome) {
	if b.Ledger == nil || o.State != Done && o.State != Failed {
		return
	}
	r := &Record{Task: job.Task.ID, Hash: job.hash.String(), State: o.State.String(), Cost: job.paid + o.Cost, Index: job.Index, Line: job.Task.Line,
		Begun: job.Begun, Ended: stamp(time.Now()), Stderr: o.Stderr, OutputFile: o.OutputFile, Machine: o.Machine, Tries: o.Tries}
	if o.OutputFile != "" {
		r.OutputSum = o.outputSum.String()
	}
	if o.unwritten = b.Ledger.Append(r, o.Result); o.unwritten == nil {
		b.Ledger.note(endOf(job.Task.ID))
		if b.Written != nil {
			b.Written(job)
		}
	}
}

// record takes note of a result and tells those that depend on it.
func (b *Batch) record(job *Job, o *Outcome) {
	if o.unwritten != nil {
		b.set(job, Waiting)
		b.unwritable(o.unwritten)
		return
	}
	b.set(job, o.State)
	b.ended++
	b.announce(job, o)
	b.release(job, o.State == Done)
}

// unwritable stops the batch: what it does from now on would be lost.
func (b *Batch) unwritable(err error) {
	b.halt(stop{reason: Unwritable, err: err})
	if b.cancel != nil {
		b.cancel(err)
	}
}

// release lets those start that have waited for a task, or skips them.
func (b *Batch) release(job *Job, done bool) {
	ready, skipped := b.graph.over(uint32(job.Index), done)
	b.again = append(b.again, ready...)
	for _, dependent := range skipped {
		b.skip(dependent, job.Task.ID)
	}
}

// skip writes that a task is not done because one that it depends on has failed.
func (b *Batch) skip(job *Job, failed string) {
	b.set(job, Skipped)
	if b.Ledger != nil {
		r := &Record{Task: job.Task.ID, Hash: job.hash.String(), State: Skipped.String(), Index: job.Index, Line: job.Task.Line, Begun: New,
			Ended: stamp(time.Now()), Reason: failed}
		if err := b.Ledger.Append(r, nil); err != nil {
			b.unwritable(err)
		}
	}
	b.announce(job, &Outcome{State: Skipped, Error: failed})
	b.release(job, false)
}

// checkShare stops the batch when too many of the tasks have failed. A success can be the one by which there are enough to say so.
func (b *Batch) checkShare() {
	failed := b.counts[Failed]
	over := failed + b.counts[Done]
	if b.Abort.Percent > 0 && failed > 0 && over >= 10 && float64(failed)*100 >= b.Abort.Percent*float64(over) {
		b.halt(stop{reason: TooManyFailures})
	}
}

// errorOf is what a task has said; nil if it has said nothing.
func errorOf(o *Outcome) error {
	if o.Error == "" {
		return nil
	}
	return errors.New(o.Error)
}
