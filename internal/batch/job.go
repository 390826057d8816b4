package batch

import "time"

// InSession notes in which session an agent works on the task: should the batch be killed, the next one continues there.
func (j *Job) InSession(id string) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == j.Session {
		return
	}
	j.Session = id
	if b.Ledger != nil {
		b.Ledger.journal.session(j.Task.ID, id)
	}
}

// Throttled says that the service has asked for fewer calls.
func (j *Job) Throttled() {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	b.level.throttled(j.started, len(b.running))
}

// Wait says until when the task waits for a limit; zero that it waits no more.
func (j *Job) Wait(until time.Time) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	j.waiting = until
	if until.IsZero() {
		j.started = time.Now() // what it says of the level from now on is new
		b.set(j, Running)
	} else {
		b.set(j, Paused)
	}
}

// Doing says what the task does now, and what it has cost so far.
func (j *Job) Doing(what string, cost float64) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	j.doing, j.cost = what, cost
}
