package relay

import "time"

// repeats sends calls again whose server has died, where that is safe.
type repeats struct {
	settings  *Settings
	life      *life
	calls     *calls
	tools     *tools
	leaving   *leaving
	admission *admission
	alarm     *alarm
	outbox    *outbox
	report    *report
}

// may says whether a call whose server has died is sent to the next one: if it is safe, if it has shown no sign of having
// begun, if there are retries left, and if the budget that all share has one. Those after the first have to begin within the
// time of one call, or 30 s: most clients give up after a minute.
func (r *repeats) may(k *call) bool {
	if k.retries >= k.maxRetries(r.settings) || k.progressed || k.line == nil || !r.tools.safe(k) || r.life.last != nil || r.leaving.closing {
		return false
	}
	if k.retries > 0 && k.limit > 0 && time.Since(k.begun)+k.pause() >= max(k.limit, defaultCall) {
		return false
	}
	return r.admission.spend()
}

// again queues a call once more, under an id that the server has not seen.
func (r *repeats) again(k *call, how string, lost Incident) {
	k.wire, k.lost = r.calls.newID("retry"), &lost
	k.notBefore = time.Now().Add(k.pause())
	k.retries++
	r.outbox.hold(k)
	r.alarm.set(k.notBefore)
	r.report.record(Incident{event: "retry", text: "sent again after the server " + how, method: k.method, tool: k.tool, passing: true})
}
