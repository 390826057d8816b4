package fleet

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/fleetpipe"
)

// Line is the line to the machines of a fleet. The batch itself is with its caller, as always: what depends on what, what it may cost, when it stops, and its
// results.
type Line struct {
	caller Caller
	pipe   *pipe
	heard  chan struct{} // closed when all reports of belayd were read
	failed string        // why belayd gave up; to be read once heard is closed
	// refused is why nothing was submitted; to be read once submitted is closed.
	refused string

	mu        sync.Mutex
	waiting   map[taskKey]chan *fleetpipe.Result // nil is sent to those that are withdrawn
	early     map[taskKey]*fleetpipe.Result      // that came before do was called for their tasks
	open      map[taskKey]bool                   // tasks that have no result yet; nil until that is known, and for tasks from stdin
	again     map[string]bool                    // an earlier result of these does not count
	sent      map[string]bool
	jobs      map[string]*batch.Job
	running   map[string]bool
	ids       map[string]int64 // of results that are not written down yet
	withdrawn map[string]bool
	limited   map[string]bool // tasks that may cost what the batch has left
	texts     fleetpipe.Texts
	submitted chan struct{}
	once      sync.Once
}

// Caller is what a line asks of the one whose batch it is.
type Caller struct {
	Stderr    io.Writer
	DSN       string   // the fleet's; empty for the usual one
	Except    []string // files that are the batch's own, and do not go along with a task
	OutputDir string   // where outputs go; empty if they stay in the results

	// Task is a task as another machine runs it.
	Task func(t *batch.Task, hash batch.Hash, maxCost float64, again bool) (*fleetpipe.Task, error)
	// Refused is the outcome of a task that cannot be started as it was asked for.
	Refused func(error) batch.Outcome
	// Say tells the user something; Unsaved that the output of a task has no file of its own, if there is an error.
	Say     func(text string)
	Unsaved func(*batch.Job, error)
	// Gone returns what is closed when the user wants to leave at once.
	Gone func() <-chan struct{}
}

// newLine is a line that nothing has come over yet.
func newLine(c Caller, p *pipe) *Line {
	return &Line{caller: c, pipe: p, heard: make(chan struct{}), waiting: map[taskKey]chan *fleetpipe.Result{}, early: map[taskKey]*fleetpipe.Result{},
		again: map[string]bool{}, sent: map[string]bool{}, jobs: map[string]*batch.Job{}, running: map[string]bool{}, ids: map[string]int64{}, withdrawn: map[string]bool{}, limited: map[string]bool{}, texts: fleetpipe.Texts{}, submitted: make(chan struct{})}
}

// taskKey is what a result belongs to. A task that has changed since an earlier start of the batch submitted it is another one, with the same id.
type taskKey struct{ task, hash string }

func keyOf(job *batch.Job) taskKey { return taskKey{nameOf(job), job.Hash().String()} }

// nameOf is what a task is called in the fleet.
func nameOf(job *batch.Job) string { return batch.TextID(job.Task.ID) }

// read takes reports.
func (l *Line) read(reports io.Reader) {
	defer close(l.heard)
	in := json.NewDecoder(bufio.NewReaderSize(reports, 64<<10))
	for {
		var r fleetpipe.Report
		if err := in.Decode(&r); err != nil {
			io.Copy(io.Discard, reports)
			return
		}
		switch {
		case r.Submitted:
			l.begin()
		case r.Refused != "":
			l.refused = r.Refused
			l.once.Do(func() { close(l.submitted) })
		case r.Part != nil:
			l.mu.Lock()
			l.texts.Add(r.Part)
			l.mu.Unlock()
		case r.Result != nil:
			l.take(r.Result)
		case r.Running != nil:
			l.show(*r.Running)
		case r.Withdrawn != nil:
			l.mu.Lock()
			for _, id := range r.Withdrawn {
				l.withdrawn[id] = true
				if job := l.jobs[id]; job != nil {
					l.answer(keyOf(job), nil)
				}
			}
			l.mu.Unlock()
		case r.Failed != "":
			l.failed = r.Failed
		case r.Say != "":
			l.caller.Say(r.Say)
		}
	}
}

// begin notes that tasks were submitted. Until then a result of one that is run again was that of its earlier run, and from then on it is the new one, which a short
// task may have before it is waited for. A text of which only some parts have come is sent anew.
func (l *Line) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts.DropParts()
	l.once.Do(func() {
		for key := range l.early {
			if l.sent[key.task] && l.again[key.task] {
				l.dropEarly(key)
			}
		}
		close(l.submitted)
	})
}

// dropEarly drops a result that nothing waits for. The lock is held.
func (l *Line) dropEarly(key taskKey) {
	l.texts.Take(l.early[key].ID).Close()
	delete(l.early, key)
}

// take takes a result.
func (l *Line) take(r *fleetpipe.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := l.texts[r.ID]; text != nil {
		text.Whole = true
	}
	if key := (taskKey{r.Task, r.Hash}); !l.answer(key, r) {
		l.early[key] = r
		l.discard()
	}
}

// answer ends the wait for a result, if there is one. The lock is held.
func (l *Line) answer(key taskKey, r *fleetpipe.Result) bool {
	c := l.waiting[key]
	if c != nil {
		delete(l.waiting, key)
		c <- r
	}
	return c != nil
}

// discard drops results that are of no use: those that an earlier process has written down before it was killed, and those of tasks that have changed since. The lock is held.
func (l *Line) discard() {
	if l.open == nil {
		return
	}
	var ids []int64
	for key, r := range l.early {
		if !l.open[key] {
			ids = append(ids, r.ID)
			l.dropEarly(key)
		}
	}
	if len(ids) > 0 {
		go l.pipe.send(fleetpipe.Order{Taken: ids}) // it may block, and reports must be read meanwhile
	}
}

// show tells the batch what machines do.
func (l *Line) show(list []fleetpipe.Running) {
	l.mu.Lock()
	now := map[string]bool{}
	type change struct {
		job *batch.Job
		of  *fleetpipe.Running
	}
	var changes []change
	for i := range list {
		r := &list[i]
		if now[r.Task] = true; l.jobs[r.Task] != nil {
			changes = append(changes, change{l.jobs[r.Task], r})
		}
	}
	for id := range l.running {
		if job := l.jobs[id]; !now[id] && job != nil {
			changes = append(changes, change{job, nil})
		}
	}
	l.running = now
	l.mu.Unlock()
	for _, c := range changes {
		if c.job.Queued(c.of == nil); c.of != nil {
			c.job.Reported(strings.TrimSpace(c.of.Doing+" on "+c.of.Machine), c.of.Cost)
		}
	}
}

// limit is what a task may cost: its own limit, or what the batch has left if that is less; 0 means no limit.
func (l *Line) limit(t *batch.Task, left float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limited[t.ID] = left > 0 && (t.MaxCost == 0 || left < t.MaxCost); l.limited[t.ID] {
		return left
	}
	return t.MaxCost
}

// isLimited reports whether a task may cost what the batch has left.
func (l *Line) isLimited(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limited[id]
}

// await returns where the result of a task will be, whether the task was submitted, and whether it is run again. The lock is held.
func (l *Line) await(key taskKey) (result chan *fleetpipe.Result, sent, again bool) {
	result, sent, again = make(chan *fleetpipe.Result, 1), l.sent[key.task], l.again[key.task]
	if again && !sent && l.early[key] != nil { // that of the run before
		l.dropEarly(key)
	}
	switch {
	case l.early[key] != nil: // an earlier start of the batch may have submitted it
		result <- l.early[key]
		delete(l.early, key)
		sent = true
	case l.withdrawn[key.task]:
		result <- nil
	default:
		l.waiting[key] = result
	}
	return result, sent, again
}

// written tells belayd that a result need not be kept any more.
func (l *Line) written(job *batch.Job) {
	l.mu.Lock()
	id, ok := l.ids[job.Task.ID]
	delete(l.ids, job.Task.ID)
	l.mu.Unlock()
	if ok {
		l.pipe.send(fleetpipe.Order{Taken: []int64{id}})
	}
}
