package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/quota"
)

// quotaAge is how old news may be that says the same as what comes now: so long nothing is written for it.
const quotaAge = time.Minute

// tellQuota keeps what an agent tells of the limits of its account beside the account's gate, for all to see. What cannot be kept is not known, and
// holds nobody up.
func (c *call) tellQuota(news []quota.Window) {
	key := c.gateKey()
	if len(news) == 0 || key == "" || c.shared == nil {
		return
	}
	told := clock.Now()
	tell := func(s gate.State) gate.State {
		s.Quota = s.Quota.Tell(clock.Now(), told, c.id, news)
		return s
	}
	before, err := c.shared.Load(key)
	if err != nil && !errors.Is(err, gate.ErrDamaged) {
		return
	}
	if !tell(before).Quota.Repeats(before.Quota, quotaAge) {
		c.shared.Update(key, told, tell)
	}
}

// filled is the window that is fullest by the news that an agent tells; nil if it tells none.
func (c *call) filled(news []quota.Window) *quota.Window {
	if len(news) == 0 {
		return nil
	}
	now := clock.Now()
	return quota.Quota{}.Tell(now, now, c.id, news).Fullest(now, c.model())
}

// model is the model that the command asks for; empty if that is not known.
func (c *call) model() string {
	if a, ok := c.profile.(agent.Agent); ok && a.Info().Model != nil {
		return a.Info().Model()
	}
	return ""
}

// reserved is the refusal of an invocation that would use what is kept in reserve; nil if it would not, or has begun.
func (k *gatekeeper) reserved() *gate.Refusal {
	k.kept = false
	if k.begun || len(k.call.runner.Reserve) == 0 || k.gate == nil {
		return nil
	}
	state, err := k.gate.Store.Load(k.gate.Key)
	if err != nil {
		return nil
	}
	w := k.call.runner.Reserve.Reached(state.Quota, clock.Now(), k.call.model())
	if w == nil {
		return nil
	}
	k.kept = true
	return &gate.Refusal{Kind: gate.KindHold, Reason: k.call.runner.Reserve.Say(w), Until: w.Resets}
}

// peek is the refusal that a first attempt would get now, or nil.
func (k *gatekeeper) peek() *gate.Refusal {
	if refused := k.reserved(); refused != nil {
		return refused
	}
	return k.gate.Peek()
}
