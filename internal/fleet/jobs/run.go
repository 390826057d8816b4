package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// stopRun is how the belay run of a job is stopped. It gives its command ten seconds and then ends the whole tree, orphans included; killed earlier, it could not.
var stopRun = supervise.Ladder{{Signal: syscall.SIGTERM, Wait: 13 * time.Second}}

// run runs a job as belay run does, until it ends or ctx does.
func (w *Worker) run(ctx context.Context, a *attempt, f folder) (*fleetpipe.Outcome, error) {
	outcome := &fleetpipe.Outcome{}
	if err := w.make(f); err != nil {
		return outcome, message.Error(message.FleetNoFolder(err), err, errNotBegun)
	}
	job, err := w.job(ctx, a)
	if errors.Is(err, errExpired) {
		return outcome, err
	} else if err != nil {
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
	result := resultWriter{create: func() (*os.File, error) { return safefile.CreateOwn(f.path(textPrefix + a.runID)) }, seal: func(part []byte, n int) ([]byte, error) {
		return a.key.seal(part, a.batch, a.task, a.hash, a.runID, strconv.Itoa(n))
	}}
	defer result.close()
	if len(job.Conceal) > 0 {
		data, err := json.Marshal(job.Conceal)
		if err == nil {
			err = f.write("conceal", data)
		}
		if err != nil {
			return outcome, message.Error(message.FleetNoFolder(err), err, errNotBegun)
		}
		env = append(env, fleetpipe.ConcealVar+"="+f.path("conceal"))
	}
	var tail supervise.Tail
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: w.Belay, Args: args, Dir: dir, Env: env, RunID: a.runID, Stdout: &result, Stderr: &tail, Placement: supervise.OwnGroup}, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(stopRun) })
	})
	if err != nil {
		return outcome, message.Error(message.CannotStart(w.Belay, err), err, errNotBegun)
	}
	outcome.Stderr = tail.String()
	if err := result.close(); err != nil {
		outcome.Paid = summaryOf(&fleetpipe.Outcome{Result: result.head()}).Usage.Cost
		return outcome, message.Error(message.FleetResultTooLarge(int(result.size>>20), err), err)
	}
	if !json.Valid(result.head()) {
		return outcome, message.Error(message.FleetNoResult(exit.ShellCode(), strings.TrimSpace(outcome.Stderr)))
	}
	if result.parts == 0 {
		outcome.Result = slices.Concat(result.before, result.text, result.after)
		return outcome, nil
	}
	outcome.Text = &fleetpipe.Text{Before: result.before, After: result.after, Mark: a.runID, Parts: result.parts}
	if !job.Parts {
		err = w.join(a, f, outcome, rowMost)
	}
	return outcome, err
}

// job is what is to be done, if this machine allows it.
func (w *Worker) job(ctx context.Context, a *attempt) (*fleetpipe.Job, error) {
	payload, err := w.payload(ctx, &a.claimed)
	if err != nil {
		return nil, err
	}
	key, err := w.Key.keyOf(payload)
	if err != nil {
		return nil, err
	}
	data, err := key.open(payload, a.batch, a.task, a.hash)
	if err != nil {
		return nil, err
	}
	a.key = key
	if err := w.submitters.admit(ctx, key); err != nil {
		return nil, err
	}
	if w.Key != nil {
		a.digest = payloadDigest(payload)
		if a.earlier = w.finished.find(a.digest); a.earlier != nil {
			return nil, errGone
		}
	}
	var job fleetpipe.Job
	if err := json.Unmarshal(data, &job); err != nil {
		return nil, err
	}
	if err := w.meets(job.Needs, a.needs); err != nil {
		return nil, err
	}
	if !job.Expires.IsZero() && !a.clock().Before(job.Expires) {
		return nil, message.Error(fmt.Sprintf("the task was not begun: it has expired at %s UTC, by PostgreSQL's clock (--expires)", job.Expires.UTC().Format(time.DateTime)), errExpired)
	}
	if err := w.Allow.check(&job); err != nil {
		return nil, err
	}
	key.tag(&job)
	w.mu.Lock()
	a.profile = profileOf(&job)
	w.mu.Unlock()
	return &job, nil
}

// meets says why this machine may not run a job that needs these labels; nil if it may, or the job does not say. In the row others can change them.
func (w *Worker) meets(needs, inRow []string) error {
	if needs == nil {
		return nil
	}
	for _, label := range needs {
		if !slices.Contains(w.Labels, label) {
			return message.Error(fmt.Sprintf("the task needs a machine with the label %s", printable.Line(label)))
		}
	}
	if !slices.Equal(needs, inRow) {
		return message.Error("the labels that the task needs were changed in PostgreSQL after it was submitted")
	}
	return nil
}

// summary is what a worker reads from the result of a run.
type summary struct {
	Success, Resumed bool
	Usage            struct {
		Cost float64 `json:"total_cost_usd"`
	}
	Left []int `json:"left_running"`
}

// summaryOf is empty if there is no result.
func summaryOf(o *fleetpipe.Outcome) (s summary) {
	if head := o.Head(); head == nil || json.Unmarshal(head, &s) != nil {
		return summary{}
	}
	return s
}
