// Package generic is the profile of commands that Belay knows nothing about. Nothing is repeated unless the caller
// asks for it, and the caller says what is worth repeating.
package generic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "generic"

// Profile judges by exit code and by what the caller knows of the command. The zero value calls every failure
// unknown and not worth repeating.
type Profile struct {
	// Retry makes every non-zero exit worth repeating, unless RetryExit or RetryOn narrow it.
	Retry bool
	// RetryExit and RetryOn say which failures are worth repeating: by exit code (128+n for signal n), or by what
	// either stream says.
	RetryExit []int
	RetryOn   *regexp.Regexp
	// FailOn, found in either stream, makes it a failure that is not worth repeating, whatever the exit code.
	FailOn *regexp.Regexp
	// Rules are asked before anything else.
	Rules *verdict.Rules
}

// Name implements agent.Profile.
func (p *Profile) Name() string { return Name }

// Headless implements agent.Profile: a generic command may want the terminal.
func (p *Profile) Headless() bool { return false }

// Reads reports whether the verdict depends on what the command prints.
func (p *Profile) Reads() bool { return p.RetryOn != nil || p.FailOn != nil || p.Rules != nil }

// Judge implements agent.Profile.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	if v, ok := p.Rules.Judge(o, now); ok {
		return v
	}
	if line, ok := find(p.FailOn, o); ok {
		return verdict.Verdict{Class: verdict.Unknown, Rule: "fail-on", Evidence: line}
	}
	code := o.ExitCode
	if n := verdict.SignalNumber(o.Signal); n > 0 {
		code = 128 + n
	}
	asked := slices.Contains(p.RetryExit, code)
	switch {
	case code == 0:
		return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	case !asked && interrupted(o):
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "interrupted", Evidence: describe(o)}
	}
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code", Evidence: evidence(o)}
	if o.Signal != "" {
		v.Class, v.Rule = verdict.Crash, "signal"
	}
	switch line, matched := find(p.RetryOn, o); {
	case matched:
		v.Retryable, v.Rule, v.Evidence = true, "retry-on", line
	case asked:
		v.Retryable, v.Rule = true, "retry-on-exit"
	case p.Retry && p.RetryOn == nil && len(p.RetryExit) == 0:
		v.Retryable = true
	}
	if v.Retryable {
		v.Hint = hint(o, now)
	}
	return v
}

// interrupted reports whether somebody wanted it to end: the three signals, also as the exit codes of programs that
// clean up first.
func interrupted(o verdict.Outcome) bool {
	switch o.Signal {
	case "SIGINT", "SIGTERM", "SIGHUP":
		return true
	case "":
		return o.ExitCode == 129 || o.ExitCode == 130 || o.ExitCode == 143
	}
	return false
}

// hint is when the command says to come back. Errors go to stderr, so that comes first.
func hint(o verdict.Outcome, now time.Time) verdict.Hint {
	for _, e := range []verdict.Excerpt{o.Stderr, o.Stdout} {
		if h, ok := verdict.ParseHint(e.Text(), now); ok {
			return h
		}
	}
	return verdict.Hint{}
}

// find returns the line that re matches in either stream.
func find(re *regexp.Regexp, o verdict.Outcome) (string, bool) {
	if re == nil {
		return "", false
	}
	for _, e := range []verdict.Excerpt{o.Stderr, o.Stdout} {
		text := e.Text()
		if at := re.FindStringIndex(text); at != nil {
			from := strings.LastIndexByte(text[:at[0]], '\n') + 1
			to := len(text)
			if i := strings.IndexByte(text[at[0]:], '\n'); i >= 0 {
				to = at[0] + i
			}
			return verdict.LastLines(text[from:to], 1, 200), true
		}
	}
	return "", false
}

// evidence is the last thing the command said, and how it ended if it said nothing.
func evidence(o verdict.Outcome) string {
	for _, e := range []verdict.Excerpt{o.Stderr, o.Stdout} {
		if line := verdict.LastLines(e.Text(), 1, 200); line != "" {
			return line
		}
	}
	return describe(o)
}

func describe(o verdict.Outcome) string {
	if o.Signal != "" {
		return "ended by " + o.Signal
	}
	return fmt.Sprintf("exit %d", o.ExitCode)
}
