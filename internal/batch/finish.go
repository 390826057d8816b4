package batch

import (
	"errors"
	"time"
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
		b.level.Answered(job.started)
		b.record(job, o)
	case Failed:
		b.level.Answered(job.started)
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
		job.set(Waiting)
		if !o.Fatal {
			b.again = append(b.again, job) // for what has stopped it has not stopped the batch, as where an earlier start of a batch over a fleet was
		}
	}
	if b.tooMany(b.Abort) { // a success can be the one by which there are enough to say so
		b.halt(stop{reason: TooManyFailures})
	}
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
	job.set(Paused)
	b.again = append(b.again, job)
	if b.level.Lacked(len(b.running)); len(b.running) > 0 {
		return
	}
	now := time.Now()
	if b.lacking.IsZero() {
		b.lacking = now
	}
	wait := b.held.next()
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

// pause keeps a job that has met a limit for later.
func (b *Batch) pause(job *Job, o *Outcome) {
	job.set(Paused)
	b.level.Throttled(job.started, len(b.running)+1)
	if o.Session != "" {
		job.Session = o.Session
	}
	if reached(b.Book) && o.Spent {
		b.halt(stop{reason: CostReached})
		return
	}
	if b.NoWait || o.Spent {
		b.halt(stop{reason: LimitReached, err: errorOf(o), until: o.Until})
		return
	}
	until := o.Until
	if until.IsZero() {
		until = time.Now().Add(b.held.next())
	}
	if until.After(b.held.until) {
		b.held.until = until
	}
	b.again = append(b.again, job)
}

// write writes the result of a job that has ended, before others are told of it.
func (j *Job) write(o *Outcome) {
	b := j.batch
	if b.Ledger == nil || o.State != Done && o.State != Failed {
		return
	}
	r := &Record{Task: j.Task.ID, Hash: j.hash.String(), State: o.State.String(), Cost: j.paid + o.Cost, Index: j.Index, Line: j.Task.Line,
		Begun: j.Begun, Ended: stamp(time.Now()), Stderr: o.Stderr, OutputFile: o.OutputFile, Machine: o.Machine, Tries: o.Tries, Command: b.Plan.Command}
	if o.OutputFile != "" {
		r.OutputSum = o.outputSum.String()
	}
	if o.unwritten = b.Ledger.Append(r, o.Result); o.unwritten == nil {
		b.Ledger.note(endOf(j.Task.ID))
		if b.Written != nil {
			b.Written(j)
		}
	}
}

// record takes note of a result and tells those that depend on it.
func (b *Batch) record(job *Job, o *Outcome) {
	if o.unwritten != nil {
		job.set(Waiting)
		b.unwritable(o.unwritten)
		return
	}
	job.set(o.State)
	b.ended++
	b.teller.announce(job, o)
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
	job.set(Skipped)
	if b.Ledger != nil {
		r := &Record{Task: job.Task.ID, Hash: job.hash.String(), State: Skipped.String(), Index: job.Index, Line: job.Task.Line, Begun: New,
			Ended: stamp(time.Now()), Reason: failed}
		if err := b.Ledger.Append(r, nil); err != nil {
			b.unwritable(err)
		}
	}
	b.teller.announce(job, &Outcome{State: Skipped, Error: failed})
	b.release(job, false)
}

// errorOf is what a task has said; nil if it has said nothing.
func errorOf(o *Outcome) error {
	if o.Error == "" {
		return nil
	}
	return errors.New(o.Error)
}
