package mcp

import (
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// fromClient takes a line of the client.
func (c *core) fromClient(m *message) {
	e := &m.env
	switch {
	case m.over && e.isRequest():
		c.reject(e.id, codeTooLarge, messages.RequestTooLarge(m.size, c.opt.maxLine()))
	case m.over:
		c.record(incident{event: "oversize", text: "a message from the client was too large", method: string(e.method)})
	case m.blank():
	case !e.json:
		c.reject(nil, codeParse, "this is not JSON")
	case e.batch:
		c.clientBatch(m)
	case e.isRequest():
		c.request(m)
	case e.isNotice():
		c.clientNotification(m)
	case e.isResponse():
		c.clientAnswer(m)
	default:
		c.reject(e.id, codeInvalid, "this is not a JSON-RPC 2.0 message")
	}
}

// reject answers what the client should not have sent, and the server does not get to see.
func (c *core) reject(id []byte, code int, text string) {
	c.refuse(id, code, text)
	if c.garbled++; powerOfTen(c.garbled) {
		c.record(incident{event: "client_error", text: text, code: code, class: verdict.InvalidRequest, count: c.garbled})
	}
}

// request takes a request of the client.
func (c *core) request(m *message) {
	e := &m.env
	if c.calls[string(e.id)] != nil {
		c.reject(e.id, codeInvalid, "another request with this id is still running")
		return
	}
	k := c.newCall(m)
	if c.phase != ready || !c.suspectAt.IsZero() {
		c.wait(k, m)
		return
	}
	if c.troubled && !c.admit(k) {
		return
	}
	if c.safe(k) && m.size <= maxKept {
		k.line = m.bytes()
	}
	c.send(k, m.parts...)
}

// clientNotification takes a notification of the client.
func (c *core) clientNotification(m *message) {
	e := &m.env
	parts := m.parts
	switch string(e.method) {
	case "notifications/cancelled":
		k := c.find(string(e.request))
		if k == nil {
			return // it has been answered; the server must not get the cancellation
		}
		if !k.listens && !k.cancelled {
			c.recordFailed(k, incident{text: "cancelled by the client", took: k.age(), class: verdict.Interrupted})
		}
		if k.sent.IsZero() {
			c.forget(k)
			return
		}
		k.cancelled = true
		if k.listens {
			c.forget(k)
		}
		if k.wire != k.id {
			parts = m.splice(e.requestAt, []byte(k.wire))
		}
	case "notifications/initialized":
		c.session.initialized = m.bytes()
	}
	switch {
	case c.phase == ready:
		c.out.toServer(parts...)
	case string(e.method) == "notifications/initialized", string(e.method) == "notifications/cancelled":
		// A new server gets this with the rest of the session; one that has ended need not cancel anything.
	case len(c.queue) < maxQueue && c.queued+m.size <= maxQueued:
		c.queued += m.size
		c.queue = append(c.queue, waiting{line: m.bytes()})
	}
}

// find is the call of the client with that id.
func (c *core) find(id string) *call {
	if k := c.calls[id]; k != nil && k.id == id {
		return k
	}
	for _, k := range c.calls {
		if k.id == id {
			return k
		}
	}
	return nil
}

// clientAnswer takes the answer to a request of the server. One for a server that has ended is dropped.
func (c *core) clientAnswer(m *message) {
	id := string(m.env.id)
	a, ok := c.asks[id]
	delete(c.asks, id)
	if !ok || a.generation != c.generation || c.phase == down {
		return
	}
	c.extend()
	if a.id == id {
		c.out.toServer(m.parts...)
		return
	}
	c.out.toServer(m.splice(m.env.idAt, []byte(a.id))...)
}
