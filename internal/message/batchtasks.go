package message

import (
	"fmt"
	"strconv"
	"strings"
)

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
