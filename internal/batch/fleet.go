package batch

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/belay-run/belay/internal/batch/tasks"
)

// Hash is the fingerprint of the job's task.
func (j *Job) Hash() Hash { return j.hash }

// Queued says that the job waits for a machine, or that one works on it.
func (j *Job) Queued(waits bool) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	state := Running
	if waits {
		state = Waiting
	}
	if *b.Plan.state(uint32(j.Index)) != state {
		j.set(state)
	}
}

// Reported notes what a machine does for the job, and what the job has cost so far.
func (j *Job) Reported(what string, cost float64) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	j.doing, j.cost = what, cost
	b.checkCost()
}

// checkCost stops a batch whose tasks run elsewhere when they have cost what they may, with what is running: each task knows only what was left when it was submitted.
// The lock is held.
func (b *Batch) checkCost() {
	running := b.running.cost()
	if !b.Elsewhere || b.MaxCost <= 0 || b.spent+running < b.MaxCost || b.counts[Waiting] == 0 && running == 0 {
		return
	}
	b.halt(stop{reason: CostReached})
	if b.Overspent != nil && !b.overspent {
		b.overspent = true
		go b.Overspent()
	}
}

// Left is what the remaining tasks may cost, before the batch runs; 0 means no limit. ok is false if nothing is left to spend.
func (b *Batch) Left() (usd float64, ok bool) {
	if b.MaxCost <= 0 {
		return 0, true
	}
	usd = b.MaxCost
	if b.Ledger != nil {
		usd -= b.Ledger.Spent
	}
	return usd, usd > 0
}

// Unfinished calls a function for each task of the plan that would run. waits says that it depends on others, and failed that it has a result that
// does not count.
func (b *Batch) Unfinished(each func(t *Task, waits, failed bool) error) error {
	return b.Plan.unfinished(b.RetryFailed, func(t *Task, n uint32, s State) error {
		return each(t, len(b.Plan.depends[n]) > 0, s == Failed || b.Plan.tasks[n].other)
	})
}

// Streamed says that not all tasks are in the plan: they come while others run.
func (b *Batch) Streamed() bool { return b.Plan.streamed }

// FleetBatch names the batch for the machines of a fleet. The name is kept in the journal, so that a batch which is continued finds its jobs.
func (l *Ledger) FleetBatch() string {
	j := l.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.said.fleet == "" {
		random := make([]byte, 12)
		rand.Read(random) // it never fails
		j.said.fleet = hex.EncodeToString(random)
		j.add(note{Fleet: j.said.fleet})
		j.write()
	}
	return j.said.fleet
}

// FilesOf lists the files that a batch writes: the results, and those beside them while it runs.
func FilesOf(results string) []string {
	return append([]string{results, results + journalSuffix}, tasks.SpoolFiles(results)...)
}
