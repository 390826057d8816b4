package relay

import (
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/mcp/wire"
)

// Relay decides what becomes of each message. What comes in are lines of the two sides, the start and the
// death of servers, and the time; what goes out are lines and calls of [Outlets]. It is not safe for concurrent use. Make one with [New].
type Relay struct {
	out       Outlets
	life      *life
	calls     *calls
	session   *session
	leaving   *leaving
	alarm     *alarm
	client    *client
	replies   *replies
	server    *server
	losses    *losses
	deadlines *deadlines
}

// Shared is what a relay has in common with others of the same server.
type Shared struct {
	Gate   *gate.Gate     // nil: none
	Holder string         // what the relay is called at the gate
	Rand   func() float64 // spreads the restarts, with numbers in [0,1)
}

// New makes a relay for a server. Nothing is started before [Relay.Start].
func New(s *Settings, with Shared, out Outlets) *Relay {
	var (
		life       = &life{}
		calls      = newCalls()
		asks       = asks{}
		leaving    = &leaving{}
		alarm      = &alarm{out: out}
		tools      = &tools{s, map[string]hints{}}
		session    = newSession(tools)
		admission  = &admission{gate: with.Gate, holder: with.Holder}
		report     = &report{out, life}
		outbox     = &outbox{settings: s, out: out, alarm: alarm, life: life, calls: calls, tools: tools}
		repeats    = &repeats{s, life, calls, tools, leaving, admission, alarm, outbox, report}
		succession = &succession{settings: s, out: out, life: life, calls: calls, session: session, outbox: outbox}
		server     = &server{s, out, with.Rand, alarm, life, calls, asks, leaving, admission, report, outbox, repeats, succession}
	)
	return &Relay{
		out: out, life: life, calls: calls, session: session, leaving: leaving, alarm: alarm, server: server,
		client:    &client{settings: s, out: out, life: life, calls: calls, asks: asks, tools: tools, session: session, report: report, outbox: outbox, server: server},
		replies:   &replies{settings: s, out: out, life: life, calls: calls, asks: asks, session: session, admission: admission, report: report, outbox: outbox},
		losses:    &losses{s, alarm, life, calls, leaving, admission, report, outbox, repeats, succession},
		deadlines: &deadlines{s, out, alarm, life, calls, asks, leaving, admission, report, outbox, succession, server},
	}
}

// Start has the first server started.
func (r *Relay) Start() { r.server.start() }

// Started is called when a server runs.
func (r *Relay) Started(generation, pid int) { r.server.started(generation, pid) }

// Died is called when a server has ended, with its whole tree.
func (r *Relay) Died(generation int, d Death) {
	r.server.died(generation, d)
	r.endIfIdle()
}

// FromClient takes a line of the client.
func (r *Relay) FromClient(m *wire.Message) {
	r.client.take(m)
	r.endIfIdle()
}

// FromServer takes a line of a server.
func (r *Relay) FromServer(generation int, m *wire.Message) {
	r.replies.take(generation, m)
	r.endIfIdle()
}

// Lost is called when a remote server has left a request unanswered, of which body is what was sent.
func (r *Relay) Lost(generation int, id string, body []byte, l Loss) {
	r.losses.take(generation, id, body, l)
	r.endIfIdle()
}

// Overweight is called when a server uses too much memory, and again as long as it does.
func (r *Relay) Overweight(generation int, why string) { r.server.overweight(generation, why) }

// Tick is called at the time that the relay has asked for.
func (r *Relay) Tick() {
	now := time.Now()
	r.deadlines.pass(now)
	r.endIfIdle()
	r.deadlines.rearm(now)
}

// ClientGone is called when the client sends nothing more.
func (r *Relay) ClientGone() {
	if r.leaving.closing {
		return
	}
	r.leaving.begin(time.Now())
	r.alarm.set(r.leaving.at)
	r.endIfIdle()
}

// endIfIdle ends the server once the client waits for no answer, or has waited long enough.
func (r *Relay) endIfIdle() {
	if r.leaving.due(r.calls.busy) {
		r.Terminate()
	}
}

// Terminate ends without waiting for calls under way. It reports whether there is a server whose end is waited for.
func (r *Relay) Terminate() bool {
	r.leaving.closing, r.leaving.inputEnd = true, true
	if r.life.phase == down {
		r.server.leave()
		return false
	}
	r.out.CloseInput()
	return true
}

// Ending says that the server has been told to end.
func (r *Relay) Ending() bool { return r.leaving.inputEnd }

// Generation is which server is the present one.
func (r *Relay) Generation() int { return r.life.generation }

// Version is the version of the protocol that the session has agreed on; empty if it has none.
func (r *Relay) Version() string { return r.session.version }

// Waits reports whether a request that a server was sent has no answer yet, and until when it may have one. The zero time means for ever.
func (r *Relay) Waits(generation int, id string) (until time.Time, ok bool) {
	k := r.calls.at(generation, id)
	if k == nil {
		return time.Time{}, false
	}
	return k.due, true
}
