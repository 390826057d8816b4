package message

import (
	"fmt"
	"strconv"
	"strings"
)

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

// BatchUnwritable says that the results cannot be written.
func BatchUnwritable(path string, err error) string {
	return fmt.Sprintf("cannot write results to %s: %v", path, err)
}

// BatchTask is what a task is called: by its id, or by its line if it has no id.
func BatchTask(id string, line int) string {
	if line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return id
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

// BatchWhy says why a command has failed of which only its exit code is known: by the last line of what it has said.
func BatchWhy(err, stderr string) string {
	said := lastWords(stderr)
	if said == "" || strings.Contains(err, said) { // the results of an earlier version say it apart
		return err
	}
	return err + ": " + said
}

// BatchTaskTooLarge says that a task is larger than any CLI takes.
func BatchTaskTooLarge(mib int) string { return fmt.Sprintf("the task is larger than %d MiB", mib) }

// BatchDependsIsIDs says what depends_on is.
func BatchDependsIsIDs() string { return "depends_on must be an id or a list of ids" }

// BatchNegativeCost says what max_cost is.
func BatchNegativeCost() string { return "max_cost must be a number of US dollars, at least 0" }

// BatchNotADuration says what a duration is.
func BatchNotADuration(text string) string {
	return fmt.Sprintf("%q is not a duration; write 30s, 5m or plain seconds", text)
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

// BatchTasksChanged says that the tasks are not those that were checked.
func BatchTasksChanged(path string) string {
	return fmt.Sprintf("%s has changed since the batch was started", path)
}

// BatchNoTasks says that no tasks were given.
func BatchNoTasks() string { return "no tasks given" }

// BatchTasksUnreadable says that the tasks cannot be read.
func BatchTasksUnreadable(path string, err error) string {
	return fmt.Sprintf("cannot read tasks from %s: %v", path, err)
}
