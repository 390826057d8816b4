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

// FleetJobsAway says that PostgreSQL cannot be reached by a machine that works on jobs.
func FleetJobsAway(err error) string {
	return fmt.Sprintf("%v. Running jobs continue, and no new ones are taken until it is back", err)
}

// FleetJobsBack says that PostgreSQL is there again.
func FleetJobsBack() string { return "PostgreSQL is back" }

// FleetJobRefused says that this machine does not run a job.
func FleetJobRefused(task string, why error) string {
	return fmt.Sprintf("task %s is left to other machines: %v", task, why)
}

// FleetTooLate says that a machine was silent for so long that its job was given to another one.
func FleetTooLate(task string) string {
	return fmt.Sprintf("task %s was given to another machine, because this one was not heard of for too long; what it did does not count", task)
}

// FleetDeliveredAgain says that a job has come again that this machine has finished.
func FleetDeliveredAgain(task string) string {
	return fmt.Sprintf("task %s has run on this machine already, and is not run again; its result is delivered again", task)
}

// FleetResultNotKept says that a result which PostgreSQL does not have yet cannot be written to disk.
func FleetResultNotKept(task string, err error) string {
	return fmt.Sprintf("cannot write the result of task %s to disk: %v. If this machine is killed before PostgreSQL has it, the task runs again", task, err)
}

// FleetNoneHas says that tasks wait because no machine can run them.
func FleetNoneHas(needs []string) string {
	if len(needs) == 0 {
		return "no machine of the fleet works on jobs; tasks wait for one. Start it there with: belay fleet join --workers 4"
	}
	list := strings.Join(needs, ",")
	return fmt.Sprintf("no machine of the fleet works on jobs that need %s; they wait for one. Start it there with: belay fleet join --workers 4 --label %s", list, list)
}

// FleetCommandNotAllowed says that the machine does not run a command for others.
func FleetCommandNotAllowed(command string) string {
	return fmt.Sprintf("%s is not among what jobs may run here (allow in [fleet])", printable.Line(command))
}

// FleetPlainRefused says that a job gives a CLI an argument that may start something else.
func FleetPlainRefused(cli, argument string) string {
	return fmt.Sprintf("jobs may run %s only plain here, and not with %s (allow in [fleet])", cli, printable.Line(argument))
}

// FleetPlainFiles says that a job brings files, in which settings may start something else.
func FleetPlainFiles(cli string) string {
	return fmt.Sprintf("jobs may run %s only plain here, and not on files that they bring (allow in [fleet])", cli)
}

// FleetNotPlain says that a CLI cannot be kept from running commands by its arguments.
func FleetNotPlain(cli string) string {
	return fmt.Sprintf("%s:plain: %s may run commands whatever its arguments are; allow %s, or leave it out", cli, cli, cli)
}

// FleetEnvNotAllowed says that the machine does not take a variable from others.
func FleetEnvNotAllowed(name string) string {
	return fmt.Sprintf("jobs may not set %s here (allow_env in [fleet])", printable.Line(name))
}

// FleetFlagNotAllowed says that a job may not give a setting.
func FleetFlagNotAllowed(name string) string {
	return fmt.Sprintf("jobs may not set --%s", printable.Line(name))
}

// FleetFlagSet says that a job may not change a setting that the machine's own user has set.
func FleetFlagSet(name string) string {
	return fmt.Sprintf("jobs may not change --%s here, which is set in the settings of this machine", printable.Line(name))
}

// FleetGateNotAllowed says that a job may not leave the gate of its CLI, where holds are set.
func FleetGateNotAllowed(cli string) string {
	return fmt.Sprintf("jobs may not set --gate for %s, which has a gate of its own", printable.Line(cli))
}

// FleetFallbackNotAllowed says that the machine does not run a fallback for others.
func FleetFallbackNotAllowed(cli string) string {
	return fmt.Sprintf("jobs may not fall back to %s, which is not among what they may run here (allow in [fleet])", printable.Line(cli))
}

// FleetLabelMissing says that a job has come to a machine that it is not for.
func FleetLabelMissing(label string) string {
	return fmt.Sprintf("the task needs a machine with the label %s", printable.Line(label))
}

// FleetNeedsChanged says that a job has come by way of labels that its submitter has not given.
func FleetNeedsChanged() string {
	return "the labels that the task needs were changed in PostgreSQL after it was submitted"
}

// FleetExpired says that no machine has begun a job in time.
func FleetExpired(at string) string {
	return fmt.Sprintf("the task was not begun: it has expired at %s UTC, by PostgreSQL's clock (--expires)", at)
}

// FleetBadExpiry says that a job would expire at once.
func FleetBadExpiry(text string) string {
	return fmt.Sprintf("%q is not a time from now, such as 12h", text)
}

// FleetNoDir says that a job's directory is not there.
func FleetNoDir(dir string) string {
	return fmt.Sprintf("there is no directory %s here", printable.Line(dir))
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

// FleetSubmitterTakesLess says that the belay that has submitted a job is older than the worker.
func FleetSubmitterTakesLess() string {
	return "the belay that has submitted the task takes at most 256 MiB. Upgrade it"
}

// FleetSubmitterAway says that PostgreSQL cannot be reached by the belay that has submitted jobs.
func FleetSubmitterAway(err error) string {
	return fmt.Sprintf("%v. Jobs that machines work on continue; waiting until it is back", err)
}

// FleetJobsLost says that PostgreSQL does not know jobs any more that were submitted to it.
func FleetJobsLost(n int) string {
	return fmt.Sprintf("PostgreSQL has lost %s of this batch, as after a restore. Start the batch again: what is done stays done", count(n, "job"))
}

// FleetCourierEnded says that belayd, which speaks with the fleet, has ended.
func FleetCourierEnded() string { return "belayd, which speaks with the fleet, has ended" }

// FleetKept is what a job does whose machine has gone, for as long as it waits for that machine.
func FleetKept() string { return "waiting for its session" }

// FleetDoing says what a machine is doing.
func FleetDoing(machine, doing string) string {
	if doing == "" {
		return "on " + machine
	}
	return fmt.Sprintf("%s on %s", doing, machine)
}

// FleetOn says which machine something is about.
func FleetOn(machine, what string) string { return fmt.Sprintf("on %s: %s", machine, what) }

// FleetBadKey says that a file is no key.
func FleetBadKey(path string) string {
	return fmt.Sprintf("%s is not a key of a fleet, which has 64 hexadecimal digits, or of a submitter", path)
}

// FleetKeyWithdrawn says that the key of a submitter is not valid.
func FleetKeyWithdrawn(name string) string {
	return fmt.Sprintf("the key of the submitter %s was withdrawn, or is not of this fleet", name)
}

// FleetKeyOnlySubmits says that the key of a submitter is not enough.
func FleetKeyOnlySubmits(path string) string {
	return fmt.Sprintf("%s has the key of a submitter, which only submits jobs; this needs the key that belay fleet init has made", path)
}

// FleetKeysNeedKey says that a fleet that encrypts nothing has no submitters.
func FleetKeysNeedKey() string {
	return "the jobs of this fleet are not encrypted, so submitters need no keys"
}

// FleetBadSubmitter says that a submitter cannot have this name.
func FleetBadSubmitter(name string) string {
	return fmt.Sprintf("%q is not a name for a submitter: up to 40 letters, digits and . _ -", printable.Line(name))
}

// FleetWhichSubmitter says that a command needs the name of a submitter.
func FleetWhichSubmitter(command string) string {
	return fmt.Sprintf("which submitter? For example: belay %s ann", command)
}

// FleetKeyThere says that a submitter has a key already.
func FleetKeyThere(name string) string {
	return fmt.Sprintf("%s has a key already; withdraw it first with: belay fleet key remove %s", name, name)
}

// FleetNoSubmitter says that no submitter has this name.
func FleetNoSubmitter(name string) string {
	return fmt.Sprintf("there is no key of %s; see: belay fleet key list", printable.Line(name))
}

// FleetNoSubmitters says that the fleet's key is the only one.
func FleetNoSubmitters() string {
	return "no submitter has a key of its own; make one with: belay fleet key add NAME -o FILE"
}

// FleetKeyOnTerminal says that a key is not shown.
func FleetKeyOnTerminal() string {
	return "the key would be shown on this terminal; write it to a file with -o FILE, or show it with -o -"
}

// FleetKeyAdded says where the key of a submitter is.
func FleetKeyAdded(name, path string) string {
	return fmt.Sprintf("the key of %s is in %s; on the machine that submits, it belongs in .config/belay/fleet.key", name, path)
}

// FleetKeyRemoved says that the key of a submitter was withdrawn.
func FleetKeyRemoved(name string) string { return "withdrew the key of " + name }

// FleetKeyMade says where the key of a new fleet is.
func FleetKeyMade(path string) string {
	return fmt.Sprintf("jobs are encrypted with the key in %s; copy it to each machine that submits jobs or works on them", path)
}

// FleetKeyMissing says that this machine has no key.
func FleetKeyMissing(path string) string {
	return fmt.Sprintf("the jobs of this fleet are encrypted, and there is no key in %s; copy it from a machine that has it", path)
}

// FleetWrongKey says that this machine has the key of another fleet.
func FleetWrongKey() string {
	return "the key on this machine is not the key of this fleet; copy it from a machine of the fleet"
}

// FleetNotEncrypted says that the machine has a key and the fleet none.
func FleetNotEncrypted() string {
	return "this machine has a key, and the jobs of this fleet are not encrypted; name another file with BELAY_FLEET_KEY, or remove the key"
}

// FleetBadWorkers says that a number of workers is none.
func FleetBadWorkers(text string) string {
	return fmt.Sprintf("--workers: %q is not a number between 0 and 1000", text)
}

// FleetNothingAllowed says that a machine which is to work on jobs allows none.
func FleetNothingAllowed(path string) string {
	return fmt.Sprintf(`--workers: this machine allows no jobs yet. Say what they may run, such as --allow claude, or in %s: [fleet] allow = ["claude", "/srv/work"]`, path)
}

// FleetRefusedByAll says that no machine runs a job.
func FleetRefusedByAll(why string) string { return "no machine runs it: " + why }
