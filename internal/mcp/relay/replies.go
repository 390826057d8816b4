package relay

import (
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// replies takes what the server says.
type replies struct {
	settings  *Settings
	out       Outlets
	life      *life
	calls     *calls
	asks      asks
	session   *session
	admission *admission
	report    *report
	outbox    *outbox
	polluted  tally
	late      tally
}

// take takes a line of the server's stdout. An earlier session with a remote server need not have ended with it: what it answers is taken too.
func (r *replies) take(generation int, m *wire.Message) {
	if generation != r.life.generation && (!m.IsResponse() || r.calls.at(generation, string(m.ID)) == nil) {
		return
	}
	if m.Valid && r.life.isAlive() { // any line is a sign of life
		defer r.outbox.release()
	}
	switch {
	case m.TooLarge && m.IsResponse():
		if k := r.callOf(m); k != nil {
			r.report.fail(k, codeTooLarge, messages.AnswerTooLarge(m.Size, r.settings.MaxLine()),
				Incident{text: "an answer of " + messages.Size(m.Size) + " is too large", class: verdict.TooLarge})
		}
	case m.TooLarge:
		r.report.record(Incident{event: "oversize", text: "a line from the server was too large"})
	case m.IsResponse() && (m.Result || m.Failed):
		r.answer(m)
	case m.IsRequest():
		r.ask(m)
	case m.IsNotice():
		r.notification(m)
	case m.Batch && m.JSON:
		r.batch(m)
	case m.Blank():
	default:
		r.pollution(m)
	}
}

// pollution is what a server prints that is no message: a stray print would end most clients' connection.
func (r *replies) pollution(m *wire.Message) {
	r.out.Divert(m)
	if r.polluted.counts() {
		r.report.record(Incident{event: "pollution", text: "the server printed something other than JSON-RPC to stdout", count: int(r.polluted)})
	}
}

// batch takes an array of the server apart, if that is what it is.
func (r *replies) batch(m *wire.Message) {
	elements, ok := m.Split()
	var all []wire.Message
	for _, line := range elements {
		one := wire.Parse(line)
		ok = ok && one.Valid
		all = append(all, one)
	}
	if !ok || len(all) == 0 {
		r.pollution(m)
		return
	}
	for i := range all {
		r.take(r.life.generation, &all[i])
	}
}

// callOf finds the call that a response belongs to; nil if no call waits for it.
func (r *replies) callOf(m *wire.Message) *call {
	k := r.calls.answered(string(m.ID))
	if k == nil && r.late.counts() {
		r.report.record(Incident{event: "late", text: "the server answered a call that had already ended", count: int(r.late)})
	}
	return k
}

// answer takes a response of the server.
func (r *replies) answer(m *wire.Message) {
	k := r.callOf(m)
	if k == nil {
		return
	}
	if k.reply != nil {
		k.reply(m, "")
		return
	}
	r.admission.succeeded()
	r.life.worked = true
	if i, bad := refusal(k, m); bad {
		i.took = k.age()
		r.report.failed(k, i)
	}
	edited := r.session.learn(k, m)
	switch {
	case edited != nil:
		again := wire.Parse(edited)
		r.out.ToClient(again.Splice(again.IDAt, []byte(k.id))...)
	case k.wire == k.id:
		r.out.ToClient(m.Parts...)
	default:
		r.out.ToClient(m.Splice(m.IDAt, []byte(k.id))...)
	}
}

// ask takes a request of the server. The ids of its successors are kept apart from its own.
func (r *replies) ask(m *wire.Message) {
	a := ask{id: string(m.ID), method: string(m.Method), generation: r.life.generation}
	if _, taken := r.asks[a.id]; !taken && r.life.generation == 1 {
		r.asks[a.id] = a
		r.out.ToClient(m.Parts...)
		return
	}
	id := r.calls.newID("ask")
	r.asks[id] = a
	r.out.ToClient(m.Splice(m.IDAt, []byte(id))...)
}

// notification takes a notification of the server.
func (r *replies) notification(m *wire.Message) {
	switch string(m.Method) {
	case "notifications/progress":
		if k := r.calls.byToken[string(m.Token)]; k != nil {
			k.progressed = true
			k.extend(time.Now())
		} else if r.calls.gaveUp(string(m.Token)) {
			return
		}
	case "notifications/cancelled": // of a request of the server
		for id, a := range r.asks {
			if a.generation == r.life.generation && a.id == string(m.Request) {
				delete(r.asks, id)
				if id != a.id {
					r.out.ToClient(m.Splice(m.RequestAt, []byte(id))...)
					return
				}
			}
		}
	case "notifications/subscriptions/acknowledged":
		if l := r.calls.listens[string(m.Listener)]; l != nil && l.again {
			l.again = false
			return // the client knows
		}
	}
	r.out.ToClient(m.Parts...)
}
