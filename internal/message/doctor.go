package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// Problems is the last line of belay doctor.
func Problems(n int) string {
	if n == 0 {
		return "no problems found"
	}
	return Count(n, "problem") + " found"
}

// CLIMissing says that a CLI is not installed.
func CLIMissing() string { return "not found on the PATH" }

// CLIVersion says where a CLI is and which version it has. tested says what is known of that version, if anything.
func CLIVersion(path, version, tested string) string {
	text := fmt.Sprintf("%s, version %s", path, version)
	if tested != "" {
		text += ", " + tested
	}
	return text
}

// CLITested says that a version of a CLI is tested. standing is what is to say if it is not, and outside that it is neither between
// versions that are.
func CLITested(standing string, outside bool) string {
	switch {
	case standing == "":
		return "tested"
	case outside:
		return "not tested: " + standing
	}
	return standing
}

// CLISilent says that a CLI does not tell its version.
func CLISilent(path string, err error) string {
	return fmt.Sprintf("cannot get the version of %s: %v", path, err)
}

// GateOpened says that the breaker of a gate is open; until is zero if that is until a reset.
func GateOpened(key string, until time.Time, reason string) string {
	when := "it is reset"
	if !until.IsZero() {
		when = until.Format(time.DateTime)
	}
	return fmt.Sprintf("the breaker of %s is open until %s: %s", key, when, reason)
}

// ClockBehind says that the clock is behind the newest entry of the log.
func ClockBehind(now time.Time, by time.Duration) string {
	return fmt.Sprintf("set to %s, but the newest entry of the log is %s later", now.Format(time.DateTime), printable.Span(by))
}

// StateNotCreated says that the state directory cannot be made.
func StateNotCreated(dir string, err error) string {
	return Sentences(fmt.Sprintf("cannot create %s: %v", dir, err), withoutState)
}

// StateUnusable says that the state directory cannot be used.
func StateUnusable(why string) string { return Sentences(why, withoutState) }

const withoutState = "runs continue without gates and without a record"

// OthersCanRead says that other users can read what Belay keeps.
func OthersCanRead(path string) string { return "other users can read " + path }

// RunsKilled says that killed runs left processes.
func RunsKilled(n int) string {
	return fmt.Sprintf("%s %s killed and left processes running", Count(n, "run"), Verb(n, "was", "were"))
}

// DiskFree says how much room there is.
func DiskFree(size string) string { return size + " free" }

// DatabaseUnchecked says that the database was not checked because belayd is missing or does not answer.
func DatabaseUnchecked(missing bool) string {
	why := "did not answer"
	if missing {
		why = "is missing"
	}
	return "the database was not checked because belayd " + why
}

// DatabaseFine says what is in the database: runs is "12 runs". torn is how many lines of the log were not written to their end.
func DatabaseFine(runs, size string, torn int, older bool) string {
	list := []string{runs + " in " + size}
	if torn > 0 {
		list = append(list, Count(torn, "line")+" of the log cut off by a kill")
	}
	if older {
		list = append(list, "made by an older version, updated by the next query")
	}
	return strings.Join(list, "; ")
}
