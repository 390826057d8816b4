package batch

import (
	"errors"
	"io"

	"github.com/belay-run/belay/internal/message"
)

// readNext reads to the next task that may start; nil if there is none now. The lock is held.
func (b *Batch) readNext() *Job {
	for !b.atEnd {
		if b.Plan.streamed {
			if job, ok := b.readStream(); ok {
				return job
			}
			continue
		}
		n := b.read
		if int(n) >= b.Plan.Len() {
			b.atEnd = true
			break
		}
		b.read++
		if state := *b.Plan.state(n); state == Done || state == Failed {
			if err := b.reader.Skip(); err != nil {
				b.halt(b.Plan.broken(err))
			}
			continue
		}
		t, err := b.reader.Next()
		if err == nil && t.Hash() != b.Plan.tasks[n].hash {
			err = errors.New(message.BatchTasksChanged(b.Plan.source.Name()))
		}
		if err != nil {
			b.halt(b.Plan.broken(err))
			return nil
		}
		t.ID = b.Plan.idOf(&t, n)
		if job := b.prepareJob(t, n); job != nil {
			return job
		}
	}
	return nil
}

// prepareJob is the job of a task that was read; nil if it has to wait for others, or never starts.
func (b *Batch) prepareJob(t Task, n uint32) *Job {
	job := &Job{Task: t, Index: int(n), Begun: New, batch: b, hash: b.Plan.tasks[n].hash}
	if b.Ledger != nil {
		if was, ok := b.Ledger.underWay[t.ID]; ok && was.hash == job.hash {
			job.Begun, job.paid = Restarted, was.paid
			if was.session != "" {
				job.Begun, job.Session = Resumed, was.session
			}
		}
	}
	switch ready, failed := b.graph.ready(job); {
	case failed != "":
		b.skip(job, failed)
	case ready:
		return job
	}
	return nil
}

// readStream reads a task that is not in the plan yet; ok is false if it is over, or there are no more. The source may wait for something,
// and others must not wait with it: the lock is given up meanwhile.
func (b *Batch) readStream() (job *Job, ok bool) {
	if b.reading {
		return nil, true
	}
	b.reading = true
	b.mu.Unlock()
	t, err := b.reader.Next()
	b.mu.Lock()
	b.reading = false
	if errors.Is(err, io.EOF) {
		b.atEnd = true
		return nil, false
	}
	var n uint32
	if err == nil {
		n, err = b.Plan.take(&t)
	}
	if err != nil {
		b.halt(stop{reason: SourceBroken, err: err})
		return nil, true
	}
	state := b.Plan.state(n)
	if *state == Failed && b.RetryFailed {
		*state = Waiting
	}
	b.counts[*state]++
	b.changed.Broadcast() // another may read now
	if *state == Done || *state == Failed {
		return nil, false
	}
	job = b.prepareJob(t, n)
	return job, job != nil
}
