package gate_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// A hold comes before the breaker, and the breaker before the slow start; a refused call has taken nothing of the rest.
func TestMachine_Order(t *testing.T) {
	w := newWorld(t)
	under := w.start("under way")
	w.throttle(10 * second)
	for range 5 {
		w.failed(under)
	}
	w.phase(breaker.Open)
	w.held(10 * second)
	w.later(10 * second)

	r := w.refused("breaker")
	equal(t, "reason", r.Reason, "network of curl, exit 7")
	equal(t, "until", r.Until.Sub(w.now), 50*second)
	w.later(50 * second)

	// The probe is also the one start of the slow start.
	a := w.start("a")
	equal(t, "probe", a.Breaker.Probe, true)
	equal(t, "until", w.refused("probe").Until.Sub(w.now), 30*second)
	w.answered(&a)
	b := w.start("b")
	w.refused("probe")
	w.answered(&b)
	w.phase(breaker.Closed)

	// Closed again: only the slow start is left, in which two answers have made it three.
	if got := len(w.starts("c")); got != 3 {
		t.Errorf("%d were let in", got)
	}
	w.refused("slow start")
}

// A start that the slow start refuses must not be the breaker's probe: it would never be judged.
func TestMachine_RefusedByTheSlowStartIsNoProbe(t *testing.T) {
	w := ramp(t)
	w.start("a")
	w.state = w.state.Opened(w.now, w.now.Add(second), "x")
	w.later(second)
	w.refused("slow start")
	w.later(29 * second)
	equal(t, "probe", w.start("b").Breaker.Probe, true)
}

// Five failures in a row open, of whichever callers; permanent, cancelled and throttled calls neither count nor reset.
func TestMachine_Failures(t *testing.T) {
	w := newWorld(t)
	for range 4 {
		w.fail(1)
		w.state = w.state.Released(w.start("cancelled"))
		w.throttle(second)
		w.later(second)
		w.succeededNot()
	}
	w.phase(breaker.Closed)
	w.fail(1)
	w.phase(breaker.Open)

	w = newWorld(t)
	w.fail(4)
	w.succeeded(w.start("a"))
	w.fail(4)
	w.phase(breaker.Closed)
}

// Failures of one caller in a row count once, at the first; those of another make the next one count again. What neither counts
// nor resets does not come between them.
func TestMachine_Callers(t *testing.T) {
	w := newWorld(t)
	by := func(caller string) {
		t.Helper()
		ticket := w.start(caller)
		ticket.Breaker.Caller = caller
		w.failed(ticket)
	}
	for range 20 {
		by("a")
		w.state = w.state.Released(w.start("cancelled"))
	}
	equal(t, "failures", w.state.Breaker.Failures, 1)
	for i, caller := range []string{"b", "a", "b"} {
		by(caller)
		by(caller)
		equal(t, "failures", w.state.Breaker.Failures, i+2)
	}
	w.phase(breaker.Closed)
	by("b")
	w.phase(breaker.Closed)
	by("c")
	w.phase(breaker.Open)

	w = newWorld(t)
	by("a")
	w.succeeded(w.start("b"))
	w.healthy(true)
	by("a")
	equal(t, "failures after a success", w.state.Breaker.Failures, 1)
}

// succeededNot ends a slow start in a way that tells nothing of the service.
func (w *world) succeededNot() { w.later(2 * minute) }

// A command that prints something before it fails has failed. It must not end the row of failures by its first byte,
// or the breaker would never open for it; it did so once for every call of a gate that was not healthy.
func TestMachine_AnsweredThenFailed(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		a := w.start("a")
		equal(t, "awaited", a.Awaited, false)
		w.answered(&a)
		w.failed(a)
	}
	w.phase(breaker.Open)
	w.later(minute)

	// The same for a probe: it is judged by its first answer, but one that breaks off is none.
	a := w.start("a")
	w.answered(&a)
	w.failed(a)
	w.phase(breaker.Open)
	equal(t, "open for", w.state.Breaker.Until.Sub(w.now), 2*minute)
}

// A probe counts once, though it is answered first and succeeds later: two have to.
func TestMachine_ProbeCountsOnce(t *testing.T) {
	w := newWorld(t)
	w.fail(5)
	w.later(minute)
	a := w.start("a")
	w.answered(&a)
	w.succeeded(a)
	w.phase(breaker.HalfOpen)
	w.succeeded(w.start("b")) // without a first answer it is judged by its end
	w.phase(breaker.Closed)
	w.healthy(true)
}

// An answered probe that goes on for an hour keeps no call out; an unanswered one does for its lease.
func TestMachine_ProbeIsJudgedByItsFirstAnswer(t *testing.T) {
	w := newWorld(t)
	w.fail(5)
	w.later(minute)
	a := w.start("a")
	w.refused("probe")
	w.answered(&a)
	b := w.start("b")
	w.later(30 * second)
	c := w.start("c") // b says nothing
	w.answered(&c)
	w.phase(breaker.Closed)
	w.later(time.Hour)
	w.failed(a)
	w.failed(b)
	w.phase(breaker.Closed)
	equal(t, "failures", w.state.Breaker.Failures, 0)
}

// A healthy state is forgotten, and its generation with it. A probe of an earlier outage that comes back in the next
// one must not count there.
func TestMachine_ProbeOfAnEarlierOutage(t *testing.T) {
	w := newWorld(t)
	w.fail(5)
	w.later(minute)
	hangs := w.start("hangs")
	w.later(30 * second)
	w.succeeded(w.start("a"))
	w.succeeded(w.start("b"))
	w.healthy(true)
	w.state = gate.State{} // as a store does

	w.later(time.Hour)
	w.fail(5)
	w.later(minute)
	w.start("probe")
	before := show(w.state)
	for _, late := range []func(gate.Ticket){w.succeeded, w.failed, func(t gate.Ticket) { w.state = w.state.Released(t) }} {
		late(hangs)
		equal(t, "state", show(w.state), before)
	}
}

func TestMachine_Opened(t *testing.T) {
	w := newWorld(t)
	w.state = w.state.Opened(w.now, time.Time{}, "by hand")
	w.later(1e6 * time.Hour)
	equal(t, "refusal", w.refused("breaker"), gate.Refusal{Kind: "breaker", Reason: "by hand"})
	w.state = w.state.Reset(w.now)
	w.healthy(true)
	w.start("a")

	w.state = w.state.Opened(w.now, w.now.Add(time.Hour), "by hand")
	w.later(time.Hour)
	equal(t, "probe", w.start("a").Breaker.Probe, true)
}

func TestMachine_Reset(t *testing.T) {
	w := newWorld(t)
	under := w.start("under way")
	w.throttle(time.Hour)
	for range 5 {
		w.failed(under)
	}
	w.spend()
	w.state = w.state.Reset(w.now)
	w.healthy(true)
	w.left(10)
	w.start("a")
}

// Whatever the clock does, no call waits for longer than was ever meant, and what is set afterwards works.
func TestMachine_ClockJumps(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*world)
		longest time.Duration // that it was meant to keep callers out
	}{
		"Hold":      {func(w *world) { w.throttle(0) }, 5 * second},
		"Hint":      {func(w *world) { w.throttle(minute) }, minute},
		"DayHint":   {func(w *world) { w.throttle(24 * time.Hour) }, 24 * time.Hour},
		"Open":      {func(w *world) { w.fail(5) }, minute * 5 / 4},
		"HalfOpen":  {func(w *world) { w.fail(5); w.later(minute); w.start("gone") }, 30 * second},
		"SlowStart": {func(w *world) { w.throttle(second); w.later(second); w.start("gone") }, 31 * second},
	} {
		for _, jump := range []time.Duration{-24 * time.Hour, -time.Hour, -minute, -31 * second, -29 * second, -second, time.Hour, 24 * time.Hour} {
			t.Run(fmt.Sprintf("%s/%v", name, jump), func(t *testing.T) {
				w := newWorld(t)
				tt.prepare(w)
				w.later(jump)
				// The clocks of processes that share a gate may differ by half a minute; that much is allowed for.
				limit := w.now.Add(tt.longest + 30*second)
				for {
					_, _, refusal := w.state.Ask(w.set, w.now, "a")
					if refusal == nil {
						break
					}
					if w.later(second); w.now.After(limit) {
						t.Fatalf("still refused %v after a jump of %v: %+v\n%s", w.now.Sub(limit.Add(-tt.longest-30*second)), jump, refusal, show(w.state))
					}
				}
				w.start("a")
				// A throttle of now holds, though the one before seems to lie in the future.
				w.throttled(gate.Ticket{Holder: "a", Started: w.now}, minute)
				w.later(minute - 1)
				w.refused("hold")
			})
		}
	}
}

// A manual hold lasts until a time, not for a time.
func TestMachine_ClockJumpsUnderAManualHold(t *testing.T) {
	w := newWorld(t)
	w.state = w.state.Held(w.now, w.now.Add(time.Hour), "x")
	w.later(-time.Hour)
	w.held(2 * time.Hour)
	w.later(2 * time.Hour)
	w.start("a")
}

func TestMachine_Healthy(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*world)
		after   time.Duration // it is healthy again
	}{
		"Zero":      {func(w *world) {}, 0},
		"Hint":      {func(w *world) { w.throttle(minute) }, 3 * minute},
		"Throttles": {func(w *world) { w.throttle(0) }, 2*minute + 5*second + 1},
		"Manual":    {func(w *world) { w.state = w.state.Held(w.now, w.now.Add(time.Hour), "") }, time.Hour + 2*minute},
		"Budget":    {func(w *world) { w.spend() }, minute},
		"Failure":   {func(w *world) { w.fail(1) }, -1},
		"Open":      {func(w *world) { w.fail(5) }, -1},
		"Forced":    {func(w *world) { w.state = w.state.Opened(w.now, w.now.Add(second), "") }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			switch {
			case tt.after < 0:
				w.later(1e5 * time.Hour)
				w.healthy(false)
				return
			case tt.after > 0:
				w.healthy(false)
				w.later(tt.after - time.Microsecond)
				w.healthy(false)
				w.later(time.Microsecond)
			}
			w.healthy(true)
			if _, ticket, refusal := w.state.Ask(w.set, w.now, "a"); refusal != nil || ticket.Awaited {
				t.Errorf("%+v, %+v", ticket, refusal)
			}
		})
	}
}

func TestState_JSON(t *testing.T) {
	w := newWorld(t)
	equal(t, "zero", show(w.state), "{}")
	w.throttle(0)
	w.later(5 * second)
	w.start("a")
	for range 5 {
		w.failed(gate.Ticket{})
	}
	w.spend()
	var back gate.State
	must.OK(t, json.Unmarshal([]byte(show(w.state)), &back))
	equal(t, "state", show(back), show(w.state))
	for _, broken := range []string{`{"breaker":{"phase":"ajar"}}`, `{"hold":{"until":5}}`, `{"ramp":{"starts":{}}}`, `[]`} {
		if err := json.Unmarshal([]byte(broken), &back); err == nil {
			t.Errorf("%s is taken for a state", broken)
		}
	}
}
