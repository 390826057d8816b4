package retry

import (
	"context"
	"errors"
)

// Breaker is a circuit breaker as [Through] uses it; a *breaker.Breaker of package breaker is one. Call is what it lets
// an attempt through with, and knows the attempt by when it is told how that went. The methods must be safe for
// concurrent use.
type Breaker[Call any] interface {
	// Admit lets an attempt through, or says with an error, best a [Refusal], that it does not. A probe is an attempt
	// that others are kept out for until the breaker is told how it went.
	Admit() (call Call, probe bool, err error)

	// Succeeded is told of an attempt that showed the service to be healthy.
	Succeeded(Call)

	// Failed is told of an attempt that the service has failed. last says that no other one follows: the whole call has
	// failed. It answers with a Refusal if it is known already that another attempt will not be let through.
	Failed(call Call, err error, last bool) error

	// Released is told of an attempt that showed nothing of the service. Of one that panics, and is no probe, the breaker
	// may be told nothing at all.
	Released(Call)
}

// Through is [Do] with a circuit breaker: b is asked before each attempt, and what it does not let through ends the call at
// once, with the breaker's own error as the Cause of an [*Error]. A refusal counts as no attempt.
//
//	var b breaker.Breaker // one for all calls of a service; the zero value works
//	answer, err := retry.Through(ctx, &b, retry.Policy{}, fetch)
//	if errors.Is(err, breaker.ErrOpen) { … }
//
// The breaker counts calls, not attempts: one that has failed after all its retries is one failure, one that succeeds at
// the third attempt is a success. Only a probe, by which the breaker finds out whether the service is well again, is
// judged by itself. What Classify calls permanent or throttled, the caller's own cancel and a panic say nothing of the
// service.
//
// A success on the first attempt costs no allocation and reads no clock, as with Do.
func Through[T, Call any](ctx context.Context, b Breaker[Call], p Policy, fn func(context.Context) (T, error)) (T, error) {
	// As in Do, this function is what a success costs. A defer would be a third of that.
	if ctx.Err() != nil {
		var zero T
		return zero, p.gaveUp(&Error{Cause: context.Cause(ctx)})
	}
	call, probe, err := b.Admit()
	if err != nil {
		var zero T
		return zero, p.gaveUp(new(Series).refused(err))
	}
	if probe || p.Timeout > 0 || p.TotalTimeout > 0 {
		return slowThrough(ctx, b, call, p, fn)
	}
	v, err := fn(ctx)
	if err == nil {
		b.Succeeded(call)
		return v, nil
	}
	return againThrough(ctx, b, call, p, fn, v, err)
}

// slowThrough makes all attempts of a call that has a timeout or begins with a probe.
func slowThrough[T, Call any](ctx context.Context, b Breaker[Call], call Call, p Policy, fn func(context.Context) (T, error)) (T, error) {
	c := newCall(ctx, p)
	defer c.cancel()
	v, timedOut, err := attemptThrough(&c, b, call, fn)
	if v, err = repeatThrough(&c, b, call, fn, v, timedOut, err); err != nil {
		return v, p.gaveUp(err)
	}
	return v, nil
}

// againThrough goes on after the first attempt of a call without a timeout.
func againThrough[T, Call any](ctx context.Context, b Breaker[Call], call Call, p Policy, fn func(context.Context) (T, error), v T, err error) (T, error) {
	c := newCall(ctx, p)
	if v, err = repeatThrough(&c, b, call, fn, v, false, err); err != nil {
		return v, p.gaveUp(err)
	}
	return v, nil
}

func repeatThrough[T, Call any](c *call, b Breaker[Call], call Call, fn func(context.Context) (T, error), v T, timedOut bool, err error) (T, error) {
	for err != nil {
		next, stop := c.next(err, timedOut)
		var refused error
		if c.serviceFailed(next.Advice) {
			refused = b.Failed(call, err, stop != nil)
		} else {
			b.Released(call)
		}
		if stop != nil {
			return v, stop
		}
		if r, ok := refusal(refused); ok && (r.RefusedUntil().IsZero() || next.Until.Before(r.RefusedUntil())) {
			c.series.waited -= next.Wait // which would be pointless
			return v, c.series.refused(refused)
		}
		if stop := c.wait(next); stop != nil {
			return v, stop
		}
		if call, _, err = b.Admit(); err != nil {
			return v, c.series.refused(err)
		}
		v, timedOut, err = attemptThrough(c, b, call, fn)
	}
	b.Succeeded(call)
	return v, nil
}

// attemptThrough makes one attempt, and gives it back if it panics.
func attemptThrough[T, Call any](c *call, b Breaker[Call], call Call, fn func(context.Context) (T, error)) (v T, timedOut bool, err error) {
	returned := false
	defer func() {
		if !returned {
			b.Released(call)
		}
	}()
	v, timedOut, err = attempt(c, fn)
	returned = true
	return v, timedOut, err
}

// serviceFailed reports whether a failed attempt counts as a failure of the service. A deadline that passed does, of
// whatever kind: nothing else shows that a service hangs.
func (c *call) serviceFailed(a Advice) bool {
	if c.ctx.Err() != nil {
		return !errors.Is(c.caller.Err(), context.Canceled)
	}
	return a.TimedOut || a.Retry && !a.Throttled
}
