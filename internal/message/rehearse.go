package message

import (
	"fmt"
	"strings"
)

// ScriptAt says where in a script something is wrong; line is 0 if there is only one.
func ScriptAt(line, column int, what string) string {
	if line == 0 {
		return fmt.Sprintf("script, column %d: %s", column, what)
	}
	return fmt.Sprintf("script, line %d, column %d: %s", line, column, what)
}

// ScriptUnreadable says that the file of a script cannot be read.
func ScriptUnreadable(err error) string { return fmt.Sprintf("cannot read the script: %v", err) }

// ScriptEmpty says that a script has no step.
func ScriptEmpty() string { return "the script is empty. To answer every request: 200" }

// What is expected in a script.
const (
	ACommaOrLine  = "a comma or a new line"
	ACommaOrParen = "a comma or )"
	AStep         = "a step such as 200 or hang"
)

// EndOfScript is what is found at the end of a script.
func EndOfScript() string { return "the end" }

// NoStep says that there is no step of that name. near, if not empty, is the one that may be meant.
func NoStep(word, near string, names []string) string {
	text := fmt.Sprintf("there is no step %q", word)
	if near != "" {
		return text + DidYouMean(near)
	}
	return sentences(text, "the steps are a status such as 429, "+strings.Join(names, ", "))
}

// NotAStatus says that no API answers with a status.
func NotAStatus(word string) string { return word + " is not a status from 200 to 599" }

// NotAnErrorStatus says that a status is not that of an error.
func NotAnErrorStatus(value string) string {
	return fmt.Sprintf("%q is not the status of an error", value)
}

// NothingFollows says that a step answers every request to come.
func NothingFollows(step string) string {
	return fmt.Sprintf("%s answers every request, so nothing can follow it", step)
}

// RefuseForAll says that a step cannot be that of one session.
func RefuseForAll() string {
	return "refuse applies to all sessions, because a refused connection does not say whose it is"
}

// NotRepeatable says that a step cannot be repeated.
func NotRepeatable(word string) string {
	return fmt.Sprintf("%s cannot be repeated because it is not for single requests", word)
}

// NotARepetition says how often a step can be repeated.
func NotARepetition(most int) string {
	return fmt.Sprintf("a repetition is x and a number from 1 to %d, or x*", most)
}

// NotClosed says that a parenthesis or quotes are not closed.
func NotClosed(what string) string { return what + " not closed" }

// BadBackslash says that a backslash stands before something else than it can.
func BadBackslash() string { return `a backslash must be followed by n, t, r, " or another backslash` }

// NoOption says that a step has no such option.
func NoOption(word, name string) string { return fmt.Sprintf("%s has no option %q", word, name) }

// OptionForm says how options are written.
func OptionForm(word, value string) string {
	return fmt.Sprintf("%s takes options as name=value, not %q", word, value)
}

// ToolForm says how a tool is written.
func ToolForm() string { return "tool takes a tool and its input, as in tool(bash: ls)" }

// ToolWithoutInput says that a tool has no input.
func ToolWithoutInput() string { return "the tool has no input, as in tool(bash: ls)" }

// RateFirst says how a limit is written.
func RateFirst() string { return "limit takes its rate first, as in limit(20/6s)" }

// ShareFirst says how a mix is written.
func ShareFirst() string { return "mix takes its share first, as in mix(5%, seed=1)" }

// NotInMix says that a step cannot be in a mix.
func NotInMix(step string) string { return step + " cannot be part of a mix" }

// CutOnlyAnswers says that only a good answer can be cut.
func CutOnlyAnswers() string { return "only a good answer can be cut" }

// HeaderOneLine says that a header must be one line.
func HeaderOneLine() string { return "a header must be one line" }

// NotARate says that a value is not a rate.
func NotARate(value string) string { return fmt.Sprintf("%q is not a rate, such as 20/6s", value) }

// NotAShare says that a value is not a share.
func NotAShare(value string) string { return fmt.Sprintf("%q is not a share, such as 5%%", value) }

// NotAScriptTime says that a value is not a time of a script.
func NotAScriptTime(value string) string {
	return fmt.Sprintf("%q is not a time, such as 2s, 3h or 7d", value)
}

// NotTokens says that a value is not a number of tokens.
func NotTokens(value string) string { return fmt.Sprintf("%q is not a number of tokens", value) }

// NotWhat says that a value is not what it should be: "a whole number".
func NotWhat(value, what string) string { return fmt.Sprintf("%q is not %s", value, what) }

// NoRehearsalDir says that there is no directory for a rehearsal.
func NoRehearsalDir(err error) string {
	return fmt.Sprintf("cannot create a directory for the rehearsal: %v", err)
}

// NoLoopback says that the stand-ins cannot listen.
func NoLoopback(err error) string { return fmt.Sprintf("cannot listen on loopback: %v", err) }

// NothingRehearsed is the answer of a stand-in to a request it does not know.
func NothingRehearsed() string { return "nothing is rehearsed for this path" }

// RunNotStarted says that belay run cannot be started.
func RunNotStarted(err error) string { return fmt.Sprintf("cannot start belay run: %v", err) }

// ReportNotWritten says that the report cannot be written.
func ReportNotWritten(err error) string { return fmt.Sprintf("cannot write the report: %v", err) }

// AfterScript names the answer to requests after the end of the script.
func AfterScript() string { return "200 (after the script)" }

// Rehearsed says what was rehearsed.
func Rehearsed(script string, requests int) string {
	return fmt.Sprintf("rehearsed %s: %s", script, count(requests, "request"))
}

// SideRequests names requests that take no step of the script.
func SideRequests(list []string) string {
	return "other requests, which take no step: " + strings.Join(list, ", ")
}

// NotReached names the steps that no request reached.
func NotReached(steps string) string { return "not reached: " + steps }

// RefusedUncounted says that refused connections are not counted.
func RefusedUncounted() string { return "refused connections are not counted" }

// NoResult says that belay run left no result.
func NoResult(code int) string { return fmt.Sprintf("belay run left no result; exit code %d", code) }

// RehearsedVerdict is the beginning of the last line of a report.
func RehearsedVerdict(class string, attempts int, waited float64) string {
	return fmt.Sprintf("verdict %s; %s, waited %.1fs", class, count(attempts, "attempt"), waited)
}

// ReportsTokens says how many tokens a CLI reports.
func ReportsTokens(cli string, in, out int) string {
	return fmt.Sprintf("; %s reports %d tokens in, %d out", cli, in, out)
}

// RetryAt says when to come back.
func RetryAt(at string) string { return "; retry at " + at }

// WithExitCode ends a line with an exit code.
func WithExitCode(text string, code int) string { return fmt.Sprintf("%s; exit code %d", text, code) }

// BrokeOff says after which time an answer ended, and how.
func BrokeOff(status, how, after string) string {
	return fmt.Sprintf("%s, %s after %s", status, how, after)
}

// CacheTokens says how many tokens of a cache were read and written.
func CacheTokens(read, written int) string {
	return fmt.Sprintf(", cache %d read / %d written", read, written)
}

// AnswerUnclear says that the answer to ask is none.
func AnswerUnclear() string { return "the answer cannot be understood" }
