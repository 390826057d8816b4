package message

import (
	"fmt"
	"strings"
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

// BatchNotResults says that a file is of another kind.
func BatchNotResults() string {
	return "the file holds something other than the results of a batch"
}

// BatchNotOurs says that a file which has the name of one of Belay's was not made by it.
func BatchNotOurs(path string) string {
	return Sentences(NotMadeByBelay(path), "move it away, or choose another file with -o")
}

// NotMadeByBelay says that something has the name of one of Belay's files, and is left as it is.
func NotMadeByBelay(path string) string { return fmt.Sprintf("%s was not made by Belay", path) }

// BatchAmongTasks says that what is written there would be a task at the next start.
func BatchAmongTasks(dir string) string {
	return fmt.Sprintf("each file in %s is a task", dir)
}

// BatchResultsLost says that another program has taken results away.
func BatchResultsLost(path string, ids []string, tasks int) string {
	text := fmt.Sprintf("another program has removed results from %s: of %s", path, Count(tasks, "task"))
	if len(ids) == 0 {
		return text
	}
	names := strings.Join(ids, ", ")
	if more := tasks - len(ids); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return text + " (" + names + ")"
}

// BatchOutputKept says that the output of a task is in the results, because it could not get a file of its own.
func BatchOutputKept(id string, why error) string {
	return Sentences(why.Error(), fmt.Sprintf("the output of task %s is in the results", id))
}

// BatchUnwritable says that the results cannot be written.
func BatchUnwritable(path string, err error) string {
	return fmt.Sprintf("cannot write results to %s: %v", path, err)
}

// BatchContinues says that a batch continues an earlier one.
func BatchContinues(path string, over, interrupted int, torn int64) string {
	text := fmt.Sprintf("continuing %s: %s already finished", path, Count(over, "task"))
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
	return fmt.Sprintf("ignoring %s in %s", Count(lines, "unreadable line"), path)
}

// BatchTask is what a task is called: by its id, or by its line if it has no id.
func BatchTask(id string, line int) string {
	if line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return id
}

// batchTask is the same within a sentence.
func batchTask(id string, line int) string {
	if line > 0 {
		return BatchTask(id, line)
	}
	return "task " + id
}

// TaskOfBatch says which task of a batch a run is, in a few words. An id that the batch has made itself tells a person nothing: then it is the line.
func TaskOfBatch(batch, id string, line int) string {
	const made = 12 // digits, and a number after a dash for one of several equal tasks
	if strings.Trim(id[:min(len(id), made)], "0123456789abcdef") != "" || len(id) < made || len(id) > made && id[made] != '-' {
		line = 0
	}
	return batch + " " + BatchTask(id, line)
}

// TaskAndLine says which task of a batch a run is, of which both are known; line is 0 if it has none.
func TaskAndLine(id string, line int) string {
	if line > 0 && id != "" {
		return fmt.Sprintf("%s (line %d)", id, line)
	}
	return id
}

// BatchTaskFailed says that a task has failed.
func BatchTaskFailed(id string, line int, why string) string {
	return fmt.Sprintf("%s failed: %s", batchTask(id, line), why)
}

// BatchWhy says why a command has failed of which only its exit code is known: by the last line of what it has said.
func BatchWhy(err, stderr string) string {
	said := lastWords(stderr)
	if said == "" || strings.Contains(err, said) { // the results of an earlier version say it apart
		return err
	}
	return err + ": " + said
}

// BatchTaskSkipped says that a task was skipped.
func BatchTaskSkipped(id string, line int, on string) string {
	return fmt.Sprintf("%s skipped because it depends on %s, which did not succeed", batchTask(id, line), on)
}

// BatchCost says that a batch was stopped for its cost.
func BatchCost(spent, limit float64) string {
	return fmt.Sprintf("stopped: --max-cost is used up (%s of $%g)", printable.Dollars(spent), limit)
}

// BatchLimit says that a batch does not wait for a limit.
func BatchLimit(why string, until time.Time) string {
	if until.IsZero() {
		return "stopped at a limit: " + why
	}
	return fmt.Sprintf("stopped at a limit until %s: %s", When(until), why)
}

// BatchInterrupted says that a batch was stopped by a signal.
func BatchInterrupted(signal string) string { return "stopped by " + signal }
