package retry

import (
	"context"
	"time"
)

// Series is the state of one call's retries: how much of a [Policy] is used up. Do keeps one; it is exported for
// callers that have a loop of their own. It neither sleeps nor reads the clock, and calls none of Classify, OnRetry and OnGiveUp.
//
// A Series is not safe for concurrent use.
type Series struct {
	policy        Policy // a copy: a pointer would move it to the heap with each call that has a timeout
	attempts      int
	restarts      int // attempts that cost no retry
	retries       int // those that count against MaxRetries
	timeouts      int // those that count against RetryTimeouts
	waited        time.Duration
	deadline      time.Time
	deadlineCause error // the Cause where a wait would pass deadline
	last          error // what the last attempt said that was made
}

// Start begins a series at now.
func (p Policy) Start(now time.Time) Series {
	s := Series{policy: p}
	if p.TotalTimeout > 0 {
		s.deadline, s.deadlineCause = now.Add(p.TotalTimeout), ErrTotalTimeout
	}
	return s
}

// bound makes the deadline of ctx, if it has one, a bound of all waits beside TotalTimeout. A wait that would pass
// it ends the series with [context.DeadlineExceeded].
func (s *Series) bound(ctx context.Context) {
	if d, ok := ctx.Deadline(); ok && (s.deadline.IsZero() || d.Before(s.deadline)) {
		s.deadline, s.deadlineCause = d, context.DeadlineExceeded
	}
}

// Switch returns the series of another policy that takes over the same call: its retries begin anew, and what was waited so
// far, and the deadline, still count.
func (s *Series) Switch(p Policy) Series {
	return Series{policy: p, waited: s.waited, deadline: s.deadline, deadlineCause: s.deadlineCause}
}

// Next is told that an attempt failed at now with err, and what that means. It answers how long to wait before the
// next attempt, and counts that wait; or it answers with an [*Error] why there is none.
func (s *Series) Next(now time.Time, err error, a Advice) (time.Duration, error) {
	if _, ok := refusal(err); ok && !a.Retry {
		return 0, s.refused(err)
	}
	n := s.attempts
	s.attempts++
	s.last = err
	hint, until := a.hint(now)
	counts := s.counts(a)
	cause := s.refusal(a, counts)
	if cause == nil && s.attemptsUsedUp() {
		cause = ErrExhausted
	}
	if cause != nil {
		return 0, s.stop(err, cause, until)
	}
	wait := s.delay(now, n, err, hint)
	if wait == 0 && !counts {
		// MaxWait never ends retries that do not wait, so MaxRetries has to.
		counts = true
		if cause := s.refusal(a, counts); cause != nil {
			return 0, s.stop(err, cause, until)
		}
	}
	if cause := s.overrun(now, wait); cause != nil {
		return 0, s.stop(err, cause, now.Add(wait))
	}
	s.count(a, counts, wait)
	return wait, nil
}

// Restart is told that the present attempt is made again at once, for a reason that is not a failure. That costs no
// retry, but it counts where [Policy.MaxAttempts] bounds throttled attempts. It reports whether there may be one more.
func (s *Series) Restart() bool {
	s.restarts++
	return !s.attemptsUsedUp()
}

// Inner is told that what runs inside the present attempt failed with err and is about to try again by itself, after
// the time that a hints at. Agent CLIs do that, and a policy that did not count it would multiply with theirs. Inner
// counts the retry and its wait like one between attempts. It answers with an [*Error] if there is no room for it:
// the attempt is then better ended.
func (s *Series) Inner(now time.Time, err error, a Advice) error {
	wait, until := a.hint(now)
	counts := s.counts(a)
	cause := s.refusal(a, counts)
	if cause == nil {
		cause = s.overrun(now, wait)
	}
	if cause != nil {
		stop := s.stop(err, cause, until)
		stop.Attempts++ // the present one, which Next has not been told of
		return stop
	}
	s.count(a, counts, wait)
	return nil
}

// Charge counts a wait that no failed attempt asked for, such as one for a free slot. It answers with an [*Error]
// around err, and counts nothing, if the wait does not fit.
func (s *Series) Charge(now time.Time, wait time.Duration, err error) error {
	if cause := s.overrun(now, wait); cause != nil {
		return s.stop(err, cause, now.Add(wait))
	}
	s.waited += wait
	return nil
}

// Left returns how much more may be waited at now.
func (s *Series) Left(now time.Time) time.Duration {
	left := s.policy.maxWait() - s.waited
	if !s.deadline.IsZero() {
		left = min(left, s.deadline.Sub(now))
	}
	return max(left, 0)
}

// Retries returns how many retries, inner ones among them, count against MaxRetries so far.
func (s *Series) Retries() int { return s.retries }

// Deadline returns when TotalTimeout, or the deadline of the call's context if that is nearer, ends the series.
func (s *Series) Deadline() (time.Time, bool) { return s.deadline, !s.deadline.IsZero() }

// counts says whether a retry counts against MaxRetries.
func (s *Series) counts(a Advice) bool {
	return !a.Throttled || a.TimedOut || s.policy.CountThrottles || s.policy.MaxRetries < 0
}

// attemptsUsedUp reports whether MaxAttempts is reached. It applies only where throttles do not count; where they do,
// retries are counted instead.
func (s *Series) attemptsUsedUp() bool {
	if s.policy.CountThrottles || s.policy.MaxRetries < 0 {
		return false
	}
	limit := s.policy.MaxAttempts()
	return limit > 0 && s.attempts+s.restarts >= limit
}

// refusal is why there is no retry whatever the wait would be, or nil.
func (s *Series) refusal(a Advice, counts bool) error {
	switch {
	case a.TimedOut && s.timeouts >= s.policy.RetryTimeouts:
		return ErrTimeout
	case !a.TimedOut && !a.Retry:
		return ErrPermanent
	case counts && s.retries >= s.policy.maxRetries():
		return ErrExhausted
	}
	return nil
}

// overrun is why a wait does not fit, or nil. One that ends with the deadline does not: no time is left to try.
func (s *Series) overrun(now time.Time, wait time.Duration) error {
	switch {
	case wait > s.policy.maxWait()-s.waited:
		return ErrMaxWait
	case !s.deadline.IsZero() && wait >= s.deadline.Sub(now):
		return s.deadlineCause
	}
	return nil
}

func (s *Series) count(a Advice, counts bool, wait time.Duration) {
	if counts {
		s.retries++
	}
	if a.TimedOut {
		s.timeouts++
	}
	s.waited += wait
}

// delay is the wait before retry n.
func (s *Series) delay(now time.Time, n int, err error, hint time.Duration) time.Duration {
	p := &s.policy
	if p.Delay != nil {
		return max(p.Delay(n, err), hint)
	}
	backoff := p.Jitter.Apply(p.Backoff(n), p.rand())
	if backoff > hint {
		return backoff
	}
	// All that were refused together were told the same time, so this is where they come back together. The spread
	// goes upward only, and gives way where the hint just fits.
	if spread := min(hint/10, 10*time.Second, s.Left(now)-hint); spread > 0 && p.Jitter != NoJitter {
		hint = Plus(spread).Apply(hint, p.rand())
	}
	return hint
}

func (s *Series) stop(err, cause error, notBefore time.Time) *Error {
	return &Error{Err: err, Cause: cause, Attempts: s.attempts, Waited: s.waited, NotBefore: notBefore}
}
