package gatetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
)

// open returns a gate of the store, as one process of several has it.
func open(t *testing.T, s gate.Store, set gate.Settings) *gate.Gate {
	return &gate.Gate{Store: s, Key: "api", Settings: set, Rand: func() float64 { return 0 },
		Trouble: func(err error) { t.Errorf("trouble: %v", err) }}
}

// enter gets a pass that has to be given.
func enter(t *testing.T, g *gate.Gate, holder string) *gate.Pass {
	t.Helper()
	p, refusal := g.Enter(holder)
	if refusal != nil {
		t.Fatalf("%s is refused: %+v", holder, refusal)
	}
	return p
}

func holdStopsOthers(t *testing.T, s gate.Store) {
	one, two := open(t, s, gate.Settings{}), open(t, s, gate.Settings{})
	enter(t, one, "a").Throttled(time.Hour, "rate_limit of curl")
	_, refusal := two.Enter("b")
	if refusal == nil || refusal.Kind != "hold" || refusal.Reason != "rate_limit of curl" {
		t.Fatalf("refusal: %+v", refusal)
	}
	if left := time.Until(refusal.Until); left < 59*time.Minute || left > time.Hour {
		t.Errorf("held for %v", left)
	}
	if peek := two.Peek(); peek == nil || peek.Kind != "hold" || peek.Reason != refusal.Reason || peek.Until.Sub(refusal.Until).Abs() > time.Millisecond {
		t.Errorf("Peek says %+v, Enter %+v", peek, refusal)
	}
	update(t, s, "api", time.Now(), func(g gate.State) gate.State { return g.Reset(time.Now()) })
	enter(t, two, "b").Succeeded()
}

// together asks for many passes at the same time, and returns those that were given.
func together(t *testing.T, n int, g *gate.Gate, kind gate.Kind) []*gate.Pass {
	t.Helper()
	passes := make([]*gate.Pass, n)
	var admitted atomic.Int32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			pass, refusal := g.Enter(fmt.Sprint(i))
			switch {
			case refusal == nil:
				passes[admitted.Add(1)-1] = pass
			case refusal.Kind != kind:
				t.Errorf("refused by the %s: %+v", refusal.Kind, refusal)
			}
		})
	}
	all.Wait()
	return passes[:admitted.Load()]
}

func halfOpenAdmitsOne(t *testing.T, s gate.Store) {
	g := open(t, s, gate.Settings{Breaker: breaker.Settings{Failures: 2, Open: time.Millisecond}})
	a, b := enter(t, g, "a"), enter(t, g, "b")
	a.Failed("network of curl")
	b.Failed("network of curl")
	time.Sleep(3 * time.Millisecond)
	for range 2 { // two successes close it
		probes := together(t, 50, g, "probe")
		if len(probes) != 1 || !probes[0].Leased() {
			t.Fatalf("%d of 50 were let in", len(probes))
		}
		probes[0].Answered()
		probes[0].Succeeded()
	}
	if n := len(together(t, 50, g, "")); n != 50 {
		t.Errorf("%d of 50 were let in by a closed breaker", n)
	}
}

// One request that is repeated and always fails counts once, whether its calls end or try again by themselves; five
// requests that do so open the breaker for all callers.
func callerCountsOnce(t *testing.T, s gate.Store) {
	for i, caller := range []string{"a", "b", "c", "d"} {
		g := open(t, s, gate.Settings{})
		g.Caller = caller
		for n := range 7 {
			p := enter(t, g, fmt.Sprint(caller, "/", n))
			p.Failing("server_error of claude")
			p.Failing("server_error of claude")
			p.Failed("server_error of claude")
		}
		state, err := s.Load("api")
		if err != nil || state.Breaker.Phase != breaker.Closed || state.Breaker.Failures != i+1 {
			t.Fatalf("after %d requests: %+v, %v", i+1, state.Breaker, err)
		}
	}
	g := open(t, s, gate.Settings{})
	g.Caller = "d"
	late := enter(t, g, "d/8")
	g = open(t, s, gate.Settings{})
	g.Caller = "e"
	enter(t, g, "e/1").Failed("server_error of claude")
	late.Failed("server_error of claude") // it started before, and changes nothing
	if _, refusal := g.Enter("e/2"); refusal == nil || refusal.Kind != "breaker" {
		t.Fatalf("after five requests: %+v", refusal)
	}
}

func slowStartAdmitsOne(t *testing.T, s gate.Store) {
	g := open(t, s, gate.Settings{})
	enter(t, g, "a").Throttled(time.Millisecond, "rate_limit of curl")
	time.Sleep(3 * time.Millisecond)
	want := 1
	for range 3 {
		starts := together(t, 20, g, "slow start")
		if len(starts) != want {
			t.Fatalf("%d of 20 were let in, want %d", len(starts), want)
		}
		for _, p := range starts {
			p.Answered()
			p.Succeeded()
		}
		want *= 2
	}
}

func budgetIsShared(t *testing.T, s gate.Store) {
	one, two := open(t, s, gate.Settings{}), open(t, s, gate.Settings{})
	spent := 0
	for range 20 {
		for _, g := range []*gate.Gate{one, two} {
			ok, next := g.Spend()
			if ok {
				spent++
			} else if left := time.Until(next); left <= 0 || left > time.Minute {
				t.Errorf("the next is there in %v", left)
			}
		}
	}
	if spent != 10 {
		t.Errorf("%d retries of a budget of 10", spent)
	}
}

func healthyLeavesNothing(t *testing.T, s gate.Store) {
	g := open(t, s, gate.Settings{})
	for range 3 {
		p := enter(t, g, "a")
		if p.Leased() {
			t.Error("others are said to wait for a healthy call")
		}
		p.Renew()
		p.Answered()
		p.Succeeded()
		enter(t, g, "b").Released()
	}
	if l := list(t, s); len(l) > 0 {
		t.Errorf("listed: %+v", l)
	}
}

func recoveredLeavesNothing(t *testing.T, s gate.Store) {
	g := open(t, s, gate.Settings{})
	enter(t, g, "a").Failed("network of curl")
	if l := list(t, s); len(l) != 1 {
		t.Errorf("listed: %+v", l)
	}
	enter(t, g, "b").Succeeded()
	if l := list(t, s); len(l) > 0 {
		t.Errorf("listed: %+v", l)
	}
}
