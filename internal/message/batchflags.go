package message

import (
	"fmt"
	"strings"
)

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

// BatchManyTasks says that there is a word too much.
func BatchManyTasks(word string) string {
	return fmt.Sprintf("unexpected argument %q; the command goes after --", word)
}

// BatchWhereTo says that results of tasks without a file need one.
func BatchWhereTo() string { return "tasks from stdin need a file for the results" }

// BatchWhichResults says that a file of results is missing.
func BatchWhichResults() string { return "expected one results file" }
