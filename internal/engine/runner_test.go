package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// flaky starts each run's first attempt with a failure.
type flaky struct{ failed, done *enginetest.Script }

func (f flaky) Look(name, dir string) (string, error) { return name, nil }

func (f flaky) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	for _, one := range f.failed.Starts() {
		if one.Spec.RunID == spec.RunID {
			return f.done.Run(spec, started)
		}
	}
	return f.failed.Run(spec, started)
}

// Many invocations of one runner, at the same time, in one process: each has its own result, and they share the gate.
func TestRunner_ManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{Gate: "claude:host"})
		r.Gate.MaxParallel = 5
		r.Gate.Settings.Breaker.Failures = 1000
		r.Observe = func(belaytype.Event) {}
		r.Starter = flaky{&enginetest.Script{Attempts: []enginetest.Attempt{steps(1, enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Class: verdict.RateLimit, Hint: time.Second}))}},
			&enginetest.Script{Attempts: []enginetest.Attempt{steps(0, enginetest.Read(false), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK}), enginetest.Wait(time.Second))}}}
		const n = 20
		var list []*engine.Invocation
		for i := range n {
			prompt := fmt.Sprint("question ", i)
			list = append(list, start(t, r, belaytype.Command{Args: []string{"claude", "-p"}, Prompt: &prompt}))
		}
		ids := map[string]bool{}
		for _, inv := range list {
			res, err := inv.Wait()
			if err != nil || res.Attempts != 2 || res.Output.String() != "done" {
				t.Errorf("%d attempts: %v", res.Attempts, err)
			}
			ids[res.ID] = true
		}
		if log := entries(t, r); len(ids) != n || len(log) != 2*n {
			t.Errorf("%d runs, %d lines", len(ids), len(log))
		}
		if runs, _ := r.State.Records().List(); len(runs) != 0 || len(r.Shared.Holders("claude:host")) != 0 {
			t.Errorf("left: %v", runs)
		}
	})
}

// A question on the side ends with the invocation.
func TestRunner_CancelledWhileItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Effects.Verify = true
		calls(r, &enginetest.Caller{Facts: agent.CallerInfo{Changes: true}, Done: &agent.Effect{}}, steps(0, enginetest.Hang()), "network")
		inv := start(t, r, gh)
		time.Sleep(10 * time.Second)
		inv.Cancel(sigterm)
		res, err := inv.Wait()
		if res.Duration != 10*time.Second || res.ExitCode != 143 || res.Verdict.Class != verdict.Interrupted {
			t.Errorf("exit code %d after %v: %v", res.ExitCode, res.Duration, err)
		}
	})
}

func TestRunner_CallersThatCanLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		s := calls(r, &enginetest.Caller{Facts: agent.CallerInfo{Changes: true}, Blind: true}, enginetest.Attempt{}, "rate_limit unsent", "network")
		r.Effects.Verify = true
		_, err := r.Run(t.Context(), gh)
		if unknown, ok := errors.AsType[*belaytype.EffectUnknown](err); !ok || unknown.Verifiable || len(s.side.Starts()) != 0 || len(s.Starts()) != 2 {
			t.Errorf("%d starts, asked %d times: %v", len(s.Starts()), len(s.side.Starts()), err)
		}
	})
}

func TestRunner_VersionOfACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		w := observe(r)
		calls(r, &enginetest.Caller{Facts: agent.CallerInfo{Tested: agent.Tested{"3.0.0"}}}, enginetest.Attempt{}, "network", "")
		r.Run(t.Context(), gh)
		if untested := all[belaytype.UntestedVersion](w); len(untested) != 1 || untested[0].Version != "2.0.0" {
			t.Errorf("told %+v", untested)
		}
	})
}

// The JSON of a result has what is known, and null for the rest.
func TestResult_JSONFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key, r.NoWait = "api", true
		script(r, steps(0))
		holdFor(t, r.Shared, "api", time.Minute, "")
		refused, _ := r.Run(t.Context(), tool)
		r.Gate.Key = ""
		script(r, enginetest.Attempt{Left: []supervise.Proc{{PID: 99}}})
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		must.OK(t, err)
		defer null.Close()
		passed, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: null, Stderr: null})
		for _, tt := range []struct {
			res  *belaytype.Result
			want map[string]string
		}{
			{refused, map[string]string{"retry_at": refused.RetryAt.UTC().Format(`"2006-01-02T15:04:05Z"`), "child_exit_code": "null", "exit_code": "75", "attempts": "0", "result": `""`, "sent": `"no"`, "error_type": `"rate_limit"`}},
			{passed, map[string]string{"left_running": "[99]", "child_exit_code": "0", "result": "null", "error": "null", "retry_at": "null", "error_type": "null"}},
		} {
			var b bytes.Buffer
			var fields map[string]json.RawMessage
			must.OK(t, errors.Join(tt.res.WriteJSON(&b), json.Unmarshal(b.Bytes(), &fields)))
			for name, want := range tt.want {
				equal(t, name, string(fields[name]), want)
			}
		}
	})
}

// A session of which not all costs are known is on record so: the next run must not believe the sum.
func TestSession_CostThatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		converse(r, agent.Info{}, step{verdict.OK, agent.Account{Session: oneSession, SessionCost: new(0.5), SessionTokens: 10, Usage: verdict.Usage{InputTokens: 10}}})
		r.Run(t.Context(), claude)
		if told := r.State.Session("claude", oneSession).ToldCost; told == nil || *told != 0.5 {
			t.Errorf("told %v", told)
		}
		r.Resume.Session = oneSession
		converse(r, agent.Info{}, step{verdict.Auth, agent.Account{Session: oneSession, Usage: verdict.Usage{InputTokens: 10, Unknown: true}}})
		r.Run(t.Context(), claude)
		if told := r.State.Session("claude", oneSession).ToldCost; told != nil {
			t.Errorf("told %v", *told)
		}
	})
}

// Retries inside the CLI that are quicker than ours would be do not end it sooner.
func TestEventLog_QuickInnerRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.Policy = retry.Policy{MaxRetries: 2, BaseDelay: 10 * time.Second, Jitter: retry.NoJitter} // 10 s and 20 s
		var list []enginetest.Step
		for range 100 {
			list = append(list, enginetest.Line(enginetest.Event{Retry: verdict.Overloaded, Wait: time.Second}), enginetest.Wait(time.Second))
		}
		script(r, steps(1, list...))
		res, err := r.Run(t.Context(), claude)
		if res.Duration != 30*time.Second || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("ended after %v: %v", res.Duration, err)
		}
		contains(t, res.Error, "Gave up after 1 attempt and 30 retries of its own")
	})
}

// A long line of a CLI that prints nothing but its answer comes whole to those who read events.
func TestEventLog_LongPlainLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.Profile.(*enginetest.Agent).Plans = func(agent.Turn) agent.Plan { return agent.Plan{Args: []string{"claude"}, Plain: true} }
		long := strings.Repeat("x", 1_100_000)
		script(r, steps(0, enginetest.Print("short\n"), enginetest.Print(long+"\n")))
		inv := start(t, r, claude)
		var lines []string
		for e := range inv.Events() {
			if line, ok := e.(belaytype.AgentEvent); ok {
				lines = append(lines, string(line.Line))
			}
		}
		if len(lines) != 2 || lines[0] != "short" || lines[1] != long {
			t.Errorf("%d lines", len(lines))
		}
		if res, err := inv.Wait(); err != nil || res.Output.String() != "short\n"+long {
			t.Error(err)
		}
	})
}

// A result is there also if Wait is never called.
func TestInvocation_Over(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		script(r, steps(0, enginetest.Wait(time.Second)))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		inv, err := r.Start(ctx, tool)
		if err != nil || inv.Over() {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		cancel() // too late
		if res, err := inv.Wait(); err != nil || !inv.Over() || res.ID != inv.ID() {
			t.Error(err)
		}
	})
}
