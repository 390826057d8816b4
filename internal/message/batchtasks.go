package message

import (
	"fmt"
	"strconv"
	"strings"
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

// BatchDependsIsIDs says what depends_on is.
func BatchDependsIsIDs() string { return "depends_on must be an id or a list of ids" }

// BatchNegativeCost says what max_cost is.
func BatchNegativeCost() string { return "max_cost must be a number of US dollars, at least 0" }

// BatchNotADuration says what a duration is.
func BatchNotADuration(text string) string {
	return fmt.Sprintf("%q is not a duration; write 30s, 5m or plain seconds", text)
}

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
