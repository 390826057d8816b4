//go:build linux

package claude_test

import (
	"fmt"
	"sync"
	"testing"
)

// Twenty at once, with five calls each to make one after the other, on one account that takes twenty in a window: what one
// of them learns of the limit, all of them know.
func TestFleet_SharesOneGate(t *testing.T) {
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	const runs, atOnce = 100, 20
	s := newStage(t, "", "limit(20/30s)")
	for i, r := range s.many(runs, atOnce, "--max-wait", "20m") {
		if r.code != 0 || r.stdout != answer {
			t.Errorf("run %d: exit code %d, %q\n%s", i, r.code, r.stdout, r.stderr)
		}
	}
	n := s.requests()
	t.Logf("%d requests for %d results", n, runs)
	if n > runs*3/2 {
		t.Errorf("%d requests for %d results", n, runs)
	}
}

// INTEG-01: a thousand calls, of which one in twenty meets a fault.
func TestINTEG01_ThousandCalls(t *testing.T) {
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	const calls = 1000
	s := newStage(t, "", "mix(5%, seed=4)")
	bad := 0
	for i, r := range s.many(calls, 3, "--max-wait", "10m") {
		if r.code == 0 && r.stdout == answer {
			continue
		}
		bad++
		t.Logf("run %d: exit code %d, %q\n%s", i, r.code, r.stdout, r.stderr)
	}
	t.Logf("%d of %d calls failed, %d requests", bad, calls, s.requests())
	if bad > calls/100 {
		t.Errorf("%d of %d calls failed", bad, calls)
	}
}

// many runs so many, so many of them at once.
func (s *stage) many(n, atOnce int, flags ...string) []*ran {
	s.fleet = true
	results := make([]*ran, n)
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			args := append(append([]string{"run"}, flags...), "--", "claude", "-p", fmt.Sprintf("this is call %d", i))
			results[i] = s.start(s.command("belay", args...), nil).quietly()
		})
	}
	all.Wait()
	return results
}
