package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// finisher makes the result of an invocation.
type finisher struct {
	inv      *Invocation
	cand     *candidate // the one whose turn it is
	first    int        // its first attempt
	decider  *decider
	recorder recorder
	errors   []string   // what went wrong, attempt by attempt
	earliest wayBack    // the first of the candidates before to be free again
	answer   *judgement // the last answer that did not pass its check, for which there is no better one; nil if there is none
}

// putAside drops the output of an attempt that does not count, unless it is an answer: that is kept until there is another.
func (f *finisher) putAside(j *judgement) {
	if j.check == nil {
		j.discard()
		return
	}
	f.answer.discard()
	f.answer = j
}

// deliver passes on the output of the last attempt, or an answer that is not done if there is none after it: its work was paid for.
func (f *finisher) deliver(r *belaytype.Result, j *judgement) error {
	if f.answer != nil && j.check != nil { // it is the last answer itself
		f.answer.discard()
		f.answer = nil
	}
	if f.answer == nil {
		return j.deliver()
	}
	j.discard()
	r.Output = f.answer.output()
	return f.answer.deliver()
}

// take takes the candidate whose turn it is now, of which n is the first attempt.
func (f *finisher) take(cand *candidate, n int) {
	f.cand, f.first = cand, n
	f.decider = &decider{call: cand.call, pace: cand.pace, keeper: admission.NewGatekeeper(cand.call, cand.pace), kind: cand.kind, control: cand.control, login: &cand.login, before: n - 1}
	f.recorder.cand = cand
	cand.turnOver = f.recorder.turn
}

// refusal is why a candidate ends that was not let in, at a gate or into its scope, or whose input did not come.
func (f *finisher) refusal(j *judgement) *retry.Error {
	stop := j.stop
	if stop == nil {
		stop = &retry.Error{Cause: retry.ErrMaxWait}
	}
	if cause := f.decider.ended(); cause != nil {
		stop.Cause = cause
	}
	return stop
}

// finish makes the result, passes on what was held, and puts the end on record.
func (f *finisher) finish(n int, j *judgement, stop *retry.Error) {
	inv, c := f.inv, f.cand.call
	stop = inv.ground.leave(f, n, j, stop)
	j.attribute(c.Traits.Provider)
	r := &belaytype.Result{ID: c.ID, Success: j.verdict.Class == verdict.OK, Verdict: j.verdict, Errors: f.errors, Attempts: n,
		Profile: c.Profile.Name(), Fallback: f.cand.fallback, ChildCode: j.code, Left: processes(j.left), OrphansKilled: j.killed, Usage: j.account.Usage, Parent: c.Parent}
	labels := c.Settings.Labels.Redacted()
	r.Name, r.Tags, r.Prompt = labels.Name, labels.Tags, f.recorder.prompt()
	if !j.started() {
		r.Attempts--
	}
	if c.State != nil && !c.Settings.NoRecord {
		r.Log = c.State.LogPath()
	}
	exhausted := f.exhausted(j, stop)
	r.MayBeDone = !r.Success && errors.Is(stop.Cause, belaytype.ErrMayBeDone)
	expired := j.timedOut || j.verdict.Class == verdict.Stalled || stop != nil && errors.Is(stop.Cause, retry.ErrTotalTimeout) && j.expired
	r.ExitCode = exitCode(r, j.stopCode, !c.Profile.Headless() || f.off() || r.MayBeDone, expired, exhausted, spending.IsBudget(stop))
	if !r.Success {
		r.Error = j.message
		switch {
		case r.MayBeDone:
			r.Error = message.Sentences(r.Error, c.CauseText(stop.Cause))
		case exhausted:
			r.Error = f.exhaustion(j, stop, n)
		}
		if exhausted && r.ExitCode == CodeTryLater { // callers look for these words
			r.Error = message.Later(r.Error)
		}
		r.RetryAt = stop.NotBefore
		if outlasts(j, stop) && f.earliest.before(r.RetryAt) {
			r.RetryAt = f.earliest.at
			r.Error = message.BackBefore(c.Command.Name(), j.verdict.Class, f.earliest.name, r.RetryAt)
		}
		r.Errors = append(r.Errors, r.Error)
		inv.err = &belaytype.Error{Invocation: c.ID, Verdict: r.Verdict, Message: r.Error, Cause: stop.Cause, RetryAt: r.RetryAt}
	}
	switch {
	case !exhausted:
		r.Output = j.output()
	case !c.Settings.NoTail:
		r.Tail = tail(j.output())
	}
	f.cand.kind.account(r)
	f.cand.kind.end(r)
	if err := f.deliver(r, j); err != nil && r.ExitCode == 0 {
		r.ExitCode = CodeFailed
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			r.ExitCode = 128 + int(syscall.SIGPIPE)
		}
		r.Success, r.Error = false, fmt.Sprintf("cannot write the output: %v", err)
		r.Errors = append(r.Errors, r.Error)
		inv.err = &belaytype.Error{Invocation: c.ID, Verdict: verdict.Verdict{Class: verdict.Unknown}, Message: r.Error, Cause: err}
	}
	if inv.ground != nil {
		r.Worktree = inv.ground.result
	}
	if k := f.inv.checker; k != nil && k.last != nil {
		r.Check, k.last.Rounds = k.last, k.rounds
	}
	code := r.ExitCode
	if c.Settings.OwnCode {
		code = OwnCode(r)
	}
	f.recorder.line(n, j, sequel{why: f.why(j, stop, n, exhausted), stop: stop, exhausted: exhausted, code: &code})
	r.Requests, r.Waited = f.recorder.requests, f.cand.pace.Waits.Total
	r.PeakMemory, r.PeakTree = f.recorder.peak, f.recorder.tree
	r.Silent = j.silent() || f.answer != nil
	r.Duration = time.Since(c.Begun)
	f.recorder.count(r, j.started())
	inv.result = r
}

// maxTail is how much of the end of an output is told where the rest is dropped.
const maxTail = 8 << 10

// tail is the end of an output, in whole characters.
func tail(o *belaytype.Output) string {
	end := make([]byte, min(o.Size(), maxTail))
	n, _ := o.ReadAt(end, o.Size()-int64(len(end))) // what cannot be read is not told
	end = end[:n]
	for o.Size() > maxTail && len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return strings.ToValidUTF8(string(end), "\uFFFD")
}

// off says that the caller wants no retries at all: then the command's own exit code is what is asked for. A conversation
// has none either, but its caller has not said so.
func (f *finisher) off() bool {
	p := &f.cand.call.Settings.Policy
	return p.CountThrottles && p.MaxRetries < 0 && !f.cand.call.Settings.OnlyAttempt
}

// exhausted says that the attempt would have been repeated and only retries or time were missing.
func (f *finisher) exhausted(j *judgement, stop *retry.Error) bool {
	counted := f.cand.pace.MayRepeat() || f.cand.call.Settings.OnlyAttempt && f.cand.call.Traits.Kind == call.AgentTurn
	if stop == nil || !counted || j.verdict.Class == verdict.NotDone || !j.verdict.Retryable && j.verdict.Class != verdict.UsageLimit {
		return false
	}
	_, interrupted := call.AsInterrupt(stop.Cause)
	return !interrupted && !errors.Is(stop.Cause, retry.ErrPermanent) && !errors.Is(stop.Cause, belaytype.ErrMayBeDone)
}

// outlasts reports whether the agent was stopped by something that lasts longer than may be waited, and that another agent need
// not have: a limit, an overload, a gate that is closed for either.
func outlasts(j *judgement, stop *retry.Error) bool {
	if stop == nil || j.noRepeat != nil {
		return false
	}
	if _, spent := errors.AsType[*belaytype.MaxCostReached](stop.Cause); spent {
		return false
	}
	if closed, ok := errors.AsType[*belaytype.GateRefused](stop.Cause); ok {
		return closed.Refusal.Kind != gate.KindSlots // which is the caller's own limit
	}
	class := j.verdict.Class
	return j.started() && (class.Throttle() || class == verdict.Overloaded || class == verdict.WrongModel && j.verdict.Retryable)
}

// wayBack is when an agent that could not take the request may be asked again.
type wayBack struct {
	name string
	at   time.Time
}

// note notes a time, if it is known and the earliest so far.
func (w *wayBack) note(name string, at time.Time) {
	if !at.IsZero() && (w.at.IsZero() || at.Before(w.at)) {
		*w = wayBack{name, at}
	}
}

// before reports whether it comes before another time, or that is not known.
func (w *wayBack) before(at time.Time) bool {
	return !w.at.IsZero() && (at.IsZero() || w.at.Before(at))
}
