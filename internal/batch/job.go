package batch

import (
	"io"
	"time"

	"github.com/belay-run/belay/internal/batch/tasks"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/verdict"
)

// Job is a task that runs.
type Job struct {
	Task   Task
	Index  int
	Worker int // from 0; a worker runs one job at a time
	Begun  Begun
	// Session is the one in which an agent has worked on the task before; empty if there is none.
	Session string
	// MaxCost is what the task may cost: its own limit or, where it runs elsewhere, what the batch has left; 0 means no limit.
	MaxCost float64

	batch   *Batch
	hash    Hash
	started time.Time
	doing   string
	cost    float64 // so far
	waiting time.Time
	paid    float64 // by earlier tries, which a limit has paused or a kill has ended
}

// Outcome is what has become of a job.
type Outcome struct {
	// State is [Done], [Failed], or [Paused] by a limit; [Waiting] says that the job was stopped and is to continue another time.
	State State
	Class verdict.Class
	Error string
	Cost  float64
	// Until is when a limit lifts; zero if that is not known. Session is where the task continues then.
	Until   time.Time
	Session string
	// Fatal says that no other task can work either: a key is not accepted, a bill is not paid.
	Fatal bool
	// Lacked says, of a task that is paused, that files, processes or memory were missing to start it.
	Lacked bool
	// Spent says that a limit on cost was reached which is not the task's own.
	Spent bool

	Stderr, OutputFile string
	// Machine is where it ran, in a fleet, and Tries how many machines have begun it.
	Machine string
	Tries   int
	// Result writes the result of the run as one object; nil if there was none.
	Result func(io.Writer) error

	outputSum Hash  // of OutputFile
	unwritten error // why the result could not be written
}

// OwnLine is the line of a task that its file gives no id, by which a person finds it; 0 if it has an id, or no line.
func (j *Job) OwnLine() int { return tasks.OwnLine(j.Task.ID, j.hash, j.Task.Line) }

// InSession notes in which session an agent works on the task: should the batch be killed, the next one continues there.
func (j *Job) InSession(id string) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == j.Session {
		return
	}
	j.Session = id
	b.Ledger.note(note{Session: id}.about(j.Task.ID))
}

// Throttled says that the service has asked for fewer calls.
func (j *Job) Throttled() {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	b.level.Throttled(j.started, len(b.running))
}

// Wait says until when the task waits for a limit; zero that it waits no more.
func (j *Job) Wait(until time.Time) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	j.waiting = until
	if until.IsZero() {
		j.started = time.Now() // what it says of the level from now on is new
		j.set(Running)
	} else {
		j.set(Paused)
	}
}

// Doing says what the task does now, and what it has cost so far.
func (j *Job) Doing(what string, cost float64) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if cost != j.cost {
		b.Ledger.note(note{Paid: j.paid + cost}.about(j.Task.ID))
	}
	j.doing, j.cost = what, cost
}

// Filled says which share of a limit of its account is left to be used, and until when that counts.
func (j *Job) Filled(left float64, resets time.Time) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	b.level.Filled(left, resets)
}

// Paid says what earlier tries have cost as another record has it, such as that of the agent's session. The agent may have recorded more than the
// batch was told before it was killed.
func (j *Job) Paid(cost float64) {
	b := j.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if cost <= j.paid {
		return
	}
	b.spent += cost - j.paid
	charge(b.Book, cost-j.paid)
	j.paid = cost
	b.Ledger.note(note{Paid: cost}.about(j.Task.ID))
}

// set changes the state of the task. The lock is held.
func (j *Job) set(s State) { j.batch.move(j.batch.Plan.state(uint32(j.Index)), s) }

// jobs are those that run, by worker.
type jobs map[int]*Job

// cost is what they have cost so far.
func (list jobs) cost() (cost float64) {
	for _, job := range list {
		cost += job.cost
	}
	return cost
}

// charge adds to a book what is not charged by a run.
func charge(book *budget.Book, usd float64) error {
	if book == nil {
		return nil
	}
	_, err := book.Charge(time.Now(), budget.Charge{USD: usd})
	return err
}

// reached reports whether the tasks have cost what they may.
func reached(book *budget.Book) bool {
	if book == nil {
		return false
	}
	s, err := book.Check(time.Now())
	return err == nil && s.Reached()
}
