package message

import (
	"fmt"
	"strings"
)

// NoRecord says that nothing of a run is put on record. without is what it therefore goes on without.
func NoRecord(without []string, err error) string {
	text := ""
	if len(without) > 0 {
		text = ", and it goes on without " + strings.Join(without, " and ")
	}
	return fmt.Sprintf("no record is kept of this run%s: %v", text, err)
}

// LogOff says that a log that was asked for cannot be written.
func LogOff(dir string, err error) string {
	return fmt.Sprintf("the log in %s cannot be written: %v", dir, err)
}

// LogSkipped says that a log that was not asked for is not written.
func LogSkipped(dir string, err error) string {
	return fmt.Sprintf("no log is kept in %s: %v", dir, err)
}

// NotADirectory says that something else stands where a directory should.
func NotADirectory(path string) string { return path + " is no directory" }

// LogLarge says that the log has grown.
func LogLarge(path string) string {
	return fmt.Sprintf("the log has passed 100 MiB: %s; to forget what is old: belay prune --older-than 90d", path)
}

// OwnLogLarge says that the log beside an agent's work has grown.
func OwnLogLarge(name, path string) string {
	return fmt.Sprintf("%s's own log has passed 100 MiB: %s; move it away, or turn it off with --log-dir none", name, path)
}

// ResultNotWritten says that the result could not be written.
func ResultNotWritten(to string, err error) string {
	return fmt.Sprintf("the result could not be written to %s: %v", to, err)
}

// NoServerRecord says that nothing of an MCP server is put on record.
func NoServerRecord(err error) string {
	return fmt.Sprintf("no record is kept of this server: %v", err)
}
