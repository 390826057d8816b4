package relay

import (
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// client takes what the client says.
type client struct {
	settings *Settings
	out      Outlets
	life     *life
	calls    *calls
	asks     asks
	tools    *tools
	session  *session
	report   *report
	outbox   *outbox
	server   *server
	garbled  tally
}

// take takes a line of the client.
func (c *client) take(m *wire.Message) {
	switch {
	case m.TooLarge && m.IsRequest():
		c.reject(m.ID, codeTooLarge, messages.RequestTooLarge(m.Size, c.settings.MaxLine()))
	case m.TooLarge:
		c.report.record(Incident{event: "oversize", text: "a message from the client was too large", method: string(m.Method)})
	case m.Blank():
	case !m.JSON:
		c.reject(nil, codeParse, "this is not JSON")
	case m.Batch:
		c.batch(m)
	case m.IsRequest():
		c.request(m)
	case m.IsNotice():
		c.notification(m)
	case m.IsResponse():
		c.answer(m)
	default:
		c.reject(m.ID, codeInvalid, "this is not a JSON-RPC 2.0 message")
	}
}

// reject answers what the client should not have sent, and the server does not get to see.
func (c *client) reject(id []byte, code int, text string) {
	c.report.refuse(id, code, text)
	if c.garbled.counts() {
		c.report.record(Incident{event: "client_error", text: text, code: code, class: verdict.InvalidRequest, count: int(c.garbled)})
	}
}

// batch takes an array of messages apart. The server gets them one by one, and so does the client its answers:
// each of them may have to wait, to be repeated or to be answered by us.
func (c *client) batch(m *wire.Message) {
	elements, ok := m.Split()
	if !ok || len(elements) == 0 || !c.session.batches() {
		c.reject(nil, codeInvalid, "this version of the protocol has no batches")
		return
	}
	for _, line := range elements {
		one := wire.Parse(line)
		if one.Batch {
			c.reject(nil, codeInvalid, "a batch cannot contain a batch")
			continue
		}
		c.take(&one)
	}
}

func (c *client) request(m *wire.Message) {
	if c.calls.byID[string(m.ID)] != nil {
		c.reject(m.ID, codeInvalid, "another request with this id is still running")
		return
	}
	k := newCall(c.settings, m)
	if !c.life.takes() {
		c.server.wait(k, m)
		return
	}
	if !c.server.admit(k) {
		return
	}
	if c.tools.keeps(k, m.Size) {
		k.line = m.Bytes()
	}
	c.outbox.send(k, m.Parts...)
}

func (c *client) notification(m *wire.Message) {
	parts, held := m.Parts, true // held: it waits for a server, if there is none
	switch string(m.Method) {
	case "notifications/cancelled":
		if parts = c.cancel(m); parts == nil {
			return
		}
		held = false // a server that has ended need not cancel anything
	case "notifications/initialized":
		c.session.initialized = m.Bytes()
		held = false // a new server gets this with the rest of the session
	}
	switch {
	case c.life.phase == ready:
		c.out.ToServer(parts...)
	case held && !c.outbox.full(m.Size):
		c.outbox.add(waiting{line: m.Bytes()})
	}
}

// cancel takes back a request of the client. It returns what the server is to be told, which is nothing if the request has been answered
// or was not sent.
func (c *client) cancel(m *wire.Message) (parts [][]byte) {
	k := c.calls.find(string(m.Request))
	if k == nil {
		return nil
	}
	if !k.listens && !k.cancelled {
		c.report.failed(k, Incident{text: "cancelled by the client", took: k.age(), class: verdict.Interrupted})
	}
	if k.waits() {
		c.calls.forget(k)
		return nil
	}
	k.cancelled = true
	if k.listens {
		c.calls.forget(k)
	}
	if k.wire != k.id {
		return m.Splice(m.RequestAt, []byte(k.wire))
	}
	return m.Parts
}

// answer takes the answer to a request of the server. One for a server that has ended is dropped.
func (c *client) answer(m *wire.Message) {
	id := string(m.ID)
	a, ok := c.asks[id]
	delete(c.asks, id)
	if !ok || a.generation != c.life.generation || c.life.phase == down {
		return
	}
	c.calls.extend(time.Now())
	if a.id == id {
		c.out.ToServer(m.Parts...)
		return
	}
	c.out.ToServer(m.Splice(m.IDAt, []byte(a.id))...)
}
