package engine

// warn says once that calls of a service keep failing, before the gate's breaker opens: from seven tenths of the failures on
// that it takes. A script of hundreds of calls may then be stopped in time.
func (inv *Invocation) warn(ad admission, a *attempt) {
	if inv.calls == nil || inv.calls.warned || ad.pass == nil || !a.started || !a.verdict.Retryable || a.verdict.Class.Throttle() {
		return
	}
	g := inv.sharedGate()
	if failures, of := g.Row(); failures >= (of*7+9)/10 {
		inv.calls.warned = true
		inv.observe(GateFailing{Key: g.Key, Failures: failures, Of: of})
	}
}
