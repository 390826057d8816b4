package batch_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// account is one of a service that tells with each answer how much of its window is used. It is an [engine.Starter]: each process is one call.
type account struct {
	each   float64 // of the window that a call uses
	beyond bool    // it answers when all of the window is used, too

	mu                sync.Mutex
	used              float64
	resets            time.Time
	running, overshot int
	refused           int
	highest           float64 // share that was told when a call started
}

func (a *account) Look(name, _ string) (string, error) { return name, nil }

func (a *account) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); !now.Before(a.resets) {
		a.used, a.resets = 0, now.Add(5*time.Hour)
	}
	a.highest = max(a.highest, a.used)
	attempt := enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(time.Second)}}
	if a.used+a.each > 1+1e-9 && !a.beyond {
		a.refused++
		attempt.Steps = append(attempt.Steps, enginetest.Line(enginetest.Event{Class: verdict.UsageLimit, Hint: time.Until(a.resets)}))
		attempt.Code = 1
	} else {
		a.running++
		attempt.Steps = append(attempt.Steps, enginetest.Wait(time.Minute), enginetest.PrintFunc(a.answer))
	}
	a.mu.Unlock()
	defer a.mu.Lock()
	return (&enginetest.Script{Attempts: []enginetest.Attempt{attempt}}).Run(spec, started)
}

// answer is what is printed at the end of a call, which has used its share then.
func (a *account) answer() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	if a.used += a.each; a.used > 0.8+1e-9 {
		a.overshot++
	}
	return enginetest.Text(enginetest.Event{Text: "answer", Quota: []quota.Window{{Name: "five_hour", Used: a.used, Resets: a.resets}}})
}

// batch is one of 60 tasks that use the account.
func (a *account) batch(t *testing.T, jobs int, reserve quota.Reserve) *batch.Batch {
	gates := gate.Memory{}
	return &batch.Batch{Plan: planOf(t, 60), Jobs: jobs, MaxJobs: 16, Do: func(ctx context.Context, job *batch.Job) batch.Outcome {
		r := &engine.Runner{
			Profile: &enginetest.Agent{Facts: agent.Info{Gate: "api"}},
			Starter: a,
			Policy:  retry.Policy{MaxWait: retry.None},
			Observe: observe(job),
			Follow: func(a engine.Activity) {
				if a.Filled != nil {
					job.Filled(reserve.Left(a.Filled), a.Filled.Resets)
				}
			},
			Admission: engine.Admission{Shared: &gates, Reserve: reserve},
		}
		if _, err := r.Run(ctx, belaytype.Command{Args: []string{"claude", "-p"}, Prompt: &job.Task.Prompt}); err != nil {
			return batch.Outcome{State: batch.Failed, Error: err.Error()}
		}
		return batch.Outcome{State: batch.Done}
	}}
}

// Work that leaves a reserve begins nothing beyond it, goes on when the window begins anew, and loses nothing. Without one, as many tasks at a time as the
// window has room for do not meet its end together.
func TestQuota(t *testing.T) {
	for name, c := range map[string]struct {
		jobs, refused, overshot int
		reserve                 quota.Reserve
	}{
		"Reserve":           {0, 0, 2, quota.Reserve{"": 0.2}},
		"TwentyAtATime":     {20, 0, 20, quota.Reserve{"five_hour": 0.2}},
		"SlowsDown":         {0, 2, 60, nil},
		"OfAnotherWindow":   {0, 2, 60, quota.Reserve{"seven_day": 0.5}},
		"OneByOne, to keep": {1, 0, 1, quota.Reserve{"": 0.2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := &account{each: 0.02}
				b := a.batch(t, c.jobs, c.reserve)
				begun := time.Now()
				sum, err := b.Run(t.Context())
				if err != nil || sum.Counts[batch.Done] != 60 {
					t.Fatalf("%+v %v", sum, err)
				}
				t.Logf("%d refused, %d answers beyond the reserve, started at %.2f at most, in %v", a.refused, a.overshot, a.highest, time.Since(begun))
				if kept := c.reserve.Reached(quota.Quota{{Name: "five_hour", Used: a.highest, Resets: time.Now().Add(time.Hour), Told: time.Now()}}, time.Now(), ""); a.refused > c.refused || a.overshot > c.overshot || kept != nil {
					t.Errorf("at most %d and %d", c.refused, c.overshot)
				}
			})
		})
	}
}

// A service that goes on when all of a window is used has no wall that tasks would meet: there are soon as many of them as before.
func TestQuota_Beyond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{each: 0.05, beyond: true}
		begun := time.Now()
		if sum, _ := a.batch(t, 0, nil).Run(t.Context()); sum.Counts[batch.Done] != 60 || time.Since(begun) > 20*time.Minute {
			t.Errorf("%+v in %v", sum, time.Since(begun))
		}
	})
}
