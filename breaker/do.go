package breaker

import (
	"context"
	"errors"
)

var errLost = errors.New("the call panicked or exited its goroutine")

// Do calls fn if b lets it, tells b how that went as [Call.Report] does, and returns what fn returned. If b refuses,
// fn is not called and the error is an [*OpenError].
//
// A panic of fn goes on to the caller, and is a failure; so is [runtime.Goexit].
func Do[T any](ctx context.Context, b *Breaker, fn func(context.Context) (T, error)) (T, error) {
	// This function is what a success costs while all is well: a load of b.packed before and one after. Going through
	// Allow and Call here, as slow does, takes twice as long.
	w := b.packed.Load()
	if w&1 != 0 {
		return slow(ctx, b, fn)
	}
	returned := false
	defer func() {
		if !returned {
			b.failure(Ticket{Generation: w >> 1}, errLost)
		}
	}()
	v, err := fn(ctx)
	returned = true
	if err != nil || b.packed.Load() != w {
		call := Call{breaker: b, ticket: Ticket{Generation: w >> 1}}
		call.Report(ctx, err)
	}
	return v, err
}

// slow is Do where not all is well.
func slow[T any](ctx context.Context, b *Breaker, fn func(context.Context) (T, error)) (T, error) {
	call, err := b.Allow()
	if err != nil {
		var zero T
		return zero, err
	}
	defer call.Failure(errLost) // does nothing after Report
	v, err := fn(ctx)
	call.Report(ctx, err)
	return v, err
}
