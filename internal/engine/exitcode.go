package engine

import (
	"cmp"
	"regexp"
	"strconv"
	"sync"
	"syscall"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/verdict"
)

// The exit codes of belay that are not the command's own. sysexits.h and the shells' conventions, so that scripts
// and service managers know them.
const (
	CodeUsage         = 2   // wrong use of belay; nothing was started
	CodeTryLater      = 75  // a limit, retries or budget used up, an open breaker
	CodePersonMustAct = 78  // credentials or billing
	CodeTimeout       = 124 // a hard deadline, the total timeout or a stall
	CodeFailed        = 125 // belay itself failed
	CodeNotExecutable = 126
	CodeNotFound      = 127
)

// exitCode chooses the code to end with. The command's own stays, where it has one, if own says so: that of a generic
// command always. stopCode is the code of an invocation that was told to stop, else 0. spent says that a budget is used up.
func exitCode(r *belaytype.Result, stopCode int, own, expired, exhausted, spent bool) int {
	switch v := r.Verdict; {
	case r.Success:
		return 0
	case stopCode != 0:
		return stopCode
	case v.Class == verdict.Interrupted && r.ChildCode == 0:
		return 1 // 0 would say that it succeeded
	case v.Class == verdict.ToolMissing, v.Class == verdict.Interrupted:
		return r.ChildCode
	case expired:
		return CodeTimeout
	case spent:
		return CodeTryLater
	case own && r.ChildCode == 0:
		return 1 // 0 would say that it succeeded
	case own && r.ChildCode > 0:
		return r.ChildCode
	case v.Class == verdict.Auth, v.Class == verdict.Billing:
		return CodePersonMustAct
	case exhausted, v.Class.Throttle(), v.Class == verdict.BreakerOpen, v.Class == verdict.SessionBusy:
		return CodeTryLater
	case r.ChildCode > 0:
		return r.ChildCode
	}
	return 1
}

// OwnCode is the command's own exit code wherever it has one, else the result's. Agents are stopped by SIGINT and then
// SIGTERM whatever we are sent: the caller gets the code for the signal that it has sent, as from the command alone.
func OwnCode(r *belaytype.Result) int {
	const interrupted, terminated = 128 + int(syscall.SIGINT), 128 + int(syscall.SIGTERM)
	stopped := r.Verdict.Class == verdict.Interrupted && (r.ChildCode == interrupted || r.ChildCode == terminated) && r.ExitCode > 128
	unchecked := r.Check != nil && !r.Check.Passed // also if the check was stopped, or the money was spent
	lies := r.ChildCode == 0 && (unchecked || r.Verdict.Class == verdict.NotDone || r.Verdict.Class == verdict.Conflict || r.Verdict.Class == verdict.WrongModel)
	if r.ChildCode >= 0 && !stopped && !lies {
		return r.ChildCode
	}
	return r.ExitCode
}

// statusWords is where a program says which HTTP status it has met: beside one of these words. Only what is an error counts.
var statusWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\bHTTP(?:/[\d.]+)?|(?:^|[^a-z])status(?: code)?|\bAPI error|\berror(?: code)?|(?:^|[^a-z])code)["']?[ :=(]{1,3}["']?([45]\d\d)(?:\D|$)`)
})

// statusIn is the HTTP status that a text names as that of an error, the last one of several; 0 if it names none. The text must
// be a program's own word on why it failed.
func statusIn(text string) int {
	found := statusWords().FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	status, _ := strconv.Atoi(found[len(found)-1][1]) // it is three digits
	return status
}

// statusOf is the HTTP status that a failed call was answered with: what the CLI has told, or else what is in its words; 0 if there is none.
func statusOf(v verdict.Verdict, told int) int {
	if !answers(v.Class) {
		return 0
	}
	return cmp.Or(v.HTTPStatus, told, statusIn(v.Rule), statusIn(v.Evidence))
}

// answers reports whether a service has answered in an outcome of that class, so that there is a status.
func answers(class verdict.Class) bool {
	switch class {
	case verdict.RateLimit, verdict.UsageLimit, verdict.Overloaded, verdict.ServerError, verdict.Timeout, verdict.Auth, verdict.Billing,
		verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge, verdict.SessionBroken, verdict.Refused:
		return true
	}
	return false
}
