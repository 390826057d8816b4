package claude

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// ownStderr is what claude itself has written on stderr. At its very end it may pass on what a hook has:
//
//	SessionEnd hook [./notify.sh] failed: curl: (7) Failed to connect
//	Error: connect ECONNREFUSED
func ownStderr(o verdict.Outcome) string {
	text := o.Stderr.Text()
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

// logged matches a line of the log that claude writes to stderr where it is asked to. It holds what tools have printed.
var logged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z \[[A-Z]+\] `)
})

// byLastResort judges a failure that nothing else tells of by the plain signals on stderr. Once the model or a tool has
// had a say, or something was printed that may be an answer, they are no evidence any more.
func (f *follower) byLastResort(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	text := f.text.String()
	said := strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "Execution error")
	done := f.result != nil && (f.result.Text != "" || len(f.result.ModelUsage) > 0)
	stderr := ownStderr(o)
	if f.active || f.tooled || said || done || logged().MatchString(stderr) {
		return verdict.Verdict{}, false
	}
	return verdict.LastResort(verdict.Outcome{ExitCode: o.ExitCode, Stderr: verdict.ExcerptOf(stderr)}, now)
}
