package engine

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// decision is what follows from a judgement: another attempt at once, another one after a wait, or the end.
type decision struct {
	restart bool         // at once; it costs no retry
	round   bool         // likewise: an agent was told that it is not done
	renewed bool         // likewise: its login was not accepted, and has been renewed meanwhile
	wait    wait         // before the next attempt
	stop    *retry.Error // why there is no further attempt; nil for a success
	over    bool         // there is no further attempt
}

// why says why the next attempt comes at once.
func (d *decision) why() string {
	switch {
	case d.renewed:
		return "retried at once: the login has been renewed meanwhile"
	case d.round:
		return "sent back: the work did not pass its check"
	case d.wait.price != "":
		return "continues its session, which sends about " + d.wait.price
	}
	return ""
}

// decider decides, attempt after attempt.
type decider struct {
	call    *call.Call
	pace    *admission.Pace
	keeper  *admission.Gatekeeper
	kind    kind
	control *control
	login   *admission.Login
	before  int                   // attempts of the candidates before
	failed  map[verdict.Class]int // attempts that were repeated, by class
}

// decide says what follows from a judgement, which may become a success: see [kind.settle].
func (d *decider) decide(j *judgement) decision {
	if j.started() && d.ended() == nil && d.kind.restart(j) && d.pace.Series.Restart() {
		return decision{restart: true}
	}
	if d.renewed(j) {
		d.count(j.verdict.Class)
		return decision{renewed: true}
	}
	backoff, stop := d.next(j)
	if cause := d.ended(); cause != nil && d.pace.MayRepeat() && j.verdict.Retryable && !j.timedOut && !errors.Is(cause, retry.ErrTotalTimeout) {
		// It would have gone on but for the request to stop, which came as the attempt ended.
		j.cutShort(d.call, message.StoppedBetween, cause)
	}
	if stop != nil || j.verdict.Class == verdict.OK {
		return decision{stop: stop, over: true}
	}
	d.count(j.verdict.Class)
	return decision{wait: d.newWait(j, backoff)}
}

// renewed reports whether an attempt is repeated at once because its login was renewed meanwhile, whatever the policy says of retries.
func (d *decider) renewed(j *judgement) bool {
	return d.login.WasRenewed(j.verdict.Class) && d.call.Traits.Kind == call.AgentTurn && j.started() && j.noRepeat == nil && d.ended() == nil &&
		d.mayStart() && d.kind.hindrance(j) == nil && d.pace.Series.Restart()
}

// count counts an attempt that is followed by another.
func (d *decider) count(class verdict.Class) {
	if d.failed == nil {
		d.failed = map[verdict.Class]int{}
	}
	d.failed[class]++
}

// mayStart reports whether the caller's bound on starts leaves room for another.
func (d *decider) mayStart() bool {
	starts := d.call.Settings.AtMost.Starts
	return starts == 0 || d.before+d.repeated()+1 < starts
}

// repeated is how many attempts were repeated.
func (d *decider) repeated() (n int) {
	for _, of := range d.failed {
		n += of
	}
	return n
}

// ended says why there must be no further attempt, whatever the last one was; nil if there is no reason.
func (d *decider) ended() error {
	if cause := d.control.interruption(); cause != nil {
		return cause
	}
	return context.Cause(d.pace.Ctx)
}

// next asks whether the attempt is to be repeated: after what wait, or why not.
func (d *decider) next(j *judgement) (time.Duration, *retry.Error) {
	v := j.verdict
	if v.Class == verdict.OK {
		return 0, nil
	}
	now := time.Now()
	if cause := d.ended(); cause != nil {
		return 0, &retry.Error{Cause: cause}
	}
	if j.stop != nil { // it ran out of retries inside
		return 0, j.stop
	}
	advice := d.advice(j)
	if limit := v.Class.RetryLimit(); advice.Retry && limit > 0 && d.failed[v.Class] >= limit {
		return 0, &retry.Error{Cause: retry.ErrExhausted}
	}
	if advice.Retry && d.pace.MayRepeat() {
		if stop := d.kind.settle(j); stop != nil {
			return 0, stop
		}
		if j.verdict.Class == verdict.OK {
			return 0, nil
		}
	}
	backoff, err := d.pace.Series.Next(now, &belaytype.Error{Verdict: v, Message: j.message}, advice)
	if stop, ok := errors.AsType[*retry.Error](err); ok {
		return 0, stop
	}
	if j.noRepeat != nil {
		return 0, &retry.Error{Cause: j.noRepeat}
	}
	if !d.mayStart() {
		return 0, &retry.Error{Cause: retry.ErrExhausted}
	}
	return backoff, d.hindrance(j, clock.Now().Add(backoff))
}

// advice is what the verdict means for the next attempt.
func (d *decider) advice(j *judgement) retry.Advice {
	v := j.verdict
	a := retry.Advice{Retry: v.Retryable, After: v.Hint.After, NotBefore: v.Hint.At, Throttled: v.Class.Throttle(), TimedOut: j.timedOut}
	if !a.NotBefore.IsZero() && d.call.Traits.Kind == call.CallerCommand {
		a.NotBefore = a.NotBefore.Add(d.call.Settings.LimitBufferInUse())
	}
	if v.Class == verdict.UsageLimit && !v.Hint.IsZero() {
		a.Retry = true // not worth a back-off, but worth the wait if that fits
	}
	return a
}

// hindrance is why there must be no further attempt though the policy has one, whose back-off ends at until.
func (d *decider) hindrance(j *judgement, until time.Time) *retry.Error {
	if hold := d.keeper.Hold(j.verdict, until); hold != nil && hold.Until.Sub(until) > d.pace.Left() {
		return &retry.Error{Cause: retry.ErrMaxWait, NotBefore: hold.Until} // no pointless sleep
	}
	if stop := d.kind.hindrance(j); stop != nil {
		return stop
	}
	if d.kind.knowsFailures() && j.started() {
		return d.keeper.Spend(j.verdict)
	}
	return nil
}

// wait is a wait before the next attempt.
type wait struct {
	length  time.Duration // all of it
	backoff time.Duration // our own part, which is slept in any case
	hold    *gate.Refusal // what lasts longer; nil if nothing does
	price   string        // what it costs to continue after it; empty if that is no more than usual
}

// newWait is the wait after an attempt: its back-off, or the hold that it has led to, if that lasts longer. Then there is one
// wait to speak of, not two.
func (d *decider) newWait(j *judgement, backoff time.Duration) wait {
	now := clock.Now()
	w := wait{length: backoff, backoff: backoff}
	if w.hold = d.keeper.Hold(j.verdict, now.Add(backoff)); w.hold != nil {
		w.length = w.hold.Until.Sub(now)
	}
	if w.length > time.Minute { // else the service remembers it
		w.price = d.kind.resumePrice(j, now.Add(w.length))
	}
	return w
}

// await sleeps until the next attempt, holding nothing. The error says that the wait was cut short.
func (d *decider) await(n int, j *judgement, w wait) error {
	p := d.pace
	event := belaytype.Waiting{Attempt: n, Retry: n, Verdict: j.verdict, Message: j.message, Wait: w.length, Until: time.Now().Add(w.length), Resume: w.price}
	if w.hold != nil {
		event.Until = w.hold.Until
	}
	if !j.verdict.Class.Throttle() || p.Policy.CountThrottles {
		event.Retry, event.Of = p.Series.Retries(), p.Policy.MaxRetries // those inside an agent count too
		if limit := j.verdict.Class.RetryLimit(); limit > 0 {
			event.Of = min(event.Of, event.Retry+limit-1)
		}
		if j.timedOut {
			event.Of = min(event.Of, max(event.Retry, p.Policy.RetryTimeouts))
		}
	}
	d.call.Live.Update(supervise.StateWaiting, n, j.message, event.Until)
	d.call.Emit(event)
	begun, slept := time.Now(), w.backoff
	err := retry.Sleep(p.Ctx, w.backoff)
	if err != nil {
		slept = min(slept, time.Since(begun))
	}
	p.Waits.Before += slept - w.length
	if err == nil && w.hold != nil {
		err = d.keeper.AwaitHold(w.hold)
	}
	d.call.Emit(belaytype.WaitOver{CutShort: err != nil})
	d.call.Live.Update(supervise.StateRunning, n+1, "", time.Time{})
	return err
}
