package gate_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
)

func (w *world) spend() bool {
	var ok bool
	w.state, ok = w.state.Spend(w.now)
	return ok
}

// left expects so much to be left, to a thousandth.
func (w *world) left(want float64) {
	w.Helper()
	if got := w.state.Budget.Left(w.now); math.Abs(got-want) > 1e-3 {
		w.Fatalf("%.4f is left at %v, want %.4f", got, w.at(), want)
	}
}

func (w *world) empty() {
	w.Helper()
	for range 10 {
		if !w.spend() {
			w.Fatal("empty too early")
		}
	}
}

func TestBudget(t *testing.T) {
	w := newWorld(t)
	w.left(10)
	w.empty()
	w.left(0)
	if w.spend() {
		t.Fatal("an eleventh retry")
	}
	equal(t, "next", w.state.Budget.Next(w.now), t0.Add(minute))

	// A minute gives one.
	w.later(59 * second)
	if w.spend() {
		t.Fatal("a retry after 59 s")
	}
	w.later(second)
	equal(t, "next", w.state.Budget.Next(w.now), w.now)
	if !w.spend() {
		t.Fatal("no retry after a minute")
	}
	w.left(0)

	// Ten successes give one.
	for range 10 {
		if w.spend() {
			t.Fatal("too early")
		}
		w.succeeded(w.start("a"))
	}
	if !w.spend() {
		t.Fatal("no retry for ten successes")
	}
	w.healthy(false)

	// Never more than ten.
	w.later(24 * time.Hour)
	w.left(10)
	w.healthy(true)
	for range 100 {
		w.succeeded(w.start("a"))
	}
	w.left(10)
	equal(t, "state", show(w.state), "{}")
	w.empty()
	if w.spend() {
		t.Fatal("more than ten")
	}
}

// Throttles, failures and refusals take nothing: only a retry does.
func TestBudget_OnlyRetriesCost(t *testing.T) {
	w := newWorld(t)
	w.fail(3)
	w.throttle(0)
	w.refused("hold")
	w.left(10)
}

// A clock that is set back gives nothing, and takes nothing: from then on minutes count again.
func TestBudget_ClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.empty()
	w.later(-time.Hour)
	w.left(0)
	if w.spend() {
		t.Fatal("the clock has given a retry")
	}
	w.later(minute)
	if !w.spend() {
		t.Fatal("no retry a minute later")
	}
	w.left(0)
	w.later(time.Hour) // and forward again
	w.left(10)
}

// Foreign values are neither credit nor a debt for ever.
func TestBudget_Nonsense(t *testing.T) {
	for _, b := range []gate.Budget{{Spent: -1e300, At: t0}, {Spent: 1e300, At: t0}, {Spent: 1e300}, {Spent: -5}, {Spent: 5, At: t0.Add(1e6 * time.Hour)}} {
		t.Run(fmt.Sprint(b.Spent), func(t *testing.T) {
			w := newWorld(t)
			w.state.Budget = b
			if left := b.Left(t0); left < 0 || left > 10 {
				t.Errorf("%v is left", left)
			}
			if next := b.Next(t0); next.Before(t0) || next.Sub(t0) > minute {
				t.Errorf("the next comes in %v", next.Sub(t0))
			}
			for n := 0; !w.spend(); n++ {
				if w.later(minute); n > 1 {
					t.Fatal("empty for ever")
				}
			}
		})
	}
}

// The field report's probe 8: a serial client of 1,000 failing calls with two retries each makes 1,010 attempts if no
// time passes, however many processes it is; failsafe-go made 3,000.
func TestProbe8_BudgetOfASerialClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &gate.Memory{}
		attempts := 0
		for range 1000 {
			g := &gate.Gate{Store: store, Key: "api"} // another process
			for retry := 0; ; retry++ {
				attempts++
				if ok, _ := g.Spend(); retry == 2 || !ok {
					break
				}
			}
		}
		if attempts > 1010 {
			t.Errorf("%d attempts", attempts)
		}
	})
}
