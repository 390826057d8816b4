package batch

// notice is a task that has ended, for [Batch.Ended].
type notice struct {
	job     *Job
	outcome Outcome
}

// mostUntold is how many results may wait for a slow [Batch.Ended] before no further task starts.
const mostUntold = 64

// announce has a task told of. The lock is held.
func (b *Batch) announce(job *Job, o *Outcome) {
	if b.Ended == nil || b.FailuresOnly && o.State == Done {
		return
	}
	b.untold = append(b.untold, notice{job, *o})
	b.changed.Broadcast()
}

// tell calls Ended for what was announced, in that order, until nothing more will be. It holds no lock then: who takes long over a result
// must not hold up the tasks, a deadline or a cancellation.
func (b *Batch) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for len(b.untold) == 0 {
			if b.idle {
				return
			}
			b.changed.Wait()
		}
		list := b.untold
		b.untold = nil
		b.changed.Broadcast()
		b.mu.Unlock()
		for i := range list {
			b.Ended(list[i].job, &list[i].outcome)
		}
		b.mu.Lock()
	}
}
