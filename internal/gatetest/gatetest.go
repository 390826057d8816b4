// Package gatetest has the tests that every [gate.Store] passes, whatever it keeps its states in:
//
//	func TestStore(t *testing.T) {
//		gatetest.Run(t, func(t *testing.T) gate.Store { return &gate.Memory{} })
//	}
package gatetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// Run runs the tests. newStore returns an empty store each time. What it needs beyond the call, it cleans up itself.
func Run(t *testing.T, newStore func(t *testing.T) gate.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, gate.Store)
	}{
		{"Absent", absent},
		{"RoundTrip", roundTrip},
		{"UpdateSeesTheLastOne", updateSeesTheLastOne},
		{"UnchangedStays", unchangedStays},
		{"HealthyIsForgotten", healthyIsForgotten},
		{"HealthyByNow", healthyByNow},
		{"KeysAreIndependent", keysAreIndependent},
		{"ListIsInOrder", listIsInOrder},
		{"StatesAreCopies", statesAreCopies},
		{"ConcurrentUpdates", concurrentUpdates},
		{"ReadersSeeWholeStates", readersSeeWholeStates},
		{"PanicInChange", panicInChange},

		{"Gate/HoldStopsOthers", holdStopsOthers},
		{"Gate/HalfOpenAdmitsOne", halfOpenAdmitsOne},
		{"Gate/SlowStartAdmitsOne", slowStartAdmitsOne},
		{"Gate/BudgetIsShared", budgetIsShared},
		{"Gate/CallerCountsOnce", callerCountsOnce},
		{"Gate/HealthyLeavesNothing", healthyLeavesNothing},
		{"Gate/RecoveredLeavesNothing", recoveredLeavesNothing},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newStore(t)) })
	}
}

func absent(t *testing.T, s gate.Store) {
	expect(t, s, "api", gate.State{})
	if list := list(t, s); len(list) > 0 {
		t.Errorf("an empty store lists %+v", list)
	}
	if list := list(t, s); len(list) > 0 {
		t.Errorf("to load a state has made one: %+v", list)
	}
}

// whole has something in every field. A store may keep times to the microsecond.
func whole(now time.Time) gate.State {
	now = now.Truncate(time.Microsecond)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	return gate.State{
		Hold: gate.Hold{Since: now, Until: in(time.Hour), Reason: "rate_limit of <curl> & “x”", Throttles: 3, Manual: true},
		Ramp: gate.Ramp{Allowed: 2, Answers: 1, Last: 20, Ends: in(2 * time.Hour), Starts: []gate.Start{
			{Holder: "a/1", Expires: in(30 * time.Second)}, {Holder: "b/1", Expires: in(29*time.Second + 123*time.Microsecond)}}},
		Breaker: breaker.State{Generation: 1<<53 - 1, Phase: breaker.HalfOpen, Failures: 1, Caller: "d", Successes: 1, Opens: 2, Forced: true,
			Reason: "network", Since: in(-time.Hour), Until: in(-time.Minute), Probe: breaker.Lease{Holder: "c/1", Expires: in(time.Second)}},
		Budget: gate.Budget{Spent: 3.1, At: in(-time.Second)},
	}
}

func roundTrip(t *testing.T, s gate.Store) {
	now := time.Now()
	want := whole(now)
	update(t, s, "api", now, func(got gate.State) gate.State {
		same(t, got, gate.State{})
		return want
	})
	expect(t, s, "api", want)
	if l := list(t, s); len(l) != 1 || l[0].Key != "api" {
		t.Errorf("listed: %+v", l)
	} else {
		same(t, l[0].State, want)
	}
}

func updateSeesTheLastOne(t *testing.T, s gate.Store) {
	for n := range 5 {
		count(t, s, "api", n)
	}
	expect(t, s, "api", failures(5))
}

func unchangedStays(t *testing.T, s gate.Store) {
	now := time.Now()
	put(t, s, "api", now, whole(now))
	for range 3 {
		update(t, s, "api", now, func(g gate.State) gate.State { return g })
	}
	expect(t, s, "api", whole(now))
}

func healthyIsForgotten(t *testing.T, s gate.Store) {
	now := time.Now()
	put(t, s, "api", now, whole(now))
	put(t, s, "other", now, failures(1))
	update(t, s, "api", now, func(g gate.State) gate.State { return g.Reset(now) })
	expect(t, s, "api", gate.State{})
	if l := list(t, s); len(l) != 1 || l[0].Key != "other" {
		t.Errorf("listed: %+v", l)
	}
	update(t, s, "never seen", now, func(g gate.State) gate.State { return g })
	expect(t, s, "never seen", gate.State{})
}

// A hold that has passed is healthy though nothing has changed in it.
func healthyByNow(t *testing.T, s gate.Store) {
	now := time.Now()
	put(t, s, "api", now, gate.State{}.Held(now, now.Add(time.Minute), "x"))
	update(t, s, "api", now.Add(time.Hour), func(g gate.State) gate.State { return g })
	expect(t, s, "api", gate.State{})
}

// Keys are what people and programs come up with.
func Keys() []string { return slices.Clone(keys) }

var keys = []string{"api", "API", "Api", "a", "b", "a.b", "a/b", "a\\b", "a_b", "a b", "a:b", "a*", "a?", "[a]", "{a}", "~", "a~b", ".", "..", "...", ".a", "../a",
	"/a", "a/", "a.json", "a.lock", "a.json.lock", "a.0.slot", "-a", "con", "a\nb", "a\x00b", "a\tb", "", " ", "'", `"`, "$HOME", "%s", "ключ", "клЮч", "é", "e\u0301", "鍵", "🔑",
	"claude:api.anthropic.com:3fa9c1:opus", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 200), strings.Repeat("x", 199) + "y", strings.Repeat("é", 200)}

func keysAreIndependent(t *testing.T, s gate.Store) {
	for i, key := range keys {
		put(t, s, key, time.Now(), failures(i+1))
	}
	for i, key := range keys {
		expect(t, s, key, failures(i+1))
	}
	for i, key := range keys[1:] {
		update(t, s, key, time.Now(), func(g gate.State) gate.State { return g.Reset(time.Now()) })
		expect(t, s, key, gate.State{})
		for j := i + 2; j < len(keys); j++ {
			expect(t, s, keys[j], failures(j+1))
		}
	}
	expect(t, s, keys[0], failures(1))
}

func listIsInOrder(t *testing.T, s gate.Store) {
	for i, key := range keys {
		put(t, s, key, time.Now(), failures(i+1))
	}
	l := list(t, s)
	if !slices.IsSortedFunc(l, func(a, b gate.Entry) int { return strings.Compare(a.Key, b.Key) }) {
		t.Errorf("not in order: %+v", l)
	}
	if len(l) != len(keys) {
		t.Errorf("%d of %d are listed", len(l), len(keys))
	}
	for _, e := range l {
		same(t, e.State, failures(slices.Index(keys, e.Key)+1))
	}
}

// What a caller does to the state it has got is no change of the store's.
func statesAreCopies(t *testing.T, s gate.Store) {
	now := time.Now()
	given := whole(now)
	put(t, s, "api", now, given)
	given.Ramp.Starts[0].Holder = "given"
	loaded, err := s.Load("api")
	must.OK(t, err)
	loaded.Ramp.Starts[0].Holder = "loaded"
	list(t, s)[0].State.Ramp.Starts[0].Holder = "listed"
	expect(t, s, "api", whole(now))
}

func concurrentUpdates(t *testing.T, s gate.Store) {
	const goroutines, each = 8, 25
	var all sync.WaitGroup
	for g := range goroutines {
		key := fmt.Sprint("key ", g%2)
		all.Go(func() {
			for range each {
				if err := s.Update(key, time.Now(), func(g gate.State) gate.State { return failures(g.Breaker.Failures + 1) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, key := range []string{"key 0", "key 1"} {
		expect(t, s, key, failures(goroutines/2*each))
	}
}

// A reader never sees half of an update.
func readersSeeWholeStates(t *testing.T, s gate.Store) {
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				g, err := s.Load("api")
				if err != nil {
					t.Error(err)
					return
				}
				n := g.Breaker.Failures
				if len(g.Ramp.Starts) != n%7 || n > 0 && g.Hold.Reason != strings.Repeat("x", n%7*30) {
					t.Errorf("half an update: %+v", g)
					return
				}
			}
		})
	}
	for range 2 {
		writers.Go(func() {
			for range 60 {
				err := s.Update("api", time.Now(), func(g gate.State) gate.State {
					next := failures(g.Breaker.Failures + 1)
					next.Hold.Reason = strings.Repeat("x", next.Breaker.Failures%7*30)
					next.Ramp.Starts = make([]gate.Start, next.Breaker.Failures%7)
					return next
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

// A caller that panics neither changes anything nor keeps others out.
func panicInChange(t *testing.T, s gate.Store) {
	count(t, s, "api", 0)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		s.Update("api", time.Now(), func(gate.State) gate.State { panic("x") })
	}()
	count(t, s, "api", 1)
	expect(t, s, "api", failures(2))
}
