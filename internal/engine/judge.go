package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// judge forms the verdict.
func (inv *Invocation) judge(a *attempt) {
	name := inv.command.name()
	o := verdict.Outcome{Argv: inv.command.Args, ExitCode: a.exit.Code, Stdout: a.stdout.excerpt(), Stderr: a.stderr.excerpt(), Started: a.exit.Started}
	if a.exit.Signal != 0 {
		o.Signal = signalName(a.exit.Signal)
	}
	if a.merged && inv.changes != nil {
		o.Stderr = o.Stdout // what it says of its failure is in there
	}
	own := inv.own(a, o)
	if inv.runner.Judge != nil && a.exit.Reason == supervise.Exited {
		o.Stdout = a.excerpt()
		own = inv.runner.Judge(own, o, time.Now())
	}
	last := verdict.LastWords(o)
	switch {
	case a.done(own):
		// What it was asked for is there; that it did not leave by itself takes nothing from it.
		a.verdict, a.code = own, 0
	case a.exit.Reason == supervise.Deadline:
		a.timedOut, a.expired = true, true
		a.verdict = verdict.Verdict{Class: verdict.Timeout, Retryable: inv.policy.RetryTimeouts > 0, Rule: "timeout", Evidence: last}
		a.message = fmt.Sprintf("%s exceeded its timeout (%s) and was terminated", name, seconds(inv.deadline()))
	case a.exit.Reason == supervise.Stalled:
		a.expired = true
		a.verdict = verdict.Verdict{Class: verdict.Stalled, Retryable: true, Rule: "stall", Evidence: last}
		a.message = fmt.Sprintf("%s produced no output for %s and was terminated", name, seconds(inv.stall(a.talk.busy())))
	case a.talk.stoppedEarly() != nil:
		early := a.talk.stoppedEarly()
		a.verdict, a.stop = early.verdict, early.stop
		a.code = 1 // how it ended is our doing; by itself it ends with 1 after any failure
		a.message = fmt.Sprintf("%s was stopped while it kept trying (%s): %s", name, a.verdict.Class, a.verdict.Evidence)
	case a.exit.Reason == supervise.Stopped && a.talk.unread():
		a.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "unread", Evidence: "nobody reads its output any more"}
		a.stopCode = 128 + int(syscall.SIGPIPE)
		a.message = fmt.Sprintf("%s was stopped: nobody reads its output any more", name)
	case a.exit.Reason == supervise.Stopped:
		cause := context.Cause(inv.ctx)
		if errors.Is(cause, retry.ErrTotalTimeout) {
			a.expired = true
			a.verdict = verdict.Verdict{Class: verdict.Timeout, Rule: "total-timeout", Evidence: last}
			a.message = fmt.Sprintf("%s exceeded the total timeout (%s) and was terminated", name, seconds(inv.policy.TotalTimeout))
			return
		}
		a.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled"}
		if cause == nil { // killed at once
			cause = context.Canceled
		}
		a.verdict.Evidence = cause.Error()
		a.stopCode = codeOf(cause)
		a.message = fmt.Sprintf("%s was stopped: %v", name, cause)
	case a.exit.Signal == syscall.SIGPIPE && inv.readerGone():
		// As head does all day long: the command has not failed.
		a.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "unread", Evidence: "nobody reads its output any more"}
		a.message = fmt.Sprintf("%s was ended by SIGPIPE: nobody reads its output any more", name)
	default:
		a.verdict = own
		a.message = sentence(name, o, a.code, a.verdict)
	}
	a.verdict.SessionID, a.verdict.Usage = own.SessionID, own.Usage
	a.noRepeat = fmt.Sprintf("%s has read its standard input and cannot be repeated; use --replay-stdin to keep it", name)
	for _, s := range []*sink{a.stdout, a.stderr} {
		if why := s.final(); why != "" {
			a.again, a.noRepeat = false, why
		}
	}
	if a.talk.unread() {
		a.again, a.noRepeat = false, "nobody reads its output any more"
	}
}

// readerGone reports whether the other end of our output is closed.
func (inv *Invocation) readerGone() bool {
	for _, w := range []io.Writer{inv.command.Stdout, inv.command.Stderr} {
		if f, ok := w.(*os.File); ok && supervise.ReaderGone(f) {
			return true
		}
	}
	return false
}

// excerpt is what there is of stdout for rules to look at.
func (a *attempt) excerpt() verdict.Excerpt {
	if a.talk != nil {
		return a.talk.capture.Excerpt()
	}
	return a.stdout.excerpt()
}

// own is what the profile makes of the outcome.
func (inv *Invocation) own(a *attempt, o verdict.Outcome) verdict.Verdict {
	now := time.Now()
	if a.talk == nil {
		if a.exit.Reason != supervise.Exited {
			return verdict.Verdict{} // it did not end by itself
		}
		if a.listener != nil {
			return a.listener.Judge(o, now)
		}
		return inv.profile.Judge(o, now)
	}
	if a.exit.Reason != supervise.Exited {
		o.ExitCode, o.Signal = 0, "" // that is our doing
	}
	return a.talk.follower.Judge(o, now)
}

// done reports whether an agent that had to be stopped had delivered before.
func (a *attempt) done(own verdict.Verdict) bool {
	return a.talk != nil && own.Class == verdict.OK && a.talk.hasDelivered() &&
		(a.exit.Reason == supervise.Lingered || a.exit.Reason == supervise.Stalled || a.exit.Reason == supervise.Deadline)
}

// cutShort makes a the last attempt, because the next one will not come: somebody has ended the invocation, or all of its
// time is over.
func (inv *Invocation) cutShort(a *attempt, what string, cause error) {
	if errors.Is(cause, retry.ErrTotalTimeout) {
		a.expired = true
		a.verdict = verdict.Verdict{Class: verdict.Timeout, Rule: "total-timeout"}
		a.message = fmt.Sprintf("%s: the total timeout (%s) has passed", what, seconds(inv.policy.TotalTimeout))
		return
	}
	a.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled", Evidence: cause.Error()}
	a.stopCode, a.message = codeOf(cause), fmt.Sprintf("%s: %v", what, cause)
}

// sentence says in one line how a command ended by itself.
func sentence(name string, o verdict.Outcome, code int, v verdict.Verdict) string {
	how := fmt.Sprintf("%s exited %d", name, code)
	if o.Signal != "" {
		how = fmt.Sprintf("%s was ended by %s", name, o.Signal)
	}
	if v.Class != verdict.Unknown && v.Class != verdict.Crash {
		how += fmt.Sprintf(" (%s)", v.Class)
	}
	if v.Rule == generic.FailOn { // else nobody would know why an exit code of 0 is a failure
		how += map[bool]string{true: ", but", false: ", and"}[code == 0] + " its output matches --fail-on"
	}
	if v.Evidence != "" && v.Evidence != fmt.Sprintf("exit %d", o.ExitCode) && v.Evidence != "ended by "+o.Signal {
		how += ": " + lastLine(v.Evidence)
	}
	return how
}

// lastLine is the last line of a text: programs come to the point at the end.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// codeOf is the exit code for an invocation that was ended from outside.
func codeOf(cause error) int {
	var i *Interrupt
	if errors.As(cause, &i) {
		return 128 + i.Signal
	}
	return 128 + int(syscall.SIGTERM)
}

// seconds shows a limit as it is written in the messages: "300 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
