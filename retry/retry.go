// Package retry calls a function again when it fails in a way that may pass.
//
// [Do] makes one attempt and, if that fails, asks the [Policy] what to do. Its Classify function turns the error
// into [Advice]: worth another attempt or not, a throttle or not, and a hint such as a Retry-After. The default,
// [Network], repeats what a dropped or refused connection can say, and HTTP statuses that pass, and nothing else.
//
// Before retry n (0 is the first) Do waits
//
//	min(BaseDelay · Factor^n, MaxDelay), then jitter
//
// unless there is a hint. A hint is a floor: the wait is never shorter, and [Jitter] only lengthens it.
//
// Every wait has to fit what is left of MaxWait, of TotalTimeout and of the context's own deadline. One that does
// not ends the call at once, before the sleep, and the time before which another call is pointless is in the
// [Error]. So a Retry-After of a day costs no day, and is not cut down to a retry that comes too early either.
//
// Whatever ends a call without success comes out as one [*Error]: Cause says why there was no further attempt,
// Err what the last one said, and [errors.Is] and [errors.As] see both. In the worst case a call takes
// (MaxRetries + 1) · Timeout plus MaxWait; throttled attempts are not counted by default (see CountThrottles), but there
// are no more than [Policy.MaxAttempts], and TotalTimeout bounds everything.
//
// A success on the first attempt costs no allocation and reads no clock, unless a timeout asks for it.
//
// [Through] is Do with a circuit breaker, which is asked before each attempt and counts the calls that fail. A service that
// is down is then left alone by all calls that share the breaker.
//
// [Series] is the same decision without the loop, for callers that have a loop of their own. [Preset] knows the
// policies that have a name.
package retry

import (
	"context"
	"time"
)

// Do calls fn until it succeeds or p says that there is no further attempt, and returns what fn returned last. A
// failure comes out as an [*Error].
//
// fn should return when its context ends, as it does at p's timeouts; Do waits for fn in any case. A context that
// has ended before the first attempt means no attempt.
//
// Do does not call [Policy.Validate]. A field that Validate would refuse counts as not set, but a negative
// MaxRetries as None.
func Do[T any](ctx context.Context, p Policy, fn func(context.Context) (T, error)) (T, error) {
	// This function is what a success costs; everything else is behind a call. p goes on by value, because a pointer
	// to it that escapes would make each call allocate.
	if ctx.Err() != nil {
		var zero T
		return zero, p.gaveUp(&Error{Cause: context.Cause(ctx)})
	}
	if p.Timeout > 0 || p.TotalTimeout > 0 {
		return timed(ctx, p, fn)
	}
	v, err := fn(ctx)
	if err == nil {
		return v, nil
	}
	return again(ctx, p, fn, v, err)
}

// timed makes all attempts of a call that has a timeout.
func timed[T any](ctx context.Context, p Policy, fn func(context.Context) (T, error)) (T, error) {
	c := newCall(ctx, p)
	defer c.cancel()
	v, timedOut, err := attempt(&c, fn)
	return repeat(&c, fn, v, timedOut, err)
}

// again goes on after the first attempt of a call without a timeout.
func again[T any](ctx context.Context, p Policy, fn func(context.Context) (T, error), v T, err error) (T, error) {
	c := newCall(ctx, p)
	return repeat(&c, fn, v, false, err)
}

func repeat[T any](c *call, fn func(context.Context) (T, error), v T, timedOut bool, err error) (T, error) {
	for err != nil {
		if stop := c.failed(err, timedOut); stop != nil {
			return v, c.series.policy.gaveUp(stop)
		}
		v, timedOut, err = attempt(c, fn)
	}
	return v, nil
}

func attempt[T any](c *call, fn func(context.Context) (T, error)) (v T, timedOut bool, err error) {
	ctx, cancel := c.attempt()
	defer cancel()
	v, err = fn(ctx)
	// The parent is asked too: an outer Do's attempt timeout arrives here with the same cause.
	timedOut = err != nil && context.Cause(ctx) == ErrTimeout && c.ctx.Err() == nil
	return v, timedOut, err
}

// call is what Do keeps of one call, once it needs more than the first attempt.
type call struct {
	caller context.Context
	ctx    context.Context // caller, until TotalTimeout
	cancel context.CancelFunc
	series Series
}

func newCall(ctx context.Context, p Policy) call {
	c := call{caller: ctx, ctx: ctx, cancel: func() {}}
	if p.TotalTimeout <= 0 {
		c.series = p.Start(time.Time{})
	} else {
		c.series = p.Start(time.Now())
		c.ctx, c.cancel = context.WithDeadlineCause(ctx, c.series.deadline, ErrTotalTimeout)
	}
	c.series.bound(ctx)
	return c
}

// attempt returns the context of one attempt. It makes none where the deadline that holds anyway is the nearer
// one: a context with a timer costs more than the rest of a successful call together.
func (c *call) attempt() (context.Context, context.CancelFunc) {
	if c.series.policy.Timeout <= 0 {
		return c.ctx, func() {}
	}
	deadline := time.Now().Add(c.series.policy.Timeout)
	if d, ok := c.ctx.Deadline(); ok && !deadline.Before(d) {
		return c.ctx, func() {}
	}
	return context.WithDeadlineCause(c.ctx, deadline, ErrTimeout)
}

// failed waits for the next attempt, or says why there is none.
func (c *call) failed(err error, timedOut bool) error {
	next, stop := c.next(err, timedOut)
	if stop != nil {
		return stop
	}
	return c.wait(next)
}

// next is what is to be done after a failed attempt, or why there is no other. What the failure means is known in either
// case, unless the time was over.
func (c *call) next(err error, timedOut bool) (Retry, error) {
	s := &c.series
	if c.ctx.Err() != nil {
		s.attempts++
		return Retry{Err: err}, s.stop(err, c.ended(), time.Time{})
	}
	a := s.policy.classify(err)
	a.TimedOut = timedOut
	now := time.Now()
	wait, stop := s.Next(now, err, a)
	return Retry{Attempt: s.attempts, Err: err, Advice: a, Wait: wait, Until: now.Add(wait)}, stop
}

// wait tells OnRetry of the next attempt and waits for it.
func (c *call) wait(next Retry) error {
	s := &c.series
	if s.policy.OnRetry != nil {
		s.policy.OnRetry(next)
	}
	begun := time.Now()
	if Sleep(c.ctx, next.Wait) != nil {
		s.waited -= next.Wait - time.Since(begun)
		return s.stop(next.Err, c.ended(), time.Time{})
	}
	return nil
}

// ended is why there is no time left. The caller's own reason goes before TotalTimeout.
func (c *call) ended() error {
	if c.caller.Err() != nil {
		return context.Cause(c.caller)
	}
	return context.Cause(c.ctx)
}
