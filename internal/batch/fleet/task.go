package fleet

import (
	"context"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/fleetpipe"
)

// do waits for the result of a task.
func (l *Line) do(ctx context.Context, job *batch.Job) batch.Outcome {
	id, key := nameOf(job), keyOf(job)
	l.mu.Lock()
	result, sent, again := l.await(key)
	l.jobs[id] = job
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.jobs, id)
		delete(l.sent, id) // a task that is paused is submitted again
		l.mu.Unlock()
	}()
	job.Queued(true)
	if !sent {
		if ctx.Err() != nil {
			return batch.Outcome{State: batch.Waiting}
		}
		task, err := l.caller.Task(&job.Task, job.Hash(), l.limit(&job.Task, job.MaxCost), again)
		if err != nil {
			return l.caller.Refused(err)
		}
		if err := l.pipe.send(fleetpipe.Order{Task: task}, fleetpipe.Order{Submit: true}); err != nil {
			return batch.Outcome{State: batch.Waiting}
		}
	}
	select {
	case r := <-result:
		if r == nil {
			return batch.Outcome{State: batch.Waiting}
		}
		return l.outcome(ctx, job, r)
	case <-l.pipe.done:
	case <-l.caller.Gone():
	}
	return batch.Outcome{State: batch.Waiting}
}
