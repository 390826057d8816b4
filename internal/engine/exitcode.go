package engine

import (
	"strconv"

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

// ExitMeaning says what an exit code means.
type ExitMeaning struct{ Code, Meaning string }

// ExitCodes are the exit codes of belay run as help and documentation explain them.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{"the command's", "on success, and always when the command ended by itself; death by signal n is 128+n, and a 0 that is not true (see --fail-on) is 1"},
		{strconv.Itoa(CodeUsage), "wrong use of belay; nothing was started"},
		{strconv.Itoa(CodeTryLater), "try later: a limit, retries used up, or a gate, scope or budget that is closed. A plain command whose retries are used up keeps its own code, and so does every command with --max-retries 0"},
		{strconv.Itoa(CodePersonMustAct), "credentials or billing: a person must act. The same commands keep their own code"},
		{strconv.Itoa(CodeTimeout), "--timeout, --total-timeout or --stall-timeout"},
		{strconv.Itoa(CodeFailed), "belay itself failed"},
		{strconv.Itoa(CodeNotExecutable) + ", " + strconv.Itoa(CodeNotFound), "the command is not executable, was not found"},
		{"130, 143", "interrupted, terminated"},
	}
}

// exitCode chooses the code to end with. The command's own stays, where it has one, if own says so: that of a generic
// command always. stopCode is the code of an invocation that was told to stop, else 0. spent says that a budget is used up.
func exitCode(r *Result, stopCode int, own, expired, exhausted, spent bool) int {
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
