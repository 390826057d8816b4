package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Started says that an attempt is under way.
func Started(attempt int, command string, pid int) string {
	return fmt.Sprintf("attempt %d: %s runs as process %d", attempt, command, pid)
}

// StillRunning is said once a minute of a command that prints nothing meanwhile. How long it has been running is added.
func StillRunning(command string) string { return command + " still runs" }

// Failed says why an attempt failed.
func Failed(name string, class verdict.Class, evidence string) string {
	text := name + " failed"
	if class != verdict.Unknown {
		text += fmt.Sprintf(" (%s)", class)
	}
	if evidence != "" {
		text += ": " + LastLine(evidence)
	}
	return text
}

// Retry numbers a retry; of is how many there may be, or 0.
func Retry(n, of int) string {
	text := fmt.Sprintf("retry %d", n)
	if of > 0 {
		text += fmt.Sprintf("/%d", of)
	}
	return text
}

// Retrying announces a retry after what has happened. asked says that the wait is what the service asks for.
func Retrying(what string, n, of int, wait time.Duration, asked bool) string {
	why := ""
	if asked {
		why = ", as it asks"
	}
	return fmt.Sprintf("%s; %s in %s%s", what, Retry(n, of), span(wait), why)
}

// InnerRetry says that a command tries again by itself.
func InnerRetry(name string, class verdict.Class, evidence string, wait time.Duration) string {
	in := ""
	if wait > 0 {
		in = " in " + span(wait)
	}
	return fmt.Sprintf("%s tries again%s (%s): %s", name, in, class, evidence)
}

// InnerRetryStopped says that a command that would try again by itself is stopped.
func InnerRetryStopped(name, evidence string) string {
	return fmt.Sprintf("%s would try again (%s); it is stopped: there is no retry left for that, or no sense in it", name, evidence)
}

// Succeeded says that a later attempt has succeeded.
func Succeeded(name string, attempt int, waited time.Duration) string {
	return fmt.Sprintf("%s succeeded at attempt %d, after %s of waiting", name, attempt, span(waited))
}

// Stopping says that the command is being stopped.
func Stopping(name, reason string) string { return fmt.Sprintf("stopping %s: %s", name, reason) }

// SlowToStop says that the command has not stopped yet.
func SlowToStop(name string) string {
	return fmt.Sprintf("waiting for %s to stop; interrupt again to kill it", name)
}

// LeftRunning says what a command has left running.
func LeftRunning(name string, processes []string) string {
	return fmt.Sprintf("%s left running: %s; --reap ends them", name, strings.Join(processes, ", "))
}

// Reclaimed says what was ended of a killed belay.
func Reclaimed(processes []string) string {
	return "ended what a killed belay had left: " + strings.Join(processes, ", ")
}

// LastOutput shows a line of what a command printed last.
func LastOutput(line string) string { return "  last output: " + line }

// Login says how to log in.
func Login(command string) string { return "to log in: " + command }

// Plain says that the CLI did not take an option that was added to its command line.
func Plain(name, option string) string {
	return fmt.Sprintf("%s does not take what belay adds to its command line (%s); it is started as you wrote it, and only its exit code and text are read", name, option)
}

// UnknownOption says that the command line has an option that belay does not know.
func UnknownOption(name, option string) string {
	return fmt.Sprintf("%s's option %s is not known to belay; it is started as you wrote it, and only its exit code and text are read", name, option)
}

// UntestedVersion says how the version of a CLI stands to those that belay is tested with.
func UntestedVersion(name, version, standing string) string {
	return fmt.Sprintf("%s %s is %s", name, version, standing)
}

// Alert says that an integration fails again and again.
func Alert(integration string, failures int, within time.Duration) string {
	return fmt.Sprintf("alert: %d failures of %s within %s; see: belay events --since %s", failures, integration, span(within), span(within))
}

// StdinSilent says that nothing comes on stdin, which is waited for.
func StdinSilent(name string) string {
	return fmt.Sprintf("%s waits for its stdin; if there is none, say --no-stdin", name)
}

// StdinSkipped says that nothing came on stdin, which is not waited for any longer.
func StdinSkipped(waited time.Duration) string {
	return fmt.Sprintf("nothing came on stdin for %s; going on without it (--no-stdin says so at once)", span(waited))
}

// Exited says how a command ended by itself: with an exit code, or by a signal if that is named. matched says that its output
// makes a failure of it, in words; else it is empty.
func Exited(name string, code int, signal string, class verdict.Class, matched, evidence string) string {
	how := fmt.Sprintf("%s exited %d", name, code)
	if signal != "" {
		how = fmt.Sprintf("%s was ended by %s", name, signal)
	}
	if class != verdict.Unknown && class != verdict.Crash {
		how += fmt.Sprintf(" (%s)", class)
	}
	if matched != "" {
		how += ", " + matched
	}
	if evidence != "" {
		how += ": " + LastLine(evidence)
	}
	return how
}

// OutputMatched says that the output of a command makes a failure of it. flag is what said so; empty where there are none.
func OutputMatched(code int, flag string) string {
	but := "and"
	if code == 0 {
		but = "but"
	}
	if flag != "" {
		return fmt.Sprintf("%s its output matches %s", but, flag)
	}
	return but + " its output says that it failed"
}

// TimedOut says that an attempt was ended by its hard deadline.
func TimedOut(name string, limit time.Duration) string {
	return fmt.Sprintf("%s exceeded its timeout (%s) and was terminated", name, seconds(limit))
}

// TotalTimedOut says that an attempt was ended by the deadline of the whole run.
func TotalTimedOut(name string, limit time.Duration) string {
	return fmt.Sprintf("%s exceeded the total timeout (%s) and was terminated", name, seconds(limit))
}

// Stalled says that an attempt was ended because it showed no sign of life.
func Stalled(name string, limit time.Duration) string {
	return fmt.Sprintf("%s produced no output for %s and was terminated", name, seconds(limit))
}

// StoppedTrying says that a command was stopped that kept trying by itself.
func StoppedTrying(name string, class verdict.Class, evidence string) string {
	return fmt.Sprintf("%s was stopped while it kept trying (%s): %s", name, class, evidence)
}

// Stopped says that a command was stopped, and why.
func Stopped(name, why string) string { return fmt.Sprintf("%s was stopped: %s", name, why) }

// Unread says why a command was ended whose output has no reader any more.
func Unread() string { return "nobody reads its output any more" }

// BrokenPipe says that a command ended because its output has no reader any more.
func BrokenPipe(name string) string {
	return fmt.Sprintf("%s was ended by SIGPIPE: %s", name, Unread())
}

// Spilled says why an attempt must be the last one whose output could not be held.
func Spilled() string { return "its output could not be held any longer and was passed on" }

// NoInterpreter says that a script names an interpreter that is not there.
func NoInterpreter(path string) string {
	return fmt.Sprintf("%s cannot be executed: the interpreter that its first line names is missing", path)
}

// NotStarted says why a command was not started.
func NotStarted(name, why string) string { return fmt.Sprintf("%s was not started: %s", name, why) }

// StoppedBetween says why there is no next attempt.
func StoppedBetween(why string) string { return "stopped before the next attempt: " + why }

// TotalPassed says that the time for everything is over.
func TotalPassed(limit time.Duration) string {
	return fmt.Sprintf("the total timeout (%s) has passed", seconds(limit))
}

// Interrupted says which signal has ended a run.
func Interrupted(signal string) string { return "interrupted by " + signal }

// Replaced says which run has taken the place of another.
func Replaced(by string) string { return "replaced by run " + by }

// NotPassedOn says that the output could not be written.
func NotPassedOn(err error) string { return fmt.Sprintf("cannot pass the output on: %v", err) }

// GaveUp says that all retries are used up. inner are those that the command made by itself.
func GaveUp(what string, attempts, inner int) string {
	text := fmt.Sprintf("%s; gave up after %d attempt%s", what, attempts, plural(attempts))
	switch inner {
	case 0:
	case 1:
		text += " and 1 retry of its own"
	default:
		text += fmt.Sprintf(" and %d retries of its own", inner)
	}
	return text
}

// Later ends what is said of a run that may be repeated later, the way callers look for it.
func Later(what string, notBefore time.Time) string {
	if !notBefore.IsZero() {
		what += "; not before " + When(notBefore)
	}
	return what + "; retry later"
}

// NotAgain says why something was not repeated.
func NotAgain(what, why string) string { return what + "; " + why }
