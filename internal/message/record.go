package message

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// NothingOnRecord says that there is nothing to list: events, sessions, alerts, or anything if what is empty.
func NothingOnRecord(what string) string {
	if what == "" {
		return "nothing on record"
	}
	return fmt.Sprintf("no %s on record", what)
}

// NotOnRecord stands for the result of a run that is not on record.
func NotOnRecord() string { return "not on record" }

// SinceAfterUntil says that a period has no length.
func SinceAfterUntil(since, until string) string {
	return fmt.Sprintf("--since %s is not before --until %s", since, until)
}

// Pruned says what was deleted: "3 runs", "2 session files" and "1 old log". dry says that it would be.
func Pruned(dry bool, runs string, before time.Time, sessions, logs string) string {
	did := "deleted"
	if dry {
		did = "would delete"
	}
	return fmt.Sprintf("%s %s from before %s, %s, %s", did, runs, before.Format(time.DateTime), sessions, logs)
}

// PrunedOutputs says how many outputs of detached runs were deleted. dry says that they would be.
func PrunedOutputs(dry bool, outputs int) string {
	did := "deleted"
	if dry {
		did = "would delete"
	}
	return fmt.Sprintf("%s the output of %s", did, Count(outputs, "detached run"))
}

// AlertWebhook says that the webhook for alerts failed.
func AlertWebhook(why any) string { return fmt.Sprintf("alert webhook: %v", why) }

// RecordFull says that there is no room for the record.
func RecordFull(dir string, err error) string {
	return Sentences(fmt.Sprintf("cannot create the record in %s: disk full (%v)", dir, err), logIsThere)
}

// RecordUnusable says that the record cannot be opened.
func RecordUnusable(dir string, err error) string {
	return Sentences(fmt.Sprintf("cannot open the record in %s: %v", dir, err), logIsThere)
}

const logIsThere = "the log itself is in log.jsonl there"

// RecordStale says that the record could not be brought up to date. full and busy say why, if that is known.
func RecordStale(full, busy bool, err error) string {
	text := fmt.Sprintf("cannot update the record: %v", err)
	switch {
	case full:
		text = fmt.Sprintf("cannot update the record: disk full (%v)", err)
	case busy:
		text = "cannot update the record because it is busy"
	}
	return Sentences(text, "the newest entries of the log are missing from this answer, but not lost")
}

// RecordNotWritable is why an answer is not complete.
func RecordNotWritable(dir string) string { return "cannot write to " + dir }

// RecordNewer says that the record was made by a newer belay.
func RecordNewer() string { return "the record was made by a newer belay" }

// RecordDamaged says that a damaged record could not be set aside.
func RecordDamaged(path string, cause, err error) string {
	return fmt.Sprintf("%s is damaged (%v) and cannot be set aside: %v", path, cause, err)
}

// What belay log says of an attempt.

// ExitCodes are the exit codes of a run: belay's own, if there is one that differs, and the command's, if it has one.
func ExitCodes(belay *int, command int) string {
	switch {
	case command < 0 && (belay == nil || *belay < 0):
		return "no exit code"
	case belay == nil || *belay == command:
		return fmt.Sprintf("exit code %d", command)
	case command < 0:
		return fmt.Sprintf("exit code %d; the command has none", *belay)
	}
	return fmt.Sprintf("exit code %d; the command's own is %d", *belay, command)
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

// NoRecord says that a run is not recorded. without is what it therefore runs without.
func NoRecord(without []string, err error) string {
	if len(without) > 0 {
		return fmt.Sprintf("this run is not recorded and runs without %s: %v", And(without), err)
	}
	return fmt.Sprintf("this run is not recorded: %v", err)
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
