package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// StillRunning is said once a minute of a command that prints nothing meanwhile. How long it has been running is added.
func StillRunning(command string) string { return command + " is still running" }

// Failed says why an attempt failed that is repeated.
func Failed(name string, class verdict.Class, evidence string) string {
	text := clause(name, class)
	switch {
	case text == "":
		text = name + " failed"
	case speaksForItself(class):
		return text
	}
	if said := lastWords(evidence); said != "" {
		text += ": " + said
	}
	return text
}

// Retry numbers a retry. of is how many there may be; 0 if they are not counted.
func Retry(n, of int) string {
	if of > 0 {
		return fmt.Sprintf("retry %d of %d", n, of)
	}
	return fmt.Sprintf("retry %d", n)
}

// Retrying announces a retry after what has happened. requested says that the service has asked for this wait.
func Retrying(what string, n, of int, wait time.Duration, requested bool) string {
	in := "now"
	if wait >= time.Millisecond {
		in = "in " + printable.Span(wait)
	}
	if requested {
		in += " as requested"
	}
	return fmt.Sprintf("%s; retrying %s (%s)", what, in, Retry(n, of))
}

// InnerRetry says that a command retries by itself, after a wait if that is known.
func InnerRetry(name string, class verdict.Class, evidence string, wait time.Duration) string {
	text := Failed(name, class, evidence) + "; retrying"
	if wait > 0 {
		text += " in " + printable.Span(wait)
	}
	return text
}

// Reclaimed says which processes were ended that a killed Belay had left.
func Reclaimed(processes []string) string {
	return "ended processes that a killed belay had left: " + strings.Join(processes, ", ")
}

// Alert says that an integration keeps failing.
func Alert(integration string, failures int, within time.Duration) string {
	shown := "--failed"
	if kind, _, ok := strings.Cut(integration, ":"); ok && (kind == "hook" || kind == "mcp") {
		shown = "--kind " + kind
	}
	return fmt.Sprintf("alert: %s failed %d times in the last %s. See: belay log %s", integration, failures, printable.Span(within), shown)
}

// StdinSilent says that a command waits for its stdin, on which nothing comes.
func StdinSilent(name string) string {
	return fmt.Sprintf("%s is waiting for its stdin. If there is no input, use --no-stdin", name)
}

// StdinSkipped says that nothing came on stdin, which is not waited for any longer.
func StdinSkipped(waited time.Duration) string {
	return fmt.Sprintf("nothing came on stdin for %s; continuing without it. To skip this wait, use --no-stdin", printable.Span(waited))
}

// Exited says how a command ended by itself: with an exit code, or by a signal if that is named. matched says in words that its
// output makes it a failure; else it is empty.
func Exited(name string, code int, signal string, class verdict.Class, matched, evidence string) string {
	how, said := fmt.Sprintf("%s exited %d", name, code), lastWords(evidence)
	switch {
	case signal != "":
		how = fmt.Sprintf("%s was killed by %s", name, signal)
	case matched != "":
		how += ", " + matched
	case clause(name, class) != "":
		how = clause(name, class)
	case said == "":
		said = Noun(class)
	}
	if said != "" {
		how += ": " + said
	}
	return how
}

// LimitHit says which limit a command has hit, and when that ends.
func LimitHit(name string, class verdict.Class, at time.Time) string {
	ends := "ends"
	if class == verdict.UsageLimit {
		ends = "resets"
	}
	return fmt.Sprintf("%s, which %s at %s", clause(name, class), ends, When(at))
}

// OutputMatched says that the output of a command makes it a failure. flag is what said so; empty for a caller without flags.
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

// StoppedRetrying says that a command was stopped that kept retrying by itself. hopeless says that no retry can help; otherwise there
// were too many.
func StoppedRetrying(name string, class verdict.Class, evidence string, hopeless bool) string {
	why := "it kept failing"
	switch {
	case class == verdict.Auth:
		why = "its key was rejected"
	case class == verdict.Billing:
		why = "its account has a billing problem"
	case classes[class].obstacle != "" && hopeless:
		why = "it hit " + classes[class].obstacle
	case classes[class].obstacle != "":
		why = "it kept hitting " + classes[class].obstacle
	case hopeless && Noun(class) != "":
		why = Noun(class)
	}
	if said := lastWords(evidence); said != "" {
		why += " (" + said + ")"
	}
	if hopeless {
		why += ", retrying cannot help"
	}
	return Stopped(name, why)
}

// LoginRenewed says why an agent is tried once more that could not log in.
func LoginRenewed(name string) string {
	return name + " could not log in, but the login has been renewed meanwhile; trying once more"
}

// Stopped says that a command was stopped, and why.
func Stopped(name, why string) string { return fmt.Sprintf("stopped %s: %s", name, why) }

// Unread is why a command is stopped whose output has no reader.
func Unread() string { return "its output is no longer read" }

// StoppedBetween says why there is no next attempt.
func StoppedBetween(why string) string { return "stopped before the next attempt: " + why }

// StoppedInCheck says why a check was not let finish.
func StoppedInCheck(why string) string { return "stopped during the check: " + why }

// UsedMemory says how much memory something has used, behind its name.
func UsedMemory(used, limit int64) string {
	return fmt.Sprintf("used %s of memory (limit %s)", printable.Size(used), printable.Size(limit))
}

// MemoryOf is a process and what it uses, if that is known.
func MemoryOf(process string, used int64) string {
	if used == 0 {
		return printable.Line(process)
	}
	return printable.Line(process) + " " + printable.Size(used)
}

// MemoryUntold says why the memory of a command cannot be limited.
func MemoryUntold() string { return "this system does not tell how much memory other processes use" }

// NoCheck says why what a command does cannot be checked.
func NoCheck(name string) string {
	return fmt.Sprintf("there is no answer to check: %s works for a person, or in a conversation", name)
}

// Replaced says which run has taken the place of another.
func Replaced(by string) string { return "replaced by run " + by }

// GaveUp says that no retries are left. inner are those that the command made by itself, and took how long all of it has taken; zero if that is not to be
// said. at is the time before which another call is pointless; zero if that is not known, or said already.
func GaveUp(attempts, inner int, took time.Duration, at time.Time) string {
	text := "gave up after " + Count(attempts, "attempt")
	if inner > 0 {
		text += " and " + Count(inner, "retry") + " of its own"
	}
	if took > 0 {
		text += " in " + printable.Span(took)
	}
	if !at.IsZero() {
		text += fmt.Sprintf(" (not before %s)", When(at))
	}
	return text
}

// StoppedBy says which signal has ended a run.
func StoppedBy(signal string) string {
	if signal == "SIGINT" {
		return "stopped by you (SIGINT)"
	}
	return "stopped by " + signal
}

// NotRetried says why a failure was not repeated. retryable says that it was worth it, and asked that retries were asked for.
func NotRetried(class verdict.Class, retryable, asked bool) string {
	why := classes[class].final
	switch {
	case retryable && !asked:
		why = "retries are off"
	case why == "" && !asked:
		why = "retries were not asked for"
	case why == "":
		why = "it is not known to pass"
	}
	return "not retried: " + why
}

// MayBeDone says that a command was not repeated because it may have had its effect.
func MayBeDone() string { return "the change may already have been made, so it was not repeated" }

// EffectUnknown says that it is not known whether a command has had its effect. verifiable says that there is a way to find out, err why
// that has failed, and flags whether to name the flags that help.
func EffectUnknown(verifiable bool, err error, flags bool) string {
	text, advice := MayBeDone(), "check first"
	switch {
	case err != nil && flags:
		text = fmt.Sprintf("%s, and --verify-effect failed: %v", text, err)
	case err != nil:
		text = fmt.Sprintf("%s, and a check failed: %v", text, err)
	}
	switch {
	case flags && verifiable && err == nil:
		advice += ", or use --verify-effect or --retry-unsafe"
	case flags:
		advice += ", or use --retry-unsafe"
	}
	return Sentences(text, advice)
}

// Bound is what keeps a run from waiting. Its fields name the flags of a caller who has some.
type Bound struct {
	// Flag is the flag or setting: "--max-wait". Empty for a caller without flags.
	Flag string
	// Limit is its value, if that is a duration.
	Limit time.Duration
	// At is when the wait would have ended; zero if that is not known, or said already.
	At time.Time
}

// NotWaiting says that a run does not wait, and why.
func NotWaiting(b Bound) string {
	text := "not waiting"
	if !b.At.IsZero() {
		text += " until " + When(b.At)
	}
	switch {
	case b.Flag == "" && b.Limit > 0:
		return fmt.Sprintf("%s: the longest wait allowed is %s", text, printable.Span(b.Limit))
	case b.Flag == "":
		return text
	case b.Limit > 0:
		return fmt.Sprintf("%s (%s %s)", text, b.Flag, printable.Span(b.Limit))
	}
	return fmt.Sprintf("%s because of %s", text, b.Flag)
}

// CannotDetach says that a run cannot be started in the background.
func CannotDetach(err error) string { return fmt.Sprintf("cannot detach: %v", err) }

// Start is what a countdown counts down to.
func Start(name string) string { return "start of " + name }

// RunEnded says that a run cannot be cancelled.
func RunEnded() string { return "this run has ended" }

// MaxCost names the limit on the cost of a run, or of the run around it.
func MaxCost(outer bool) string {
	if outer {
		return "the maximum cost of the run around it"
	}
	return "the maximum cost"
}

// MaxCostFlag is MaxCost in the words of the command line.
func MaxCostFlag(outer bool) string {
	if outer {
		return "--max-cost of the run around it"
	}
	return "--max-cost"
}
