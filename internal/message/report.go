package message

import (
	"fmt"
	"time"
)

// NotAReportFormat says that a report cannot be written so.
func NotAReportFormat(format string) string {
	return fmt.Sprintf("--format: %q is not html or md", format)
}

// ReportHeading is the title of a report about the time between two moments; without the first it is about all that is on record when it is made.
func ReportHeading(from, to *time.Time, made time.Time) string {
	const layout = "2006-01-02 15:04"
	switch {
	case from == nil:
		return "## belay: all runs until " + made.Local().Format(layout)
	case to == nil:
		return "## belay: runs since " + from.Local().Format(layout)
	}
	return "## belay: runs between " + from.Local().Format(layout) + " and " + to.Local().Format(layout)
}

// ReportFigures are the columns of the figures of a report.
func ReportFigures() string {
	return "| runs | succeeded | attempts | waited | cost | lost to failures |"
}

// ReportModels are the columns of the table by model.
func ReportModels() string { return "| model | runs | input tokens | output tokens | cost |" }

// ReportProfiles are the columns of the table by profile.
func ReportProfiles() string { return "| profile | runs | succeeded | attempts | waited |" }

// ReportClasses are the columns of the table of failed attempts.
func ReportClasses() string { return "| failed attempts by class | |" }

// ReportFailed are the columns of the table of failed runs.
func ReportFailed() string { return "| ended | command | class | error |" }
