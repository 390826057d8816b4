package gate

import (
	"math/rand/v2"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/clock"
)

// Gate is one key of a store.
type Gate struct {
	Store    Store
	Key      string
	Settings Settings
	// Caller names the request that is made through this Gate, where it is repeated in several calls: its failures in a row
	// count once with the breaker, until another's come. Empty means that each call is a request by itself.
	Caller string
	// Trouble is told what the store could not do; the work goes on without it.
	Trouble func(error)
	// Rand spreads open times and returns numbers in [0,1). Nil means math/rand/v2.
	Rand func() float64
}

// Enter asks for admission. holder names the call and must be another one for each. A gate whose store fails
// admits every call.
func (g *Gate) Enter(holder string) (*Pass, *Refusal) {
	now := clock.Now()
	p := &Pass{gate: g, ticket: admission{Holder: holder, Started: now, Breaker: breaker.Ticket{Caller: g.Caller}}}
	state, err := g.Store.Load(g.Key)
	if err != nil {
		g.trouble(err)
		return p, nil
	}
	if state.Healthy(now) {
		return p, nil
	}
	after, ticket, refusal := state.ask(g.Settings, now, holder)
	if refusal != nil {
		return nil, refusal
	}
	if after.same(state) { // other processes need not know that it starts
		p.admit(ticket)
		return p, nil
	}
	// Admitted so far, but others may ask at the same time: the answer that counts is the one under the lock.
	err = g.Store.Update(g.Key, now, func(s State) State {
		s, ticket, refusal = s.ask(g.Settings, now, holder)
		return s
	})
	if err != nil {
		g.trouble(err)
		return p, nil
	}
	if refusal != nil {
		return nil, refusal
	}
	p.admit(ticket)
	return p, nil
}

// Attend lets a call in even if the gate is closed, and returns its pass, by which the gate still learns how the call ends.
func (g *Gate) Attend(holder string) *Pass {
	return &Pass{gate: g, ticket: admission{Holder: holder, Started: clock.Now(), Breaker: breaker.Ticket{Caller: g.Caller}}}
}

// Peek returns the refusal that Enter would give now, or nil.
func (g *Gate) Peek() *Refusal {
	state, err := g.Store.Load(g.Key)
	if err != nil {
		g.trouble(err)
		return nil
	}
	_, _, refusal := state.ask(g.Settings, clock.Now(), "")
	return refusal
}

// Spend takes one retry from the budget that all share. If there is none it returns when there will be one again.
func (g *Gate) Spend() (ok bool, next time.Time) {
	now := clock.Now()
	err := g.Store.Update(g.Key, now, func(s State) State {
		if s, ok = s.spend(now); !ok {
			next = s.Budget.next(now)
		}
		return s
	})
	if err != nil {
		g.trouble(err)
		return true, time.Time{}
	}
	return ok, next
}

func (g *Gate) trouble(err error) {
	if g.Trouble != nil {
		g.Trouble(err)
	}
}

func (g *Gate) random() float64 {
	if g.Rand != nil {
		return g.Rand()
	}
	return rand.Float64()
}
