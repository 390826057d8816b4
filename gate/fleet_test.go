package gate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
)

// plan is a number of clients that begin together, each with some calls to make one after the other.
type plan struct {
	clients, calls int
	limit          int           // how many the server takes in a minute
	hint           bool          // whether it says when to come back
	delay          time.Duration // from the start of a call to its request
}

// fleet is a plan that is carried out.
type fleet struct {
	plan
	gate *gate.Gate // nil: each on its own

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
	const short, long = 150 * time.Millisecond, 700 * time.Millisecond
	for n := 1; ; n++ {
		pass, refusal := f.gate.Enter(holder)
		if refusal == nil {
			return pass
		}
		poll := min(short*time.Duration(n), long)
		if !refusal.Until.IsZero() {
			left := time.Until(refusal.Until)
			if left > 2*long { // no test lifts it, so there is no need to poll
				time.Sleep(left - 2*long + time.Duration(rnd.Int64N(int64(long))))
				continue
			}
			poll = max(min(long, left), time.Millisecond)
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
			time.Sleep(time.Duration(rnd.Int64N(int64(time.Second)))) // twenty processes never start in the same instant
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

// TestFleet simulates in fake time what a fleet costs the service and its users: -v prints the table. The calls of a
// process that knows nothing of the others are retried by the same policy.
func TestFleet(t *testing.T) {
	t.Parallel()
	large := plan{clients: 250, calls: 1, limit: 50}
	if os.Getenv("BELAY_TEST_FULL") != "" {
		large = plan{clients: 1000, calls: 1, limit: 200}
	}
	var rows []*fleetRow
	for _, size := range []plan{{clients: 20, calls: 5, limit: 20}, large} {
		for _, size.hint = range []bool{true, false} {
			for _, size.delay = range []time.Duration{0, time.Second, 3 * time.Second} {
				rows = append(rows, &fleetRow{plan: size})
			}
		}
	}
	t.Run("Rows", func(t *testing.T) {
		for _, row := range rows {
			name := fmt.Sprintf("%dx%d/RetryAfter=%v/%v", row.clients, row.calls, row.hint, row.delay)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				row.run(t)
			})
		}
	})
	var table strings.Builder
	fmt.Fprintf(&table, "%27s | %-30s | %s\n", "", "one gate", "each alone")
	fmt.Fprintf(&table, "%-15s %-6s %4s | req/result  429s lost     took | req/result  429s lost     took\n", "clients×calls", "hint", "wait")
	for _, row := range rows {
		fmt.Fprintf(&table, "%4d×%d, %3d/min %-6v %4v | %s | %s\n", row.clients, row.calls, row.limit, row.hint, row.delay, row.shared, row.alone)
	}
	t.Log("\n" + table.String())
}

type fleetRow struct {
	plan
	shared, alone string
}

func (r *fleetRow) run(t *testing.T) {
	shared, alone := &fleet{plan: r.plan, gate: &gate.Gate{Store: &gate.Memory{}, Key: "api"}}, &fleet{plan: r.plan}
	var took, tookAlone time.Duration
	synctest.Test(t, func(*testing.T) { took, tookAlone = shared.run(), alone.run() })
	r.shared, r.alone = shared.row(took), alone.row(tookAlone)
	if shared.lost > 0 {
		t.Errorf("%d are lost", shared.lost)
	}
	if shared.refused >= alone.refused {
		t.Errorf("%d refusals, each alone %d", shared.refused, alone.refused)
	}
	if shared.clients == 20 && shared.each() > 1.5 {
		t.Errorf("%.2f requests a result", shared.each())
	}
	if took > tookAlone*5/4 {
		t.Errorf("it took %v, each alone %v", took, tookAlone)
	}
}

func (f *fleet) row(took time.Duration) string {
	return fmt.Sprintf("%10.2f %5d %4d %8v", f.each(), f.refused, f.lost, took.Round(time.Second))
}
