package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// mayRepeat says that there may be more than one attempt.
func (inv *Invocation) mayRepeat() bool { return inv.policy.MaxRetries > 0 }

// off says that the caller wants no retries at all: then the command's own exit code is what is asked for. A conversation
// has none either, but its caller has not said so.
func (inv *Invocation) off() bool {
	return inv.runner.Policy.CountThrottles && inv.runner.Policy.MaxRetries < 0
}

// managed says that more was asked for than to run the command: then what it leaves behind is our business.
func (inv *Invocation) managed() bool {
	return inv.mayRepeat() || inv.policy.Timeout > 0 || inv.policy.TotalTimeout > 0 || inv.runner.Stall > 0
}

// Run runs the invocation on the calling goroutine: attempts, verdicts, waits, until something is final. It is called
// once; [Runner.Start] does so itself.
func (inv *Invocation) Run() {
	defer close(inv.done)
	defer inv.cancel(nil)
	inv.openState()
	defer inv.closeRecord()
	inv.checkOptions()
	if deadline, ok := inv.series.Deadline(); ok {
		ctx, stop := context.WithDeadlineCause(inv.ctx, deadline, retry.ErrTotalTimeout)
		defer stop()
		inv.ctx = ctx
	}
	defer inv.events.end()
	slot, busy := inv.enterScope(inv.runner.Scope, inv.runner.OnBusy)
	defer slot.Free()
	if busy == nil {
		inv.sessionSlot, busy = inv.sessionWanted()
	}
	if busy != nil {
		inv.refuse(1, *busy, nil)
		return
	}
	defer func() { inv.sessionSlot.Free() }()
	if refused := inv.readInput(); refused != nil {
		inv.refuse(1, *refused, nil)
		return
	}
	attemptOne := (*Invocation).attempt
	if inv.runner.attempt != nil {
		attemptOne = inv.runner.attempt
	}
	var errs []string
	classes := map[verdict.Class]int{}
	for n := 1; ; n++ {
		a := attemptOne(inv, n)
		if a.verdict.Rule == "gate" {
			inv.refuse(n, a, errs)
			return
		}
		inv.learn(&a)
		inv.checkVersion(&a)
		inv.limit(&a)
		if inv.again(&a) {
			inv.journal(n, a, 0, nil, nil)
			errs = append(errs, a.message)
			a.discard()
			continue
		}
		wait, stop := inv.next(&a, classes)
		if cause := inv.ended(); cause != nil && inv.mayRepeat() && a.verdict.Retryable && !a.timedOut &&
			!errors.Is(cause, retry.ErrTotalTimeout) {
			// It would have gone on but for the request to stop, which came as the attempt ended.
			inv.cutShort(&a, "stopped before the next attempt", cause)
		}
		if stop != nil || a.verdict.Class == verdict.OK {
			inv.finish(n, a, stop, errs)
			return
		}
		pause := inv.newPause(&a, wait)
		inv.journal(n, a, pause.length, nil, nil)
		classes[a.verdict.Class]++
		errs = append(errs, a.message)
		inv.observe(AttemptFailed{Attempt: n, Verdict: a.verdict, Stderr: a.stderr.output()})
		a.discard()
		inv.continued(&a)
		if err := inv.wait(n, a, pause); err != nil {
			inv.cutShort(&a, "stopped before the next attempt", err)
			a.recorded = true
			inv.finish(n, a, &retry.Error{Cause: err}, errs)
			return
		}
	}
}

// learn takes note of what an attempt of an agent has done.
func (inv *Invocation) learn(a *attempt) {
	if inv.talk == nil || !a.started {
		return
	}
	if id := a.account.Session; id != "" && id != inv.talk.live {
		inv.sessionBegins(id) // it is known only now
	}
	inv.talk.learn(a)
	inv.talk.resumed = inv.talk.turn.Session != "" && a.verdict.Class != verdict.SessionNotFound
	inv.unseen(a)
}

// refuse ends an invocation that was not let in, at a gate or into its scope, or whose input did not come.
func (inv *Invocation) refuse(n int, a attempt, errs []string) {
	stop := a.stop
	if stop == nil {
		stop = &retry.Error{Cause: retry.ErrMaxWait, NotBefore: a.refusedAt}
	}
	if cause := inv.ended(); cause != nil {
		stop.Cause = cause
	}
	inv.finish(n, a, stop, errs)
}

// next asks whether the attempt is to be repeated: after what wait, or why not.
func (inv *Invocation) next(a *attempt, classes map[verdict.Class]int) (time.Duration, *retry.Error) {
	v := a.verdict
	if v.Class == verdict.OK {
		return 0, nil
	}
	now := time.Now()
	if cause := inv.ended(); cause != nil {
		return 0, &retry.Error{Cause: cause}
	}
	if a.stop != nil { // it ran out of retries inside
		return 0, a.stop
	}
	advice := retry.Advice{Retry: v.Retryable, After: v.Hint.After, NotBefore: v.Hint.At, Throttled: v.Class.Throttle(), TimedOut: a.timedOut}
	if !advice.NotBefore.IsZero() && inv.calls != nil {
		advice.NotBefore = advice.NotBefore.Add(inv.runner.limitBuffer())
	}
	if v.Class == verdict.UsageLimit && !v.Hint.IsZero() {
		advice.Retry = true // not worth a back-off, but worth the wait if that fits
	}
	if limit := v.Class.RetryLimit(); advice.Retry && limit > 0 && classes[v.Class] >= limit {
		return 0, &retry.Error{Cause: retry.ErrExhausted}
	}
	if advice.Retry && inv.mayRepeat() {
		if stop := inv.settle(a); stop != nil {
			return 0, stop
		}
		if a.verdict.Class == verdict.OK {
			return 0, nil
		}
	}
	wait, err := inv.series.Next(now, &Error{Verdict: v, Message: a.message}, advice)
	if err == nil && !a.again {
		err = &retry.Error{Cause: errors.New(a.noRepeat)}
	}
	if err == nil {
		if stop := inv.outlasted(a, now.Add(wait)); stop != nil {
			return 0, stop // no pointless sleep
		}
		if stop := inv.stuck(a); stop != nil {
			return 0, stop
		}
		if stop := inv.spent(a); stop != nil {
			return 0, stop
		}
	}
	if err != nil {
		var stop *retry.Error
		errors.As(err, &stop)
		return 0, stop
	}
	return wait, nil
}

// holdFor is the hold that a throttled attempt has led to, if it lasts longer than its own back-off.
func (inv *Invocation) holdFor(a *attempt, until time.Time) (*gate.Refusal, *watcher) {
	g := inv.sharedGate()
	if g == nil || !a.verdict.Class.Throttle() {
		return nil, nil
	}
	r := g.Peek()
	if r == nil || r.Kind != "hold" || !r.Until.After(until) {
		return nil, nil
	}
	return r, newWatcher(g)
}

// outlasted says that the hold that a throttled attempt has led to lasts longer than may be waited; nil if it does not. until
// is when its own back-off, which is paid for, ends.
func (inv *Invocation) outlasted(a *attempt, until time.Time) *retry.Error {
	hold, _ := inv.holdFor(a, until)
	if hold == nil || hold.Until.Sub(until) <= inv.series.Left(time.Now()) {
		return nil
	}
	return &retry.Error{Cause: retry.ErrMaxWait, NotBefore: hold.Until}
}

// finish makes the result, passes on what was held, and puts the end on record.
func (inv *Invocation) finish(n int, a attempt, stop *retry.Error, errs []string) {
	r := &Result{ID: inv.id, Success: a.verdict.Class == verdict.OK, Verdict: a.verdict, Errors: errs,
		Attempts: n, Profile: inv.profile.Name(),
		ChildCode: a.code, Left: a.left, OrphansKilled: a.killed}
	if !a.started {
		r.Attempts--
	}
	if inv.state != nil {
		r.Log = inv.state.LogPath()
	}
	exhausted := inv.exhausted(a, stop)
	if !r.Success {
		r.Err = a.message
		if r.MayBeDone = errors.Is(stop.Cause, ErrMayBeDone); r.MayBeDone {
			r.Err += fmt.Sprintf("; %v", stop.Cause)
		}
		if exhausted {
			r.Err = inv.exhaustion(a, stop, n)
		}
		r.RetryAt = stop.NotBefore
		r.Errors = append(r.Errors, r.Err)
		inv.err = &Error{Invocation: inv.id, Verdict: r.Verdict, Message: r.Err, Cause: stop.Cause, RetryAt: r.RetryAt}
	}
	expired := a.timedOut || a.verdict.Class == verdict.Stalled || stop != nil && errors.Is(stop.Cause, retry.ErrTotalTimeout) && a.expired
	r.ExitCode = exitCode(r, a.stopCode, !inv.profile.Headless() || inv.off() || r.MayBeDone, expired, exhausted)
	if r.Output = a.output(); exhausted {
		r.Output = nil
	}
	r.Usage = a.account.Usage
	if inv.talk != nil {
		r.Session, r.Resumed, r.Usage = inv.talk.session, inv.talk.resumed, inv.talk.usage.sum()
		r.Verdict.SessionID = r.Session
	}
	if r.Usage.CostUSD == nil && !r.Usage.CostUnknown() {
		r.Usage.CostUSD = new(float64) // nothing was used
	}
	inv.sessionEnds(r)
	if err := a.deliver(); err != nil && r.ExitCode == 0 {
		r.ExitCode = CodeFailed
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			r.ExitCode = 128 + int(syscall.SIGPIPE)
		}
		r.Success, r.Err = false, fmt.Sprintf("cannot pass the output on: %v", err)
		r.Errors = append(r.Errors, r.Err)
		inv.err = &Error{Invocation: inv.id, Verdict: verdict.Verdict{Class: verdict.Unknown}, Message: r.Err, Cause: err}
	}
	code := r.ExitCode
	if inv.runner.OwnCode {
		code = r.OwnCode()
	}
	inv.journal(n, a, 0, stop, &code)
	r.Requests, r.Waited = inv.requests, inv.waits.total
	r.Silent = a.silent()
	r.Duration = time.Since(inv.begun)
	inv.count(r, a.started)
	inv.result = r
}

// exhausted says that the attempt would have been repeated and only retries or time were missing.
func (inv *Invocation) exhausted(a attempt, stop *retry.Error) bool {
	var i *Interrupt
	worth := a.verdict.Retryable || a.verdict.Class == verdict.UsageLimit
	return stop != nil && worth && inv.mayRepeat() &&
		!errors.Is(stop.Cause, retry.ErrPermanent) && !errors.Is(stop.Cause, ErrMayBeDone) && !errors.As(stop.Cause, &i)
}

// exhaustion says why it was not tried again, for a person. It ends in "retry later", as callers look for that.
func (inv *Invocation) exhaustion(a attempt, stop *retry.Error, n int) string {
	var b strings.Builder
	b.WriteString(a.message)
	switch {
	case errors.Is(stop.Cause, retry.ErrMaxWait) && inv.runner.NoWait:
		b.WriteString("; the next attempt would have to wait, and --no-wait says not to")
	case errors.Is(stop.Cause, retry.ErrMaxWait):
		b.WriteString("; the next attempt would come too late for --max-wait")
	case errors.Is(stop.Cause, retry.ErrTotalTimeout):
		b.WriteString("; the next attempt would come too late for --total-timeout")
	case errors.Is(stop.Cause, retry.ErrExhausted), errors.Is(stop.Cause, retry.ErrTimeout):
		fmt.Fprintf(&b, "; gave up after %d attempt%s", n, plural(n))
		if inv.talk != nil && inv.talk.inner > 0 {
			fmt.Fprintf(&b, " and %d retr%s of its own", inv.talk.inner, map[bool]string{true: "y", false: "ies"}[inv.talk.inner == 1])
		}
	default:
		fmt.Fprintf(&b, "; %v", stop.Cause)
	}
	if !stop.NotBefore.IsZero() {
		fmt.Fprintf(&b, "; not before %s", When(stop.NotBefore))
	}
	b.WriteString("; retry later")
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
