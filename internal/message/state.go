package message

import (
	"errors"
	"fmt"
	"io/fs"
)

// NoRecord says that a run is not recorded. without is what it therefore runs without.
func NoRecord(without []string, err error) string {
	if len(without) > 0 {
		return fmt.Sprintf("this run is not recorded and runs without %s: %v", and(without), err)
	}
	return fmt.Sprintf("this run is not recorded: %v", err)
}

// LogOff says that a log that was asked for cannot be written.
func LogOff(dir string, err error) string {
	return fmt.Sprintf("cannot write the log in %s: %v", dir, err)
}

// LogSkipped says that a log that was not asked for is not written.
func LogSkipped(dir string, err error) string { return fmt.Sprintf("no log in %s: %v", dir, err) }

// NotADirectory says that something else stands where a directory should.
func NotADirectory(path string) string { return path + " is not a directory" }

// FirstLog says that a log has been begun in the working directory.
func FirstLog(name, path string) string {
	return fmt.Sprintf("runs of %s are also logged to %s. To turn that off: --log-dir none", name, path)
}

// GitHubTrouble says that a job of GitHub Actions was not told how the run went.
func GitHubTrouble(err error) string { return fmt.Sprintf("cannot report to GitHub Actions: %v", err) }

// LogLarge says that the log has grown.
func LogLarge(path string) string {
	return fmt.Sprintf("the log is larger than 100 MiB: %s. To remove old entries: belay prune --older-than 90d", path)
}

// OwnLogLarge says that the log beside an agent's work has grown.
func OwnLogLarge(name, path string) string {
	return fmt.Sprintf("%s's own log is larger than 100 MiB: %s. Move it away, or turn it off with --log-dir none", name, path)
}

// ResultNotWritten says that the result could not be written.
func ResultNotWritten(to string, err error) string {
	return fmt.Sprintf("cannot write the result to %s: %v", to, err)
}

// NotPrinted says that what a command prints did not arrive on stdout.
func NotPrinted(err error) string {
	if wrote, ok := errors.AsType[*fs.PathError](err); ok { // whose path is only a name for it
		err = wrote.Err
	}
	return fmt.Sprintf("cannot write to stdout: %v", err)
}

// NoServerRecord says that an MCP server is not recorded.
func NoServerRecord(err error) string { return fmt.Sprintf("this server is not recorded: %v", err) }
