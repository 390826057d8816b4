package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// judgement is what an attempt was worth.
type judgement struct {
	ending
	transcript transcript.Transcript // nil of an attempt that was never started

	verdict verdict.Verdict
	message string // what happened, in one line
	code    int    // the command's exit code, as a shell shows it; -1 if it has none
	// stopCode is the exit code of an invocation that ends because it was told to, or for a ceiling; else 0.
	stopCode int
	timedOut bool         // its own hard deadline passed
	expired  bool         // it was stopped by a limit of ours
	noRepeat error        // why it cannot be repeated; nil if it can
	stop     *retry.Error // why there is no further attempt, where that is known already
	refused  bool         // it was not let in by a gate, or a limit on cost
	recorded bool         // it is on record; what is not is the attempt after it, which does not come

	account agent.Account
	tell    string         // to an agent that continues after a ceiling; else empty
	check   *journal.Check // of its work; nil if that was not checked
	asked   int            // requests that were made on the side on its account
	left    []supervise.Proc
	killed  int
}

// unhealthy says that the outcome shows the service to be unhealthy: not our deadline, a cancel, or a wrong request.
func (j *judgement) unhealthy() bool {
	return !j.timedOut && j.stopCode == 0 && j.started() && j.verdict.Retryable
}

// attribute says in the verdict whose service it was, for which model, and what the service has answered if that was a failure.
func (j *judgement) attribute(provider string) {
	v := &j.verdict
	v.Provider, v.Model = cmp.Or(v.Provider, provider), cmp.Or(v.Model, j.account.Model)
	if !j.started() || j.expired {
		v.HTTPStatus = 0
		return
	}
	v.HTTPStatus = statusOf(*v, j.account.Status)
}

// worked says that the attempt of an agent may have done something that another one would do again.
func (j *judgement) worked() bool {
	return j.started() && j.transcript.Worked()
}

// judgeRefusal is the judgement of an attempt that was never started because it was refused.
func judgeRefusal(r *admission.Refusal) *judgement {
	return &judgement{verdict: r.Verdict, message: r.Message, code: r.Code, stopCode: r.StopCode, timedOut: r.TimedOut,
		expired: r.Expired, stop: r.Stop, refused: r.Barred}
}

// judge forms the verdict on an attempt that has ended.
func (cand *candidate) judge(e ending, t transcript.Transcript) *judgement {
	c := cand.call
	if !e.started() {
		return judgeUnstarted(c, e.err)
	}
	j := &judgement{ending: e, transcript: t, code: e.exit.ShellCode(), left: e.exit.Left, killed: e.exit.Killed}
	o := verdict.Outcome{Argv: c.Command.Args, ExitCode: e.exit.Code, Started: e.exit.Started}
	if e.exit.Signal != 0 {
		o.Signal = call.SignalName(e.exit.Signal)
	}
	t.Outcome(&o)
	exited := e.exit.Reason == supervise.Exited
	own := t.Judge(o, exited, time.Now())
	if e.exit.Signal == 0 {
		j.code = t.ExitCode(j.code)
	}
	if c.Settings.Judge != nil && exited {
		o.Stdout = t.Excerpt()
		own = c.Settings.Judge(own, o, time.Now())
	}
	cand.conclude(j, own, o)
	j.verdict.SessionID, j.verdict.Usage = own.SessionID, own.Usage
	switch why := t.Final(); {
	case why != "":
		j.noRepeat = errors.New(why)
	case !e.again:
		j.noRepeat = &belaytype.InputRead{Command: c.Command.Name()}
	}
	if c.Traits.Changes && j.verdict.Sent == "" {
		j.verdict.Sent = verdict.SentMaybe // it did not end by itself
	}
	j.account = t.Account()
	j.account.Usage = j.account.Usage.WithOther(own.Usage)
	return j
}

// conclude says what the end of the process means. own is what the profile makes of the outcome.
func (cand *candidate) conclude(j *judgement, own verdict.Verdict, o verdict.Outcome) {
	c := cand.call
	name, t, reason := c.Command.Name(), j.transcript, j.exit.Reason
	early := t.StoppedEarly()
	if reason == supervise.Exceeded {
		early = transcript.Exceeded(name, j.exit.Excess)
	}
	last := verdict.LastWords(o)
	switch {
	case early.ForModel(): // also if it has come to its end meanwhile
		j.verdict, j.code = early.Verdict, 1
		j.message = j.verdict.Evidence
	case own.Class == verdict.OK && t.HasDelivered() && (early.ForCost() || early.ForCeiling() || reason == supervise.Lingered || reason == supervise.Stalled || reason == supervise.Deadline || reason == supervise.Stopped && c.Traits.Screen):
		// The result is there; that the process then had to be stopped does not change it.
		if j.verdict = own; reason != supervise.Stopped {
			j.code = 0
		}
	case early.ForCeiling():
		// That says nothing of the service; if it is the last attempt, it is worth trying later.
		j.verdict, j.message, j.tell = early.Verdict, early.Verdict.Evidence, early.Tell
		j.expired, j.code, j.stopCode = true, cmp.Or(j.code, 1), CodeTryLater
	case reason == supervise.Deadline:
		j.timedOut, j.expired = true, true
		j.verdict = verdict.Verdict{Class: verdict.Timeout, Retryable: cand.pace.Policy.RetryTimeouts > 0, Rule: "timeout", Evidence: last}
		j.message = fmt.Sprintf("%s exceeded its timeout (%s) and was terminated", name, message.Seconds(c.Timeout()))
	case reason == supervise.Stalled:
		j.expired = true
		j.verdict = verdict.Verdict{Class: verdict.Stalled, Retryable: true, Rule: "stall", Evidence: last}
		j.message = fmt.Sprintf("%s produced no output for %s and was terminated", name, message.Seconds(c.Stall(t.Busy())))
	case early != nil:
		j.verdict, j.stop = early.Verdict, early.Stop
		j.code = 1 // how it ended is our doing; by itself it ends with 1 after any failure
		j.message = message.StoppedRetrying(name, j.verdict.Class, j.verdict.Evidence, errors.Is(early.Stop.Cause, retry.ErrPermanent))
		if early.ForCost() {
			j.message = message.Stopped(name, c.CauseText(early.Stop.Cause))
		}
	case reason == supervise.Stopped && t.Unread():
		j.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "unread", Evidence: message.Unread()}
		j.stopCode = 128 + int(syscall.SIGPIPE)
		j.message = message.Stopped(name, message.Unread())
	case reason == supervise.Stopped:
		cand.concludeStopped(j, last)
	case t.Incomplete() != nil:
		j.verdict = verdict.Verdict{Class: verdict.Unknown, Rule: "output", Evidence: t.Incomplete().Error()}
		j.message = fmt.Sprintf("the output of %s could not be kept: %v", name, t.Incomplete())
		j.code = cmp.Or(j.code, CodeFailed)
	case j.exit.Signal == syscall.SIGPIPE && cand.readerGone():
		// The reader has left, as head does: the command has not failed.
		j.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "unread", Evidence: message.Unread()}
		j.message = fmt.Sprintf("%s was killed by SIGPIPE: %s", name, message.Unread())
	default:
		j.verdict = own
		j.message = sentence(c, o, j.code, own)
	}
}

// concludeStopped says what it means that the command was stopped because the invocation was ended.
func (cand *candidate) concludeStopped(j *judgement, last string) {
	name, cause := cand.call.Command.Name(), context.Cause(cand.pace.Ctx)
	if errors.Is(cause, retry.ErrTotalTimeout) {
		j.expired = true
		j.verdict = verdict.Verdict{Class: verdict.Timeout, Rule: "total-timeout", Evidence: last}
		j.message = fmt.Sprintf("%s exceeded the total timeout (%s) and was terminated", name, message.Seconds(cand.pace.Policy.TotalTimeout))
		return
	}
	if cause == nil { // killed at once
		cause = context.Canceled
	}
	j.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled", Evidence: cause.Error()}
	j.stopCode = call.StopCode(cause)
	j.message = message.Stopped(name, cause.Error())
}

// RuleResources is the rule of a verdict on a command that could not be started for lack of open files, processes or memory.
const RuleResources = "resources"

// OutOfResources reports whether something failed because this process, its user or the machine has no more files, processes or memory. It may work
// later, or with less under way.
func OutOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EAGAIN)
}

// judgeUnstarted says what it means that a command could not be started.
func judgeUnstarted(c *call.Call, err error) *judgement {
	j := &judgement{ending: ending{err: err, again: true}, code: CodeFailed, message: err.Error(),
		verdict: verdict.Verdict{Class: verdict.Unknown, Rule: "start", Evidence: err.Error(), Sent: verdict.SentNo}}
	switch {
	case OutOfResources(err):
		j.verdict.Rule = RuleResources
	case errors.Is(err, syscall.E2BIG):
		j.code, j.verdict.Class = CodeUsage, verdict.TooLarge
		j.message = c.CauseText(&belaytype.TooLong{Err: errors.New("arguments and environment are too long for this system"), All: true})
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		j.code, j.verdict.Class = CodeNotExecutable, verdict.ToolMissing
	case errors.Is(err, fs.ErrNotExist):
		j.code, j.verdict.Class = CodeNotFound, verdict.ToolMissing
		if path, ok := errors.AsType[*fs.PathError](err); ok && path.Op == "exec" { // found, but the interpreter in its first line is not
			j.code = CodeNotExecutable
			j.message = fmt.Sprintf("%s cannot be executed: the interpreter in its first line does not exist", path.Path)
		}
	}
	return j
}

// cutShort makes it the last attempt, because the next one will not come: the invocation was ended, or all of its time is
// over.
func (j *judgement) cutShort(c *call.Call, say func(why string) string, cause error) {
	r := admission.Interruption(c, say, cause)
	j.verdict, j.message = r.Verdict, r.Message
	j.expired = j.expired || r.Expired
	if r.StopCode != 0 {
		j.stopCode = r.StopCode
	}
}

// readerGone reports whether the other end of our output is closed.
func (cand *candidate) readerGone() bool {
	for _, w := range []io.Writer{cand.call.Command.Stdout, cand.call.Command.Stderr} {
		if f, ok := w.(*os.File); ok && supervise.ReaderGone(f) {
			return true
		}
	}
	return false
}

// cleanUp ends what the attempt has left running if it failed, or if that was asked for. A command that nothing more was
// asked for than to be run keeps what it started, as it would without us. In front of a terminal it is said what that is
// unless it succeeded: a Ctrl-C there is the command's own, and the user takes everything to have ended.
func (cand *candidate) cleanUp(j *judgement) {
	if len(j.left) == 0 || j.exit.Reason != supervise.Exited {
		return
	}
	ok := j.verdict.Class == verdict.OK
	if cand.call.Settings.Reap || !ok && cand.managed() || cand.toldToo(j) {
		var killed int
		killed, j.left = j.process.EndTree()
		j.killed += killed
		return
	}
	if cand.managed() || !ok && cand.call.Command.Terminal && supervise.SharesTerminal() {
		cand.call.Emit(belaytype.LeftRunning{Processes: processes(j.left)})
	}
}

// groupSignalDelay is how long after the command we may hear of a signal that was sent to both.
const groupSignalDelay = 500 * time.Millisecond

// toldToo reports whether we were told to end as well as the command, by a signal to the whole process group, as timeout, CI and workers of a fleet send
// it. The command may have ended before we could stop it, and what it has left is to end as if we had. A Ctrl-C on a terminal is the command's own.
func (cand *candidate) toldToo(j *judgement) bool {
	sig := syscall.Signal(j.exit.ShellCode() - 128)
	if sig != syscall.SIGTERM && sig != syscall.SIGHUP && sig != syscall.SIGINT || sig == syscall.SIGINT && supervise.SharesTerminal() {
		return false
	}
	select {
	case <-cand.pace.Ctx.Done():
	case <-time.After(groupSignalDelay):
	}
	_, told := call.AsInterrupt(context.Cause(cand.pace.Ctx))
	return told
}

// deliver passes on what was held of the output.
func (j *judgement) deliver() error {
	if j.transcript == nil {
		return nil
	}
	return j.transcript.Deliver()
}

// discard drops the output of an attempt that does not count.
func (j *judgement) discard() {
	if j != nil && j.transcript != nil {
		j.transcript.Discard()
	}
}

// output is what the attempt has printed, or of an agent its answer, where that was held or kept; else nil.
func (j *judgement) output() *belaytype.Output {
	if j.transcript == nil || j.transcript.Incomplete() != nil { // a part of it could be taken for all
		return nil
	}
	return j.transcript.Output().Public()
}

// stderr is what was held of its standard error; nil if nothing was.
func (j *judgement) stderr() *belaytype.Output {
	if j.transcript == nil {
		return nil
	}
	return j.transcript.Stderr().Public()
}

// silent says that an agent has failed and the caller does not see why. One that was stopped for its cost or model does not know
// why itself, whatever was passed on of its output.
func (j *judgement) silent() bool {
	if !j.started() || j.verdict.Class == verdict.OK {
		return false
	}
	early := j.transcript.StoppedEarly()
	return early.ForCost() || early.ForModel() || j.tell != "" || j.transcript.Silent(message.LastLine(j.verdict.Evidence))
}

// processes are these as callers have them.
func processes(list []supervise.Proc) (all []belaytype.Process) {
	for _, p := range list {
		all = append(all, belaytype.Process{PID: p.PID, Name: p.Name})
	}
	return all
}

// sentence says in one line how a command ended by itself.
func sentence(c *call.Call, o verdict.Outcome, code int, v verdict.Verdict) string {
	matched, evidence := "", v.Evidence
	if v.Rule == generic.FailOn { // else it would not be clear why an exit code of 0 is a failure
		matched = c.CauseText(&call.OutputMatched{Code: code})
	}
	if evidence == fmt.Sprintf("exit %d", o.ExitCode) || evidence == "ended by "+o.Signal {
		evidence = ""
	}
	return message.Exited(c.Command.Name(), code, o.Signal, v.Class, matched, evidence)
}

// unplanned is an attempt that cannot work, whatever happens.
func unplanned(err error) *admission.Refusal {
	r := &admission.Refusal{Code: CodeUsage, Message: err.Error(), Stop: &retry.Error{Cause: retry.ErrPermanent},
		Verdict: verdict.Verdict{Class: verdict.TooLarge, Rule: "plan", Evidence: err.Error(), Sent: verdict.SentNo}}
	if _, over := errors.AsType[*agent.UsedUp](err); over {
		r.Code, r.Verdict.Class = 1, verdict.LimitReached
	}
	return r
}
