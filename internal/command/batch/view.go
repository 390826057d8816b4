package batch

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/batch/fleet"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// batchView says on stderr how a batch stands and what has become of it.
type batchView struct {
	settings *config.Settings
	batch    *batch.Batch
	screen   *term.Screen
	stderr   io.Writer // the same, for tables
	results  string
	command  batchCommand

	mu   sync.Mutex
	told int // failures that were said one by one
	said map[string]bool

	trees works
}

// toldFailures is how many failures are said as they happen: after that the table at the end has to do.
const toldFailures = 20

// begin says what is continued.
func (v *batchView) begin() {
	if warning := v.settings.Warning(func(text string) bool { return !v.settings.Quiet && state.Tell(text) }); warning != "" {
		v.say(warning)
	}
	counts, l := v.batch.Plan.Count(), v.batch.Ledger
	if over := counts[batch.Done] + counts[batch.Failed]; over > 0 || l.Torn > 0 || l.Interrupted() > 0 {
		text := fmt.Sprintf("continuing %s: %s already finished", v.results, message.Count(over, "task"))
		if n := l.Interrupted(); n > 0 {
			text += fmt.Sprintf(", %d interrupted", n)
		}
		if l.Torn > 0 {
			text += fmt.Sprintf(", an incomplete last line of %d bytes removed", l.Torn)
		}
		v.say(text)
	}
	if v.command.displaced != "" && v.batch.Ledger.IsNew() {
		v.say(fmt.Sprintf("%s has the results of other tasks; writing to %s", v.command.displaced, v.results))
	}
	if n := v.command.others; n > 0 {
		v.say(message.Sentences(fmt.Sprintf("%s %s of another command or model", message.Count(n, "finished result"), message.Verb(n, "is", "are")), "to run these tasks again, add --retry-changed"))
	}
	if l.Damaged > 0 {
		v.line(fmt.Sprintf("ignoring %s in %s", message.Count(l.Damaged, "unreadable line"), v.results))
	}
}

// statusInterval is how often others are told how the batch stands.
const statusInterval = 2 * time.Second

// follow shows how the batch stands, until stop is called.
func (v *batchView) follow(record *supervise.Record) (stop func()) {
	show := func() {}
	if !v.settings.Quiet {
		show = v.screen.Status(func(columns int) string { return liveLine(v.batch.Progress(), columns) }, func() string { return batchLine{Progress: v.batch.Progress()}.String() })
	}
	tell := term.Every(statusInterval, func() {
		v.batch.Note(v.batch.Progress())
		record.Touch()
	})
	return func() {
		tell()
		show()
	}
}

// ended implements batch.Batch.Ended.
func (v *batchView) ended(job *batch.Job, o *batch.Outcome) {
	if o.State != batch.Failed && o.State != batch.Skipped {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told++; v.told > toldFailures {
		if v.told == toldFailures+1 {
			v.say("further failures are only counted. See them with: belay batch status " + printable.Quoted(v.results))
		}
		return
	}
	task := taskName(job)
	if o.State == batch.Skipped {
		v.say(fmt.Sprintf("%s skipped because it depends on %s, which did not succeed", task, o.Error))
		return
	}
	v.say(fmt.Sprintf("%s failed: %s", task, o.Error))
}

// taskName is what a task is called in a sentence: "task a", or "line 2" if its file gives it no id.
func taskName(job *batch.Job) string {
	if line := job.OwnLine(); line > 0 {
		return message.BatchTask("", line)
	}
	return "task " + job.Task.ID
}

// unsaved says that the output of a task has no file of its own.
func (v *batchView) unsaved(job *batch.Job, err error) {
	if err != nil {
		v.once("output", message.Sentences(err.Error(), fmt.Sprintf("the output of %s is in the results", taskName(job))))
	}
}

// activityOf tells the batch what the agent of a job does.
func (v *batchView) activityOf(job *batch.Job, keep quota.Reserve) func(engine.Activity) {
	return func(a engine.Activity) {
		cost := 0.0
		if a.Used.CostUSD != nil {
			cost = *a.Used.CostUSD
		}
		job.Doing(a.Tool, cost)
		if w := a.Filled; w != nil {
			job.Filled(keep.Left(w), w.Resets)
		}
	}
}

// end says what has become of the batch, and returns what belay ends with.
func (v *batchView) end(sum *batch.Summary, took time.Duration) error {
	p := batch.Progress{Total: v.batch.Plan.Len(), Done: sum.Counts[batch.Done], Failed: sum.Counts[batch.Failed], Skipped: sum.Counts[batch.Skipped], Cost: sum.Spent}
	v.say(batchLine{Progress: p, done: fmt.Sprintf("%d of %d done in %s", p.Done, p.Total, printable.Span(took)), unfinished: p.Total - p.Done - p.Failed - p.Skipped}.String())
	if p.Failed > 0 {
		v.table()
	}
	for _, line := range v.trees.lines() {
		v.say(line)
	}
	code, why := v.stopped(sum)
	switch {
	case why != "" && sum.Stop == batch.CostReached && sum.Err == nil:
		v.line(message.Sentences(why, "to continue, raise it: "+v.command.continued(sum.Stop)))
	case why != "":
		v.line(message.Sentences(why, "continue with: "+v.command.continued(sum.Stop)))
	case p.Failed > 0:
		v.say("to run the failed tasks again: " + v.command.retrying())
	}
	if telemetry := v.settings.Telemetry; p.Failed > 0 || telemetry {
		command.FoldAndSend(telemetry)
	}
	return command.Exit(code)
}

// stopped says why a batch has ended before its tasks have, and the exit code of the batch. It is 0 only if all tasks are done, whatever has ended the batch.
func (v *batchView) stopped(sum *batch.Summary) (code int, why string) {
	said := ""
	if sum.Err != nil {
		said = message.WithoutLater(sum.Err.Error(), true)
	}
	switch sum.Stop {
	case batch.Cancelled:
		if i, ok := errors.AsType[*belaytype.Interrupt](sum.Err); ok {
			return 128 + i.Signal, "stopped by " + i.Name
		}
		if _, ok := errors.AsType[*fleet.Ended](sum.Err); ok {
			return engine.CodeFailed, "stopped by " + said
		}
		return command.CodeStopped, "stopped by " + said
	case batch.FatalError:
		return engine.CodePersonMustAct, message.Sentences(said, "no more tasks were started")
	case batch.TooManyFailures:
		return 1, fmt.Sprintf("stopped after %s", message.Count(sum.Counts[batch.Failed], "failure"))
	case batch.CostReached:
		if said != "" {
			return engine.CodeTryLater, said
		}
		return engine.CodeTryLater, fmt.Sprintf("stopped: --max-cost is used up (%s of $%g)", printable.Dollars(sum.Spent), v.batch.MaxCost)
	case batch.DeadlinePassed:
		return engine.CodeTryLater, "stopped: --deadline has passed"
	case batch.LimitReached:
		if sum.Until.IsZero() {
			return engine.CodeTryLater, "stopped at a limit: " + said
		}
		return engine.CodeTryLater, fmt.Sprintf("stopped at a limit until %s: %s", message.When(sum.Until), said)
	case batch.Unwritable:
		return engine.CodeFailed, message.BatchUnwritable(v.results, sum.Err)
	case batch.SourceBroken, batch.ResultsLost:
		return engine.CodeFailed, said
	}
	switch left := sum.Left(); {
	case !sum.Complete():
		return engine.CodeFailed, message.Count(left, "task") + " not done"
	case sum.Counts[batch.Failed]+sum.Counts[batch.Skipped] > 0:
		return 1, ""
	}
	return 0, ""
}

// table shows the failures by class, also those of earlier starts: --retry-failed repeats all of them.
func (v *batchView) table() {
	if v.settings.Quiet {
		return
	}
	failuresTable(v.stderr, v.batch.Failures())
}

// postponed says when the batch starts, and counts down to it.
func (v *batchView) postponed(p engine.Postponed) (stop func()) {
	if v.settings.Quiet {
		return func() {}
	}
	name := "the batch"
	v.line(detach.PostponedText(name, p))
	if !v.screen.IsTerminal() {
		return func() {}
	}
	return v.screen.Countdown(message.Start(name), p.Until)
}

// line prints a message, also with --quiet.
func (v *batchView) line(text string) { v.screen.Line("%s", text) }

func (v *batchView) say(text string) {
	if !v.settings.Quiet {
		v.line(text)
	}
}

// once says something that many tasks would say.
func (v *batchView) once(what, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.said[what] {
		v.said[what] = true
		v.line(text)
	}
}
