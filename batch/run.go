package batch

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// run is one Run of a batch.
type run struct {
	batch    *Batch
	template *batch.Template
	results  chan *Result

	mu    sync.Mutex
	ended map[*batch.Job]*Result // whose results are being written
}

func newRun(b *Batch) *run {
	return &run{batch: b, template: batch.ParseTemplate(b.Command), results: make(chan *Result), ended: map[*batch.Job]*Result{}}
}

func (r *run) run(ctx context.Context, source batch.Source) (err error) {
	b := &batch.Batch{Plan: batch.Stream(source), Do: r.do, Ended: r.tell, Jobs: r.batch.Jobs, MaxJobs: 32, RetryFailed: r.batch.RetryFailed,
		FailFast: r.batch.FailFast, MaxCost: r.batch.MaxCost, Deadline: r.batch.Deadline, NoWait: !r.waits()}
	if path := r.batch.Results; path != "" {
		if b.Ledger, err = batch.OpenLedger(path, source.Name()); err != nil {
			return err
		}
		over := false
		defer func() { err = errors.Join(err, b.Ledger.Close(over)) }()
		if err := b.Ledger.Load(b.Plan); err != nil {
			return err
		}
		defer func() { over = err == nil }()
	}
	sum, err := b.Run(ctx)
	switch {
	case err != nil || sum.Stop == batch.NotStopped:
		return err
	case sum.Stop == batch.DeadlinePassed:
		return batch.DeadlineError{}
	case sum.Err != nil:
		return sum.Err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return errUnfinished
}

// waits says that limits are waited for as long as they last.
func (r *run) waits() bool {
	return r.batch.Runner.Policy.MaxWait <= 0 && !r.batch.Runner.NoWait && r.batch.Runner.Policy.MaxRetries >= 0
}

// tell passes a result on that is written.
func (r *run) tell(job *batch.Job, o *batch.Outcome) {
	r.mu.Lock()
	res := r.ended[job]
	delete(r.ended, job)
	r.mu.Unlock()
	if res == nil {
		res = &Result{Task: taskOf(job), Skipped: o.Error}
	}
	r.results <- res
}

// do runs one task.
func (r *run) do(ctx context.Context, job *batch.Job) batch.Outcome {
	args, err := r.template.Fill(&job.Task)
	command := belay.Command{Args: args, Dir: job.Task.Cwd}
	if len(job.Task.Env) > 0 {
		command.Env = os.Environ()
		for name, value := range job.Task.Env {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	if job.Task.Prompt != "" && !r.template.Prompt {
		command.Prompt = &job.Task.Prompt
	}
	runner := r.runner(job)
	var res *belay.Result
	if err != nil {
		res, err = &belay.Result{Verdict: verdict.Verdict{Class: verdict.InvalidRequest}}, &belay.UsageError{Err: err}
	} else {
		res, err = runner.Run(ctx, command)
	}
	o := outcome(ctx, job, runner, res, err)
	if o.State == batch.Done || o.State == batch.Failed {
		o.Result = res.WriteJSON
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended[job] = &Result{Task: taskOf(job), Result: res, Err: err, Begun: string(job.Begun)}
	}
	return o
}

// runner is the Runner for a job.
func (r *run) runner(job *batch.Job) *belay.Runner {
	runner := r.batch.Runner
	if r.waits() {
		runner.Policy.MaxWait = retry.None
	}
	if job.Session != "" {
		runner.Resume = belay.Resume{Session: job.Session, Prompt: runner.Resume.Prompt, Interrupted: true}
	}
	told := runner.InSession
	runner.InSession = func(id string) {
		job.InSession(id)
		if told != nil {
			told(id)
		}
	}
	observe := runner.Observe
	runner.Observe = func(e belay.Event) {
		switch e := e.(type) {
		case belay.Waiting:
			if e.Verdict.Class.Throttle() || e.Verdict.Class == verdict.Overloaded {
				job.Throttled()
				job.Wait(e.Until)
			}
		case belay.WaitOver:
			job.Wait(time.Time{})
		case belay.SessionGone:
			if e.Repaired == "" {
				job.Begun = batch.Restarted
			}
		}
		if observe != nil {
			observe(e)
		}
	}
	return &runner
}

// outcome is what the result of a run means for its task.
func outcome(ctx context.Context, job *batch.Job, runner *belay.Runner, res *belay.Result, err error) batch.Outcome {
	o := batch.Outcome{State: batch.Done, Class: res.Verdict.Class, Until: res.RetryAt, Session: res.Session}
	if cost := res.Usage.CostUSD; cost != nil {
		o.Cost = *cost
	}
	if err == nil {
		return o
	}
	o.Error = err.Error()
	known := runner.Profile != "" && runner.Profile != "generic"
	reached, overCost := errors.AsType[*belay.MaxCostReached](err)
	switch class := o.Class; {
	case ctx.Err() != nil:
		o.State = batch.Waiting
	case known && (class == verdict.Auth || class == verdict.Billing):
		o.State, o.Fatal = batch.Waiting, true
	case res.Verdict.Rule == engine.RuleResources:
		o.State, o.Lacked = batch.Paused, true
	case overCost && (reached.Budget != "" || reached.Run != ""):
		o.State, o.Spent = batch.Paused, true
	case known && (class.Throttle() || class == verdict.Overloaded || class == verdict.BreakerOpen):
		o.State = batch.Paused
	default:
		o.State = batch.Failed
	}
	return o
}
