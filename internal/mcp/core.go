package mcp

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// core is the proxy without its pipes, processes and timers: what comes in are lines of the two sides, the start and the
// death of servers, and the time; what goes out are lines and calls of outlets. It is not safe for concurrent use.
type core struct {
	opt  *Options
	out  outlets
	gate *gate.Gate // nil: none

	phase      phase
	generation int
	pid        int
	worked     bool // it has answered a call
	deaths     int  // in a row, of servers that neither worked nor ran for long
	restartAt  time.Time
	expected   string // why we end the server, if we do
	told       bool   // what we end it for is on record
	heavy      bool   // it used too much memory
	last       *death // of a server that is not to be started again

	calls  map[string]*call // sent to the server or waiting, by the id on the wire
	tokens map[string]*call // of them, those that asked for progress
	queue  []waiting        // what is to be sent as soon as a server is there
	queued int              // bytes of it
	late   map[string]string
	asks   map[string]ask // requests of the server that the client has not answered, by the id that the client sees
	own    int            // ids that we have made

	session  session
	listenAt time.Time // when what the client listens to is asked for again
	lossHow  string    // how the request of ours was lost that is told of it
	failedAt time.Time // when the gate was last told of a lost request

	suspectAt time.Time // since when the server has not given a sign of life that it was asked for
	pass      *gate.Pass
	troubled  bool // it has failed since it last answered
	holders   int

	closing  bool // the client sends nothing more
	closeAt  time.Time
	inputEnd bool // the server has been told so
	wakeAt   time.Time
	polluted int
	lateness int
	garbled  int
}

// outlets is what the core acts on.
type outlets interface {
	// toClient and toServer send one line. They do not copy borrowed parts.
	toClient(parts ...[]byte)
	toServer(parts ...[]byte)
	divert(m *wire.Message) // what does not belong on stdout
	start(generation int)   // answered by started or died
	stop(generation int)    // answered by died
	closeInput()            // the server is to end by itself, and in time; answered by died
	wake(at time.Time)      // answered by tick
	record(r incident)
	done() // nothing is left to do
}

type phase byte

const (
	down     phase = iota // no server
	starting              // being started, or given the session of its predecessor
	ready
	stopping // by us
)

// The times that are not configurable.
const (
	stable      = 10 * time.Second // uptime after which a server counts as one that runs
	drain       = 2 * time.Second  // how long calls may take that are under way when the client leaves
	startWait   = 5 * time.Second  // what a waiting call is granted beyond its own limit
	startTries  = 3                // failed starts in a row until waiting calls fail, and until a server is started only for a new call
	maxQueue    = 1000
	maxQueued   = 64 << 20
	maxLate     = 10000
	maxKept     = 4 << 20 // the size of a call that may be repeated
	defaultCall = 30 * time.Second
)

func newCore(opt *Options, out outlets) *core {
	return &core{opt: opt, out: out, gate: opt.Gate, calls: map[string]*call{}, tokens: map[string]*call{},
		late: map[string]string{}, asks: map[string]ask{}, session: newSession()}
}

// waiting is a line for a server that is not ready: a call, or a notification.
type waiting struct {
	call *call
	line []byte
}

// send gives a call to the server.
func (c *core) send(k *call, parts ...[]byte) {
	now := time.Now()
	k.sent, k.generation = now, c.generation
	if k.begun.IsZero() {
		k.begun = now
	}
	c.calls[k.wire] = k
	if k.token != "" {
		c.tokens[k.token] = k
	}
	if k.listens && c.session.listens[k.id] == nil {
		c.session.listens[k.id] = &listening{call: k}
	}
	k.due, k.last = time.Time{}, time.Time{}
	if k.limit > 0 {
		k.due = now.Add(k.limit)
		if longest := c.opt.maxTimeout(); longest > 0 {
			k.last = now.Add(max(k.limit, longest))
		}
		c.arm(k.due)
	}
	c.out.toServer(parts...)
}

// wait keeps a call until there is a server for it.
func (c *core) wait(k *call, m *wire.Message) {
	if c.last != nil {
		c.fail(k, codeCrashed, startText(c.opt, *c.last)+"\nIt is not restarted (--no-restart). Start a new session",
			incident{class: verdict.Crash, death: c.last})
		return
	}
	if len(c.queue) >= maxQueue || c.queued+m.Size > maxQueued {
		text := "too many calls are waiting for the server to come back"
		c.fail(k, codeCrashed, text, incident{text: text, class: verdict.Crash})
		return
	}
	k.line = m.Bytes()
	c.enqueue(k)
	if c.phase == down && c.restartAt.IsZero() {
		c.start()
	}
}

func (c *core) enqueue(k *call) {
	k.sent = time.Time{}
	c.calls[k.wire] = k
	limit := k.limit
	limit = cmp.Or(limit, c.opt.startTimeout())
	k.due = later(time.Now(), k.notBefore).Add(limit + startWait)
	k.last = k.due
	c.arm(k.due)
	c.queued += len(k.line)
	c.queue = append(c.queue, waiting{call: k})
}

// release sends what has waited, but for calls that are sent again and have to wait longer.
func (c *core) release() {
	queue := c.queue
	c.queue, c.queued = nil, 0
	for _, w := range queue {
		k := w.call
		switch {
		case k != nil && c.calls[k.wire] != k: // it was answered or cancelled meanwhile
		case c.phase != ready || !c.suspectAt.IsZero() || k != nil && time.Now().Before(k.notBefore):
			c.queue = append(c.queue, w)
			c.queued += len(w.line)
			if k != nil {
				c.queued += len(k.line)
			}
		case k == nil:
			c.out.toServer(w.line)
		default:
			line := k.line
			if !k.listens && (!c.safe(k) || len(line) > maxKept) {
				k.line = nil
			}
			c.send(k, k.addressed(line)...)
		}
	}
}

// clientGone is called when the client sends nothing more.
func (c *core) clientGone() {
	if c.closing {
		return
	}
	c.closing = true
	c.closeAt = time.Now().Add(drain)
	c.arm(c.closeAt)
	c.endIfIdle()
}

// endIfIdle ends the server once the client waits for no answer, or has waited long enough.
func (c *core) endIfIdle() {
	if !c.closing || c.inputEnd || c.busy() && time.Now().Before(c.closeAt) {
		return
	}
	c.inputEnd = true
	if c.phase == down {
		c.leave()
		return
	}
	c.out.closeInput()
}

// leave ends where there is no server whose end is to be waited for. Calls may still be waiting for one.
func (c *core) leave() {
	c.abandon(messages.ServerNotBack(c.opt.Name))
	c.out.done()
}

// busy says whether the client waits for an answer.
func (c *core) busy() bool {
	for _, k := range c.calls {
		if k.id != "" && !k.listens && !k.cancelled {
			return true
		}
	}
	return false
}
