package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// retrying counts a retry inside the CLI as one of ours, tells the gate why there is one, and ends the attempt if there is
// no room for it.
func (t *eventLog) retrying(r *agent.Retrying) {
	if r.Repeated {
		return // it is counted, and the gate knows
	}
	now, p := time.Now(), t.pace
	t.ad.during(r.Verdict, t.call.command.name())
	t.resumed(now)
	if t.direct {
		t.paused, t.pause = now, r.Wait
		t.inner++
		return // it is the caller's to end it
	}
	advice := retry.Advice{Retry: !r.Hopeless, After: r.Wait, Throttled: r.Verdict.Class.Throttle()}
	err := p.series.Inner(now, &belaytype.Error{Verdict: r.Verdict, Message: r.Verdict.Evidence}, advice)
	if t.trouble.IsZero() {
		t.trouble = now
	}
	told := t.call.traits.own.Set && p.mayRepeat()
	if errors.Is(err, retry.ErrExhausted) && !p.policy.CountThrottles && (told || now.Sub(t.trouble) < p.policy.TotalDelay()) {
		// Its retries are quicker than ours would be: it must not be given up sooner. One that was told how often to try again does so.
		err = p.series.Charge(now, r.Wait, err)
	}
	if errors.Is(err, retry.ErrMaxWait) && t.call.ownMaxWait() {
		p.charge(r.Wait)
		err = nil
	}
	finishes := t.call.runner.WholeStream && t.form == agent.Stream
	t.call.emit(belaytype.InnerRetry{Attempt: t.attempt, Verdict: r.Verdict, Wait: r.Wait, Ended: err != nil && !finishes})
	stop, ok := errors.AsType[*retry.Error](err)
	if !ok || finishes {
		t.paused, t.pause = now, r.Wait
		t.inner++
		if t.sessions.innerRetries++; advice.Throttled && r.Wait == 0 && !finishes {
			t.boundLimitWait(now, r.Verdict)
		}
		return
	}
	if r.Verdict.Hint.IsZero() {
		stop.NotBefore = time.Time{} // the CLI's own back-off is not the service's advice
	}
	t.stop(&earlyStop{verdict: r.Verdict, stop: stop})
}

// boundLimitWait lets a CLI that waits for a limit, and does not say for how long, wait only as long as is allowed. One that was told to wait is
// not bounded.
func (t *eventLog) boundLimitWait(now time.Time, v verdict.Verdict) {
	if t.limitWaitSince = now; t.call.ownMaxWait() {
		return
	}
	t.alarm = time.AfterFunc(t.pace.series.Left(now), func() {
		t.stop(&earlyStop{verdict: v, stop: &retry.Error{Cause: retry.ErrMaxWait}})
	})
}

// chargeLimitWait charges what it has waited for a limit.
func (t *eventLog) chargeLimitWait() {
	if t.limitWaitSince.IsZero() {
		return
	}
	if t.alarm != nil {
		t.alarm.Stop()
	}
	slept := time.Since(t.limitWaitSince)
	t.pace.charge(slept)
	t.pace.waits.inner += slept
	t.limitWaitSince = time.Time{}
}

// resumed counts what it has waited of the time that it has told of: all of it, unless it was ended or has tried again
// before.
func (t *eventLog) resumed(now time.Time) {
	if !t.paused.IsZero() {
		t.pace.waits.inner += min(t.pause, now.Sub(t.paused))
		t.paused = time.Time{}
	}
}
