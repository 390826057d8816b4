package message

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// FleetPooler says that something between Belay and PostgreSQL shares connections between clients.
func FleetPooler(address string) string {
	return fmt.Sprintf("the pooler at %s shares connections between clients; PgBouncer needs pool_mode = session for a fleet, not transaction", address)
}

// FleetNewer says that a later Belay has changed the tables.
func FleetNewer(there, ours int) string {
	return fmt.Sprintf("the fleet has schema version %d, and this belay knows %d; upgrade belay on this machine", there, ours)
}

// FleetReady says what belay fleet init has done.
func FleetReady(address string, from, to int) string {
	switch {
	case from == 0:
		return fmt.Sprintf("created the fleet at %s; on each machine, run: belay fleet join", address)
	case from < to:
		return fmt.Sprintf("upgraded the fleet at %s from schema version %d to %d", address, from, to)
	}
	return fmt.Sprintf("the fleet at %s is up to date", address)
}

// FleetNoMachine says that no machine has this name.
func FleetNoMachine(name string) string {
	return fmt.Sprintf("there is no machine %s in the fleet; see: belay fleet status", name)
}

// FleetDraining says that a machine was asked to leave.
func FleetDraining(name string) string {
	return name + " finishes what it is doing, and then leaves the fleet"
}

// FleetRemoved says that a machine is forgotten.
func FleetRemoved(name string) string { return "removed " + name + " from the fleet" }

// FleetWaiting says that a machine which is to join waits until PostgreSQL can be reached.
func FleetWaiting(err error) string { return fmt.Sprintf("%v; waiting until it can be reached", err) }

// FleetLocalTrouble says that a file of this machine could not be read or written.
func FleetLocalTrouble(what string, err error) string {
	return fmt.Sprintf("cannot share %s with the fleet: %v", what, err)
}

// FleetAway says that a machine has not been heard of for some time.
func FleetAway(name, silent string) string {
	return fmt.Sprintf("%s was last seen %s ago, and is left out here", name, silent)
}

// NeedsFleet says that a flag means something only with --fleet.
func NeedsFleet(flag string) string { return flag + " needs --fleet" }

// FleetAsOf says that PostgreSQL could not be asked, and how old what is shown is.
func FleetAsOf(why error, at, age string) string {
	return Sentences(why.Error(), fmt.Sprintf("this is the fleet as of %s, %s ago", at, age))
}

// FilesUnknown says that a value of --files is invalid.
func FilesUnknown(key, by string) string {
	return fmt.Sprintf("%s: %q is not one of path, git and archive", key, by)
}

// GitFailed says that git has failed, and the line in which it says why: the first with "fatal" or "error", or the last one.
func GitFailed(command string, code int, said string) string {
	said = strings.TrimSpace(said)
	why := regexp.MustCompile("(?m)^(fatal|error): .*").FindString(said)
	why = printable.Line(cmp.Or(why, said[strings.LastIndex(said, "\n")+1:], "no reason given"))
	return fmt.Sprintf("git %s ended with exit code %d: %s", command, code, printable.CutEnd(why, 300, "…"))
}

// FilesDirty says that a directory has changes that are in no commit.
func FilesDirty(dir, first string, more int) string {
	what := printable.Line(first)
	if more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s has changes that are not committed (%s); other machines would work without them. Commit and push them, or use --files archive", printable.Line(dir), what)
}

// FilesNotPushed says that other machines cannot get a commit.
func FilesNotPushed(commit, remote string) string {
	if remote == "" {
		return fmt.Sprintf("commit %.12s is on no branch and no tag, so other machines cannot fetch it. Create a branch for it first", commit)
	}
	return fmt.Sprintf("commit %.12s is on no branch of %s, as far as is known here. Push it, or use --files archive", commit, printable.Line(remote))
}

// FilesNoSubDir says that the files of a job have no such directory.
func FilesNoSubDir(dir string) string {
	return fmt.Sprintf("there is no directory %s in the files of the job", printable.Line(dir))
}

// FilesLeftOut says that something is not sent.
func FilesLeftOut(dir, first string, more int) string {
	what := printable.Line(first)
	if more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("links are not sent. Left out of %s: %s", printable.Line(dir), what)
}

// FilesNoArchive says that the files of a job are not there.
func FilesNoArchive() string { return "the files of the job are gone, or were changed" }

// FilesBadArchive says that an archive cannot be read.
func FilesBadArchive(err error) string {
	return fmt.Sprintf("the files of the job cannot be unpacked: %v", err)
}

// FilesBadEntry says that an archive has an entry that Belay never packs.
func FilesBadEntry(name string) string {
	return fmt.Sprintf("the files of the job cannot be unpacked: %s is not allowed", printable.Line(fmt.Sprintf("%.200q", name)))
}

// FilesArchiveTooLarge says that an archive has more in it than is unpacked.
func FilesArchiveTooLarge() string { return "the files of the job are too large to be unpacked" }

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
