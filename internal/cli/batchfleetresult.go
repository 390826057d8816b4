package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/courier"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// runResult has the fields of a run's result that are needed here.
type runResult struct {
	Success   bool            `json:"success"`
	Error     string          `json:"error"`
	ErrorType verdict.Class   `json:"error_type"`
	RetryAt   *time.Time      `json:"retry_at"`
	Session   string          `json:"session_id"`
	Profile   string          `json:"profile"`
	Usage     verdict.Usage   `json:"usage"`
	Result    json.RawMessage `json:"result"`
}

// outcome is what a result means for its task.
func (f *fleetLine) outcome(ctx context.Context, job *batch.Job, r *courier.Result) batch.Outcome {
	o := batch.Outcome{State: batch.Done, Machine: r.Machine, Tries: r.Attempt, Stderr: r.Stderr}
	var res runResult
	if r.Result != nil {
		if err := json.Unmarshal(r.Result, &res); err != nil {
			r.Result, r.Error = nil, err.Error()
		}
	}
	if job.Begun = batch.Begun(r.Begun); job.Begun == "" {
		job.Begun = batch.New
	}
	o.Class, o.Error, o.Session = res.ErrorType, res.Error, res.Session
	o.Cost = r.Paid
	if cost := res.Usage.CostUSD; cost != nil {
		o.Cost += *cost
	}
	if res.RetryAt != nil {
		o.Until = *res.RetryAt
	}
	isKnown := res.Profile != generic.Name
	switch {
	case r.Result == nil && r.Cancelled, r.Cancelled && !res.Success:
		o.State = batch.Waiting
	case r.Result == nil:
		o.State, o.Class, o.Error = batch.Failed, verdict.InvalidRequest, r.Error
	case res.Success:
		o.Stderr = ""
	case res.ErrorType == verdict.LimitReached && (res.RetryAt != nil || f.isLimited(job.Task.ID)): // of a budget, or that of the batch
		o.State, o.Spent = batch.Paused, true
	case isKnown && (res.ErrorType == verdict.Auth || res.ErrorType == verdict.Billing):
		o.State, o.Fatal, o.Error = batch.Waiting, true, message.FleetOn(r.Machine, o.Error)
	case isKnown && (res.ErrorType.Throttle() || res.ErrorType == verdict.Overloaded || res.ErrorType == verdict.BreakerOpen):
		o.State = batch.Paused
	default:
		o.State = batch.Failed
	}
	if o.State != batch.Done && o.State != batch.Failed {
		f.mu.Lock()
		f.again[job.Task.ID] = true
		f.mu.Unlock()
		f.send(courier.Order{Taken: []int64{r.ID}})
		return o
	}
	f.mu.Lock()
	f.ids[job.Task.ID] = r.ID
	f.mu.Unlock()
	if dir := f.runner.options.outputDir; dir != "" && r.Result != nil {
		f.runner.view.unsaved(job, f.save(job, &o, r, &res, dir))
	}
	if r.Result != nil {
		o.Result = func(w io.Writer) error {
			_, err := w.Write(append(bytes.TrimSpace(r.Result), '\n'))
			return err
		}
	} else {
		o.Result = func(w io.Writer) error {
			data, err := json.Marshal(map[string]any{"success": false, "error": o.Error, "error_type": o.Class})
			if err == nil {
				_, err = w.Write(append(data, '\n'))
			}
			return err
		}
	}
	return o
}

// save writes the output of a task to a file of its own, as a whole. If that fails, it stays in the results.
func (f *fleetLine) save(job *batch.Job, o *batch.Outcome, r *courier.Result, res *runResult, dir string) error {
	var text string
	if json.Unmarshal(res.Result, &text) != nil {
		return nil // it has none
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(r.Result, &all); err != nil {
		return err
	}
	all["result"] = json.RawMessage(`null`)
	without, err := json.Marshal(all)
	if err == nil {
		err = job.SaveOutput(dir, o, func() io.Reader { return strings.NewReader(text) })
	}
	if err == nil {
		r.Result = without
	}
	return err
}
