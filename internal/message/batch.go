package message

import (
	"fmt"
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
