package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
)

// fleet is a number of clients that begin together, each with some calls to make one after the other.
type fleet struct {
	clients, calls int
	limit          int           // how many the server takes in a minute
	hint           bool          // whether it says when to come back
	delay          time.Duration // from the start of a call to its request
	gate           *gate.Gate    // nil: each on its own

	mu                sync.Mutex
	window            time.Time
	taken             int
	requests, refused int
	done, lost        int
}

const (

	// answer is how long the server takes.
	answer = 200 * time.Millisecond
)

// request is what the server does: fixed windows, as most do.
func (f *fleet) request() (ok bool, hint time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if passed := now.Sub(f.window); passed >= minute {
		f.window, f.taken = now.Add(-passed%minute), 0
		if passed > 2*minute {
			f.window = now
		}
	}
	f.requests++
	if f.taken < f.limit {
		f.taken++
		return true, 0
	}
	f.refused++
	if f.hint { // whole seconds, as the header has
		hint = f.window.Add(minute).Sub(now).Truncate(time.Second) + time.Second
	}
	return false, hint
}

// call is what belay run does for a command that is worth repeating.
func (f *fleet) call(name string, rnd *rand.Rand) bool {
	series := retry.Policy{MaxWait: 2 * time.Hour, Rand: rnd.Float64}.Start(time.Now())
	for n := 1; ; n++ {
		pass := f.enter(fmt.Sprintf("%s/%d", name, n), rnd)
		time.Sleep(f.delay)
		ok, hint := f.request()
		time.Sleep(answer)
		if ok {
			if pass != nil {
				pass.Answered()
				pass.Succeeded()
			}
			return true
		}
		if pass != nil {
			pass.Throttled(hint, "rate_limit")
		}
		wait, err := series.Next(time.Now(), nil, retry.Advice{Retry: true, After: hint, Throttled: true})
		if err != nil {
			return false
		}
		time.Sleep(wait)
	}
}

// enter waits at the gate as belay run does.
func (f *fleet) enter(holder string, rnd *rand.Rand) *gate.Pass {
	if f.gate == nil {
		return nil
	}
	for {
		pass, refusal := f.gate.Enter(holder)
		if refusal == nil {
			return pass
		}
		poll := 150 * time.Millisecond
		if !refusal.Until.IsZero() {
			poll = max(min(700*time.Millisecond, time.Until(refusal.Until)), time.Millisecond)
		}
		time.Sleep(poll + time.Duration(rnd.Int64N(int64(poll)/4+1)))
	}
}

// run returns how long it took.
func (f *fleet) run() time.Duration {
	begun := time.Now()
	var all sync.WaitGroup
	for c := range f.clients {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 7))
			time.Sleep(time.Duration(rnd.Int64N(int64(time.Second)))) // nobody starts twenty processes in the same instant
			for k := range f.calls {
				ok := f.call(fmt.Sprintf("%d.%d", c, k), rnd)
				f.mu.Lock()
				if ok {
					f.done++
				} else {
					f.lost++
				}
				f.mu.Unlock()
			}
		})
	}
	all.Wait()
	return time.Since(begun)
}

func (f *fleet) each() float64 { return float64(f.requests) / float64(max(1, f.done)) }

func TestFleet(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-14s %-11s %5s | %-35s | %s\n", "clients×calls", "Retry-After", "delay", "one gate: requests/result, 429s", "each alone")
	for _, size := range []struct{ clients, calls, limit int }{{20, 5, 20}, {1000, 1, 200}} {
		for _, hint := range []bool{true, false} {
			for _, delay := range []time.Duration{0, time.Second, 3 * time.Second} {
				f := &fleet{clients: size.clients, calls: size.calls, limit: size.limit, hint: hint, delay: delay, gate: &gate.Gate{Store: &gate.Memory{}, Key: "api"}}
				alone := &fleet{clients: size.clients, calls: size.calls, limit: size.limit, hint: hint, delay: delay}
				var took, tookAlone time.Duration
				synctest.Test(t, func(*testing.T) { took, tookAlone = f.run(), alone.run() })
				fmt.Fprintf(&table, "%4d×%-4d @%3d %-11v %5v | %5.2f %4d lost %d %8v | %5.2f %4d lost %d %8v\n", f.clients, f.calls, f.limit, f.hint, f.delay,
					f.each(), f.refused, f.lost, took.Round(time.Second), alone.each(), alone.refused, alone.lost, tookAlone.Round(time.Second))
			}
		}
	}
	t.Log("\n" + table.String())
}
