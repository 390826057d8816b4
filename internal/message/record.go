package message

import (
	"fmt"
	"time"
)

// NothingOnRecord says that there is nothing to list: events, sessions, alerts, or anything if what is empty.
func NothingOnRecord(what string) string {
	if what == "" {
		return "nothing on record"
	}
	return fmt.Sprintf("no %s on record", what)
}

// OtherFailures says, below a list of runs, that there are failures that are not of runs.
func OtherFailures(n int) string {
	return fmt.Sprintf("also on record: %s of hooks, MCP servers or Go programs; see: belay events", count(n, "failure"))
}

// NothingInPeriod says that there is nothing to add up.
func NothingInPeriod() string { return "nothing on record for this period" }

// NotOnRecord stands for the result of a run that is not on record.
func NotOnRecord() string { return "not on record" }

// ClassFilter says that a value is not a class to choose runs by.
func ClassFilter(err error) string { return fmt.Sprintf("--class: %v, or failed for all but ok", err) }

// NotALineCount says that a value is not a number of lines.
func NotALineCount(value string) string {
	return fmt.Sprintf("-n: %q is not a number of lines. Use -n 20, or -n 0 for all", value)
}

// SinceAfterUntil says that a period has no length.
func SinceAfterUntil(since, until string) string {
	return fmt.Sprintf("--since %s is not before --until %s", since, until)
}

// TreeAlone says that two flags of belay log contradict each other.
func TreeAlone() string { return "--tree cannot be used together with --attempts or --follow" }

// TooLongAgo says that a time is too long ago.
func TooLongAgo(value string) string { return fmt.Sprintf("%q is too long ago", value) }

// NotATime says that a value is not a time.
func NotATime(value string) string {
	return fmt.Sprintf("%q is not a valid time. Use 2h, 7d, 14:30, today, yesterday, 2026-11-01 or RFC 3339", value)
}

// NotASize says that a value is not a size.
func NotASize(value string) string { return fmt.Sprintf("%q is not a size, such as 500MB", value) }

// NotAGroup says that a value is not what statistics can be grouped by.
func NotAGroup(value string) string {
	return fmt.Sprintf("%.60q is not day, profile, model, class, name, project, machine or tag.KEY", value)
}

// NotAGroupTag says that a value is not a tag that statistics can be grouped by.
func NotAGroupTag(key string) string {
	return fmt.Sprintf("%.60q is not the key of a tag. Write it like this: tag.team", key)
}

// PruneWhat says that belay prune was not told what to delete.
func PruneWhat() string {
	return "say what to delete, as in: belay prune --older-than 90d, or belay prune --max-size 500MB"
}

// InFuture says that a time is still to come.
func InFuture(t time.Time) string { return t.Format(time.DateTime) + " is in the future" }

// NothingToPrune says that nothing was deleted.
func NothingToPrune() string {
	return "nothing to delete: the record is not larger than that, or has no runs left"
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
	return fmt.Sprintf("%s the output of %s", did, count(outputs, "detached run"))
}

// LogMoved says where the log was moved.
func LogMoved(path string) string {
	return fmt.Sprintf("the log was moved to %s, which a later prune deletes once everything in it is that old", path)
}

// Freed says how much room there is now.
func Freed(size string) string { return size + " freed" }

// AlertsUndelivered says that alerts cannot be delivered.
func AlertsUndelivered(err error) string { return fmt.Sprintf("cannot deliver alerts: %v", err) }

// AlertFailed says how often an alert could not be delivered, and why.
func AlertFailed(tries int, why string) string { return fmt.Sprintf("failed %d times: %s", tries, why) }

// AlertText is an alert as others are sent it.
func AlertText(host string, failures int, integration string, within time.Duration, last string) string {
	return fmt.Sprintf("belay on %s: %d failures of %s within %s; the last: %s", host, failures, integration, span(within), last)
}

// AlertCommand says that the command for alerts cannot be run.
func AlertCommand(err error) string { return fmt.Sprintf("alert command: %v", err) }

// AlertCommandFailed says that the command for alerts failed.
func AlertCommandFailed(name string, code int, said string) string {
	return fmt.Sprintf("alert command %s exited %d: %s", name, code, said)
}

// AlertWebhook says that the webhook for alerts failed.
func AlertWebhook(why any) string { return fmt.Sprintf("alert webhook: %v", why) }

// AlertAddress says that the address of the webhook cannot be used.
func AlertAddress() string { return "the address cannot be used" }

// RecordRefused says that the file of the record is not used.
func RecordRefused(err error) string {
	return fmt.Sprintf("cannot open the record: %v. Move that file away, and the record is rebuilt from the log", err)
}

// RecordFull says that there is no room for the record.
func RecordFull(dir string, err error) string {
	return sentences(fmt.Sprintf("cannot create the record in %s: disk full (%v)", dir, err), logIsThere)
}

// RecordBusy says that other processes keep writing the record.
func RecordBusy(dir string, err error) string {
	return fmt.Sprintf("the record in %s is busy (%v). Try again", dir, err)
}

// RecordUnusable says that the record cannot be opened.
func RecordUnusable(dir string, err error) string {
	return sentences(fmt.Sprintf("cannot open the record in %s: %v", dir, err), logIsThere)
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
	return sentences(text, "the newest entries of the log are missing from this answer, but not lost")
}

// RecordNotWritable is why an answer is not complete.
func RecordNotWritable(dir string) string { return "cannot write to " + dir }

// RecordNoRoom is why an answer is not complete.
func RecordNoRoom(dir string) string { return "no space left in " + dir }

// AnsweredFromLog says that there is no record, and where the answer comes from.
func AnsweredFromLog(why string) string {
	return sentences(why, "this answer comes from the rest of the log")
}

// AnsweredUntil says how old the record is.
func AnsweredUntil(why, since string) string {
	return sentences(why, fmt.Sprintf("what was logged since %s is missing from this answer, but not lost", since))
}

// LogUnread says that a log is not read: it "is a symbolic link".
func LogUnread(refused error) string { return fmt.Sprintf("%v and is not read", refused) }

// RecordNewer says that the record was made by a newer belay.
func RecordNewer() string { return "the record was made by a newer belay" }

// RecordNewerSchema says what to do about a record that was made by a newer belay.
func RecordNewerSchema(schema, known int) string {
	return fmt.Sprintf("%s (schema %d, this one knows %d). Install that version, or set BELAY_STATE_DIR to another directory",
		RecordNewer(), schema, known)
}

// RecordOlderSchema says that the record was made by an older belay and cannot be changed.
func RecordOlderSchema(schema int) string {
	return fmt.Sprintf("the record has an older schema (%d) and cannot be written", schema)
}

// RecordForeign says that a file is not the record.
func RecordForeign() string { return "it is a database of another program" }

// RecordRebuilt says that a damaged record was set aside.
func RecordRebuilt(cause error, aside string) string {
	return fmt.Sprintf("the record was damaged (%v). It is now %s, and was rebuilt from the log", cause, aside)
}

// RecordDamaged says that a damaged record could not be set aside.
func RecordDamaged(path string, cause, err error) string {
	return fmt.Sprintf("%s is damaged (%v) and cannot be set aside: %v", path, cause, err)
}

// RecordMoveAway is RecordDamaged where the user can help.
func RecordMoveAway(path string, cause, err error) string {
	return sentences(RecordDamaged(path, cause, err), "move it away")
}

// FileExists says that a name is taken.
func FileExists(path string) string { return path + " already exists. Try again in a second" }

// LeftOut says that a belayd lacks a command, as that of the demo does.
func LeftOut(command string) string {
	return fmt.Sprintf("this belayd was built without %s. To build all of it: make build", command)
}

// VersionsDiffer says that belay and belayd are not of one release.
func VersionsDiffer(belay, belayd string) string {
	return fmt.Sprintf("belay %s does not work with belayd %s. Install both from one release", belay, belayd)
}

// What belay log says of an attempt.

// WaitedToStart says how long an attempt waited before it started.
func WaitedToStart(d string) string { return "waited " + d + " before it could start" }

// FirstToken says when the first token came.
func FirstToken(d string) string { return fmt.Sprintf(" (first token after %s)", d) }

// InnerWait says how long a command waited for its own retries.
func InnerWait(d string) string { return fmt.Sprintf("of that, %s waiting for its own retries", d) }

// ThenWaited says how long was waited after an attempt.
func ThenWaited(d string) string { return "then waited " + d }

// ThenPlanned says how long would have been waited after an attempt.
func ThenPlanned(d string) string { return fmt.Sprintf("then was going to wait %s", d) }

// ExitCodes are the exit codes of a run: belay's own, if there is one that differs, and the command's, if it has one.
func ExitCodes(belay *int, command int) string {
	switch {
	case belay == nil || *belay == command:
		return fmt.Sprintf("exit code %d", command)
	case command < 0:
		return fmt.Sprintf("exit code %d; the command has none", *belay)
	}
	return fmt.Sprintf("exit code %d; the command's own is %d", *belay, command)
}

// RetriedInside says how often a command retried by itself: "3 times".
func RetriedInside(times string) string {
	return fmt.Sprintf(" (the command itself retried %s)", times)
}

// FaultsInAll says how often hooks and MCP servers failed: "3 times".
func FaultsInAll(times string) string { return "hooks and MCP servers failed " + times }

// CostsUnknown says of how many attempts the cost is unknown: "3 attempts".
func CostsUnknown(attempts string) string { return fmt.Sprintf("cost of %s unknown", attempts) }
