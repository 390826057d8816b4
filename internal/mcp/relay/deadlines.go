package relay

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// deadlines does what is due: servers are started, calls that take too long are answered, and servers without a sign of life are ended.
type deadlines struct {
	settings   *Settings
	out        Outlets
	alarm      *alarm
	life       *life
	calls      *calls
	asks       asks
	leaving    *leaving
	admission  *admission
	report     *report
	outbox     *outbox
	succession *succession
	server     *server
}

// pass handles everything that is due.
func (d *deadlines) pass(now time.Time) {
	d.alarm.at = time.Time{}
	if t := d.life.restartAt; !t.IsZero() && !now.Before(t) && d.life.phase == down {
		d.server.start()
	}
	if t := d.succession.listenAt; !t.IsZero() && !now.Before(t) && d.life.phase == ready {
		d.succession.listenAgain()
	}
	if t := d.life.suspectAt; !t.IsZero() && now.Sub(t) >= d.settings.hang() && d.life.phase == ready {
		d.hung()
	}
	d.outbox.release()
	for _, k := range d.calls.overdue(now) {
		d.expire(k, now)
	}
}

// rearm asks to be woken for what is not due yet.
func (d *deadlines) rearm(now time.Time) {
	for _, k := range d.calls.byID {
		if !k.due.IsZero() {
			d.alarm.set(k.due)
		}
	}
	for _, w := range d.outbox.lines {
		if w.call != nil && now.Before(w.call.notBefore) {
			d.alarm.set(w.call.notBefore)
		}
	}
	if !d.life.restartAt.IsZero() && d.life.phase == down {
		d.alarm.set(d.life.restartAt)
	}
	if !d.succession.listenAt.IsZero() && d.life.phase == ready {
		d.alarm.set(d.succession.listenAt)
	}
	if !d.life.suspectAt.IsZero() && d.life.phase == ready {
		d.alarm.set(d.life.suspectAt.Add(d.settings.hang()))
	}
	if d.leaving.closing && !d.leaving.inputEnd {
		d.alarm.set(d.leaving.at)
	}
}

// expire ends a call that has taken too long.
func (d *deadlines) expire(k *call, now time.Time) {
	if !k.waits() && d.asks.waiting() && (k.last.IsZero() || now.Before(k.last)) {
		k.extend(now) // the server waits for the client
		return
	}
	d.calls.forget(k)
	switch {
	case k.reply != nil:
		d.calls.giveUp(k)
		k.reply(nil, "")
		return
	case k.cancelled:
		d.calls.giveUp(k)
		return
	case k.waits():
		d.report.fail(k, codeTimeout, d.whyNoServer(), Incident{text: messages.NoServerInTime(), class: verdict.Timeout})
		d.admission.failed(messages.NoServerInTime())
		return
	}
	took := now.Sub(k.sent)
	d.report.fail(k, codeTimeout, timeoutText(d.settings, k, took), Incident{text: messages.NoAnswerWithin(took), took: took, class: verdict.Timeout})
	d.admission.failed("no answer to " + k.method)
	d.calls.giveUp(k)
	if k.method == "initialize" { // the one request that must not be cancelled: what does not begin is not worth keeping
		d.server.end(ending{why: messages.NoInitialize(took), told: true})
		return
	}
	d.out.ToServer(cancelled(k.wire, "timeout"))
	d.ping(now)
}

// whyNoServer says why there is no server.
func (d *deadlines) whyNoServer() string {
	if !d.life.suspectAt.IsZero() {
		return fmt.Sprintf("the MCP server %q is not responding", d.settings.Name)
	}
	return messages.ServerNotBack(d.settings.Name)
}

func timeoutText(s *Settings, k *call, took time.Duration) string {
	if k.tool != "" {
		return messages.ToolTimedOut(s.Name, k.tool, took, 10*k.limit)
	}
	return messages.CallTimedOut(s.Name, k.method, took)
}

// ping asks the server for a sign of life. A server that is busy is not a hung one: it has as long as a call.
func (d *deadlines) ping(now time.Time) {
	if d.settings.hang() <= 0 || !d.life.takes() {
		return
	}
	d.life.suspectAt = now
	d.alarm.set(now.Add(d.settings.hang()))
	d.outbox.ask("ping", 0, func(id string) [][]byte {
		return [][]byte{[]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)}
	}, func(*wire.Message, string) {})
}

// hung ends a server that gives no sign of life.
func (d *deadlines) hung() { d.server.end(ending{why: messages.NoLife(d.settings.hang()), told: true}) }
