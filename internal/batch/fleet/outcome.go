package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/fleetpipe"
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
func (l *Line) outcome(ctx context.Context, job *batch.Job, r *fleetpipe.Result) batch.Outcome {
	o := batch.Outcome{State: batch.Done, Machine: r.Machine, Tries: r.Attempt, Stderr: r.Stderr}
	var res runResult
	l.mu.Lock()
	text := l.texts.Take(r.ID)
	l.mu.Unlock()
	head := r.Head()
	if head != nil {
		if err := json.Unmarshal(head, &res); err != nil {
			head, r.Error = nil, err.Error()
		}
	}
	if r.Text != nil {
		if err := text.Check(); err != nil {
			head, r.Error = nil, message.FleetResultUnreadable(err)
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
	case r.Cancelled && !res.Success:
		o.State = batch.Waiting
	case head == nil:
		o.State, o.Class, o.Error = batch.Failed, verdict.InvalidRequest, r.Error
	case res.Success:
		o.Stderr = ""
	case res.ErrorType == verdict.LimitReached && (res.RetryAt != nil || l.isLimited(job.Task.ID)): // of a budget, or that of the batch
		o.State, o.Spent = batch.Paused, true
	case isKnown && (res.ErrorType == verdict.Auth || res.ErrorType == verdict.Billing):
		o.State, o.Fatal, o.Error = batch.Waiting, true, fmt.Sprintf("on %s: %s", r.Machine, o.Error)
	case isKnown && (res.ErrorType.Throttle() || res.ErrorType == verdict.Overloaded || res.ErrorType == verdict.BreakerOpen):
		o.State = batch.Paused
	default:
		o.State = batch.Failed
	}
	if o.State != batch.Done && o.State != batch.Failed {
		l.mu.Lock()
		l.again[nameOf(job)] = true
		l.mu.Unlock()
		l.pipe.send(fleetpipe.Order{Taken: []int64{r.ID}})
		text.Close()
		return o
	}
	l.mu.Lock()
	l.ids[job.Task.ID] = r.ID
	l.mu.Unlock()
	switch dir := l.caller.OutputDir; {
	case head == nil:
		o.Result = func(w io.Writer) error {
			return json.NewEncoder(w).Encode(map[string]any{"success": false, "error": o.Error, "error_type": o.Class})
		}
		return o
	case dir != "" && r.Text != nil:
		if l.caller.Unsaved(job, job.SaveOutput(dir, &o, text.Unquoted)); o.OutputFile != "" {
			r.Text, r.Result = nil, head
		}
	case dir != "":
		l.caller.Unsaved(job, l.save(job, &o, r, &res, dir))
	}
	o.Result = func(w io.Writer) error {
		defer text.Close()
		if r.Text != nil {
			return text.Write(w, r.Text)
		}
		_, err := w.Write(append(bytes.TrimSpace(r.Result), '\n'))
		return err
	}
	return o
}

// save writes the output of a task to a file of its own, as a whole. If that fails, it stays in the results.
func (l *Line) save(job *batch.Job, o *batch.Outcome, r *fleetpipe.Result, res *runResult, dir string) error {
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
