package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// scoped is a runner whose command takes a minute, alone in its scope.
func scoped(t *testing.T, busy belaytype.OnBusy) (*engine.Runner, *enginetest.Script) {
	r := runner(t, retry.Policy{})
	r.Scope, r.OnBusy = "deploy", busy
	return r, script(r, steps(0, enginetest.Wait(time.Minute)))
}

func TestScope_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := scoped(t, engine.BusyWait)
		w := observe(r)
		first := start(t, r, tool)
		synctest.Wait()
		second := start(t, r, tool)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		runs, _ := r.State.Records().List()
		waiting := 0
		for _, run := range runs {
			if run.State == supervise.StateWaiting && run.ID == second.ID() && run.Reason == "scope deploy is taken" {
				waiting++
			}
		}
		equal(t, "waiting on record", waiting, 1)
		if first.Over() || second.Over() {
			t.Error("it is over")
		}
		first.Wait()
		res, err := second.Wait()
		if err != nil || !second.Over() {
			t.Error(err)
		}
		if gap := s.Gaps()[0]; gap < time.Minute || gap > 61*time.Second || res.Waited != gap {
			t.Errorf("started %v later, waited %v", gap, res.Waited)
		}
		busy := all[belaytype.ScopeBusy](w)
		if len(busy) != 1 || busy[0].Key != "deploy" || busy[0].Replaced || len(busy[0].Holders) != 1 || busy[0].Holders[0] != first.ID() {
			t.Errorf("told %+v", busy)
		}
	})
}

func TestScope_Fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := scoped(t, engine.BusyFail)
		first := start(t, r, tool)
		synctest.Wait()
		begin := time.Now()
		res, err := r.Run(t.Context(), tool)
		if time.Since(begin) != 0 || res.ExitCode != engine.CodeTryLater || res.Verdict.Class != verdict.SessionBusy || !errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("exit code %d, %v", res.ExitCode, err)
		}
		equal(t, "error", res.Error, "scope deploy is taken by another run. Not waiting; retry later")
		first.Wait()
		equal(t, "starts", len(s.Starts()), 1)
	})
}

func TestScope_IsNotWaitedForLongerThanMayBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := scoped(t, engine.BusyWait)
		first := start(t, r, tool)
		synctest.Wait()
		patient := *r
		patient.Policy.MaxWait = 20 * time.Second
		res, err := patient.Run(t.Context(), tool)
		if res.Duration < 19*time.Second || res.Duration > 21*time.Second || res.Verdict.Class != verdict.SessionBusy || !errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("after %v: %v", res.Duration, err)
		}
		addsUp(t, r, res)
		first.Wait()
		equal(t, "starts", len(s.Starts()), 1)
	})
}

func TestScope_CancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := scoped(t, engine.BusyWait)
		first := start(t, r, tool)
		synctest.Wait()
		second := start(t, r, tool)
		time.Sleep(10 * time.Second)
		second.Cancel(context.Canceled)
		res, err := second.Wait()
		if res.ExitCode != 143 || res.Duration != 10*time.Second || !errors.Is(err, context.Canceled) || res.Waited != 10*time.Second {
			t.Errorf("exit code %d after %v, waited %v: %v", res.ExitCode, res.Duration, res.Waited, err)
		}
		first.Wait()
	})
}

// A run of the same process is cancelled: a signal would end the process.
func TestScope_ReplacesARunOfTheSameProcess(t *testing.T) {
	for name, keep := range map[string]bool{"with a state": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := scoped(t, engine.BusyReplace)
				if !keep {
					r.State = nil
				}
				w := observe(r)
				first := start(t, r, tool)
				time.Sleep(10 * time.Second)
				second := start(t, r, tool)
				res, err := first.Wait()
				replaced, ok := errors.AsType[*belaytype.Replaced](err)
				if !ok || replaced.By != second.ID() || res.Verdict.Class != verdict.Interrupted || res.ExitCode != 143 {
					t.Errorf("exit code %d, %v", res.ExitCode, err)
				}
				contains(t, res.Error, "stopped tool: replaced by run "+second.ID())
				if _, err := second.Wait(); err != nil {
					t.Error(err)
				}
				if gap := s.Gaps()[0]; gap < 10*time.Second || gap > 11*time.Second {
					t.Errorf("started %v later", gap)
				}
				if busy := all[belaytype.ScopeBusy](w); len(busy) != 1 || !busy[0].Replaced {
					t.Errorf("told %+v", busy)
				}
			})
		})
	}
}

// A scope that cannot be had for trouble with its store is not in force, and stops nothing.
func TestScope_Trouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := scoped(t, engine.BusyFail)
		r.Scopes = brokenStore{}
		w := observe(r)
		if _, err := r.Run(t.Context(), tool); err != nil || len(s.Starts()) != 1 {
			t.Error(err)
		}
		if trouble := all[belaytype.ScopeTrouble](w); len(trouble) != 1 || trouble[0].Key != "deploy" || !errors.Is(trouble[0].Err, errBroken) {
			t.Errorf("told %+v", trouble)
		}
	})
}

// Where the state cannot be kept, what was to be shared is not in force, and that is said.
func TestScope_WithoutItsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must.OK(t, os.WriteFile(file, nil, 0o600))
		r := &engine.Runner{State: &state.State{Dir: file}, Admission: engine.Admission{Scope: "deploy", Gate: belaytype.Gate{Key: "api", Settings: gate.Settings{}}}}
		w := observe(r)
		script(r, steps(0))
		if _, err := r.Run(t.Context(), tool); err != nil {
			t.Error(err)
		}
		trouble := all[belaytype.StateTrouble](w)
		if len(trouble) != 1 {
			t.Fatalf("told %+v", trouble)
		}
		equalLists(t, "not in force", trouble[0].Without, []string{"gate api", "scope deploy"})
	})
}
