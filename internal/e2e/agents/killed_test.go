//go:build linux

package agents_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
)

// Belay is killed with -9 at any moment: while the real agent starts, while its model works, and while a tool runs that has
// started another in a session of its own. Then belay ps --reap leaves nothing of the run, the run is on record once, and
// the next one works. BELAY_TEST_AGENT_KILLS says how often that is tried with each agent.
func TestKilled_AtAnyMoment(t *testing.T) {
	kills := faulttest.Count(t, "BELAY_TEST_AGENT_KILLS", 0)
	if kills == 0 {
		t.Skip("only with BELAY_TEST_AGENT_KILLS, as make soak sets it")
	}
	var tried, survived atomic.Int64
	t.Cleanup(func() {
		t.Logf("tried %d kills of belay with an agent at work; survived %d", tried.Load(), survived.Load())
	})
	for _, a := range agents {
		t.Run(a.Name, func(t *testing.T) {
			if a.work == nil {
				t.Skip("SKIPPED: the suite has no file for this CLI")
			}
			t.Parallel()
			random := faulttest.Random(t)
			for n := range kills {
				tried.Add(1)
				if t.Run(fmt.Sprint(n), func(t *testing.T) { a.killed(t, n, random) }) {
					survived.Add(1)
				}
			}
		})
	}
}

// killed kills belay once: by turns at its start, when the model has been asked, and when the tools run.
func (a *agent) killed(t *testing.T, n int, random *rand.Rand) {
	s := a.New(t, "", `tool(bash: "echo x", in=100, out=10), `+endless+", hang x*")
	s.Leaves = true // whatever holds the output open after a kill
	run := s.StartBelay(nil, a.work("say hi"), nil)
	longest := 2 * time.Second
	switch n % 3 {
	case 1:
		s.Eventually("it asks", func() bool { return s.Requests() > 0 })
		longest = 500 * time.Millisecond
	case 2:
		s.Eventually("the tools run", func() bool { return endlessRuns(s) })
		longest = 200 * time.Millisecond
	}
	moment := faulttest.N(random, longest)
	time.Sleep(moment)
	run.Cmd.Process.Kill()
	if e := run.Quietly(); e.Code != 137 {
		t.Errorf("exit code %d", e.Code)
	}
	s.Run("belay", "ps", "--reap").Exits(0)
	if !stage.Within(30*time.Second, func() bool { return len(s.Left()) == 0 }) {
		t.Errorf("left after a kill %v into part %d: %v", moment, n%3, s.Left())
	}
	s.Rehearse("200")
	s.Leaves = false
	next := s.Belay(nil, a.work("say hi"))
	next.Exits(0)
	next.Prints(answer)
	ends := map[string]int{}
	for _, e := range s.Log() {
		if e.Kind == "" && e.Status != journal.Retry {
			ends[e.Invocation]++
		}
	}
	for id, n := range ends {
		if n != 1 {
			t.Errorf("run %s has ended %d times, says the log", id, n)
		}
	}
	if len(ends) > 2 {
		t.Errorf("%d runs are on record, and 2 were made", len(ends))
	}
	if left, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(left) > 0 {
		t.Errorf("records are left: %v", left)
	}
}
