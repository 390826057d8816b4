package breaker_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

func TestOnChange_TellsEveryChangeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		b.Settings.Failures = 2
		var told []string
		last := b.State()
		b.OnChange = func(from, to breaker.State) {
			equal(t, "from", from, last)
			last = to
			told = append(told, fmt.Sprintf("%v %d/%d %s", to.Phase, to.Failures, to.Successes, to.Probe.Holder))
		}
		call(t, b, 3, nil) // changes nothing
		call(t, b, 1, errDown)
		call(t, b, 1, nil)
		call(t, b, 2, errDown)
		refused(t, b) // changes nothing
		time.Sleep(time.Minute)
		call(t, b, 2, nil)
		equal(t, "told", strings.Join(told, ", "), "closed 1/0 , closed 0/0 , closed 1/0 , open 0/0 , "+
			"half_open 0/0 1, half_open 0/1 , half_open 0/1 2, closed 0/0 ")
	})
}

// gobreaker #37: a listener that asks for the state waits for ever, because it is called under the lock.
func TestOnChange_MayUseTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		var told []breaker.Phase
		b.OnChange = func(from, to breaker.State) {
			if from.Phase == to.Phase {
				return
			}
			told = append(told, to.Phase)
			switch to.Phase {
			case breaker.Open:
				equal(t, "phase", b.Phase(), breaker.Open)
				refused(t, b)
				b.Reset()
				equal(t, "state is ahead", b.State().Phase, breaker.Closed)
				call(t, b, 3, errDown)
			case breaker.Closed:
				equal(t, "failures meanwhile", b.State().Failures, 3)
			}
		}
		call(t, b, 5, errDown)
		equal(t, "told", fmt.Sprint(told), "[open closed]")
	})
}

// A change made while the listener runs is told by the same goroutine, after it: one at a time, in order.
func TestOnChange_OneAtATime(t *testing.T) {
	b := exact()
	b.Settings.Failures = 1 << 30
	var running atomic.Int32
	last := b.State() // guarded by "one at a time", as the race detector can confirm
	b.OnChange = func(from, to breaker.State) {
		equal(t, "running", running.Add(1), 1)
		equal(t, "from", from, last)
		last = to
		running.Add(-1)
	}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 200 {
				call(t, b, 1, errDown)
			}
		})
	}
	calls.Wait()
	equal(t, "failures", b.State().Failures, 1600)
	equal(t, "told of", last, b.State())
}

// A listener that panics or exits ends the call it came with, and nothing else.
func TestOnChange_PanicsOrExits(t *testing.T) {
	for name, end := range map[string]func(){"Panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			b := exact()
			var told []int
			b.OnChange = func(_, to breaker.State) {
				told = append(told, to.Failures)
				if to.Failures == 1 {
					b.ForceOpen(0, "") // queued behind this one
					end()
				}
			}
			var first sync.WaitGroup
			first.Go(func() {
				defer func() { recover() }()
				breaker.Do(t.Context(), b, fail)
			})
			first.Wait()
			equal(t, "phase", b.Phase(), breaker.Open)
			b.Reset()
			equal(t, "told", fmt.Sprint(told), "[1 0 0]")
		})
	}
}
