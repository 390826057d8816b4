package engine

import (
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

// waits is what an invocation has really waited. Each line of the log tells what is new since the line before, and the
// result what they add up to. What bounds waits is another thing: see [retry.Series].
type waits struct {
	// before is what was waited before an attempt was let in, at gate and scope, beyond what the line before has planned;
	// negative where that wait was cut short.
	before time.Duration
	inner  time.Duration // inside the CLI
	total  time.Duration // on record
}

// record puts what is new into a line of the log. planned is the wait that comes now: if it is not waited to its end, the
// next line takes the rest back.
func (w *waits) record(e *journal.Entry, planned time.Duration) {
	e.GateWait, e.InnerWait, e.WaitTime = w.before.Seconds(), w.inner.Seconds(), (w.inner + planned).Seconds()
	*w = waits{total: w.total + w.before + w.inner + planned}
}

// pause is a wait before the next attempt.
type pause struct {
	length  time.Duration // all of it
	backoff time.Duration // our own part, which is slept in any case
	hold    *gate.Refusal // what lasts longer; nil if nothing does
	watch   *watcher
}

// newPause is the wait after an attempt: its back-off, or the hold that it has led to, if that lasts longer. Then there is one
// wait to speak of, not two.
func (inv *Invocation) newPause(a *attempt, backoff time.Duration) pause {
	now := time.Now()
	p := pause{length: backoff, backoff: backoff}
	if p.hold, p.watch = inv.holdFor(a, now.Add(backoff)); p.hold != nil {
		p.length = p.hold.Until.Sub(now)
	}
	return p
}

// wait sleeps until the next attempt, holding nothing.
func (inv *Invocation) wait(n int, a attempt, p pause) error {
	w := Waiting{Attempt: n, Retry: n, Verdict: a.verdict, Message: a.message, Wait: p.length, Until: time.Now().Add(p.length)}
	if p.hold != nil {
		defer p.watch.end()
		w.Until = p.hold.Until
	}
	if !a.verdict.Class.Throttle() || inv.policy.CountThrottles {
		w.Retry, w.Of = inv.series.Retries(), inv.policy.MaxRetries // those inside an agent count too
		if limit := a.verdict.Class.RetryLimit(); limit > 0 {
			w.Of = min(w.Of, w.Retry+limit-1)
		}
		if a.timedOut {
			w.Of = min(w.Of, max(w.Retry, inv.policy.RetryTimeouts))
		}
	}
	inv.update(supervise.StateWaiting, n, a.message, w.Until)
	inv.observe(w)
	begun, slept := time.Now(), p.backoff
	err := retry.Sleep(inv.ctx, p.backoff)
	if err != nil {
		slept = min(slept, time.Since(begun))
	}
	inv.waits.before += slept - p.length
	for hold := p.hold; err == nil && hold != nil && time.Until(hold.Until) > 0; hold = p.watch.gate.Peek() {
		changed, _ := p.watch.changes(hold)
		poll, short := inv.patience(hold, 1, changed != nil)
		if short != nil {
			break // the gate will say so
		}
		err = inv.doze(poll, changed)
	}
	inv.observe(WaitOver{})
	inv.update(supervise.StateRunning, n+1, "", time.Time{})
	return err
}
