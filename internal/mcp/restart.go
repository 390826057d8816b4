package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// death is how a server ended.
type death struct {
	err    error  // it could not be started at all
	status string // "exit status 3", "signal: killed"
	code   int
	signal string
	tail   string // of its stderr
	uptime time.Duration
	why    string // we ended it

	remote    bool // it was a connection
	forgotten bool // the server does not know the session any more
}

func (d death) text() string {
	switch {
	case d.err != nil && d.remote:
		return messages.DeathNotReached(d.err)
	case d.err != nil:
		return "could not be started (" + d.err.Error() + ")"
	case d.forgotten:
		return messages.DeathForgot()
	case d.remote && d.why != "":
		return d.why + ", and its session was closed"
	case d.remote:
		return d.status
	case d.why != "":
		return d.why + " and was terminated"
	}
	return "crashed (" + d.status + ")"
}

// start has a server started, if the gate lets it.
func (c *core) start() {
	c.restartAt = time.Time{}
	if c.pass == nil {
		pass, refusal := c.enter()
		if refusal != nil {
			c.refused(refusal)
			return
		}
		c.pass = pass
	}
	c.generation++
	c.phase, c.expected, c.suspectAt = starting, "", time.Time{}
	c.worked, c.heavy = false, false
	c.out.start(c.generation)
}

// started is called when the server runs. The client itself opens the session with the first one.
func (c *core) started(generation, pid int) {
	if generation != c.generation || c.phase != starting {
		return
	}
	c.pid = pid
	if c.session.open() {
		c.reopen()
		return
	}
	c.opened()
}

// opened is called when the server has the state of the session.
func (c *core) opened() {
	c.phase = ready
	c.listenAgain()
	c.release()
	if c.generation > 1 {
		c.compareLists()
	}
}

// died is called when the server has ended, with its whole tree.
func (c *core) died(generation int, d death) {
	if generation != c.generation || c.phase == down {
		return
	}
	wasReady := c.phase == ready || c.phase == stopping
	d.why = c.expected
	c.phase, c.pid, c.expected, c.suspectAt = down, 0, "", time.Time{}
	clear(c.late)
	c.dropAsks()
	if c.inputEnd {
		c.abandon(fmt.Sprintf("the client has left and the MCP server %q ended without an answer (%s)", c.opt.Name, cmp.Or(d.status, d.text())))
		c.out.done()
		return
	}
	if c.worked || d.uptime >= stable && wasReady {
		c.deaths = 0
	}
	c.deaths++
	told := c.told
	c.told = false
	event, class := "crash", verdict.Crash
	switch {
	case c.heavy:
		event, class = "memory", verdict.Resources
	case d.err != nil:
		event = "start_failed"
	case d.forgotten:
		event = "session_lost" // which is no failure: most servers drop sessions that are idle
	case d.why != "":
		event = "hung"
	}
	if c.opt.NoRestart && wasReady {
		c.last = &d
	}
	failed, open := c.settleCalls(d, wasReady)
	if !d.forgotten && !told && (failed || !open) {
		c.failed(d.text())
	}
	c.record(incident{event: event, text: startText(c.opt, d), death: &d, class: class, passing: failed || open || told || d.forgotten})
	switch {
	case c.last != nil:
	case d.forgotten && c.deaths == 1 && !c.closing:
		c.start()
	default:
		c.reschedule(d)
	}
	c.endIfIdle()
}

// settleCalls decides for each call what its server's death means for it: sent again, still waiting, or answered. It reports
// whether a call has failed because of that death, and whether what the death means is open, since a call of the client is sent
// again or waits for the next server. Then that call will tell of it.
func (c *core) settleCalls(d death, wasReady bool) (failed, open bool) {
	lost := incident{class: verdict.Crash, death: &d}
	var again []*call
	for _, k := range inOrder(c.calls) {
		switch {
		case d.remote && !k.sent.IsZero(): // reported by itself
		case k.reply != nil:
			c.forget(k)
			k.reply(nil)
		case k.listens && !k.sent.IsZero():
			delete(c.calls, k.wire) // kept by the session, and sent again
		case k.sent.IsZero():
			if d.forgotten && c.last == nil {
				break
			}
			if d.err == nil && c.last == nil && (c.deaths < startTries || time.Now().Before(k.notBefore)) {
				open = true
				break
			}
			c.forget(k)
			c.fail(k, codeStart, startText(c.opt, d), lost)
			failed = true
		case k.cancelled:
			c.forget(k)
		case d.err == nil && c.mayRepeat(k):
			c.forget(k)
			again = append(again, k)
		default:
			c.forget(k)
			lost.took = k.age()
			if !wasReady || k.opens() {
				c.fail(k, codeStart, startText(c.opt, d), lost)
			} else {
				c.fail(k, codeCrashed, crashText(c.opt, k, d), lost)
			}
			failed = true
		}
	}
	c.queue = slices.DeleteFunc(c.queue, func(w waiting) bool { return w.call != nil && c.calls[w.call.wire] != w.call })
	// What was sent before what has waited is sent before it again.
	rest := c.queue
	c.queue = nil
	for _, k := range again {
		lost.took = k.age()
		c.repeat(k, d.text(), lost)
	}
	c.queue = append(c.queue, rest...)
	return failed, open || len(again) > 0
}

// inOrder is what was asked first, first.
func inOrder(calls map[string]*call) []*call {
	return slices.SortedFunc(maps.Values(calls), func(a, b *call) int { return a.sent.Compare(b.sent) })
}

// abandon answers what is left when we end. No server is started for it any more.
func (c *core) abandon(text string) {
	c.restartAt, c.queue, c.queued = time.Time{}, nil, 0
	for _, k := range inOrder(c.calls) {
		c.forget(k)
		if k.id != "" && !k.listens {
			c.fail(k, codeCrashed, text, incident{text: text, class: verdict.Interrupted})
		}
	}
}

// dropAsks takes back what the server has asked the client.
func (c *core) dropAsks() {
	for id, a := range c.asks {
		if a.method != "ping" {
			c.out.toClient(cancelled(id, "the server has ended"))
		}
		delete(c.asks, id)
	}
}

// backoff is the wait before a server is started again.
func backoff() retry.Policy {
	p, _ := retry.Preset("mcp")
	return p
}

// reschedule decides when to start the next server: soon, later the more often it has failed, and only at the next request
// if it fails at once each time and no call waits.
func (c *core) reschedule(d death) {
	if c.closing && !c.busy() {
		return
	}
	if len(c.queue) == 0 && (d.err != nil || c.deaths >= startTries) {
		return
	}
	policy := backoff()
	delay := policy.Jitter.Apply(policy.Backoff(c.deaths-1), c.opt.random())
	c.restartAt = time.Now().Add(delay)
	c.arm(c.restartAt)
}
