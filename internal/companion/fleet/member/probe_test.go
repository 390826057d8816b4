//go:build unix

package member_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
)

// Calls on three machines wait for an open breaker. When its time is over, one of them finds out whether the service is back, not one on each machine.
func TestMember_OneProbe(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee", "cat")
	for round := range 5 { // one that is too busy hears of a probe too late, and probes too
		key := fmt.Sprint("api", round)
		list[round%len(list)].change(key, func(s gate.State, now time.Time) gate.State { return s.Opened(now, now.Add(3*time.Second), "broken") })
		for _, m := range list {
			eventually(t, m.name+" knows of the breaker", func() bool { return m.gate(key).Breaker.Phase == breaker.Open })
		}
		// A further change of the gate must not put the probe off once more.
		list[0].change(key, func(s gate.State, now time.Time) gate.State { s.Budget = gate.Budget{Spent: 1, At: now}; return s })
		var probes atomic.Int32
		var all sync.WaitGroup
		for _, m := range list {
			all.Go(func() {
				g := &gate.Gate{Store: m.state.Gates(), Key: key}
				for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
					if pass, refused := g.Enter(m.name); refused == nil {
						probes.Add(1)
						time.Sleep(time.Until(end)) // a slow answer
						pass.Failed("broken")
						return
					}
				}
			})
		}
		all.Wait()
		n := probes.Load()
		if n == 1 {
			return
		}
		t.Logf("round %d: %d probes", round, n)
	}
	t.Error("several machines probe")
}
