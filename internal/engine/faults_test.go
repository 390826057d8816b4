package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// faultsByDefault is how many faults are tried where the environment does not say.
var faultsByDefault = 2000

// together is how many runs share a state directory and a stretch of fake time.
const together = 20

// Thousands of runs that fail in every way that is known, with the real profiles and in fake time: result, attempts, waits,
// output, sessions and log are those that the README promises, and nothing is left of a run. BELAY_TEST_FAULTS says how many
// faults there are, BELAY_TEST_SEED with which seed they begin; runs of neighbouring seeds are played together.
func TestFaults(t *testing.T) {
	faults, seed := faulttest.Count(t, "BELAY_TEST_FAULTS", faultsByDefault), faulttest.Count(t, "BELAY_TEST_SEED", 0)
	descriptors := openFiles()
	tally := &faultTally{}
	for n := seed / together; tally.faults < faults && !t.Failed(); n++ {
		play := playFaults
		if n%4 == 3 {
			play = playFaultsAtAGate
		}
		synctest.Test(t, func(t *testing.T) { play(t, uint64(n*together), tally) })
	}
	t.Logf("tried %d faults in %d runs with %d starts; survived %d of the runs", tally.faults, tally.runs, tally.starts, tally.runs-tally.wrong)
	if now := openFiles(); now > descriptors+5 {
		t.Errorf("%d files are open, and %d were before", now, descriptors)
	}
}

// openFiles is how many files this process has open; 0 if that cannot be told.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// faultTally counts what was tried.
type faultTally struct{ faults, runs, starts, wrong int }

// faultRun is one run that is played.
type faultRun struct {
	*faulttest.Run
	want   *faulttest.Expected
	script *enginetest.Script
	stdout bytes.Buffer
	inv    *engine.Invocation
	begun  time.Time
	took   time.Duration
	// cancelled is after what time the caller ends it; 0 means not at all.
	cancelled time.Duration
}

// playFaults plays the runs that begin with a seed, all at the same time.
func playFaults(t *testing.T, seed uint64, tally *faultTally) {
	dir, err := os.MkdirTemp("", "belay-faults-")
	must.OK(t, err)
	defer os.RemoveAll(dir)
	shared := &state.State{Dir: filepath.Join(dir, "state")}
	runs := make([]*faultRun, together)
	var all sync.WaitGroup
	for i := range runs {
		r := &faultRun{Run: faulttest.New(seed+uint64(i), faulttest.Fake)}
		runs[i], r.want = r, r.Expect()
		all.Go(func() { r.play(t, shared, dir, func(*engine.Runner) {}) })
	}
	all.Wait()
	lines := recorded(t, shared)
	for _, r := range runs {
		tally.add(t, r, len(r.want.Attempts), r.check(lines[r.inv.ID()]))
	}
	nothingLeft(t, shared, lines)
}

// recorded are the lines of the log, by run.
func recorded(t *testing.T, s *state.State) map[string][]journal.Entry {
	lines := map[string][]journal.Entry{}
	for _, e := range entries(t, &engine.Runner{State: s}) {
		if e.Kind == "" {
			lines[e.Invocation] = append(lines[e.Invocation], e)
		}
	}
	return lines
}

// add counts a run, of which so many starts were made, and reports what was wrong with it.
func (f *faultTally) add(t *testing.T, r *faultRun, starts int, wrong []string) {
	t.Helper()
	f.runs++
	f.starts += starts
	for _, a := range r.want.Attempts[:min(starts, len(r.want.Attempts))] {
		if a.Class != verdict.OK || strings.Contains(a.Fault.Name, "hang") {
			f.faults++
		}
		f.faults += len(a.Fault.Inner)
	}
	if len(wrong) > 0 {
		f.wrong++
		t.Errorf("%v\n\t%s", r, strings.Join(wrong, "\n\t"))
	}
}

// nothingLeft checks that every run is on record and that nothing else is left of any.
func nothingLeft(t *testing.T, s *state.State, lines map[string][]journal.Entry) {
	t.Helper()
	if len(lines) != together {
		t.Errorf("%d runs are on record, and %d were made", len(lines), together)
	}
	for _, left := range []string{"runs/*", "held-*", "*.new", "*/*.new"} {
		if list, _ := filepath.Glob(filepath.Join(s.Dir, left)); len(list) > 0 {
			t.Errorf("left behind: %v", list)
		}
	}
}

// String tells what the run is, and how to repeat it.
func (r *faultRun) String() string {
	var names []string
	for _, a := range r.want.Attempts {
		names = append(names, a.Fault.Name)
	}
	return fmt.Sprintf("BELAY_TEST_SEED=%d: %s: %s; %s: %+v", r.Seed, r.CLI, strings.Join(names, ", "), r.want.Why, r.Policy)
}

// play runs it to its end. change may change how.
func (r *faultRun) play(t *testing.T, shared *state.State, home string, change func(*engine.Runner)) {
	r.script = &enginetest.Script{}
	for _, a := range r.want.Attempts {
		r.script.Attempts = append(r.script.Attempts, attemptOf(&a, r.Stall))
	}
	args := r.Args()
	env := []string{"HOME=" + home}
	runner := &engine.Runner{
		Policy:    r.Policy,
		State:     shared,
		Starter:   r.script,
		Limits:    engine.Limits{Stall: r.Stall},
		Admission: engine.Admission{Gate: belaytype.Gate{Off: true}, Shared: &gate.Memory{}, Scopes: &gate.Memory{}},
		Record:    engine.Record{LogDir: engine.NoLogDir},
	}
	if cli := profile.Find(args[0]); cli != nil {
		runner.Profile = cli.New(args, env, home)
	}
	change(runner)
	ctx := t.Context()
	if r.cancelled > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.cancelled)
		defer cancel()
	}
	inv, err := runner.Prepare(ctx, belaytype.Command{Args: args, Env: env, Dir: home, Stdout: &r.stdout})
	if err != nil {
		t.Errorf("%v: %v", r, err)
		return
	}
	r.inv, r.begun = inv, time.Now()
	inv.Run()
	r.took = time.Since(r.begun)
}

// alivePause is the pause between signs of life: short enough for the stall limit, and no fraction of the timeout, at which
// both would come at once.
func alivePause(stall time.Duration) time.Duration { return stall * 2 / 5 }

// attemptOf is the scripted start that does what a fault does.
func attemptOf(a *faulttest.Attempt, stall time.Duration) enginetest.Attempt {
	attempt := enginetest.Attempt{Code: a.Fault.Code, Signal: syscall.Signal(a.Fault.Signal)}
	for _, op := range a.Fault.Ops {
		out := enginetest.PrintFunc(func() string { return faulttest.Fill(op.Out, a.Session, time.Now()) })
		switch {
		case op.Alive:
			attempt.Steps = append(attempt.Steps, enginetest.Forever(alivePause(stall), out))
		case op.Out != "":
			attempt.Steps = append(attempt.Steps, out)
		}
		if op.Err != "" {
			attempt.Steps = append(attempt.Steps, enginetest.Complain(faulttest.Fill(op.Err, a.Session, time.Now())))
		}
		if op.Sleep > 0 {
			attempt.Steps = append(attempt.Steps, enginetest.Wait(op.Sleep))
		}
		if op.Hang {
			attempt.Steps = append(attempt.Steps, enginetest.Hang())
		}
	}
	return attempt
}
