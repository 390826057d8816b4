package message

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// FleetNoPayload says that a job has nothing to run.
func FleetNoPayload() string { return "the job has no content" }

// FleetOtherKey says that the key of this machine does not open a job.
func FleetOtherKey() string {
	return "the job was encrypted with another key than this machine's; all machines of the fleet need the same key file"
}

// FleetResultUnreadable says that the result of a job cannot be used.
func FleetResultUnreadable(err error) string { return fmt.Sprintf("cannot read the result: %v", err) }

// FleetJobsBack says that PostgreSQL is there again.
func FleetJobsBack() string { return "PostgreSQL is back" }

// FleetTooLate says that a machine was silent for so long that its job was given to another one.
func FleetTooLate(task string) string {
	return fmt.Sprintf("task %s was given to another machine, because this one was not heard of for too long; what it did does not count", task)
}

// FleetNoneHas says that tasks wait because no machine can run them.
func FleetNoneHas(needs []string) string {
	if len(needs) == 0 {
		return "no machine of the fleet works on jobs; tasks wait for one. Start it there with: belay fleet join --workers 4"
	}
	list := strings.Join(needs, ",")
	return fmt.Sprintf("no machine of the fleet works on jobs that need %s; they wait for one. Start it there with: belay fleet join --workers 4 --label %s", list, list)
}

// FleetFlagNotAllowed says that a job may not give a setting.
func FleetFlagNotAllowed(name string) string {
	return fmt.Sprintf("jobs may not set --%s", printable.Line(name))
}

// FleetDirNotAllowed says that the machine lets no job work in a directory.
func FleetDirNotAllowed(dir string) string {
	return fmt.Sprintf("%s is not in a directory that jobs may use here (allow in [fleet])", printable.Line(dir))
}

// FleetNoFolder says that a job cannot be prepared.
func FleetNoFolder(err error) string { return fmt.Sprintf("cannot prepare the job: %v", err) }

// FleetNoResult says that belay run has left no result.
func FleetNoResult(code int, stderr string) string {
	if stderr != "" {
		stderr = ": " + stderr
	}
	return fmt.Sprintf("belay run ended with exit code %d and no result%s", code, stderr)
}

// FleetResultTooLarge says that a command has ended, and that its result cannot be carried to the submitter.
func FleetResultTooLarge(mib int, err error) string {
	return fmt.Sprintf("the command has ended, but its result of about %d MiB cannot be carried: %v", mib, err)
}

// FleetKeyWithdrawn says that the key of a submitter is not valid.
func FleetKeyWithdrawn(name string) string {
	return fmt.Sprintf("the key of the submitter %s was withdrawn, or is not of this fleet", name)
}

// FleetKeyOnlySubmits says that the key of a submitter is not enough.
func FleetKeyOnlySubmits(path string) string {
	return fmt.Sprintf("%s has the key of a submitter, which only submits jobs; this needs the key that belay fleet init has made", path)
}
