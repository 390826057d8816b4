package relay

import (
	"strconv"
	"time"

	"github.com/belay-run/belay/gate"
)

// admission is what the relay asks and tells the gate, which all proxies of this server share. While all is well it asks nothing.
type admission struct {
	gate     *gate.Gate // nil: none
	holder   string     // what we are called there
	holders  int
	pass     *gate.Pass
	troubled bool      // the server has failed since it last answered
	failedAt time.Time // when the gate was last told of a lost request
}

// enter gets a pass for the server, if there is not one already.
func (a *admission) enter() (refusal *gate.Refusal) {
	if a.pass != nil || a.gate == nil {
		return nil
	}
	a.holders++
	a.pass, refusal = a.gate.Enter(a.holder + "/" + strconv.Itoa(a.holders))
	return refusal
}

// failed tells the gate that the server has failed: once for each failure that is an event of its own, or for several calls that
// have failed of one.
func (a *admission) failed(reason string) {
	a.troubled = true
	a.enter()
	if a.pass != nil {
		a.pass.Failed(reason)
		a.pass = nil
	}
}

// lost tells the gate of a lost request, once for all that were under way together: they tell of one failure.
func (a *admission) lost(sent time.Time, reason string) {
	if sent.After(a.failedAt) {
		a.failedAt = time.Now()
		a.failed(reason)
	}
}

// succeeded tells the gate that the server answers, if the gate has given out a pass.
func (a *admission) succeeded() {
	a.troubled = false
	if a.pass != nil {
		a.pass.Succeeded()
		a.pass = nil
	}
}

// release gives back a pass at the end.
func (a *admission) release() {
	if a.pass != nil {
		a.pass.Released()
		a.pass = nil
	}
}

// spend asks the budget of repetitions.
func (a *admission) spend() bool {
	if a.gate == nil {
		return true
	}
	ok, _ := a.gate.Spend()
	return ok
}
