package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// playFaultsAtAGate plays runs that share a gate with few slots, some of which their caller ends. How long each waits depends
// on the others, so that less can be foretold: but no run is lost, doubled or ended for no reason, the books add up, and
// all slots are free in the end.
func playFaultsAtAGate(t *testing.T, seed uint64, tally *faultTally) {
	dir, err := os.MkdirTemp("", "belay-faults-")
	must.OK(t, err)
	defer os.RemoveAll(dir)
	c := rand.New(rand.NewPCG(seed, 0))
	shared, memory, slots := &state.State{Dir: filepath.Join(dir, "state")}, &gate.Memory{}, 1+c.IntN(4)
	busy := &busyStarter{}
	runs := make([]*faultRun, together)
	var all sync.WaitGroup
	for i := range runs {
		r := &faultRun{Run: faulttest.New(seed+uint64(i), faulttest.Fake)}
		if r.Policy.MaxWait > 0 { // it waits for others too
			r.Policy.MaxWait = 24 * time.Hour
		}
		if runs[i], r.want = r, r.Expect(); c.IntN(4) == 0 {
			r.cancelled = time.Duration(1 + c.Int64N(int64(10*time.Minute)))
		}
		begins := time.Duration(c.Int64N(int64(5 * time.Minute)))
		all.Go(func() {
			time.Sleep(begins)
			r.play(t, shared, dir, func(runner *engine.Runner) {
				runner.Gate = belaytype.Gate{Key: "api", MaxParallel: slots}
				runner.Shared, runner.Starter = memory, busy.around(r.script)
			})
		})
	}
	all.Wait()
	lines := recorded(t, shared)
	for _, r := range runs {
		tally.add(t, r, len(r.script.Starts()), r.checkAtAGate(lines[r.inv.ID()]))
	}
	nothingLeft(t, shared, lines)
	if list := memory.Holders("api"); len(list) > 0 {
		t.Errorf("slots are taken in the end: %v", list)
	}
	if busy.most > slots {
		t.Errorf("%d were under way at a time, and %d may be", busy.most, slots)
	}
}

// busyStarter counts how many processes there are at a time.
type busyStarter struct {
	mu        sync.Mutex
	now, most int
}

// around starts the processes of a script.
func (b *busyStarter) around(s *enginetest.Script) engine.Starter { return countedScript{s, b} }

type countedScript struct {
	*enginetest.Script
	busy *busyStarter
}

// Run implements [engine.Starter].
func (s countedScript) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	s.busy.add(1)
	defer s.busy.add(-1)
	return s.Script.Run(spec, started)
}

func (b *busyStarter) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now += n
	b.most = max(b.most, b.now)
}

// checkAtAGate says what is wrong with a run that shares its gate.
func (r *faultRun) checkAtAGate(lines []journal.Entry) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	res, err := r.inv.Wait()
	starts := len(r.script.Starts())
	attempts, booked, inner, lasted := 0, 0.0, 0.0, 0.0
	for i, line := range lines {
		if line.Attempt > 0 {
			attempts++
		}
		booked += line.WaitTime + line.GateWait
		inner += line.InnerWait
		lasted += line.ResponseTime
		if final := i == len(lines)-1; final != (line.BelayCode != nil) || final != (line.Status != journal.Retry) || final && *line.BelayCode != res.ExitCode {
			bad("line %d of %d is %s, with exit code %v", i+1, len(lines), line.Status, line.BelayCode)
		}
	}
	if starts != res.Attempts || starts != attempts || starts > len(r.want.Attempts) || len(lines) > starts+1 {
		bad("%d starts, %d attempts in the result and %d of %d lines in the log, want %d at most", starts, res.Attempts, attempts, len(lines), len(r.want.Attempts))
		return wrong
	}
	if (err == nil) != res.Success || res.Success != (res.ExitCode == 0) {
		bad("success %v with exit code %d: %v", res.Success, res.ExitCode, err)
	}
	slack := float64(len(lines)+1) / 1000
	if d := booked - res.Waited.Seconds(); d > slack || d < -slack {
		bad("waited %v, on record are %.3f s", res.Waited, booked)
	}
	if d := r.took.Seconds() - lasted - booked + inner; d > slack || d < -slack {
		bad("it took %v: %.3f s of attempts, %.3f s of waits of which %.3f s were in them", r.took, lasted, booked, inner)
	}
	interrupted := r.cancelled > 0 && r.took >= r.cancelled
	if r.cancelled > 0 && r.took > r.cancelled {
		bad("it was ended after %v, and took %v", r.cancelled, r.took)
	}
	refused := len(lines) > attempts
	if starts == 0 {
		if !refused && !interrupted || res.Success {
			bad("it was never started: %v", err)
		}
		return wrong
	}
	last := &r.want.Attempts[starts-1]
	switch {
	case res.Success && (last.Class != verdict.OK || r.stdout.String() != last.Fault.Answer):
		bad("a success after %q, with stdout %.100q", last.Fault.Name, &r.stdout)
	case !res.Success && res.Verdict.Class != last.Class && !(interrupted && res.Verdict.Class == verdict.Interrupted) && !(refused && res.Verdict.Rule == "gate") && !last.Stopped:
		bad("%s by %s after %q: %v", res.Verdict.Class, res.Verdict.Rule, last.Fault.Name, err)
	}
	return wrong
}
