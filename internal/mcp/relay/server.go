package relay

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// server has one server started after the other, and decides for each call what their deaths mean.
type server struct {
	settings   *Settings
	out        Outlets
	random     func() float64
	alarm      *alarm
	life       *life
	calls      *calls
	asks       asks
	leaving    *leaving
	admission  *admission
	report     *report
	outbox     *outbox
	repeats    *repeats
	succession *succession
}

// start has a server started, if the gate lets it.
func (s *server) start() {
	s.life.restartAt = time.Time{}
	if refusal := s.admission.enter(); refusal != nil {
		s.refuse(refusal)
		return
	}
	s.life.begin()
	s.out.Start(s.life.generation)
}

// refuse answers all that wait: nothing is started for now.
func (s *server) refuse(r *gate.Refusal) {
	text, told := s.refusalText(r), false
	for _, w := range s.outbox.take() {
		if w.call != nil && s.calls.holds(w.call) {
			i := Incident{text: text, class: verdict.BreakerOpen}
			if w.call.lost != nil {
				i = *w.call.lost // it has failed before it was refused
			}
			s.calls.forget(w.call)
			s.report.fail(w.call, codeRefused, text, i)
			told = true
		}
	}
	if !told {
		s.report.record(Incident{event: "refused", text: text, class: verdict.BreakerOpen})
	}
}

func (s *server) refusalText(r *gate.Refusal) string {
	return messages.ServerRefused(s.settings.Name, r.Reason, r.Until, s.settings.GateKey())
}

// admit asks the gate for a call, which is only done while there is trouble.
func (s *server) admit(k *call) bool {
	if !s.admission.troubled {
		return true
	}
	refusal := s.admission.enter()
	if refusal != nil {
		text := s.refusalText(refusal)
		s.report.fail(k, codeRefused, text, Incident{text: text, class: verdict.BreakerOpen})
	}
	return refusal == nil
}

// wait keeps a call until there is a server for it, and has one started if none is on its way.
func (s *server) wait(k *call, m *wire.Message) {
	if d := s.life.last; d != nil {
		s.report.fail(k, codeCrashed, startText(s.settings, *d)+"\nIt is not restarted (--no-restart). Start a new session",
			Incident{class: verdict.Crash, death: d})
		return
	}
	if s.outbox.full(m.Size) {
		text := "too many calls are waiting for the server to come back"
		s.report.fail(k, codeCrashed, text, Incident{text: text, class: verdict.Crash})
		return
	}
	k.line = m.Bytes()
	s.outbox.hold(k)
	if s.life.phase == down && s.life.restartAt.IsZero() {
		s.start()
	}
}

// started is called when the server runs. The client itself opens the session with the first one.
func (s *server) started(generation, pid int) {
	if generation != s.life.generation || s.life.phase != starting {
		return
	}
	s.life.pid = pid
	if s.succession.session.open() {
		s.succession.reopen(s.opened, func(why string) { s.end(ending{why: why}) }) // it may be dead, and then that does nothing
		return
	}
	s.opened()
}

// opened is called when the server has the state of the session.
func (s *server) opened() {
	s.life.phase = ready
	s.succession.listenAgain()
	s.outbox.release()
	if s.life.generation > 1 {
		s.succession.compareLists()
	}
}

// end has the server ended.
func (s *server) end(e ending) {
	if s.life.end(e) {
		s.out.Stop(s.life.generation)
	}
}

// overweight ends a server that uses too much memory, unless a call is under way: it is told again as long as that is so.
func (s *server) overweight(generation int, why string) {
	if generation == s.life.generation && s.life.phase == ready && !s.settings.NoRestart && len(s.outbox.lines) == 0 && !s.calls.busy() && !s.asks.waiting() {
		s.end(ending{why: why, told: true, heavy: true})
	}
}

// died is called when the server has ended, with its whole tree.
func (s *server) died(generation int, d Death) {
	if generation != s.life.generation || s.life.phase == down {
		return
	}
	ended, wasReady := s.life.die(d)
	d.why = ended.why
	clear(s.calls.late)
	s.takeBack()
	if s.leaving.inputEnd {
		s.abandon(fmt.Sprintf("the client has left and the MCP server %q ended without an answer (%s)", s.settings.Name, cmp.Or(d.Status, d.text())))
		s.done()
		return
	}
	if s.settings.NoRestart && wasReady {
		s.life.last = &d
	}
	failed, open := s.settle(d, wasReady)
	if !d.Forgotten && !ended.told && (failed || !open) {
		s.admission.failed(d.text())
	}
	event, class := eventOf(d, ended)
	s.report.record(Incident{event: event, text: startText(s.settings, d), death: &d, class: class, passing: failed || open || ended.told || d.Forgotten})
	switch {
	case s.life.last != nil:
	case d.Forgotten && s.life.deaths == 1 && !s.leaving.closing:
		s.start()
	default:
		s.schedule(d)
	}
}

// settle decides for each call what its server's death means for it: sent again, still waiting, or answered. It reports
// whether a call has failed because of that death, and whether what the death means is open, since a call of the client is sent
// again or waits for the next server. Then that call will tell of it.
func (s *server) settle(d Death, wasReady bool) (failed, open bool) {
	lost := Incident{class: verdict.Crash, death: &d}
	var again []*call
	for _, k := range s.calls.inOrder() {
		switch {
		case d.Remote && !k.waits(): // reported by itself
		case k.reply != nil:
			s.calls.forget(k)
			k.reply(nil, "")
		case k.listens && !k.waits():
			s.calls.suspend(k)
		case k.waits():
			if d.Forgotten && s.life.last == nil {
				break
			}
			if d.Err == nil && s.life.last == nil && (s.life.deaths < startTries || time.Now().Before(k.notBefore)) {
				open = true
				break
			}
			s.calls.forget(k)
			s.report.fail(k, codeStart, startText(s.settings, d), lost)
			failed = true
		case k.cancelled:
			s.calls.forget(k)
		case d.Err == nil && s.repeats.may(k):
			s.calls.forget(k)
			again = append(again, k)
		default:
			s.calls.forget(k)
			lost.took = k.age()
			if !wasReady || k.opens() {
				s.report.fail(k, codeStart, startText(s.settings, d), lost)
			} else {
				s.report.fail(k, codeCrashed, crashText(s.settings, k, d), lost)
			}
			failed = true
		}
	}
	// What was sent before what has waited is sent before it again.
	rest := s.outbox.takeHeld(s.calls)
	for _, k := range again {
		lost.took = k.age()
		s.repeats.again(k, d.text(), lost)
	}
	s.outbox.add(rest...)
	return failed, open || len(again) > 0
}

// crashText tells a client, and its model, what became of a call.
func crashText(s *Settings, k *call, d Death) string {
	return messages.ServerCrashed(s.Name, d.text(), k.method, k.tool, d.Tail, !s.NoRestart)
}

// takeBack takes back what the server has asked the client.
func (s *server) takeBack() {
	for id, a := range s.asks {
		if a.method != "ping" {
			s.out.ToClient(cancelled(id, "the server has ended"))
		}
		delete(s.asks, id)
	}
}

// schedule decides when to start the next server: soon, later the more often it has failed, and only at the next request
// if it fails at once each time and no call waits.
func (s *server) schedule(d Death) {
	if s.leaving.closing && !s.calls.busy() {
		return
	}
	if len(s.outbox.lines) == 0 && (d.Err != nil || s.life.deaths >= startTries) {
		return
	}
	s.life.restartAt = time.Now().Add(s.life.restartIn(s.random()))
	s.alarm.set(s.life.restartAt)
}

// leave ends where there is no server whose end is to be waited for. Calls may still be waiting for one.
func (s *server) leave() {
	s.abandon(messages.ServerNotBack(s.settings.Name))
	s.done()
}

// abandon answers what is left when we end. No server is started for it any more.
func (s *server) abandon(text string) {
	s.life.restartAt = time.Time{}
	s.outbox.take()
	for _, k := range s.calls.inOrder() {
		s.calls.forget(k)
		if k.id != "" && !k.listens {
			s.report.fail(k, codeCrashed, text, Incident{text: text, class: verdict.Interrupted})
		}
	}
}

func (s *server) done() {
	s.admission.release()
	s.out.Done()
}
