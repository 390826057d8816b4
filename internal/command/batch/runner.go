package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/batch/fleet"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// taskRunner runs the tasks of a batch: each as belay run would, in this process.
type taskRunner struct {
	*recipe
	ctx     context.Context
	std     stdio.Streams
	starter engine.Supervised
	results string // as an absolute path
	view    *batchView

	mu       sync.Mutex
	projects map[string]string // of directories
	inside   map[int]*engine.Invocation
	killed   bool
	leaving  chan struct{} // closed when the user wants to leave at once
}

func newTaskRunner(ctx context.Context, std stdio.Streams, r *recipe) *taskRunner {
	return &taskRunner{recipe: r, ctx: ctx, std: std, inside: map[int]*engine.Invocation{}}
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
	if runner.Worktree.On {
		runner.Worktree.Key = r.results + "\x00" + job.Task.ID + "\x00" + job.Task.Hash().String()
	}
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
		if e.Repaired == "" {
			job.Begun = batch.Restarted
		}
	case belaytype.AttemptFailed:
		if e.Renewed {
			r.view.once("login", message.LoginRenewed(taskName(job)))
		}
	case belaytype.AlertRaised:
		r.view.say(command.AlertText(e))
	case belaytype.ModelSubstitution:
		r.view.once("model "+e.Asked+" "+e.Used, message.OtherModel(taskName(job), e.Asked, e.Used))
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
	if res.Worktree != nil {
		r.view.worked(res.Worktree)
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

// ownFiles lists the files that the batch writes. They are left out of archives.
func (r *taskRunner) ownFiles() (paths []string) {
	for _, path := range append(batch.FilesOf(r.view.results), r.options.outputDir) {
		if absolute, err := filepath.Abs(path); err == nil && path != "" {
			paths = append(paths, absolute)
		}
	}
	return paths
}
