package gate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Gate is one key of a store.
type Gate struct {
	Store    Store
	Key      string
	Settings Settings
	// Trouble is told what the store could not do; the work goes on without it.
	Trouble func(error)
	// Rand spreads open times and returns numbers in [0,1). Nil means math/rand/v2.
	Rand func() float64
}

// Enter asks for admission. holder names the call and must be another one for each. A gate whose store has trouble
// lets everybody in.
func (g *Gate) Enter(holder string) (*Pass, *Refusal) {
	now := time.Now()
	p := &Pass{gate: g, ticket: Ticket{Holder: holder, Started: now}}
	state, err := g.Store.Load(g.Key)
	if err != nil {
		g.trouble(err)
		return p, nil
	}
	if state.Healthy(now) {
		return p, nil
	}
	if _, _, refusal := state.Ask(g.Settings, now, holder); refusal != nil {
		return nil, refusal
	}
	// Admitted so far, but others may ask at the same time: the answer that counts is the one under the lock.
	var refusal *Refusal
	err = g.Store.Update(g.Key, now, func(s State) State {
		s, p.ticket, refusal = s.Ask(g.Settings, now, holder)
		return s
	})
	if err != nil {
		g.trouble(err)
		return p, nil
	}
	if refusal != nil {
		return nil, refusal
	}
	p.leased = true
	return p, nil
}

// Peek returns the refusal that Enter would give now, or nil.
func (g *Gate) Peek() *Refusal {
	now := time.Now()
	state, err := g.Store.Load(g.Key)
	if err != nil {
		return nil
	}
	_, _, refusal := state.Ask(g.Settings, now, "")
	return refusal
}

// Spend takes one retry from the budget that all share. If there is none it returns when there will be one again.
func (g *Gate) Spend() (ok bool, next time.Time) {
	now := time.Now()
	ok = true
	err := g.Store.Update(g.Key, now, func(s State) State {
		if s.Budget, ok = s.Budget.take(now); !ok {
			next = s.Budget.Next(now)
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

// Pass is an admission. It is told what becomes of the call; only the first answer and the first end count.
type Pass struct {
	gate   *Gate
	ticket Ticket
	leased bool // others wait for its answer

	mu             sync.Mutex
	answered, done bool
}

// Leased reports whether others wait for the first answer: then it must be renewed while it takes.
func (p *Pass) Leased() bool { return p.leased }

// Interval is how often a leased pass is to be renewed.
func (p *Pass) Interval() time.Duration { return p.gate.Settings.answer() / 3 }

// Renew says that the call is still under way and not answered yet.
func (p *Pass) Renew() {
	p.mu.Lock()
	over := p.answered || p.done
	p.mu.Unlock()
	if !over {
		p.change(func(s State, now time.Time) State { return s.Renewed(p.gate.Settings, now, p.ticket) })
	}
}

// Answered says that the service has begun to answer.
func (p *Pass) Answered() {
	p.mu.Lock()
	first := !p.answered && !p.done
	p.answered = true
	p.mu.Unlock()
	if first {
		ticket := p.ticket
		p.change(func(s State, now time.Time) State { return s.Answered(p.gate.Settings, now, ticket) })
	}
}

// judged is the generation of no state: a probe is judged by its first answer, and its end changes nothing more.
const judged = math.MaxUint64

// Succeeded says that the call is done.
func (p *Pass) Succeeded() {
	if p.end() {
		p.change(func(s State, now time.Time) State { return s.Succeeded(p.gate.Settings, now, p.ticket) })
	}
}

// Throttled says that the service asks for fewer calls; hint is for how long, 0 if it did not say.
func (p *Pass) Throttled(hint time.Duration, reason string) {
	if p.end() {
		p.change(func(s State, now time.Time) State { return s.Throttled(p.gate.Settings, now, p.ticket, hint, reason) })
	}
}

// Failed says that the call showed the service to be ill.
func (p *Pass) Failed(reason string) {
	if p.end() {
		p.change(func(s State, now time.Time) State {
			return s.Failed(p.gate.Settings, now, p.ticket, p.gate.random(), reason)
		})
	}
}

// Released says that the call showed nothing of the service: cancelled, or wrong in itself.
func (p *Pass) Released() {
	if p.end() {
		p.change(func(s State, now time.Time) State { return s.Released(p.ticket) })
	}
}

func (p *Pass) end() (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first = !p.done
	p.done = true
	if p.answered && p.ticket.Breaker.Probe {
		p.ticket.Breaker.Generation = judged
	}
	return first
}

// change applies an event, and writes only if it changes anything: a healthy success costs one failed open.
func (p *Pass) change(event func(State, time.Time) State) {
	now := time.Now()
	before, err := p.gate.Store.Load(p.gate.Key)
	if err != nil && !errors.Is(err, ErrDamaged) {
		p.gate.trouble(err)
		return
	}
	if after := event(before.clone(), now); same(before, after) && !(after.Healthy(now) && !same(before, State{})) {
		return
	}
	err = p.gate.Store.Update(p.gate.Key, now, func(s State) State { return event(s, now) })
	if err != nil {
		p.gate.trouble(err)
	}
}

// same reports whether two states are equal.
func same(a, b State) bool {
	return a.Hold == b.Hold && a.Breaker == b.Breaker && a.Budget == b.Budget && a.Ramp.Allowed == b.Ramp.Allowed &&
		a.Ramp.Ends.Equal(b.Ramp.Ends) && slices.Equal(a.Ramp.Starts, b.Ramp.Starts)
}
