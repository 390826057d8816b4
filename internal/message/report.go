package message

import (
	"time"
)

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
