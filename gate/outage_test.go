package gate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
)

// outage is a service that some requests fail at, and the clients that share a gate in front of it.
type outage struct {
	store   gate.Memory
	failing func(name string) bool // whether the request of that client fails

	mu       sync.Mutex
	requests int
	refused  int // by the breaker, for good
	failed   int
	done     int
}

// request is what belay run does with one that is worth repeating: five attempts, with the usual waits.
func (w *outage) request(name string, rnd *rand.Rand) {
	series := retry.Policy{MaxRetries: 4, BaseDelay: 2 * second, Rand: rnd.Float64}.Start(time.Now())
	g := &gate.Gate{Store: &w.store, Key: "api", Caller: name, Rand: rnd.Float64}
	for n := 1; ; n++ {
		pass, ok := w.enter(g, fmt.Sprint(name, "/", n), &series)
		if !ok {
			w.count(&w.refused)
			return
		}
		w.count(&w.requests)
		time.Sleep(answer)
		if !w.failing(name) {
			pass.Answered()
			pass.Succeeded()
			w.count(&w.done)
			return
		}
		pass.Failed("server_error of claude")
		wait, err := series.Next(time.Now(), errors.New("500"), retry.Advice{Retry: true})
		if err != nil {
			w.count(&w.failed)
			return
		}
		time.Sleep(wait)
	}
}

// enter waits at the gate, within what may be waited.
func (w *outage) enter(g *gate.Gate, holder string, series *retry.Series) (*gate.Pass, bool) {
	for {
		pass, refusal := g.Enter(holder)
		if refusal == nil {
			return pass, true
		}
		now, poll := time.Now(), 700*time.Millisecond
		if left := time.Until(refusal.Until); left > poll {
			poll = left
		}
		if series.Charge(now, poll, nil) != nil {
			return nil, false
		}
		time.Sleep(poll)
	}
}

func (w *outage) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// TestOutage simulates in fake time what the breaker makes of requests that fail, over clients that share a gate.
func TestOutage(t *testing.T) {
	t.Parallel()
	const clients = 20
	for name, tt := range map[string]struct {
		failing func(begun time.Time) func(string) bool
		open    bool // the breaker opens
		check   func(*testing.T, *outage)
	}{
		// One request among twenty always fails, and is the only one for a while: no other is kept out.
		"PoisonedRequest": {
			failing: func(time.Time) func(string) bool { return func(name string) bool { return name == "0" } },
			open:    false,
			check: func(t *testing.T, w *outage) {
				equal(t, "done", w.done, clients-1)
				equal(t, "refused", w.refused, 0)
				equal(t, "requests", w.requests, clients-1+5)
			},
		},
		// Everything fails for two minutes: the service is asked far less than clients · attempts, and all are served after it.
		"Outage": {
			failing: func(begun time.Time) func(string) bool {
				return func(string) bool { return time.Since(begun) < 2*minute }
			},
			open: true,
			check: func(t *testing.T, w *outage) {
				equal(t, "done", w.done+w.failed+w.refused, clients)
				if w.done < clients*3/4 {
					t.Errorf("%d of %d are done", w.done, clients)
				}
				if w.requests > 2*clients+10 {
					t.Errorf("%d requests", w.requests)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &outage{failing: tt.failing(time.Now())}
				opened := false
				var all sync.WaitGroup
				for c := range clients {
					all.Go(func() {
						rnd := rand.New(rand.NewPCG(uint64(c), 3))
						if c > 0 { // the first one is alone for long enough to make all its attempts
							time.Sleep(minute + time.Duration(rnd.Int64N(int64(5*second))))
						}
						w.request(fmt.Sprint(c), rnd)
						state, _ := w.store.Load("api")
						w.mu.Lock()
						opened = opened || state.Breaker.Phase != breaker.Closed
						w.mu.Unlock()
					})
				}
				all.Wait()
				t.Logf("%d requests of %d clients: %d done, %d failed, %d refused", w.requests, clients, w.done, w.failed, w.refused)
				equal(t, "opened", opened, tt.open)
				tt.check(t, w)
			})
		})
	}
}
