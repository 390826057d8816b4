package batch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/supervise"
)

// fleetLine is the line to the machines of a fleet: belayd, which knows the queue. The batch itself is here, as always: what depends on what, what it may
// cost, when it stops, and its results.
type fleetLine struct {
	runner *taskRunner
	orders *os.File
	done   chan struct{} // closed when belayd has ended
	heard  chan struct{} // closed when all its reports were read
	failed string        // why belayd gave up; to be read once heard is closed
	// refused is why nothing was submitted; to be read once submitted is closed.
	refused string

	// writing guards out. It is not mu, so that reports are read even while belayd does not take more orders.
	writing sync.Mutex
	out     *bufio.Writer

	mu        sync.Mutex
	waiting   map[fleetKey]chan *fleetpipe.Result // nil is sent to those that are withdrawn
	early     map[fleetKey]*fleetpipe.Result      // that came before do was called for their tasks
	open      map[fleetKey]bool                   // tasks that have no result yet; nil until that is known, and for tasks from stdin
	again     map[string]bool                     // an earlier result of these does not count
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

// fleetKey is what a result belongs to. A task that has changed since an earlier start of the batch submitted it is another one, with the same id.
type fleetKey struct{ task, hash string }

func keyOf(job *batch.Job) fleetKey { return fleetKey{fleetID(job), job.Hash().String()} }

// fleetID is what a task is called in the fleet.
func fleetID(job *batch.Job) string { return batch.TextID(job.Task.ID) }

// mostFollowed is how many tasks are waited for at a time without -j. All are submitted at once.
const mostFollowed = 10_000

// openFleet starts belayd and sends it the name of the batch.
func (r *taskRunner) openFleet(b *batch.Batch, stop context.CancelCauseFunc) (*fleetLine, error) {
	path, argv, err := command.Belayd("batch --fleet", belayd.Courier)
	if err != nil {
		return nil, err
	}
	in, orders, err := os.Pipe()
	if err != nil {
		return nil, command.Fail(err)
	}
	f := &fleetLine{runner: r, orders: orders, done: make(chan struct{}), heard: make(chan struct{}), out: bufio.NewWriterSize(orders, 64<<10), waiting: map[fleetKey]chan *fleetpipe.Result{}, early: map[fleetKey]*fleetpipe.Result{},
		again: map[string]bool{}, sent: map[string]bool{}, jobs: map[string]*batch.Job{}, running: map[string]bool{}, ids: map[string]int64{}, withdrawn: map[string]bool{}, limited: map[string]bool{}, texts: fleetpipe.Texts{}, submitted: make(chan struct{})}
	if r.options.dsn != "" {
		argv = append(argv, "--dsn="+r.options.dsn)
	}
	reports, reportsIn := io.Pipe()
	go func() {
		defer close(f.done)
		defer in.Close()
		sup := command.Supervisor(r.ctx)
		if sup == nil {
			sup = &supervise.Supervisor{}
		}
		spec := supervise.Spec{Path: path, Args: argv, Env: belayd.Environ(os.Environ()), Stdin: in, Stdout: reportsIn, Stderr: r.std.Err, Placement: supervise.OwnGroup}
		exit, err := sup.Run(spec, nil)
		reportsIn.Close()
		<-f.heard // it may have said why
		ended := &fleetEnded{said: f.failed}
		if err == nil {
			ended.code = exit.ShellCode()
		}
		stop(ended)
	}()
	go f.read(reports)
	return f, f.send(fleetpipe.Order{Batch: b.Ledger.FleetBatch(), Except: r.ownFiles()})
}

// fleetEnded says that belayd has ended, after it has said why.
type fleetEnded struct {
	code int
	said string
}

func (e *fleetEnded) Error() string {
	if e.said != "" {
		return e.said
	}
	return "belayd, which speaks with the fleet, has ended"
}

// send sends orders.
func (f *fleetLine) send(orders ...fleetpipe.Order) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	for i := range orders {
		if err := f.write(&orders[i]); err != nil {
			return err
		}
	}
	return f.out.Flush()
}

// write adds an order to those that are sent next.
func (f *fleetLine) write(o *fleetpipe.Order) error {
	data, err := json.Marshal(o)
	if err == nil {
		_, err = f.out.Write(append(data, '\n'))
	}
	return err
}

// close ends belayd.
func (f *fleetLine) close() {
	f.orders.Close()
	select {
	case <-f.done:
	case <-time.After(5 * time.Second):
	}
}

// read takes reports.
func (f *fleetLine) read(reports io.Reader) {
	defer close(f.heard)
	in := json.NewDecoder(bufio.NewReaderSize(reports, 64<<10))
	for {
		var r fleetpipe.Report
		if err := in.Decode(&r); err != nil {
			io.Copy(io.Discard, reports)
			return
		}
		switch {
		case r.Submitted:
			f.begin()
		case r.Refused != "":
			f.refused = r.Refused
			f.once.Do(func() { close(f.submitted) })
		case r.Part != nil:
			f.mu.Lock()
			f.texts.Add(r.Part)
			f.mu.Unlock()
		case r.Result != nil:
			f.take(r.Result)
		case r.Running != nil:
			f.show(*r.Running)
		case r.Withdrawn != nil:
			f.mu.Lock()
			for _, id := range r.Withdrawn {
				f.withdrawn[id] = true
				if job := f.jobs[id]; job != nil {
					f.answer(keyOf(job), nil)
				}
			}
			f.mu.Unlock()
		case r.Failed != "":
			f.failed = r.Failed
		case r.Say != "":
			f.runner.view.line(r.Say)
		}
	}
}

// begin notes that tasks were submitted. Until then a result of one that is run again was that of its earlier run, and from then on it is the new one, which a short
// task may have before it is waited for. A text of which only some parts have come is sent anew.
func (f *fleetLine) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts.DropParts()
	f.once.Do(func() {
		for key := range f.early {
			if f.sent[key.task] && f.again[key.task] {
				f.dropEarly(key)
			}
		}
		close(f.submitted)
	})
}

// dropEarly drops a result that nothing waits for. The lock is held.
func (f *fleetLine) dropEarly(key fleetKey) {
	f.texts.Take(f.early[key].ID).Close()
	delete(f.early, key)
}

// take takes a result.
func (f *fleetLine) take(r *fleetpipe.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text := f.texts[r.ID]; text != nil {
		text.Whole = true
	}
	if key := (fleetKey{r.Task, r.Hash}); !f.answer(key, r) {
		f.early[key] = r
		f.discard()
	}
}

// answer ends the wait for a result, if there is one. The lock is held.
func (f *fleetLine) answer(key fleetKey, r *fleetpipe.Result) bool {
	c := f.waiting[key]
	if c != nil {
		delete(f.waiting, key)
		c <- r
	}
	return c != nil
}

// discard drops results that are of no use: those that an earlier process has written down before it was killed, and those of tasks that have changed since. The lock is held.
func (f *fleetLine) discard() {
	if f.open == nil {
		return
	}
	var ids []int64
	for key, r := range f.early {
		if !f.open[key] {
			ids = append(ids, r.ID)
			f.dropEarly(key)
		}
	}
	if len(ids) > 0 {
		go f.send(fleetpipe.Order{Taken: ids}) // it may block, and reports must be read meanwhile
	}
}

// show tells the batch what machines do.
func (f *fleetLine) show(list []fleetpipe.Running) {
	f.mu.Lock()
	now := map[string]bool{}
	type change struct {
		job *batch.Job
		of  *fleetpipe.Running
	}
	var changes []change
	for i := range list {
		r := &list[i]
		if now[r.Task] = true; f.jobs[r.Task] != nil {
			changes = append(changes, change{f.jobs[r.Task], r})
		}
	}
	for id := range f.running {
		if job := f.jobs[id]; !now[id] && job != nil {
			changes = append(changes, change{job, nil})
		}
	}
	f.running = now
	f.mu.Unlock()
	for _, c := range changes {
		if c.job.Queued(c.of == nil); c.of != nil {
			c.job.Reported(strings.TrimSpace(c.of.Doing+" on "+c.of.Machine), c.of.Cost)
		}
	}
}

// submitAll submits all tasks that need not wait for others, in one transaction; or so many of them, if atOnce is not 0.
func (f *fleetLine) submitAll(ctx context.Context, b *batch.Batch, atOnce int) error {
	left, ok := b.Left()
	if !ok {
		return nil
	}
	n := 0
	open := map[fleetKey]bool{}
	err := b.Unfinished(func(t *batch.Task, waits, failed bool) error {
		id := batch.TextID(t.ID)
		open[fleetKey{id, t.Hash().String()}] = true
		f.mu.Lock()
		f.again[id] = failed
		f.mu.Unlock()
		if waits || atOnce > 0 && n >= atOnce {
			return nil // it is submitted when one of those before has ended
		}
		task, err := f.runner.fleetTask(t, t.Hash(), f.limit(t, left), failed)
		if err != nil {
			return nil // it fails when its turn comes
		}
		n++
		f.mu.Lock()
		f.sent[id] = true
		f.mu.Unlock()
		f.writing.Lock()
		defer f.writing.Unlock()
		return f.write(&fleetpipe.Order{Task: task})
	})
	if err == nil && !b.Streamed() {
		f.mu.Lock()
		f.open = open
		f.discard()
		f.mu.Unlock()
	}
	if err == nil && len(open) == 0 && !b.Streamed() {
		return nil
	}
	if err == nil { // also if there are none yet: files that are missing later are the fault of one task, not of the batch
		err = f.send(fleetpipe.Order{Submit: true})
	}
	select {
	case <-f.submitted:
		if f.refused != "" {
			return command.Usage(errors.New(f.refused), "")
		}
	case <-f.done:
	case <-ctx.Done():
		f.send(fleetpipe.Order{Cancel: true}) // no task is followed yet, and machines may work on them already
	}
	if ended, ok := errors.AsType[*fleetEnded](context.Cause(ctx)); ok && ended.said == "" && ended.code != 0 {
		return command.Exit(ended.code) // it has said why
	}
	if ctx.Err() != nil {
		return nil // which is said elsewhere
	}
	return err
}

// limit is what a task may cost: its own limit, or what the batch has left if that is less; 0 means no limit.
func (f *fleetLine) limit(t *batch.Task, left float64) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limited[t.ID] = left > 0 && (t.MaxCost == 0 || left < t.MaxCost); f.limited[t.ID] {
		return left
	}
	return t.MaxCost
}

// isLimited reports whether a task may cost what the batch has left.
func (f *fleetLine) isLimited(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limited[id]
}

// await returns where the result of a task will be, whether the task was submitted, and whether it is run again. The lock is held.
func (f *fleetLine) await(key fleetKey) (result chan *fleetpipe.Result, sent, again bool) {
	result, sent, again = make(chan *fleetpipe.Result, 1), f.sent[key.task], f.again[key.task]
	if again && !sent && f.early[key] != nil { // that of the run before
		f.dropEarly(key)
	}
	switch {
	case f.early[key] != nil: // an earlier start of the batch may have submitted it
		result <- f.early[key]
		delete(f.early, key)
		sent = true
	case f.withdrawn[key.task]:
		result <- nil
	default:
		f.waiting[key] = result
	}
	return result, sent, again
}

// do waits for the result of a task.
func (f *fleetLine) do(ctx context.Context, job *batch.Job) batch.Outcome {
	id, key := fleetID(job), keyOf(job)
	f.mu.Lock()
	result, sent, again := f.await(key)
	f.jobs[id] = job
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.jobs, id)
		delete(f.sent, id) // a task that is paused is submitted again
		f.mu.Unlock()
	}()
	job.Queued(true)
	if !sent {
		if ctx.Err() != nil {
			return batch.Outcome{State: batch.Waiting}
		}
		task, err := f.runner.fleetTask(&job.Task, job.Hash(), f.limit(&job.Task, job.MaxCost), again)
		if err != nil {
			return refusedTask(err)
		}
		if err := f.send(fleetpipe.Order{Task: task}, fleetpipe.Order{Submit: true}); err != nil {
			return batch.Outcome{State: batch.Waiting}
		}
	}
	select {
	case r := <-result:
		if r == nil {
			return batch.Outcome{State: batch.Waiting}
		}
		return f.outcome(ctx, job, r)
	case <-f.done:
	case <-f.runner.gone():
	}
	return batch.Outcome{State: batch.Waiting}
}

// written tells belayd that a result need not be kept any more.
func (f *fleetLine) written(job *batch.Job) {
	f.mu.Lock()
	id, ok := f.ids[job.Task.ID]
	delete(f.ids, job.Task.ID)
	f.mu.Unlock()
	if ok {
		f.send(fleetpipe.Order{Taken: []int64{id}})
	}
}

// useFleet has the tasks of a batch run on other machines.
func (r *taskRunner) useFleet(ctx context.Context, b *batch.Batch, line *fleetLine) error {
	b.Do, b.Elsewhere, b.Written = line.do, true, line.written
	atOnce, err := strconv.Atoi(r.options.jobs)
	if b.Jobs = atOnce; err != nil { // none, or auto
		b.Jobs = mostFollowed
	}
	b.Jobs = max(1, min(b.Plan.Len(), b.Jobs))
	b.Halted = func() { line.send(fleetpipe.Order{Withdraw: true}) }
	b.Overspent = func() { line.send(fleetpipe.Order{Cancel: true}) }
	context.AfterFunc(ctx, func() { line.send(fleetpipe.Order{Cancel: true}) })
	return line.submitAll(ctx, b, atOnce)
}

// gone is closed when the user wants to leave at once.
func (r *taskRunner) gone() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving == nil {
		r.leaving = make(chan struct{})
	}
	return r.leaving
}
