package message

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

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

// BatchCostOff says that the cost of running tasks cannot be counted together.
func BatchCostOff(err error) string {
	return fmt.Sprintf("--max-cost only counts tasks that have ended: %v", err)
}

// BatchRaise says why a batch has ended before its tasks have, and that it would do so again unless --max-cost is raised.
func BatchRaise(why, again string) string { return sentences(why, "to continue, raise it: "+again) }

// BatchLack says that fewer tasks run at a time than were asked for because something is missing here.
func BatchLack(why string) string {
	return "running fewer tasks at a time: " + why
}

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

// BatchNoResults says that there are no results.
func BatchNoResults(path string) string { return fmt.Sprintf("%s has no results", path) }

// BatchResultsUnreadable says that results cannot be read.
func BatchResultsUnreadable(path string, err error) string {
	return fmt.Sprintf("cannot read results from %s: %v", path, err)
}
