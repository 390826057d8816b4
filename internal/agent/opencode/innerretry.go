package opencode

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// request is a model call of a session, with all that opencode tries again of it by itself.
type request struct {
	failures int
	failed   bool // it has failed, and was not made again
	told     bool // the last failure was told of as one that is tried again
	verdict  verdict.Verdict
}

// maxInner is how often opencode from 1.18.18 on tries again by itself. Older ones never give up.
const maxInner = 5

// untilReset stands for a wait until a plan is renewed, which may be hours or days away: longer than anything that is waited for.
const untilReset = 31 * 24 * time.Hour

// failedInside follows a request that failed, as the log tells: that opencode tries again after it, and why. It has seen status and
// headers and does not say them, so that the words must do; and it does not say for how long it waits. What it gives up on is
// in an event.
func (f *follower) failedInside(session, message string, now time.Time) *agent.Retrying {
	q := f.requests[session]
	if q == nil {
		q = f.begin(session)
	}
	v := classifyText(message, now)
	known := v.Class != verdict.Unknown
	if !known {
		v.Class, v.Retryable = verdict.ServerError, true // if it does try again, then for a status that says so
	}
	q.fail(v, f.Session)
	hopeless := v.Class == verdict.Billing
	q.told = hopeless || v.Class.Throttle() || known && v.Retryable && q.failures <= maxInner
	if !q.told {
		return nil // an event says why, and it ends; or it asks again
	}
	f.Retries++
	return q.retrying(hopeless)
}

// asks follows a request. If it is one after a failure that was not told of, it is told of now.
func (f *follower) asks(session string) *agent.Retrying {
	q := f.requests[session]
	if q == nil {
		f.begin(session)
		return nil
	}
	if !q.failed { // the log says nothing of an answer that was cut off
		q.fail(verdict.Verdict{Class: verdict.Network, Retryable: true, Rule: "cut-off", Evidence: "the answer was cut off"}, f.Session)
	}
	told := q.told
	q.failed, q.told = false, false
	if told {
		return nil
	}
	f.Retries++
	return q.retrying(false)
}

func (f *follower) begin(session string) *request {
	if f.requests == nil {
		f.requests = map[string]*request{}
	}
	q := &request{}
	f.requests[session] = q
	return q
}

func (q *request) fail(v verdict.Verdict, session string) {
	v.SessionID = session
	q.failures++
	q.failed, q.told, q.verdict = true, false, v
}

// retrying says that the request is made again. Of a limit only the service knows how long it lasts, and opencode heeds that
// without saying it.
func (q *request) retrying(hopeless bool) *agent.Retrying {
	r := &agent.Retrying{Verdict: q.verdict, Hopeless: hopeless}
	switch {
	case q.verdict.Class == verdict.UsageLimit:
		r.Wait = untilReset
	case q.verdict.Class != verdict.RateLimit:
		r.Wait = cmp.Or(q.verdict.Hint.Wait(time.Now()), 2*time.Second<<min(q.failures-1, 4))
	}
	r.Verdict.Hint = verdict.Hint{}
	return r
}
