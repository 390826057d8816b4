package engine

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// why says for the record why there is no further attempt; empty after a success, and where what happened says it already.
func (f *finisher) why(j *judgement, stop *retry.Error, n int, exhausted bool) string {
	c := f.cand.call
	if stop == nil {
		return ""
	}
	i, interrupted := call.AsInterrupt(stop.Cause)
	switch {
	case interrupted:
		return message.StoppedBy(i.Name)
	case errors.Is(stop.Cause, context.Canceled), j.verdict.Class == verdict.BreakerOpen, j.verdict.Class == verdict.NotDone:
		return ""
	case errors.Is(stop.Cause, belaytype.ErrMayBeDone):
		return c.CauseText(stop.Cause)
	case exhausted:
		return f.obstacle(stop, n, stop.NotBefore, time.Since(c.Begun))
	}
	return message.NotRetried(j.verdict.Class, j.verdict.Retryable, f.cand.pace.MayRepeat())
}

// exhaustion says of a run what happened last, and why it was not tried again.
func (f *finisher) exhaustion(j *judgement, stop *retry.Error, n int) string {
	text, at := j.message, stop.NotBefore
	hint := j.verdict.Hint
	known := !hint.IsZero() && (!hint.Inferred || j.verdict.Class == verdict.UsageLimit)
	if j.started() && j.verdict.Class.Throttle() && known && !at.IsZero() {
		text, at = message.LimitHit(f.cand.call.Command.Name(), j.verdict.Class, at), time.Time{}
	}
	return message.Sentences(text, f.obstacle(stop, n, at, 0))
}

// obstacle is what an attempt that would have been repeated was not repeated for: no retries left, too long a wait, too little time; empty where the attempt itself
// says so. at is the time before which another call is pointless; zero if that is not known, or said already. took is how long the run has taken; zero where that
// is not to be said.
func (f *finisher) obstacle(stop *retry.Error, n int, at time.Time, took time.Duration) string {
	c := f.cand.call
	_, gate := errors.AsType[*belaytype.GateRefused](stop.Cause)
	_, scope := errors.AsType[*belaytype.ScopeTaken](stop.Cause)
	switch {
	case gate || scope:
		return ""
	case errors.Is(stop.Cause, retry.ErrMaxWait):
		late := c.TooLate(stop.NotBefore)
		late.At = at
		return c.CauseText(late)
	case errors.Is(stop.Cause, retry.ErrTotalTimeout):
		return c.CauseText(&call.TooLate{Total: true, Limit: c.Settings.Policy.TotalTimeout, At: at})
	case errors.Is(stop.Cause, retry.ErrExhausted), errors.Is(stop.Cause, retry.ErrTimeout):
		gaveUp := &call.GaveUp{Attempts: n - f.first + 1, Inner: f.cand.kind.innerRetries(), At: at, Took: took}
		if most := f.cand.pace.Policy.MaxRetries; f.cand.pace.Series.Retries() >= most {
			gaveUp.Retries = most
		}
		return c.CauseText(gaveUp)
	}
	return c.CauseText(&call.NotAdmitted{Cause: stop.Cause, At: at})
}
