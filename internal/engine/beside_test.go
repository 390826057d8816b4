package engine_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// besideRunner is a runner of an agent that tells something beside its events.
func besideRunner(t *testing.T, b *enginetest.Beside) *engine.Runner {
	r := agentRunner(agent.Info{})
	r.Profile.(*enginetest.Agent).Beside = b
	r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
	return r
}

// complain prints an event on stderr.
func complain(e enginetest.Event) enginetest.Step {
	data, _ := json.Marshal(e)
	return enginetest.Complain(string(data) + "\n")
}

// What a CLI says of its retries on stderr counts as if it were an event, and what it says there is passed on.
func TestBeside_RetriesOnStderr(t *testing.T) {
	again := enginetest.Event{Retry: verdict.ServerError, Wait: time.Second}
	t.Run("Counted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := besideRunner(t, &enginetest.Beside{})
			w := observe(r)
			script(r, steps(0, enginetest.Complain("a warning\n"), complain(again), enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
			c := claude
			var stderr bytes.Buffer
			c.Stderr = &stderr
			res, err := r.Run(t.Context(), c)
			if err != nil || res.Waited != time.Second || len(all[belaytype.InnerRetry](w)) != 1 || entries(t, r)[0].InnerRetries != 1 {
				t.Errorf("waited %v, told %+v: %v", res.Waited, all[belaytype.InnerRetry](w), err)
			}
			if !strings.HasPrefix(stderr.String(), "a warning\n{") {
				t.Errorf("on stderr: %q", &stderr)
			}
		})
	})
	t.Run("Ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := besideRunner(t, &enginetest.Beside{})
			hopeless := again
			hopeless.Retry, hopeless.Hopeless = verdict.Auth, true
			script(r, steps(0, complain(hopeless), enginetest.Hang()))
			res, err := r.Run(t.Context(), claude)
			if err == nil || res.Verdict.Class != verdict.Auth || res.ExitCode != engine.CodePersonMustAct || res.Attempts != 1 {
				t.Errorf("exit code %d, %s after %d attempts: %v", res.ExitCode, res.Verdict.Class, res.Attempts, err)
			}
		})
	})
}

// What a model call has cost is known as soon as it is on record, though no event comes: the agent is stopped at its limit
// while a tool runs.
func TestBeside_CostOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, cost := time.Now(), 3.0
		told := false
		r := besideRunner(t, &enginetest.Beside{Record: func() (enginetest.Event, bool) {
			if told || time.Since(begun) < 300*time.Millisecond { // it comes a moment after the event
				return enginetest.Event{}, false
			}
			told = true
			return enginetest.Event{Tools: 1, GoesOn: true, Turn: &verdict.Usage{InputTokens: 1, CostUSD: &cost}}, true
		}})
		r.MaxCost = 2
		script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession, Answered: true, Tools: 1, GoesOn: true}), enginetest.Hang()))
		res, err := r.Run(t.Context(), claude)
		if err == nil || res.Verdict.Class != verdict.LimitReached || !told || res.Duration > 10*time.Second {
			t.Errorf("%s after %v: %v", res.Verdict.Class, res.Duration, err)
		}
	})
}

// What is new on record is a sign of life, and says nothing of retries.
func TestBeside_RecordIsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		r := besideRunner(t, &enginetest.Beside{Record: func() (enginetest.Event, bool) { return enginetest.Event{}, time.Since(begun) < time.Hour }})
		r.Stall, r.Policy.MaxRetries = time.Minute, retry.None
		script(r, steps(0, enginetest.Hang()))
		res, err := r.Run(t.Context(), claude)
		if err == nil || res.Verdict.Class != verdict.Stalled || res.Duration < time.Hour || res.Duration > time.Hour+2*time.Minute {
			t.Errorf("%s after %v: %v", res.Verdict.Class, res.Duration, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := besideRunner(t, &enginetest.Beside{Record: func() (enginetest.Event, bool) { return enginetest.Event{}, true }})
		var list []enginetest.Step
		for range 20 {
			list = append(list, complain(enginetest.Event{Retry: verdict.ServerError, Wait: time.Minute}), enginetest.Wait(time.Minute))
		}
		script(r, steps(1, list...))
		if res, err := r.Run(t.Context(), claude); err == nil || res.Duration > 6*time.Minute {
			t.Errorf("ended after %v: %v", res.Duration, err)
		}
	})
}

// The exit code is that of the form that was asked for.
func TestBeside_ExitCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := besideRunner(t, &enginetest.Beside{Code: func(int) int { return 1 }})
		script(r, steps(144, enginetest.Line(enginetest.Event{Class: verdict.InvalidRequest})))
		if res, _ := r.Run(t.Context(), claude); res.ExitCode != 1 || res.ChildCode != 1 {
			t.Errorf("exit code %d, the child's %d", res.ExitCode, res.ChildCode)
		}
	})
}
