package gate

import (
	"errors"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/clock"
)

// Pass is an admission. It is told what becomes of the call; only the first answer and the first end count. It may be
// used by several goroutines at the same time.
type Pass struct {
	gate *Gate

	mu     sync.Mutex
	ticket admission
	done   bool
}

// admit gives the pass its ticket.
func (p *Pass) admit(t admission) {
	t.Breaker.Caller = p.gate.Caller
	p.ticket = t
}

// Leased reports whether others wait for the first answer: then it must be told, and renewed while it takes.
func (p *Pass) Leased() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ticket.Awaited
}

// Interval is how often a leased pass is to be renewed.
func (p *Pass) Interval() time.Duration { return p.gate.Settings.renewal() }

// Renew says that the call is still under way and not answered yet.
func (p *Pass) Renew() {
	p.mu.Lock()
	ticket, over := p.ticket, p.ticket.Answered || p.done
	p.mu.Unlock()
	if !over {
		p.change(func(s State, now time.Time) State { return s.renewed(p.gate.Settings, now, ticket) })
	}
}

// Answered says that the service has begun to answer.
func (p *Pass) Answered() {
	p.mu.Lock()
	ticket, first := p.ticket, !p.ticket.Answered && !p.done
	p.ticket.Answered = true
	p.mu.Unlock()
	if first {
		p.change(func(s State, now time.Time) State { return s.answered(p.gate.Settings, now, ticket) })
	}
}

// Succeeded says that the call is done.
func (p *Pass) Succeeded() {
	p.end(func(s State, now time.Time, t admission) State { return s.succeeded(p.gate.Settings, now, t) })
}

// Succeeding is Succeeded of one request of a call that goes on with others. What comes of them is told as of one that starts now.
func (p *Pass) Succeeding() {
	p.during(func(s State, now time.Time, t admission) State { return s.succeeded(p.gate.Settings, now, t) })
}

// Throttled says that the service asks for fewer calls; hint is for how long, 0 if it did not say.
func (p *Pass) Throttled(hint time.Duration, reason string) {
	p.end(func(s State, now time.Time, t admission) State {
		return s.throttled(p.gate.Settings, now, t, hint, reason)
	})
}

// Throttling is Throttled of a call that is not over: it waits and tries again by itself. What comes of it then is told
// as of one that starts now.
func (p *Pass) Throttling(hint time.Duration, reason string) {
	p.during(func(s State, now time.Time, t admission) State {
		return s.throttled(p.gate.Settings, now, t, hint, reason)
	})
}

// Failing is Failed of a call that is not over: it tries again by itself.
func (p *Pass) Failing(reason string) {
	jitter := p.gate.random()
	p.during(func(s State, now time.Time, t admission) State {
		return s.failed(p.gate.Settings, now, t, jitter, reason)
	})
}

func (p *Pass) during(event func(State, time.Time, admission) State) {
	p.mu.Lock()
	ticket, over := p.ticket, p.done
	p.ticket.Started, p.ticket.Awaited = clock.Now(), false
	p.mu.Unlock()
	if !over {
		p.change(func(s State, now time.Time) State { return event(s, now, ticket) })
	}
}

// Failed says that the call showed the service to be failing.
func (p *Pass) Failed(reason string) {
	jitter := p.gate.random()
	p.end(func(s State, now time.Time, t admission) State {
		return s.failed(p.gate.Settings, now, t, jitter, reason)
	})
}

// Released says that the call showed nothing of the service: cancelled, or wrong in itself.
func (p *Pass) Released() {
	p.end(func(s State, _ time.Time, t admission) State { return s.released(t) })
}

func (p *Pass) end(event func(State, time.Time, admission) State) {
	p.mu.Lock()
	ticket, first := p.ticket, !p.done
	p.done = true
	p.mu.Unlock()
	if first {
		p.change(func(s State, now time.Time) State { return event(s, now, ticket) })
	}
}

// change applies an event, and writes only if it changes anything: a healthy success costs one failed open.
func (p *Pass) change(event func(State, time.Time) State) {
	g, now := p.gate, clock.Now()
	before, err := g.Store.Load(g.Key)
	if err != nil {
		g.trouble(err)
		if !errors.Is(err, ErrDamaged) {
			return
		}
	}
	after := event(before, now)
	forget := after.Healthy(now) && !before.same(State{})
	if after.same(before) && !forget {
		return
	}
	if err := g.Store.Update(g.Key, now, func(s State) State { return event(s, now) }); err != nil {
		g.trouble(err)
	}
}
