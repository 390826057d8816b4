package claude

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// helperFailure matches what claude passes on of a script that helps it.
var helperFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\w+ failed: exited \d+: .*$`)
})

// ownStderr is what claude itself has written on stderr. It also passes on what its helpers write, and at its very end what
// a hook has:
//
//	apiKeyHelper failed: exited 1: curl: (7) Failed to connect
//	SessionEnd hook [./notify.sh] failed: curl: (7) Failed to connect
//	Error: connect ECONNREFUSED
func ownStderr(o verdict.Outcome) string {
	text := o.Stderr.Text()
	if strings.Contains(text, " failed: exited ") {
		text = helperFailure().ReplaceAllString(text, "")
	}
	for at := 0; ; {
		i := strings.Index(text[at:], " hook [")
		if i < 0 {
			return text
		}
		at += i
		begin := strings.LastIndexByte(text[:at], '\n') + 1
		if event := text[begin:at]; event != "" && !strings.ContainsAny(event, " \t") {
			return text[:begin]
		}
		at++
	}
}

// logLine matches a line of the log that claude writes to stderr where it is asked to. It holds what tools have printed.
var logLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z \[[A-Z]+\] `)
})

// byStderr judges by claude's sentences on stderr. What stands there after output of the model or a tool is no reason to
// repeat anything.
func (f *follower) byStderr(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	stderr := ownStderr(o)
	v, ok := textRules.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(stderr)}, now)
	if ok && (v.Retryable || v.Class.Throttle()) && (f.hasModelOutput() || logLine().MatchString(stderr)) {
		return verdict.Verdict{}, false
	}
	return v, ok
}

// byLastResort judges a failure that nothing else tells of by the plain signals on stderr, if nothing was printed that may
// be an answer.
func (f *follower) byLastResort(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	text, stderr := f.text.String(), ownStderr(o)
	if f.hasModelOutput() || strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "Execution error") || logLine().MatchString(stderr) {
		return verdict.Verdict{}, false
	}
	return verdict.LastResort(verdict.Outcome{ExitCode: o.ExitCode, Stderr: verdict.ExcerptOf(stderr)}, now)
}

// hasModelOutput reports whether the model or a tool has produced output.
func (f *follower) hasModelOutput() bool {
	return f.Active || f.usedTools || f.result != nil && (len(f.result.ModelUsage) > 0 || !f.result.IsError && f.result.Text != "")
}
