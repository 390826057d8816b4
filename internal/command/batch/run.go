package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/batch/fleet"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// run runs the batch, and says how it stands and what has become of it.
func (r *taskRunner) run(b *batch.Batch, results string, line batchCommand) error {
	r.view = &batchView{settings: r.settings, stderr: r.std.Err, batch: b, screen: term.New(r.std.Err).Beside(r.std.Out), results: results, command: line, said: map[string]bool{}}
	b.Ledger.Notice = r.view.line
	r.view.begin()
	if err := setup.KeepAwake(r.settings, r.view.line); err != nil {
		return errors.Join(err, b.Ledger.Close(false))
	}
	s := r.prepareState()
	record := r.openRecord(s)
	if b.MaxCost > 0 && record != nil {
		b.Book = s.RunCosts().Book(record.ID, &budget.Terms{Limit: b.MaxCost})
		defer b.Book.Remove()
	}
	r.results, _ = filepath.Abs(results)
	r.remember(s, results, line)
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	if command.OwnsProcess(r.ctx) != nil {
		go r.obey(command.CatchSignals(true), cancel, record)
	}
	r.awaitStart(ctx, record)
	r.starter.Supervisor = command.Supervisor(r.ctx)
	b.NoWait = !r.waits(r.settings)
	if b.MaxLack = r.settings.MaxWait; r.settings.NoWait {
		b.MaxLack = 0
	}
	b.Do = r.do
	b.Ended, b.FailuresOnly = r.view.ended, true
	if b.MaxJobs = maxJobs(r.settings); b.Jobs == 0 && len(r.template.Command()) > 0 && commandProfile(r.template.Command()) == nil {
		b.Jobs = runtime.NumCPU() // a plain command is bound by the machine, and says nothing of a service
	}
	if r.options.fleet {
		line, err := fleet.Open(ctx, r.caller(), b.Ledger.FleetBatch(), cancel)
		if err == nil {
			defer line.Close()
			err = line.Use(ctx, b, r.options.jobs)
		}
		if err != nil {
			r.rows.Close()
			record.Remove()
			return errors.Join(err, b.Ledger.Close(false))
		}
	}
	begun := time.Now()
	stop := r.view.follow()
	sum, err := b.Run(ctx)
	stop()
	r.rows.Close()
	record.Remove()
	over := err == nil && sum.Complete()
	if over && sum.Counts[batch.Failed]+sum.Counts[batch.Skipped] == 0 {
		b.Ledger.RemoveSpool(results)
	}
	cerr := b.Ledger.Close(over)
	switch {
	case err != nil:
		return command.Fail(err)
	case cerr != nil && sum.Stop != batch.Unwritable:
		sum.Stop, sum.Err = batch.Unwritable, cerr
	}
	return r.view.end(&sum, time.Since(begun))
}

// remember lets belay ui find the batch. If that does not work, it is not shown there.
func (r *taskRunner) remember(s *state.State, results string, command batchCommand) {
	path, err := filepath.Abs(results)
	dir, derr := os.Getwd()
	if err != nil || derr != nil || s == nil {
		return
	}
	e := batch.Entry{Results: path, Tasks: command.tasks, Dir: dir, Started: time.Now(), Retry: command.retrying(),
		Again: command.again().words(func(word string) string { return word })}
	secrets := &redact.Known{Env: r.env, Args: command.args}
	secret := func(text string) bool { return secrets.Text(text) != text }
	if secret(e.Retry) || slices.ContainsFunc(e.Again, secret) {
		e.Retry, e.Again = "", nil
	}
	if slices.ContainsFunc(e.Again, func(word string) bool { return !utf8.ValidString(word) }) { // which JSON would not give back
		e.Again = nil
	}
	batch.Registry{Dir: s.BatchDir()}.Note(e)
}

// prepareState is the state directory; nil if it cannot be used, which stops nothing.
func (r *taskRunner) prepareState() *state.State {
	s := &state.State{}
	if err := s.Prepare(); err != nil {
		r.view.line(message.NoRecord(nil, err))
		return nil
	}
	return s
}

// openRecord tells others that the batch runs; what its tasks leave behind when it is killed is found by that.
func (r *taskRunner) openRecord(s *state.State) *supervise.Record {
	if s == nil {
		return nil
	}
	if ended, err := s.Records().Reclaim(); err == nil && len(ended) > 0 {
		r.view.say(message.Reclaimed(command.ProcNames(ended)))
	}
	s.Sweep()
	s.Ready, r.state = true, s
	id := engine.NewID()
	if d := detach.Of(r.ctx); d != nil {
		id = d.ID
	}
	record, err := s.CreateRecord(supervise.Record{ID: id, Command: "batch", Profile: "generic", Started: time.Now(), Attempt: 1,
		Name: r.settings.Name, Tags: r.settings.Tags, Parent: engine.EnclosingRun()})
	if err != nil {
		r.view.line(message.NoRecord(nil, err))
		return nil
	}
	r.env = supervise.Mark(r.env, id)
	r.rows, _ = s.Records().CreateRows(id) // else each has a file of its own
	return record
}

// obey stops the batch at the first request to end, and kills what runs at the second.
func (r *taskRunner) obey(caught command.Signals, cancel context.CancelCauseFunc, record *supervise.Record) {
	caught.End(func(sig syscall.Signal) {
		time.AfterFunc(stoppingDelay, r.sayStopping)
		var cause error = command.Interrupt(sig)
		if by, ok := record.TakeRequest(); ok && sig == syscall.SIGTERM {
			cause = command.RequestedStop(by, command.Interrupt(sig))
		}
		cancel(cause)
	}, r.killAll)
}

// stoppingDelay is how long nothing is said after a request to end: most tasks have ended by then.
const stoppingDelay = time.Second

// sayStopping says that tasks take their time to end, and how to hurry them.
func (r *taskRunner) sayStopping() {
	r.mu.Lock()
	n := len(r.inside)
	r.mu.Unlock()
	if n > 0 {
		r.view.say(message.Sentences("stopping "+message.Count(n, "running task"), "press Ctrl-C again to kill what is left"))
	}
}

// killAll ends all tasks at once.
func (r *taskRunner) killAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed = true; r.leaving != nil {
		close(r.leaving)
		r.leaving = make(chan struct{})
	}
	for _, inv := range r.inside {
		inv.Kill()
	}
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

// caller is what the line to a fleet asks of the batch.
func (r *taskRunner) caller() fleet.Caller {
	return fleet.Caller{Stderr: r.std.Err, DSN: r.options.dsn, Except: r.ownFiles(), OutputDir: r.options.outputDir, Task: r.fleetTask, Refused: refusedTask,
		Say: r.view.line, Unsaved: r.view.unsaved, Gone: r.gone}
}

// do runs one task.
func (r *taskRunner) do(ctx context.Context, job *batch.Job) batch.Outcome {
	c, err := r.command(&job.Task)
	if err != nil {
		return refusedTask(err)
	}
	runner, err := r.runnerFor(job, &c)
	if err != nil {
		return refusedTask(err)
	}
	var stderr supervise.Tail
	inv, err := runner.Prepare(ctx, belaytype.Command{Args: c.args, Dir: c.dir, Env: c.env, Prompt: c.prompt, Stderr: &stderr})
	if err != nil {
		return refusedTask(err)
	}
	inv.Conceal(job.Task.Texts()...)
	r.enter(job.Worker, inv)
	inv.Run()
	r.enter(job.Worker, nil)
	res, err := inv.Wait()
	return r.outcome(ctx, job, &stderr, &c, res, err)
}

// enter notes which invocation a worker is in.
func (r *taskRunner) enter(worker int, inv *engine.Invocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if inv == nil {
		delete(r.inside, worker)
		return
	}
	if r.inside[worker] = inv; r.killed {
		inv.Kill()
	}
}

// runnerFor is the runner of a job.
func (r *taskRunner) runnerFor(job *batch.Job, c *taskCommand) (*engine.Runner, error) {
	runner, err := r.commandRunner(&job.Task, c)
	if err != nil {
		return nil, err
	}
	runner.Starter = r.starter
	runner.Project = r.project(c.dir)
	runner.Task = engine.Task{Batch: r.results, ID: job.Task.ID, Line: job.Task.Line}
	if job.MaxCost > 0 && (runner.MaxCost == 0 || job.MaxCost < runner.MaxCost) {
		runner.MaxCost = job.MaxCost
	}
	runner.Observe = func(e belaytype.Event) { r.observe(job, e) }
	if _, isAgent := c.known.(agent.Agent); isAgent {
		runner.InSession = job.InSession
		runner.Follow = r.view.activityOf(job, runner.Reserve)
		if job.Session != "" {
			runner.Resume.Session, runner.Resume.Interrupted = job.Session, true
			if runner.State != nil {
				if cost := runner.State.Session(c.known.Name(), job.Session).Usage.CostUSD; cost != nil {
					job.Paid(*cost)
				}
			}
		}
	}
	return runner, nil
}

// project is the directory that work in a directory belongs to, which is looked for once.
func (r *taskRunner) project(dir string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.projects[dir]
	if !ok {
		if path, err := filepath.Abs(dir); err == nil {
			found = label.Project(path)
		}
		if r.projects == nil || len(r.projects) > 1000 { // a directory for each task, say
			r.projects = map[string]string{}
		}
		r.projects[dir] = found
	}
	return found
}

// commandRunner is a runner for the command of a task. What it takes to make one is found once for plain commands that say nothing of their own.
func (r *taskRunner) commandRunner(t *batch.Task, c *taskCommand) (*engine.Runner, error) {
	shared := c.known == nil && r.checkOf(t) == "" && t.Timeout == 0 && t.Name == "" && len(t.Tags) == 0 && commandProfile(c.args) == nil
	if shared {
		r.mu.Lock()
		plain := r.plain[c.args[0]]
		r.mu.Unlock()
		if plain != nil {
			return new(*plain), nil
		}
	}
	l, err := r.load(setup.NameOf(c.known))
	if err != nil {
		return nil, err
	}
	runner, err := r.newRunner(l, t, c)
	if err == nil && shared {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.plain) > 1000 { // a command for each task, say
			clear(r.plain)
		}
		r.plain[c.args[0]] = new(*runner)
	}
	return runner, err
}

// observe tells the batch what happens to a task that others are to know.
func (r *taskRunner) observe(job *batch.Job, e belaytype.Event) {
	switch e := e.(type) {
	case belaytype.Waiting:
		if e.Verdict.Class.Throttle() || e.Verdict.Class == verdict.Overloaded || e.Verdict.Class == verdict.WrongModel {
			job.Throttled()
			job.Wait(e.Until)
		}
	case belaytype.AtGate:
		if !e.Refusal.Until.IsZero() {
			job.Wait(e.Refusal.Until)
		}
	case belaytype.WaitOver:
		job.Wait(time.Time{})
	case belaytype.InnerRetry:
		if e.Verdict.Class.Throttle() {
			job.Throttled()
		}
	case belaytype.SessionGone:
		job.Begun = batch.Restarted
	case belaytype.AttemptFailed:
		if e.Renewed {
			r.view.once("login", message.LoginRenewed("task "+job.Task.ID))
		}
	case belaytype.AlertRaised:
		r.view.say(command.AlertText(e))
	case belaytype.ModelSubstitution:
		r.view.once("model "+e.Asked+" "+e.Used, message.OtherModel("task "+job.Task.ID, e.Asked, e.Used))
	case belaytype.StateTrouble:
		r.view.once("state", message.NoRecord(e.Without, e.Err))
	case belaytype.CostNotice:
		switch {
		case e.Err == nil:
		case e.Budget == "":
			r.view.once("cost", fmt.Sprintf("--max-cost only counts tasks that have ended: %v", e.Err))
		default:
			r.view.once("cost "+e.Budget, message.BudgetOff(e.Budget, e.Err))
		}
	}
}

// refusedTask is the outcome of a task that could not be started as it was asked for.
func refusedTask(err error) batch.Outcome {
	return batch.Outcome{State: batch.Failed, Class: verdict.InvalidRequest, Error: err.Error(), Result: engine.Refused(err).WriteJSON}
}

// outcome is what the result of a run means for its task.
func (r *taskRunner) outcome(ctx context.Context, job *batch.Job, stderr *supervise.Tail, c *taskCommand, res *belaytype.Result, err error) batch.Outcome {
	o := batch.Outcome{State: batch.Done, Class: res.Verdict.Class, Error: res.Error, Until: res.RetryAt, Session: res.Session}
	if cost := res.Usage.CostUSD; cost != nil {
		o.Cost = *cost
	}
	reached, overCost := errors.AsType[*belaytype.MaxCostReached](err)
	switch class := res.Verdict.Class; {
	case res.Success:
	case ctx.Err() != nil:
		o.State = batch.Waiting
	case c.known != nil && (class == verdict.Auth || class == verdict.Billing):
		o.State, o.Fatal = batch.Waiting, true
	case res.Verdict.Rule == engine.RuleResources:
		o.State, o.Lacked = batch.Paused, true
		r.view.once("lack", "running fewer tasks at a time: "+res.Error)
	case overCost && (reached.Budget != "" || reached.Run != ""):
		o.State, o.Spent, o.Until = batch.Paused, true, reached.Until
	case c.known != nil && (class.Throttle() || class == verdict.Overloaded || class == verdict.WrongModel && res.Verdict.Retryable || class == verdict.BreakerOpen):
		o.State = batch.Paused
	default:
		o.State = batch.Failed
	}
	if o.State == batch.Failed || o.State == batch.Done {
		if o.State == batch.Failed {
			o.Stderr = stderr.String()
		}
		if c.known == nil && o.Error != "" {
			o.Error = message.BatchWhy(o.Error, o.Stderr)
		}
		if dir := r.options.outputDir; dir != "" {
			if err := job.SaveOutput(dir, &o, res.Output.Reader); err != nil {
				r.view.unsaved(job, err) // it stays in the results
			} else {
				res.Output.Close()
				res.Output = nil
			}
		}
		o.Result = func(w io.Writer) error {
			defer res.Output.Close()
			return res.WriteJSON(w)
		}
	}
	return o
}
