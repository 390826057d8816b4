package batch

import "sync"

// teller tells the caller of tasks that have ended, for [Batch.Ended].
type teller struct {
	mu           *sync.Mutex
	changed      *sync.Cond
	ended        func(*Job, *Outcome) // nil if nothing is to be told
	failuresOnly bool
	untold       []notice
	idle         bool // all workers have ended
}

// notice is a task that has ended.
type notice struct {
	job     *Job
	outcome Outcome
}

// mostUntold is how many results may wait for a slow [Batch.Ended] before no further task starts.
const mostUntold = 64

// behind reports whether too many results wait. The lock is held.
func (t *teller) behind() bool { return len(t.untold) >= mostUntold }

// announce has a task told of. The lock is held.
func (t *teller) announce(job *Job, o *Outcome) {
	if t.ended == nil || t.failuresOnly && o.State == Done {
		return
	}
	t.untold = append(t.untold, notice{job, *o})
	t.changed.Broadcast()
}

// tell calls it for what was announced, in that order, until nothing more will be. It holds no lock then: who takes long over a result
// must not hold up the tasks, a deadline or a cancellation.
func (t *teller) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		for len(t.untold) == 0 {
			if t.idle {
				return
			}
			t.changed.Wait()
		}
		list := t.untold
		t.untold = nil
		t.changed.Broadcast()
		t.mu.Unlock()
		for i := range list {
			t.ended(list[i].job, &list[i].outcome)
		}
		t.mu.Lock()
	}
}
