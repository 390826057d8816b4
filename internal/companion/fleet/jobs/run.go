package jobs

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/belay-run/belay/internal/courier"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// run runs a job as belay run does, until it ends or ctx does.
func (w *Worker) run(ctx context.Context, a *attempt, f folder) (*courier.Outcome, error) {
	outcome := &courier.Outcome{}
	if err := f.make(); err != nil {
		return outcome, message.Error(message.FleetNoFolder(err), err, errNotBegun)
	}
	job, err := w.job(ctx, a)
	if err != nil {
		return outcome, message.Error(err.Error(), err, errNotBegun)
	}
	dir, err := w.prepare(ctx, a, job)
	if err != nil {
		return outcome, message.Error(message.FleetNoFolder(err), err, errNotBegun)
	}
	args := []string{w.Belay, "run", "--quiet", "--output-format=json"}
	for name, value := range job.Flags {
		args = append(args, "--"+name+"="+value)
	}
	for name, value := range job.Tags {
		args = append(args, "--tag", name+"="+value)
	}
	if job.Profile != "" {
		args = append(args, "--profile="+job.Profile)
	}
	if a.session != "" {
		args = append(args, "--resume-interrupted="+a.session)
	}
	if job.Prompt != nil {
		if err := f.write("prompt", []byte(*job.Prompt)); err != nil {
			return outcome, message.Error(message.FleetNoFolder(err), err, errNotBegun)
		}
		args = append(args, "--prompt-file", f.path("prompt"))
	} else {
		args = append(args, "--no-stdin")
	}
	args = append(append(args, "--"), job.Args...)
	env := os.Environ()
	for name, value := range job.Env {
		env = append(env, name+"="+value)
	}
	var result resultWriter
	var tail supervise.Tail
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: w.Belay, Args: args, Dir: dir, Env: env, RunID: a.runID, Stdout: &result, Stderr: &tail, Placement: supervise.OwnGroup}, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	if err != nil {
		return outcome, message.Error(message.CannotStart(w.Belay, err), err, errNotBegun)
	}
	outcome.Stderr = tail.String()
	if !json.Valid(result.data) {
		return outcome, message.Error(message.FleetNoResult(exit.ShellCode(), strings.TrimSpace(outcome.Stderr)))
	}
	outcome.Result = result.data
	return outcome, nil
}

// job is what is to be done, if this machine allows it.
func (w *Worker) job(ctx context.Context, a *attempt) (*courier.Job, error) {
	payload, err := w.payload(ctx, &a.claimed)
	if err != nil {
		return nil, err
	}
	data, err := w.Key.open(payload, a.batch, a.task, a.hash)
	if err != nil {
		return nil, err
	}
	var job courier.Job
	if err := json.Unmarshal(data, &job); err != nil {
		return nil, err
	}
	if err := w.Allow.check(&job); err != nil {
		return nil, err
	}
	w.mu.Lock()
	a.profile = profileOf(&job)
	w.mu.Unlock()
	return &job, nil
}

// says reads from the result of a run whether it was a success, and whether it has resumed a session.
func says(o *courier.Outcome) (success, resumed bool) {
	var r struct{ Success, Resumed bool }
	if o.Result == nil || json.Unmarshal(o.Result, &r) != nil {
		return false, false
	}
	return r.Success, r.Resumed
}

// maxResult is how large a result may be.
const maxResult = 64 << 20

// resultWriter keeps what belay run prints, which is its result. One that is too large is cut off, and is then no valid JSON.
type resultWriter struct{ data []byte }

// Write implements [io.Writer].
func (r *resultWriter) Write(p []byte) (int, error) {
	r.data = append(r.data, p[:min(len(p), maxResult-len(r.data))]...)
	return len(p), nil
}
