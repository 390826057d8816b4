package gate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
)

// t0 is when the tables of the pure machine begin.
var t0 = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// world is a state and a clock, for tests of the pure machine.
type world struct {
	*testing.T
	set   gate.Settings
	now   time.Time
	state gate.State
}

func newWorld(t *testing.T) *world { return &world{T: t, now: t0} }

// later lets time pass; a clock may also be set back.
func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }

// at is how long after t0 it is.
func (w *world) at() time.Duration { return w.now.Sub(t0) }

// start gets a ticket that has to be given.
func (w *world) start(holder string) gate.Ticket {
	w.Helper()
	next, ticket, refusal := w.state.Ask(w.set, w.now, holder)
	if refusal != nil {
		w.Fatalf("%s is refused at %v: %+v\n%s", holder, w.at(), refusal, show(w.state))
	}
	w.state = next
	return ticket
}

// refused asks for a ticket that must not be given, and returns the refusal.
func (w *world) refused(kind gate.Kind) gate.Refusal {
	w.Helper()
	before := show(w.state)
	next, _, refusal := w.state.Ask(w.set, w.now, "refused")
	switch {
	case refusal == nil:
		w.Fatalf("let in at %v, want a refusal by the %s\n%s", w.at(), kind, before)
	case refusal.Kind != kind:
		w.Fatalf("refused at %v by the %s, want by the %s: %+v\n%s", w.at(), refusal.Kind, kind, refusal, before)
	case show(next) != before:
		w.Fatalf("the refusal has changed the state:\n%s\n%s", before, show(next))
	}
	return *refusal
}

// held expects a hold that lasts so long from now.
func (w *world) held(left time.Duration) {
	w.Helper()
	if r := w.refused("hold"); r.Until.Sub(w.now) != left {
		w.Fatalf("held for %v at %v, want %v\n%s", r.Until.Sub(w.now), w.at(), left, show(w.state))
	}
}

func (w *world) answered(t *gate.Ticket) {
	w.state = w.state.Answered(w.set, w.now, *t)
	t.Answered = true
}

func (w *world) succeeded(t gate.Ticket) { w.state = w.state.Succeeded(w.set, w.now, t) }

func (w *world) throttled(t gate.Ticket, hint time.Duration) {
	w.state = w.state.Throttled(w.set, w.now, t, hint, "rate_limit of curl")
}

func (w *world) failed(t gate.Ticket) {
	w.state = w.state.Failed(w.set, w.now, t, 0, "network of curl, exit 7")
}

// throttle sets a hold by a call that started a second ago.
func (w *world) throttle(hint time.Duration) {
	w.Helper()
	t := w.start("throttled")
	w.later(time.Second)
	w.throttled(t, hint)
}

// fail makes calls that fail.
func (w *world) fail(n int) {
	w.Helper()
	for range n {
		w.failed(w.start("failed"))
	}
}

func (w *world) phase(want breaker.Phase) {
	w.Helper()
	if got := w.state.Breaker.At(w.set.Breaker, w.now); got != want {
		w.Fatalf("the breaker is %v at %v, want %v\n%s", got, w.at(), want, show(w.state))
	}
}

func (w *world) healthy(want bool) {
	w.Helper()
	if got := w.state.Healthy(w.now); got != want {
		w.Fatalf("healthy is %v at %v, want %v\n%s", got, w.at(), want, show(w.state))
	}
}

func show(s gate.State) string {
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}
