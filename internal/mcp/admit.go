package mcp

import (
	"strconv"

	"github.com/belay-run/belay/gate"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// enter asks the gate, which all proxies of this server share.
func (c *core) enter() (*gate.Pass, *gate.Refusal) {
	if c.gate == nil {
		return nil, nil
	}
	c.holders++
	return c.gate.Enter(c.opt.ID + "/" + strconv.Itoa(c.holders))
}

// admit asks the gate for a call, which is only done while there is trouble.
func (c *core) admit(k *call) bool {
	if c.pass != nil {
		return true
	}
	pass, refusal := c.enter()
	if refusal != nil {
		text := c.refusalText(refusal)
		c.fail(k, codeRefused, text, incident{text: text, class: verdict.BreakerOpen})
		return false
	}
	c.pass = pass
	return true
}

// refused answers all that wait: nothing is started for now.
func (c *core) refused(r *gate.Refusal) {
	text := c.refusalText(r)
	queue, told := c.queue, false
	c.queue, c.queued = nil, 0
	for _, w := range queue {
		if w.call != nil && c.calls[w.call.wire] == w.call {
			r := incident{text: text, class: verdict.BreakerOpen}
			if w.call.lost != nil {
				r = *w.call.lost // it has failed before it was refused
			}
			c.forget(w.call)
			c.fail(w.call, codeRefused, text, r)
			told = true
		}
	}
	if !told {
		c.record(incident{event: "refused", text: text, class: verdict.BreakerOpen})
	}
}

func (c *core) refusalText(r *gate.Refusal) string {
	return messages.ServerRefused(c.opt.Name, r.Reason, r.Until, c.opt.gateKey())
}

// failed tells the gate that the server has failed: once for each failure that is an event of its own, or for several calls that
// have failed of one.
func (c *core) failed(reason string) {
	c.troubled = true
	if c.pass == nil {
		c.pass, _ = c.enter()
	}
	if c.pass != nil {
		c.pass.Failed(reason)
		c.pass = nil
	}
}

// succeeded tells the gate that the server answers, if the gate has given out a pass.
func (c *core) succeeded() {
	c.troubled, c.worked = false, true
	if c.pass != nil {
		c.pass.Succeeded()
		c.pass = nil
	}
}
