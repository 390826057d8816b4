//go:build linux

package agents_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// Twenty at once, with five calls each to make one after the other, on one account that takes twenty in a window: what one
// of them learns of the limit, all of them know.
func TestFleet_SharesOneGate(t *testing.T) {
	stage.InFull(t)
	const runs, atOnce = 100, 20
	s := claude.New(t, "", "limit(20/30s)")
	for i, r := range many(s, claude, runs, atOnce, "--max-wait", "20m") {
		if r.Code != 0 || r.Stdout != answer {
			t.Errorf("run %d: exit code %d, %q\n%s", i, r.Code, r.Stdout, r.Stderr)
		}
	}
	n := s.Requests()
	t.Logf("%d requests for %d results", n, runs)
	if n > runs*3/2 {
		t.Errorf("%d requests for %d results", n, runs)
	}
}

// INTEG-01: calls succeed, all but one in a hundred at most, though the API is at fault every now and then. Every day a few
// calls meet a fault every second time, in full up to a thousand one time in twenty.
func TestINTEG01_Calls(t *testing.T) {
	newest(t, func(t *testing.T, a *agent, s *stage.Stage) {
		calls, script := a.daily, "mix(50%, seed=4)"
		if full {
			calls, script = a.fleet, "mix(5%, seed=4)"
			if calls <= 100 {
				script = "mix(20%, seed=4)" // else none may be met
			}
		}
		s.Rehearse(script)
		bad := 0
		for i, r := range many(s, a, calls, 3, "--max-wait", "10m") {
			if r.Code == 0 && r.Stdout == answer {
				continue
			}
			bad++
			t.Logf("run %d: exit code %d, %q\n%s", i, r.Code, r.Stdout, r.Stderr)
		}
		t.Logf("%d of %d calls failed, %d requests", bad, calls, s.Requests())
		if bad > calls/100 {
			t.Errorf("%d of %d calls failed", bad, calls)
		}
		if s.Requests() <= calls {
			t.Errorf("%d requests for %d calls: no fault was met", s.Requests(), calls)
		}
	})
}

// many runs so many, so many of them at once.
func many(s *stage.Stage, a *agent, n, atOnce int, flags ...string) []*stage.Ran {
	s.Longest = 10 * time.Minute // each waits for the others
	results := make([]*stage.Ran, n)
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			args := append(append([]string{"run"}, flags...), "--", a.Name)
			results[i] = s.Start(s.Command("belay", append(args, a.ask(fmt.Sprintf("this is call %d", i))...)...), nil).Quietly()
		})
	}
	all.Wait()
	return results
}
