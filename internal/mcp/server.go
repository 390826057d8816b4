package mcp

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// fromServer takes a line of the server's stdout.
func (c *core) fromServer(generation int, m *wire.Message) {
	if generation != c.generation && !c.isEarlierAnswer(generation, m) {
		return
	}
	e := &m.Envelope
	if e.Valid && !c.suspectAt.IsZero() {
		c.suspectAt = time.Time{} // any line is a sign of life
		defer c.release()
	}
	switch {
	case m.TooLarge && e.IsResponse():
		if k := c.take(m); k != nil {
			c.fail(k, codeTooLarge, messages.AnswerTooLarge(m.Size, c.opt.maxLine()),
				incident{text: "an answer of " + messages.Size(m.Size) + " is too large", class: verdict.TooLarge})
		}
	case m.TooLarge:
		c.record(incident{event: "oversize", text: "a line from the server was too large"})
	case e.IsResponse() && (e.Result || e.Failed):
		c.answer(m)
	case e.IsRequest():
		c.serverAsks(m)
	case e.IsNotice():
		c.serverNotification(m)
	case e.Batch && e.JSON:
		c.serverBatch(m)
	case m.Blank():
	default:
		c.pollution(m)
	}
}

// isEarlierAnswer says whether a message is the answer to a request of an earlier session with a remote server, which need not
// have ended with it.
func (c *core) isEarlierAnswer(generation int, m *wire.Message) bool {
	if c.opt.Remote == nil || !m.IsResponse() {
		return false
	}
	k := c.calls[string(m.ID)]
	return k != nil && k.generation == generation && !k.sent.IsZero()
}

// pollution is what a server prints that is no message: a stray print would end most clients' connection.
func (c *core) pollution(m *wire.Message) {
	c.out.divert(m)
	if c.polluted++; powerOfTen(c.polluted) {
		c.record(incident{event: "pollution", text: "the server printed something other than JSON-RPC to stdout", count: c.polluted})
	}
}

// take finds the call that a response belongs to; nil if no call waits for it.
func (c *core) take(m *wire.Message) *call {
	id := string(m.ID)
	k := c.calls[id]
	if k == nil || k.sent.IsZero() {
		delete(c.late, id)
		if c.lateness++; powerOfTen(c.lateness) {
			c.record(incident{event: "late", text: "the server answered a call that had already ended", count: c.lateness})
		}
		return nil
	}
	c.forget(k)
	return k
}

// answer takes a response of the server.
func (c *core) answer(m *wire.Message) {
	k := c.take(m)
	if k == nil {
		return
	}
	if k.reply != nil {
		k.reply(m)
		return
	}
	c.succeeded()
	if r, bad := refusal(k, m); bad {
		r.took = k.age()
		c.recordFailed(k, r)
	}
	edited := c.learn(k, m)
	switch {
	case edited != nil:
		again := wire.Parse(edited)
		c.out.toClient(again.Splice(again.IDAt, []byte(k.id))...)
	case k.wire == k.id:
		c.out.toClient(m.Parts...)
	default:
		c.out.toClient(m.Splice(m.IDAt, []byte(k.id))...)
	}
	if c.closing {
		c.endIfIdle()
	}
}

// serverAsks takes a request of the server. The ids of its successors are kept apart from its own.
func (c *core) serverAsks(m *wire.Message) {
	a := ask{id: string(m.ID), method: string(m.Method), generation: c.generation}
	if _, taken := c.asks[a.id]; !taken && c.generation == 1 {
		c.asks[a.id] = a
		c.out.toClient(m.Parts...)
		return
	}
	c.own++
	id := ownID("ask", c.own)
	c.asks[id] = a
	c.out.toClient(m.Splice(m.IDAt, []byte(id))...)
}

// serverNotification takes a notification of the server.
func (c *core) serverNotification(m *wire.Message) {
	e := &m.Envelope
	switch string(e.Method) {
	case "notifications/progress":
		if k := c.tokens[string(e.Token)]; k != nil {
			k.progressed = true
			if !k.due.IsZero() {
				k.due = earlier(time.Now().Add(k.limit), k.last)
			}
		} else if c.overToken(string(e.Token)) {
			return
		}
	case "notifications/cancelled": // of a request of the server
		for id, a := range c.asks {
			if a.generation == c.generation && a.id == string(e.Request) {
				delete(c.asks, id)
				if id != a.id {
					c.out.toClient(m.Splice(e.RequestAt, []byte(id))...)
					return
				}
			}
		}
	case "notifications/subscriptions/acknowledged":
		if l := c.session.listens[string(e.Listener)]; l != nil && l.again {
			l.again = false
			return // the client knows
		}
	}
	c.out.toClient(m.Parts...)
}

// overToken says whether a progress token belongs to a call that is over.
func (c *core) overToken(token string) bool {
	for _, t := range c.late {
		if t == token && t != "" {
			return true
		}
	}
	return false
}

func powerOfTen(n int) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// statusText says how a process ended, as Go does.
func statusText(e supervise.Exit) string {
	switch {
	case e.Signal != 0:
		return "signal: " + e.Signal.String()
	case e.Code < 0:
		return "its exit status is unknown"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
