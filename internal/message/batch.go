package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// BatchMistake says what is wrong with the tasks of a batch, and where.
func BatchMistake(path string, line, column int, err error) string {
	where := path
	if line > 0 {
		where += fmt.Sprintf(":%d", line)
		if column > 0 {
			where += fmt.Sprintf(":%d", column)
		}
	}
	return fmt.Sprintf("%s: %v", where, err)
}

// BatchTaskTooLarge says that a task is larger than any CLI takes.
func BatchTaskTooLarge(mib int) string { return fmt.Sprintf("the task is larger than %d MiB", mib) }

// BatchNotAnObject says that a line is not what a line of JSON has to be.
func BatchNotAnObject() string {
	return `expected an object, such as {"id": "a", "prompt": "Explain main.go"}`
}

// BatchWrongType says that a key has a value of the wrong kind.
func BatchWrongType(key, value string) string {
	if key == "" {
		return "unexpected " + value
	}
	article := "a"
	if value == "array" || value == "object" {
		article = "an"
	}
	return fmt.Sprintf("%s cannot be %s %s", key, article, value)
}

// BatchIDIsText says what an id is.
func BatchIDIsText() string { return "id must be a string or a number" }

// BatchDependsIsIDs says what depends_on is.
func BatchDependsIsIDs() string { return "depends_on must be an id or a list of ids" }

// BatchNegativeCost says what max_cost is.
func BatchNegativeCost() string { return "max_cost must be a number of US dollars, at least 0" }

// BatchNotADuration says what a duration is.
func BatchNotADuration(text string) string {
	return fmt.Sprintf("%q is not a duration; write 30s, 5m or plain seconds", text)
}

// BatchNoHeader says that a CSV file is empty.
func BatchNoHeader() string { return "the first line must name the columns" }

// BatchBadColumn says that a column of a CSV file cannot be used.
func BatchBadColumn(name string) string {
	if name == "" {
		return "a column has no name"
	}
	return fmt.Sprintf("column %q appears twice", name)
}

// BatchUnknownPlaceholder says that a command has a placeholder that no task can fill. columns are those that there are.
func BatchUnknownPlaceholder(name string, columns []string) string {
	known := []string{"{}", "{id}"}
	for _, c := range columns {
		if c != "id" {
			known = append(known, "{"+c+"}")
		}
	}
	if columns == nil {
		return fmt.Sprintf("the command has {%s}, but the task has no such key", name)
	}
	return fmt.Sprintf("unknown placeholder {%s} in the command; the placeholders are %s", name, strings.Join(known, ", "))
}

// BatchDoubledID says that two tasks have the same id.
func BatchDoubledID(id string) string {
	return fmt.Sprintf("id %q is already used by another task", id)
}

// BatchUnknownDependency says that a task depends on one that is not there.
func BatchUnknownDependency(id, on string) string {
	return fmt.Sprintf("task %q depends on %q, which does not exist", id, on)
}

// BatchCycle says that tasks wait for each other: the first depends on the second, and the last on the first.
func BatchCycle(ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("task %q depends on itself", ids[0])
	}
	const few = 5
	shown := make([]string, 0, few+2)
	for _, id := range ids[:min(few, len(ids))] {
		shown = append(shown, strconv.Quote(id))
	}
	if len(ids) > few {
		shown = append(shown, "…")
	}
	return fmt.Sprintf("task %q depends on itself: %s → %q", ids[0], strings.Join(shown, " → "), ids[0])
}

// BatchInUse says that another batch writes to the results.
func BatchInUse(path string, pid int, host string, since time.Time) string {
	if pid == 0 {
		return fmt.Sprintf("%s is in use by another batch", path)
	}
	return fmt.Sprintf("%s is in use by another batch: process %d on %s, started %s", path, pid, host, since.Local().Format("2006-01-02 15:04:05"))
}

// BatchNotAFile says that results cannot be written there.
func BatchNotAFile(path string) string { return fmt.Sprintf("%s is not a regular file", path) }

// BatchNotResults says that a file is of another kind.
func BatchNotResults() string {
	return "the file holds something other than the results of a batch"
}

// BatchUnwritable says that the results cannot be written.
func BatchUnwritable(path string, err error) string {
	return fmt.Sprintf("cannot write results to %s: %v", path, err)
}

// BatchDeadline is why a task is stopped when the time of its batch is over.
func BatchDeadline() string { return "the deadline of the batch has passed" }

// BatchTasksChanged says that the tasks are not those that were checked.
func BatchTasksChanged(path string) string {
	return fmt.Sprintf("%s has changed since the batch was started", path)
}

// BatchNoTasks says that no tasks were given.
func BatchNoTasks() string { return "no tasks given" }

// BatchEmpty says that there is nothing to do.
func BatchEmpty(path string) string { return fmt.Sprintf("%s has no tasks", path) }

// BatchTasksUnreadable says that the tasks cannot be read.
func BatchTasksUnreadable(path string, err error) string {
	return fmt.Sprintf("cannot read tasks from %s: %v", path, err)
}

// BatchNoCommand says that it is not known what to run for a task.
func BatchNoCommand() string {
	return "the task has no command; add one after --, or give the task args or a profile"
}

// BatchNoPrompt says that an agent would be asked nothing.
func BatchNoPrompt(agent string) string { return fmt.Sprintf("the task has no prompt for %s", agent) }

// BatchModelFor says that a model was named for a command that has none.
func BatchModelFor(command string) string {
	return fmt.Sprintf("model cannot be set for %s", command)
}

// BatchBadAbort says what --abort-after takes.
func BatchBadAbort(text string) string {
	return fmt.Sprintf("%q is neither a number of failures nor a percentage; write 20 or 5%%", text)
}

// BatchBadJobs says what -j takes.
func BatchBadJobs(text string) string {
	return fmt.Sprintf("%q is not a number of jobs; write a number from 1 to 10000, or auto", text)
}

// BatchBadFormat says what --format takes.
func BatchBadFormat(text string, formats []string) string {
	return fmt.Sprintf("%q is not a format; the formats are %s", text, strings.Join(formats, ", "))
}

// BatchBadDeadline says what --deadline takes.
func BatchBadDeadline(text string) string {
	return fmt.Sprintf("%q is neither a duration nor a time in the future; write 8h, 06:30 or an RFC 3339 timestamp", text)
}

// BatchBadCost says what --max-cost takes.
func BatchBadCost(text string) string {
	return fmt.Sprintf("%q is not an amount in US dollars; write 20 or 0.50", text)
}

// BatchContinues says that a batch continues an earlier one.
func BatchContinues(path string, over, interrupted int, torn int64) string {
	text := fmt.Sprintf("continuing %s: %s already finished", path, count(over, "task"))
	if interrupted > 0 {
		text += fmt.Sprintf(", %d interrupted", interrupted)
	}
	if torn > 0 {
		text += fmt.Sprintf(", an incomplete last line of %d bytes removed", torn)
	}
	return text
}

// BatchDamaged says that lines of the results cannot be read.
func BatchDamaged(path string, lines int) string {
	return fmt.Sprintf("ignoring %s in %s", count(lines, "unreadable line"), path)
}

// BatchTaskFailed says that a task has failed.
func BatchTaskFailed(id, why string) string { return fmt.Sprintf("task %s failed: %s", id, why) }

// BatchMoreFailures says that failures are no longer reported as they happen.
func BatchMoreFailures(command string) string {
	return "further failures are only counted. See them with: " + command
}

// BatchWhy says why a command has failed of which only its exit code is known: by the last line of what it has said.
func BatchWhy(err, stderr string) string {
	said := lastWords(stderr)
	if said == "" {
		return err
	}
	return err + ": " + said
}

// BatchTaskSkipped says that a task was skipped.
func BatchTaskSkipped(id, on string) string {
	return fmt.Sprintf("task %s skipped because it depends on %s, which did not succeed", id, on)
}

// BatchProgress is how a batch stands.
type BatchProgress struct {
	Total, Done, Failed, Skipped, Running, Paused int
	Cost, Expected                                float64       // in US dollars; what is expected is 0 if that is not known
	Left                                          time.Duration // how long it will still take; 0 if that is not known
	Until                                         time.Time     // when the limit lifts that all wait for
	In                                            time.Duration // how long that is from now; 0 if it is over
	Doing                                         string        // what one of those that run does
}

// BatchNow says how a batch stands, in one line.
func BatchNow(p BatchProgress) string {
	return batchLine(fmt.Sprintf("%d of %d done", p.Done, p.Total), p, 0)
}

// BatchDoing says for how long one of the tasks has been running, and what it does if that is known.
func BatchDoing(task, doing string, elapsed time.Duration) string {
	if doing != "" {
		task += ": " + doing
	}
	return fmt.Sprintf("%s (%s)", task, printable.Span(elapsed.Truncate(time.Second)))
}

// BatchShort says how a batch stands, where there is little room.
func BatchShort(p BatchProgress) string {
	parts := []string{fmt.Sprintf("%d/%d done", p.Done, p.Total)}
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.Failed))
	}
	if p.Running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", p.Running))
	}
	switch {
	case !p.Until.IsZero():
		parts = append(parts, "limit lifts in "+printable.Span(p.In))
	case p.Left > 0:
		parts = append(parts, printable.Span(p.Left)+" left")
	}
	switch {
	case p.Cost > 0 && p.Expected > p.Cost:
		parts = append(parts, printable.Dollars(p.Cost)+" of "+printable.Dollars(p.Expected))
	case p.Cost > 0:
		parts = append(parts, printable.Dollars(p.Cost))
	}
	if p.Doing != "" {
		parts = append(parts, p.Doing)
	}
	return strings.Join(parts, ", ")
}

// batchLine is a line that begins with how many tasks are done. unfinished are those of a batch that has ended.
func batchLine(done string, p BatchProgress, unfinished int) string {
	parts := []string{done}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(p.Failed, "failed")
	add(p.Skipped, "skipped")
	add(p.Running, "running")
	add(p.Paused, "waiting for a limit")
	add(unfinished, "unfinished")
	if !p.Until.IsZero() {
		parts = append(parts, "limit lifts at "+When(p.Until))
		if p.In > 0 {
			parts[len(parts)-1] += " (in " + printable.Span(p.In) + ")"
		}
	} else if p.Left > 0 {
		parts = append(parts, "about "+printable.Span(p.Left)+" left")
	}
	switch {
	case p.Cost > 0 && p.Expected > p.Cost:
		parts = append(parts, fmt.Sprintf("%s of about %s", printable.Dollars(p.Cost), printable.Dollars(p.Expected)))
	case p.Cost > 0:
		parts = append(parts, printable.Dollars(p.Cost))
	}
	if p.Doing != "" {
		parts = append(parts, p.Doing)
	}
	return strings.Join(parts, ", ")
}

// BatchEnd says what has become of a batch.
func BatchEnd(p BatchProgress, took time.Duration) string {
	p.Left, p.Until, p.Doing, p.Running, p.Paused = 0, time.Time{}, "", 0, 0
	return batchLine(fmt.Sprintf("%d of %d done in %s", p.Done, p.Total, printable.Span(took)), p, p.Total-p.Done-p.Failed-p.Skipped)
}

// BatchStopped says why a batch has ended before its tasks have, and how to continue it.
func BatchStopped(why, again string) string { return sentences(why, "continue with: "+again) }

// BatchFatal says that no task can work.
func BatchFatal(err string) string { return sentences(err, "no more tasks were started") }

// BatchTooManyFailures says that a batch was stopped for its failures.
func BatchTooManyFailures(failed int) string {
	return fmt.Sprintf("stopped after %s", count(failed, "failure"))
}

// BatchCost says that a batch was stopped for its cost.
func BatchCost(spent, limit float64) string {
	return fmt.Sprintf("stopped: --max-cost is used up (%s of $%g)", printable.Dollars(spent), limit)
}

// BatchRaise says why a batch has ended before its tasks have, and that it would do so again unless --max-cost is raised.
func BatchRaise(why, again string) string { return sentences(why, "to continue, raise it: "+again) }

// BatchDeadlinePassed says that a batch was stopped at its deadline.
func BatchDeadlinePassed() string { return "stopped: --deadline has passed" }

// BatchLimit says that a batch does not wait for a limit.
func BatchLimit(why string, until time.Time) string {
	if until.IsZero() {
		return "stopped at a limit: " + why
	}
	return fmt.Sprintf("stopped at a limit until %s: %s", When(until), why)
}

// BatchInterrupted says that a batch was stopped by a signal.
func BatchInterrupted(signal string) string { return "stopped by " + signal }

// BatchStopping says that running tasks are asked to end.
func BatchStopping(tasks int) string {
	return sentences("stopping "+count(tasks, "running task"), "press Ctrl-C again to kill what is left")
}

// BatchRepeat says how failed tasks are run again.
func BatchRepeat(command string) string { return "to run the failed tasks again: " + command }

// BatchOutputDir says that outputs cannot be written there.
func BatchOutputDir(dir string, err error) string {
	return fmt.Sprintf("cannot write outputs to %s: %v", dir, err)
}

// BatchWouldRun says how many tasks a batch would run.
func BatchWouldRun(tasks, over int) string {
	if over == 0 {
		return fmt.Sprintf("%s to run", count(tasks, "task"))
	}
	return fmt.Sprintf("%s to run, %d already finished", count(tasks, "task"), over)
}

// BatchAtLeast says what the tasks of a batch will cost at least.
func BatchAtLeast(dollars float64, basis string) string {
	return fmt.Sprintf("at least %s (%s)", printable.Dollars(dollars), basis)
}

// BatchByPrompts says what a lower bound of the cost is made of.
func BatchByPrompts(model string) string { return "the prompts alone, at the price of " + model }

// BatchCostNotKnown says that there is no price to expect.
func BatchCostNotKnown() string { return "unknown, because there is no price for the model" }

// BatchNoResults says that there are no results.
func BatchNoResults(path string) string { return fmt.Sprintf("%s has no results", path) }

// BatchHeld says which process runs a batch.
func BatchHeld(pid int, host string, since time.Time) string {
	return fmt.Sprintf("running: process %d on %s, started %s", pid, host, since.Local().Format("2006-01-02 15:04:05"))
}

// BatchIdle says that no process runs a batch.
func BatchIdle() string { return "not running" }

// BatchManyTasks says that there is a word too much.
func BatchManyTasks(word string) string {
	return fmt.Sprintf("unexpected argument %q; the command goes after --", word)
}

// BatchWhereTo says that results of tasks without a file need one.
func BatchWhereTo() string { return "tasks from stdin need a file for the results" }

// BatchWhichResults says that a file of results is missing.
func BatchWhichResults() string { return "expected one results file" }

// BatchResultsUnreadable says that results cannot be read.
func BatchResultsUnreadable(path string, err error) string {
	return fmt.Sprintf("cannot read results from %s: %v", path, err)
}

// LimitUntil says what a task waits for.
func LimitUntil(t time.Time) string { return "waiting for a limit until " + When(t) }

// BatchByEarlier says what the tasks will probably cost, by earlier runs of that name.
func BatchByEarlier(dollars, median float64, runs int, name string) string {
	return fmt.Sprintf("about %s (the median of %s named %s is %s)", printable.Dollars(dollars), count(runs, "earlier run"), name, printable.Dollars(median))
}

// BatchAutoJobs says that the number of tasks at a time finds itself.
func BatchAutoJobs(most int) string { return fmt.Sprintf("auto, at most %d at a time", most) }
