package mcp

import (
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// call is a request to the server that has not been answered: the client's, or one of ours.
type call struct {
	id     string // the client's; empty if it is ours
	wire   string // what the server knows it by; the same, unless it was repeated
	method string
	tool   string
	token  string
	modern bool // its answer must say resultType
	resume bool // it goes on with an earlier one

	line []byte // as the client wrote it, if it may have to be sent (again)
	idAt wire.Span

	args     []byte // of a tool, to hash them if it fails; nil if they are too large
	argsSize int

	begun time.Time     // when it was first sent
	sent  time.Time     // zero: it waits
	limit time.Duration // without a sign of progress; 0: none
	due   time.Time     // when that has passed; zero: never
	last  time.Time     // when it is over whatever progress it makes

	retries    int       // how often it was sent again
	notBefore  time.Time // when that may be done the next time
	progressed bool
	cancelled  bool // by the client, which expects no answer any more
	listens    bool // subscriptions/listen: it is meant to last
	firstPage  bool
	undone     int       // how often a remote server has not carried it out
	generation int       // of the server that has it
	lost       *incident // how it was lost the last time, if it was and is sent again

	reply func(*wire.Message) // for ours; nil if the server died or did not answer
}

// ask is a request of the server to the client.
type ask struct {
	id         string // as the server wrote it
	method     string
	generation int
}

func (c *core) newCall(m *wire.Message) *call {
	e := &m.Envelope
	k := &call{id: string(e.ID), method: string(e.Method), token: string(e.Token), modern: e.Modern, resume: e.Resumed, idAt: e.IDAt,
		firstPage: !e.Cursor}
	k.wire = k.id
	switch k.method {
	case "tools/call":
		k.tool = string(e.Name)
		if k.argsSize = e.ArgsAt.To - e.ArgsAt.From; k.argsSize > 0 && k.argsSize <= maxHashed {
			k.args = m.AppendTo(nil, e.ArgsAt)
		}
		k.limit = c.opt.limitOf(k.tool)
	case "subscriptions/listen":
		k.listens = true
		k.line = m.Bytes()
	case "initialize", "server/discover":
		k.limit = c.opt.startTimeout()
	default:
		k.limit = c.opt.limitOf("")
	}
	return k
}

// opens says that the call opens the session.
func (k *call) opens() bool { return k.method == "initialize" || k.method == "server/discover" }

// pause is how long is waited before the call is sent again.
func (k *call) pause() time.Duration {
	if k.opens() {
		return 0
	}
	return retry.Policy{}.Backoff(k.retries) // 1, 2, 4 s
}

// age is how long the server has had the call.
func (k *call) age() time.Duration {
	if k.sent.IsZero() {
		return 0
	}
	return time.Since(k.sent)
}

// addressed is a kept line under the id that the server is to know it by.
func (k *call) addressed(line []byte) [][]byte {
	if k.wire == k.id {
		return [][]byte{line}
	}
	return [][]byte{line[:k.idAt.From], []byte(k.wire), line[k.idAt.To:]}
}

// forget removes a call from the tables.
func (c *core) forget(k *call) {
	delete(c.calls, k.wire)
	if k.token != "" && c.tokens[k.token] == k {
		delete(c.tokens, k.token)
	}
	delete(c.session.listens, k.id)
}

// askServer sends a request of our own.
func (c *core) askServer(kind string, limit time.Duration, parts func(id string) [][]byte, reply func(*wire.Message)) {
	id := ""
	for id == "" || c.calls[id] != nil {
		c.own++
		id = ownID(kind, c.own)
	}
	k := &call{wire: id, method: kind, limit: limit, reply: reply}
	c.send(k, parts(id)...)
}

// extend gives all calls their time anew: the server has waited for the client.
func (c *core) extend() {
	now := time.Now()
	for _, k := range c.calls {
		if !k.sent.IsZero() && !k.due.IsZero() {
			k.due = earlier(now.Add(k.limit), k.last)
		}
	}
}

// arm asks to be woken at t, if not before.
func (c *core) arm(t time.Time) {
	if c.wakeAt.IsZero() || t.Before(c.wakeAt) {
		c.wakeAt = t
		c.out.wake(t)
	}
}

// tick handles everything that is due.
func (c *core) tick() {
	now := time.Now()
	c.wakeAt = time.Time{}
	if !c.restartAt.IsZero() && !now.Before(c.restartAt) && c.phase == down {
		c.start()
	}
	if !c.listenAt.IsZero() && !now.Before(c.listenAt) && c.phase == ready {
		c.listenAgain()
	}
	if !c.suspectAt.IsZero() && now.Sub(c.suspectAt) >= c.opt.hang() && c.phase == ready {
		c.hung()
	}
	c.releaseIfReady()
	for _, k := range c.overdue(now) {
		c.expire(k, now)
	}
	c.endIfIdle()
	c.rearm(now)
}

func (c *core) rearm(now time.Time) {
	for _, k := range c.calls {
		if !k.due.IsZero() {
			c.arm(k.due)
		}
	}
	for _, w := range c.queue {
		if w.call != nil && now.Before(w.call.notBefore) {
			c.arm(w.call.notBefore)
		}
	}
	if !c.restartAt.IsZero() && c.phase == down {
		c.arm(c.restartAt)
	}
	if !c.listenAt.IsZero() && c.phase == ready {
		c.arm(c.listenAt)
	}
	if !c.suspectAt.IsZero() && c.phase == ready {
		c.arm(c.suspectAt.Add(c.opt.hang()))
	}
	if c.closing && !c.inputEnd {
		c.arm(c.closeAt)
	}
}

func (c *core) overdue(now time.Time) (due []*call) {
	for _, k := range c.calls {
		if !k.due.IsZero() && !now.Before(k.due) {
			due = append(due, k)
		}
	}
	return due
}

// expire ends a call that has taken too long.
func (c *core) expire(k *call, now time.Time) {
	if !k.sent.IsZero() && c.clientIsAsked() && (k.last.IsZero() || now.Before(k.last)) {
		k.due = earlier(now.Add(k.limit), k.last) // the server waits for the client
		return
	}
	c.forget(k)
	switch {
	case k.reply != nil:
		c.rememberLate(k)
		k.reply(nil)
		return
	case k.cancelled:
		c.rememberLate(k)
		return
	case k.sent.IsZero():
		c.fail(k, codeTimeout, c.whyNoServer(), incident{text: messages.NoServerInTime(), class: verdict.Timeout})
		c.failed(messages.NoServerInTime())
		return
	}
	took := now.Sub(k.sent)
	c.fail(k, codeTimeout, timeoutText(c.opt, k, took), incident{text: messages.NoAnswerWithin(took), took: took, class: verdict.Timeout})
	c.failed("no answer to " + k.method)
	c.rememberLate(k)
	if k.method == "initialize" { // the one request that must not be cancelled: what does not begin is not worth keeping
		c.end(messages.NoInitialize(took), true)
		return
	}
	c.out.toServer(cancelled(k.wire, "timeout"))
	c.pingServer(now)
}

// clientIsAsked says whether the server waits for the client.
func (c *core) clientIsAsked() bool {
	for _, a := range c.asks {
		if a.method != "ping" {
			return true
		}
	}
	return false
}

// rememberLate remembers that the server may still answer, and that the answer is to be dropped.
func (c *core) rememberLate(k *call) {
	if len(c.late) >= maxLate {
		clear(c.late)
	}
	c.late[k.wire] = k.token
}

// pingServer asks the server for a sign of life. A server that is busy is not a hung one: it has as long as a call.
func (c *core) pingServer(now time.Time) {
	if c.opt.hang() <= 0 || !c.suspectAt.IsZero() || c.phase != ready {
		return
	}
	c.suspectAt = now
	c.arm(now.Add(c.opt.hang()))
	c.askServer("ping", 0, func(id string) [][]byte {
		return [][]byte{[]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)}
	}, func(*wire.Message) {})
}

// hung ends a server that gives no sign of life.
func (c *core) hung() { c.end(messages.NoLife(c.opt.hang()), true) }

// overweight ends a server that uses too much memory, unless a call is under way: it is told again as long as that is so.
func (c *core) overweight(generation int, why string) {
	if generation == c.generation && c.phase == ready && !c.opt.NoRestart && len(c.queue) == 0 && !c.busy() && !c.clientIsAsked() {
		c.heavy = true
		c.end(why, true)
	}
}

// end has the server ended, for a reason. told says that a call that has failed for the same reason is on record.
func (c *core) end(why string, told bool) {
	if c.phase == down || c.phase == stopping {
		return
	}
	c.phase, c.expected, c.told, c.suspectAt = stopping, why, told, time.Time{}
	c.out.stop(c.generation)
}

// later is the last of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlier is the first of two times, of which the second may be never.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// ownID is an id that we make.
func ownID(kind string, n int) string { return `"belay-` + kind + `-` + strconv.Itoa(n) + `"` }
