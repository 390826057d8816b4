package message

import (
	"fmt"
	"strings"
	"time"
)

// Problems is the last line of belay doctor.
func Problems(n int) string {
	if n == 0 {
		return "no problems found"
	}
	return count(n, "problem") + " found"
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

// CLIOddVersion says that what a CLI prints is not a version.
func CLIOddVersion(path, printed string) string {
	return fmt.Sprintf("cannot understand the version of %s: %s", path, printed)
}

// ExitedWith says that a program failed.
func ExitedWith(code int) string { return fmt.Sprintf("exited %d", code) }

// LoggedIn says how a CLI is logged in.
func LoggedIn(how string) string { return "logged in: " + how }

// LoginVariable says that a variable has the key.
func LoginVariable(name string) string { return name + " is set" }

// LoginAsked says which command of a CLI knows that it is logged in.
func LoginAsked(command string) string { return command + " succeeds" }

// LoginInKeychain says that it is not known whether a CLI is logged in.
func LoginInKeychain() string { return "login not checked because it is in the keychain" }

// GatesUnreadable says that the gates cannot be read.
func GatesUnreadable(err error) string { return fmt.Sprintf("cannot be read: %v", err) }

// GateHeld says that a gate is on hold.
func GateHeld(key string, until time.Time, reason string) string {
	return fmt.Sprintf("%s is on hold until %s: %s", key, until.Format(time.DateTime), reason)
}

// GateOpened says that the breaker of a gate is open; until is zero if that is until a reset.
func GateOpened(key string, until time.Time, reason string) string {
	when := "it is reset"
	if !until.IsZero() {
		when = until.Format(time.DateTime)
	}
	return fmt.Sprintf("the breaker of %s is open until %s: %s", key, when, reason)
}

// ClockPast says that the clock is years behind.
func ClockPast(now time.Time) string {
	return fmt.Sprintf("set to %s, which is years behind", now.Format(time.DateTime))
}

// ClockBehind says that the clock is behind the newest entry of the log.
func ClockBehind(now time.Time, by time.Duration) string {
	return fmt.Sprintf("set to %s, but the newest entry of the log is %s later", now.Format(time.DateTime), span(by))
}

// ClockFine says what time it is.
func ClockFine(now time.Time) string {
	return fmt.Sprintf("%s (%s)", now.Format(time.DateTime), now.Format("MST, -0700"))
}

// NoSettingsFile says that there are no settings of the user's own.
func NoSettingsFile() string { return "no settings file; using the defaults" }

// VariableNoEffect says that an environment variable is not read. near is the one that is, if there is one like it.
func VariableNoEffect(name, near string) string {
	return fmt.Sprintf("%s is not a setting%s", name, DidYouMean(near))
}

// VariablePerCall says that an environment variable is not read because it applies to one call.
func VariablePerCall(name, flag string) string {
	return fmt.Sprintf("%s has no effect because it applies to a single call only. Use %s", name, flag)
}

// StateNotCreated says that the state directory cannot be made.
func StateNotCreated(dir string, err error) string {
	return sentences(fmt.Sprintf("cannot create %s: %v", dir, err), withoutState)
}

// StateUnusable says that the state directory cannot be used.
func StateUnusable(why string) string { return sentences(why, withoutState) }

const withoutState = "runs continue without gates and without a record"

// StateNotYet says that there is no state directory yet.
func StateNotYet(dir string) string { return dir + " does not exist yet; the first run creates it" }

// StateReadOnly says that nothing can be written in the state directory.
func StateReadOnly(dir string, err error) string {
	return sentences(fmt.Sprintf("cannot write to %s: %v", dir, err), "runs continue without a record")
}

// StateFine says where the state directory is and how large.
func StateFine(dir string, size string) string { return dir + ", " + size }

// OthersCanRead says that other users can read what Belay keeps.
func OthersCanRead(path string) string { return "other users can read " + path }

// LogGrown says how large the log is.
func LogGrown(size string) string { return "the log has grown to " + size }

// LogRefused says that the log is not used: it "is a symbolic link".
func LogRefused(path, why string) string {
	return fmt.Sprintf("%s %s, so runs are not recorded", path, why)
}

// LeftoversUnknown says that it is not known what killed runs left.
func LeftoversUnknown(err error) string {
	return fmt.Sprintf("cannot look for what killed runs left: %v", err)
}

// RunKilled says that a run was killed.
func RunKilled(command string) string {
	return fmt.Sprintf("a run of %s was killed; it is now on record", command)
}

// RunsKilled says that killed runs left processes.
func RunsKilled(n int) string {
	return fmt.Sprintf("%s %s killed and left processes running", count(n, "run"), verb(n, "was", "were"))
}

// HookKilledBelay says that a belay that ran a hook left processes.
func HookKilledBelay() string { return "belay was killed during a hook and left processes running" }

// NoLeftovers says that nothing is left, and how many runs there are now.
func NoLeftovers(running int) string {
	return fmt.Sprintf("none; %s in progress", count(running, "run"))
}

// DiskUnknown says that it is not known how much room there is.
func DiskUnknown(err error) string { return fmt.Sprintf("cannot determine the free space: %v", err) }

// DiskFree says how much room there is.
func DiskFree(size string) string { return size + " free" }

// DiskFull says that there is hardly any room.
func DiskFull(size string) string {
	return fmt.Sprintf("only %s free; runs may not be recorded", size)
}

// BelayFine says which belay this is.
func BelayFine(path, version, system string) string {
	return CLIVersion(path, version, system)
}

// BelaydMissing says that belayd is not installed.
func BelaydMissing() string {
	return "not found next to belay or on the PATH; log, stats, sessions, rehearse and demo need it"
}

// BelaydSilent says that belayd gave no answer.
func BelaydSilent() string { return "it did not answer" }

// BelaydGarbled says that belayd gave an answer that is none.
func BelaydGarbled() string { return "its answer cannot be read" }

// DatabaseUnchecked says that the database was not checked because belayd is missing or does not answer.
func DatabaseUnchecked(missing bool) string {
	why := "did not answer"
	if missing {
		why = "is missing"
	}
	return "the database was not checked because belayd " + why
}

// OtherBelay says that scripts get another belay.
func OtherBelay(path string) string { return path + " is another belay and comes first on the PATH" }

// DatabaseAside says that there is a damaged database.
func DatabaseAside(path string) string { return "a damaged database was set aside: " + path }

// DatabaseRefused says that the database is not used: it "is a symbolic link".
func DatabaseRefused(path, why string) string {
	return fmt.Sprintf("%s %s, so the database cannot be used", path, why)
}

// DatabaseNotYet says that there is no database yet.
func DatabaseNotYet() string { return "no database yet; the first query creates it" }

// DatabaseDamaged says that the database is damaged.
func DatabaseDamaged(err error) string {
	return fmt.Sprintf("the database is damaged (%v); the next query sets it aside and rebuilds it", err)
}

// DatabaseFine says what is in the database: runs is "12 runs". torn is how many lines of the log were not written to their end.
func DatabaseFine(runs, size string, torn int, older bool) string {
	list := []string{runs + " in " + size}
	if torn > 0 {
		list = append(list, count(torn, "line")+" of the log cut off by a kill")
	}
	if older {
		list = append(list, "made by an older version, updated by the next query")
	}
	return strings.Join(list, "; ")
}
