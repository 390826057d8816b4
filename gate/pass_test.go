package gate_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
)

// counted is a store that says how often it was changed, and may fail.
type counted struct {
	gate.Memory
	updates    int
	load, keep error
}

func (c *counted) Load(key string) (gate.State, error) {
	if c.load != nil {
		return gate.State{}, c.load
	}
	return c.Memory.Load(key)
}

func (c *counted) Update(key string, now time.Time, change func(gate.State) gate.State) error {
	c.updates++
	if c.keep != nil {
		return c.keep
	}
	return c.Memory.Update(key, now, change)
}

// Only what changes something is written: while all is well, nothing.
func TestPass_WritesOnlyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{}
		g := &gate.Gate{Store: store, Key: "api", Rand: func() float64 { return 0 }}
		enter := func() *gate.Pass {
			t.Helper()
			pass, refusal := g.Enter("a")
			if refusal != nil {
				t.Fatalf("refused: %+v", refusal)
			}
			return pass
		}
		updates := func(what string, want int) {
			t.Helper()
			equal(t, what, store.updates, want)
			store.updates = 0
		}
		for range 3 {
			pass := enter()
			pass.Renew()
			pass.Answered()
			pass.Succeeded()
			enter().Released()
		}
		updates("healthy", 0)
		pass := enter()
		pass.Failed("network")
		pass.Failed("network") // only the first end counts
		pass.Succeeded()
		pass.Throttled(time.Hour, "")
		pass.Released()
		pass.Answered()
		pass.Renew()
		updates("a failure", 1)
		enter().Released() // no call waits for it: the start of a closed gate is not written
		updates("nothing", 0)
		enter().Succeeded()
		updates("a success after it", 1)

		pass = enter()
		pass.Throttled(time.Second, "rate_limit")
		for range 5 {
			g.Enter("b")
			g.Peek()
		}
		updates("a throttle", 1)
		time.Sleep(time.Second)
		pass = enter()
		equal(t, "leased", pass.Leased(), true)
		for range 5 {
			g.Enter("b")
		}
		updates("a start", 1)
		time.Sleep(time.Second)
		pass.Renew()
		updates("a renewal", 1)
		pass.Answered()
		pass.Answered()
		pass.Renew()
		updates("an answer", 1)
		pass.Succeeded()
		updates("an end that says nothing new", 0)
		time.Sleep(time.Hour)
		enter().Succeeded()
		updates("a state that has become healthy", 1)
		if list, _ := store.List(); len(list) > 0 {
			t.Errorf("listed: %+v", list)
		}
	})
}

// A pass may be told by several goroutines: one reads the output, one renews, one waits for the end.
func TestPass_Concurrent(t *testing.T) {
	store := &gate.Memory{}
	for i := range 50 {
		g := &gate.Gate{Store: store, Key: "api", Settings: gate.Settings{Breaker: breaker.Settings{Failures: 1, Open: 1}}}
		if pass, refusal := g.Enter(fmt.Sprint("a", i)); refusal == nil {
			pass.Failed("x")
		}
		time.Sleep(time.Microsecond)
		pass, refusal := g.Enter(fmt.Sprint("b", i))
		if refusal != nil {
			t.Fatalf("refused: %+v", refusal)
		}
		var all sync.WaitGroup
		for _, tell := range []func(){pass.Answered, pass.Answered, pass.Renew, pass.Succeeded, pass.Succeeded, func() { pass.Leased() }} {
			all.Go(tell)
		}
		all.Wait()
		if s, _ := store.Load("api"); s.Breaker.Phase != breaker.HalfOpen || s.Breaker.Successes != 1 {
			t.Fatalf("a probe has counted %s", show(s))
		}
		store.Update("api", time.Now(), func(s gate.State) gate.State { return s.Reset(time.Now()) })
	}
}

func TestPass_Interval(t *testing.T) {
	for want, set := range map[time.Duration]gate.Settings{
		10 * second: {},
		2 * second:  {Answer: 6 * second},
		1 * second:  {Answer: 6 * second, Breaker: breaker.Settings{Lease: 3 * second}},
	} {
		g := &gate.Gate{Store: &gate.Memory{}, Key: "api", Settings: set}
		pass, _ := g.Enter("a")
		equal(t, "interval", pass.Interval(), want)
	}
}

// A renewed call is waited for, however long it takes; one that is not renewed is given up.
func TestPass_Renew(t *testing.T) {
	for name, set := range map[string]gate.Settings{"Default": {}, "Short": {Answer: 3 * second, Breaker: breaker.Settings{Lease: second}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate.Gate{Store: &gate.Memory{}, Key: "api", Settings: set, Rand: func() float64 { return 0 }}
				for i := range 5 {
					pass, _ := g.Enter(fmt.Sprint(i))
					pass.Failed("network")
				}
				time.Sleep(time.Minute)
				probe, refusal := g.Enter("probe")
				if refusal != nil || !probe.Leased() {
					t.Fatalf("refused: %+v", refusal)
				}
				for range 20 {
					time.Sleep(probe.Interval())
					probe.Renew()
					if r := g.Peek(); r == nil || r.Kind != "probe" {
						t.Fatalf("a second probe: %+v", r)
					}
				}
				time.Sleep(30 * second)
				if r := g.Peek(); r != nil {
					t.Errorf("still refused: %+v", r)
				}
			})
		})
	}
}

// A store that fails stops no call, and its error is reported.
func TestGate_Trouble(t *testing.T) {
	failure := errors.New("input/output error")
	for name, store := range map[string]*counted{
		"Load":        {load: failure},
		"Update":      {keep: failure},
		"LoadDamaged": {load: gate.ErrDamaged},
		"Both":        {load: failure, keep: failure},
	} {
		t.Run(name, func(t *testing.T) {
			store.Memory.Update("api", time.Now(), func(s gate.State) gate.State {
				// There is something to write at every step, but nothing that keeps callers out.
				s = s.Held(time.Now().Add(-time.Hour), time.Now().Add(-time.Second), "x")
				s.Breaker.Failures = 1
				return s
			})
			troubles := 0
			g := &gate.Gate{Store: store, Key: "api", Trouble: func(error) { troubles++ }}
			for range 3 {
				pass, refusal := g.Enter("a")
				if refusal != nil {
					t.Fatalf("refused: %+v", refusal)
				}
				pass.Answered()
				pass.Failed("network")
			}
			if store.load != nil && g.Peek() != nil {
				t.Error("Peek refuses")
			}
			if ok, next := g.Spend(); !ok || store.keep != nil && !next.IsZero() {
				t.Errorf("no retry: %v", next)
			}
			if troubles == 0 {
				t.Error("nothing was said")
			}
			g.Trouble = nil // Trouble may be nil
			pass, _ := g.Enter("b")
			pass.Failed("network")
		})
	}
}
