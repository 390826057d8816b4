package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// postponements lets a runner tell what its start waits for.
func postponements(r *engine.Runner) *[]engine.Postponed {
	list := new([]engine.Postponed)
	r.Postponed = func(p engine.Postponed) { *list = append(*list, p) }
	return list
}

// The command starts at the time that was said, others see until when it waits, and its limits count from its start.
func TestSchedule_At(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{TotalTimeout: time.Minute})
		r.Schedule.At = time.Now().Add(8 * time.Hour)
		script(r, steps(0, enginetest.Wait(30*time.Second)))
		w, waits := observe(r), postponements(r)
		begun := time.Now()
		inv := start(t, r, tool)
		time.Sleep(time.Hour)
		synctest.Wait()
		runs, _ := r.State.Records().List()
		if len(runs) != 1 || runs[0].State != supervise.StateWaiting || runs[0].Reason != "its start time" || !runs[0].Until.Equal(r.Schedule.At) {
			t.Errorf("on record %+v", runs)
		}
		equal(t, "starts", len(all[belaytype.AttemptStarted](w)), 0)
		res, err := inv.Wait()
		if took := time.Since(begun); err != nil || took != 8*time.Hour+30*time.Second || res.Waited != 8*time.Hour {
			t.Errorf("%v after %v, %v waited", err, took, res.Waited)
		}
		if len(*waits) != 1 || !(*waits)[0].Until.Equal(r.Schedule.At) {
			t.Errorf("told %+v", *waits)
		}
		equal(t, "waits over", len(all[belaytype.WaitOver](w)), 1)
	})
}

// A time that has passed, a gate that nothing holds and a command without a gate are not waited for.
func TestSchedule_Due(t *testing.T) {
	for name, schedule := range map[string]func(time.Time) engine.Schedule{
		"Past":   func(now time.Time) engine.Schedule { return engine.Schedule{At: now.Add(-time.Hour)} },
		"Lifted": func(time.Time) engine.Schedule { return engine.Schedule{WhenLifted: true} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, key := range []string{"", "api"} {
					r := runner(t, retry.Policy{})
					r.Schedule, r.Gate.Key = schedule(time.Now()), key
					script(r, steps(0))
					waits, begun := postponements(r), time.Now()
					if _, err := r.Run(t.Context(), tool); err != nil || time.Since(begun) != 0 || len(*waits) > 0 {
						t.Errorf("%v after %v, told %+v", err, time.Since(begun), *waits)
					}
				}
			})
		})
	}
}

// A limit is waited for to its end, also if that is later than what may be waited otherwise, and moves.
func TestSchedule_WhenLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Gate: "claude"})
		r.Policy.MaxWait = time.Minute
		r.Schedule.WhenLifted = true
		script(r, steps(0, enginetest.Line(enginetest.Event{Text: "done", Done: true, Class: verdict.OK})))
		shared := r.Shared.(*gate.Memory)
		holdFor(t, shared, "claude", 5*time.Hour, "usage_limit of claude")
		waits, begun := postponements(r), time.Now()
		inv := start(t, r, claude)
		time.Sleep(time.Hour)
		holdFor(t, shared, "claude", 6*time.Hour, "usage_limit of claude")
		_, err := inv.Wait()
		if took := time.Since(begun); err != nil || took < 7*time.Hour || took > 7*time.Hour+time.Minute {
			t.Errorf("%v after %v", err, took)
		}
		if len(*waits) != 2 || (*waits)[0].Key != "claude" || !(*waits)[1].Until.Equal(begun.Add(7*time.Hour)) {
			t.Errorf("told %+v", *waits)
		}
	})
}

// A run that is stopped while it waits for its start has not started, and ends as one that is interrupted.
func TestSchedule_Stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Schedule.At = time.Now().Add(8 * time.Hour)
		script(r, steps(0))
		w := observe(r)
		inv := start(t, r, tool)
		time.Sleep(time.Hour)
		inv.Cancel(&belaytype.Interrupt{Signal: 2, Name: "SIGINT"})
		res, err := inv.Wait()
		if res.ExitCode != 130 || res.Attempts != 0 || !errors.As(err, new(*belaytype.Interrupt)) {
			t.Errorf("%v, %+v", err, res)
		}
		equal(t, "starts", len(all[belaytype.AttemptStarted](w)), 0)
		if over := all[belaytype.WaitOver](w); len(over) != 1 || !over[0].CutShort {
			t.Errorf("told %+v", over)
		}
	})
}

// A command that cannot be found is said at once, not at the time that it was to start.
func TestSchedule_CommandMissing(t *testing.T) {
	r := runner(t, retry.Policy{})
	r.Schedule.At = time.Now().Add(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, _ := r.Run(ctx, belaytype.Command{Args: []string{"no-such-command-of-this-test"}})
	equal(t, "exit code", res.ExitCode, engine.CodeNotFound)
}
