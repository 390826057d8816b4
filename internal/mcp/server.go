package mcp

import (
	"fmt"
	"time"

	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// fromServer takes a line of the server's stdout.
func (c *core) fromServer(generation int, m *message) {
	if generation != c.generation && !c.isEarlierAnswer(generation, m) {
		return
	}
	e := &m.env
	if e.valid && !c.suspectAt.IsZero() {
		c.suspectAt = time.Time{} // any line is a sign of life
		defer c.release()
	}
	switch {
	case m.over && e.isResponse():
		if k := c.take(m); k != nil {
			c.fail(k, codeTooLarge, messages.AnswerTooLarge(m.size, c.opt.maxLine()),
				incident{text: "an answer of " + messages.Size(m.size) + " is too large", class: verdict.TooLarge})
		}
	case m.over:
		c.record(incident{event: "oversize", text: "a line from the server was too large"})
	case e.isResponse() && (e.result || e.failed):
		c.answer(m)
	case e.isRequest():
		c.serverAsks(m)
	case e.isNotice():
		c.serverNotification(m)
	case e.batch && e.json:
		c.serverBatch(m)
	case m.blank():
	default:
		c.pollution(m)
	}
}

// isEarlierAnswer says whether a message is the answer to a request of an earlier session with a remote server, which need not
// have ended with it.
func (c *core) isEarlierAnswer(generation int, m *message) bool {
	if c.opt.Remote == nil || !m.env.isResponse() {
		return false
	}
	k := c.calls[string(m.env.id)]
	return k != nil && k.generation == generation && !k.sent.IsZero()
}

// pollution is what a server prints that is no message: a stray print would end most clients' connection.
func (c *core) pollution(m *message) {
	c.out.divert(m)
	if c.polluted++; powerOfTen(c.polluted) {
		c.record(incident{event: "pollution", text: "the server printed something other than JSON-RPC to stdout", count: c.polluted})
	}
}

// take finds the call that a response belongs to; nil if no call waits for it.
func (c *core) take(m *message) *call {
	id := string(m.env.id)
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
func (c *core) answer(m *message) {
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
		again := parse(edited)
		c.out.toClient(again.splice(again.env.idAt, []byte(k.id))...)
	case k.wire == k.id:
		c.out.toClient(m.parts...)
	default:
		c.out.toClient(m.splice(m.env.idAt, []byte(k.id))...)
	}
	if c.closing {
		c.endIfIdle()
	}
}

// serverAsks takes a request of the server. The ids of its successors are kept apart from its own.
func (c *core) serverAsks(m *message) {
	a := ask{id: string(m.env.id), method: string(m.env.method), generation: c.generation}
	if _, taken := c.asks[a.id]; !taken && c.generation == 1 {
		c.asks[a.id] = a
		c.out.toClient(m.parts...)
		return
	}
	c.own++
	id := ownID("ask", c.own)
	c.asks[id] = a
	c.out.toClient(m.splice(m.env.idAt, []byte(id))...)
}

// serverNotification takes a notification of the server.
func (c *core) serverNotification(m *message) {
	e := &m.env
	switch string(e.method) {
	case "notifications/progress":
		if k := c.tokens[string(e.token)]; k != nil {
			k.progressed = true
			if !k.due.IsZero() {
				k.due = earlier(time.Now().Add(k.limit), k.last)
			}
		} else if c.overToken(string(e.token)) {
			return
		}
	case "notifications/cancelled": // of a request of the server
		for id, a := range c.asks {
			if a.generation == c.generation && a.id == string(e.request) {
				delete(c.asks, id)
				if id != a.id {
					c.out.toClient(m.splice(e.requestAt, []byte(id))...)
					return
				}
			}
		}
	case "notifications/subscriptions/acknowledged":
		if l := c.session.listens[string(e.listener)]; l != nil && l.again {
			l.again = false
			return // the client knows
		}
	}
	c.out.toClient(m.parts...)
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
