package breaker

import (
	"context"
	"errors"
)

// Call is one call that a [Breaker] let through, for callers whose call is not a function that [Do] could run. The
// first of Success, Failure, Release and Report says how it went, the others then do nothing; so
//
//	call, err := b.Allow()
//	if err != nil {
//		return err
//	}
//	defer call.Release()
//
// leaves nothing open. A Call is not safe for concurrent use, except for Renew.
type Call struct {
	breaker *Breaker
	ticket  Ticket
	told    bool
}

// Allow lets a call through or says with an [*OpenError] why not. Every Call has to be told how it went. A probe
// that never is holds up the next one until its lease has expired.
func (b *Breaker) Allow() (Call, error) {
	if w := b.packed.Load(); w&1 == 0 {
		return Call{breaker: b, ticket: Ticket{Generation: w >> 1}}, nil
	}
	t, err := b.ask()
	return Call{breaker: b, ticket: t}, err
}

// Probe says whether the call is the probe of a half-open breaker.
func (c *Call) Probe() bool { return c.ticket.Probe }

// Success says that the service is well.
func (c *Call) Success() {
	if c.told {
		return
	}
	c.told = true
	if c.breaker.packed.Load() != c.ticket.Generation<<1 {
		c.breaker.success(c.ticket)
	}
}

// Failure says that the service failed with err, which becomes the reason that others are told.
func (c *Call) Failure(err error) {
	if c.told {
		return
	}
	c.told = true
	c.breaker.failure(c.ticket, err)
}

// Release says that the call has told nothing of the service.
func (c *Call) Release() {
	if c.told {
		return
	}
	c.told = true
	if c.ticket.Probe {
		c.breaker.release(c.ticket)
	}
}

// Renew makes the lease of a probe last for another [Settings.Lease] from now. Without it a probe that takes longer
// is joined by another one. Before a call has been told how it went, Renew may be called from any goroutine.
func (c *Call) Renew() {
	if c.ticket.Probe {
		c.breaker.renew(c.ticket)
	}
}

// Report is Success, Failure or Release, as [Breaker.Counts] has it for err. A cancelled ctx is a Release. One whose
// deadline passed is not: a service that hangs shows in nothing else.
func (c *Call) Report(ctx context.Context, err error) {
	switch {
	case err == nil:
		c.Success()
	case errors.Is(ctx.Err(), context.Canceled) || !c.breaker.counts(err):
		c.Release()
	default:
		c.Failure(err)
	}
}

func (b *Breaker) counts(err error) bool {
	if b.Counts == nil {
		return !errors.Is(err, ErrOpen)
	}
	return b.Counts(err)
}
