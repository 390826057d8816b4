package mcp

import (
	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// fromClient takes a line of the client.
func (c *core) fromClient(m *wire.Message) {
	e := &m.Envelope
	switch {
	case m.TooLarge && e.IsRequest():
		c.reject(e.ID, codeTooLarge, messages.RequestTooLarge(m.Size, c.opt.maxLine()))
	case m.TooLarge:
		c.record(incident{event: "oversize", text: "a message from the client was too large", method: string(e.Method)})
	case m.Blank():
	case !e.JSON:
		c.reject(nil, codeParse, "this is not JSON")
	case e.Batch:
		c.clientBatch(m)
	case e.IsRequest():
		c.request(m)
	case e.IsNotice():
		c.clientNotification(m)
	case e.IsResponse():
		c.clientAnswer(m)
	default:
		c.reject(e.ID, codeInvalid, "this is not a JSON-RPC 2.0 message")
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
func (c *core) request(m *wire.Message) {
	e := &m.Envelope
	if c.calls[string(e.ID)] != nil {
		c.reject(e.ID, codeInvalid, "another request with this id is still running")
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
	if c.safe(k) && m.Size <= maxKept {
		k.line = m.Bytes()
	}
	c.send(k, m.Parts...)
}

// clientNotification takes a notification of the client.
func (c *core) clientNotification(m *wire.Message) {
	e := &m.Envelope
	parts := m.Parts
	switch string(e.Method) {
	case "notifications/cancelled":
		k := c.find(string(e.Request))
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
			parts = m.Splice(e.RequestAt, []byte(k.wire))
		}
	case "notifications/initialized":
		c.session.initialized = m.Bytes()
	}
	switch {
	case c.phase == ready:
		c.out.toServer(parts...)
	case string(e.Method) == "notifications/initialized", string(e.Method) == "notifications/cancelled":
		// A new server gets this with the rest of the session; one that has ended need not cancel anything.
	case len(c.queue) < maxQueue && c.queued+m.Size <= maxQueued:
		c.queued += m.Size
		c.queue = append(c.queue, waiting{line: m.Bytes()})
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
func (c *core) clientAnswer(m *wire.Message) {
	id := string(m.ID)
	a, ok := c.asks[id]
	delete(c.asks, id)
	if !ok || a.generation != c.generation || c.phase == down {
		return
	}
	c.extend()
	if a.id == id {
		c.out.toServer(m.Parts...)
		return
	}
	c.out.toServer(m.Splice(m.IDAt, []byte(a.id))...)
}
