package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// change changes a gate by hand.
func change(t *testing.T, shared gate.Store, key string, change func(s gate.State, now time.Time) gate.State) {
	t.Helper()
	now := time.Now()
	must.OK(t, shared.Update(key, now, func(s gate.State) gate.State { return change(s, now) }))
}

func holdFor(t *testing.T, shared gate.Store, key string, d time.Duration, reason string) {
	t.Helper()
	change(t, shared, key, func(s gate.State, now time.Time) gate.State { return s.Held(now, now.Add(d), reason) })
}

func TestAdmission_WaitsForTheEndOfAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key = "api"
		w := observe(r)
		s := script(r, steps(0))
		holdFor(t, r.Shared, "api", time.Minute, "maintenance")
		begin := time.Now()
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		runs, err := r.State.Records().List()
		if err != nil || len(runs) != 1 || runs[0].State != supervise.StateWaiting || runs[0].Reason != "gate api: on hold: maintenance" || !runs[0].Until.Equal(begin.Add(time.Minute)) {
			t.Errorf("on record: %+v, %v", runs, err)
		}
		res, err := inv.Wait()
		must.OK(t, err)
		waited := s.Starts()[0].At.Sub(begin)
		if waited < time.Minute || waited > 62*time.Second || res.Waited != waited {
			t.Errorf("started after %v, the result says %v", waited, res.Waited)
		}
		addsUp(t, r, res)
		at := all[belaytype.AtGate](w)
		if len(at) != 1 || at[0].Key != "api" || at[0].Refusal.Kind != gate.KindHold || len(all[belaytype.WaitOver](w)) != 1 {
			t.Errorf("told %+v", at)
		}
	})
}

// A hold that is ended by hand wakes the waiters at once, not at their next look.
func TestAdmission_WakesWhenTheGateIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key = "api"
		s := script(r, steps(0))
		holdFor(t, r.Shared, "api", 4*time.Minute, "maintenance")
		begin := time.Now()
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		change(t, r.Shared, "api", gate.State.Reset)
		inv.Wait()
		if waited := s.Starts()[0].At.Sub(begin); waited < 10*time.Second || waited > 10*time.Second+200*time.Millisecond {
			t.Errorf("started after %v", waited)
		}
	})
}

// unwatched is a store whose changes cannot be watched.
type unwatched struct{ *gate.Memory }

func (unwatched) Watch(string) (<-chan struct{}, func(), error) { return nil, nil, errBroken }

func TestAdmission_LooksAgainWhereChangesAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key, r.Shared = "api", unwatched{&gate.Memory{}}
		s := script(r, steps(0))
		holdFor(t, r.Shared, "api", 4*time.Minute, "maintenance")
		begin := time.Now()
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		change(t, r.Shared, "api", gate.State.Reset)
		inv.Wait()
		if waited := s.Starts()[0].At.Sub(begin); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("started after %v", waited)
		}
	})
}

func TestAdmission_Refuses(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		noWait bool
		gate   func(s gate.State, now time.Time) gate.State
		class  verdict.Class
		text   string
		until  time.Duration // when the gate opens; 0 if that is not known
	}{
		"a hold, where no wait is allowed": {noWait: true, class: verdict.RateLimit, until: time.Minute, text: "gate api is on hold until ",
			gate: func(s gate.State, now time.Time) gate.State {
				return s.Held(now, now.Add(time.Minute), "rate_limit of claude")
			}},
		"a hold for a plan that is used up": {noWait: true, class: verdict.UsageLimit, until: time.Minute, text: "(usage limit)",
			gate: func(s gate.State, now time.Time) gate.State {
				return s.Held(now, now.Add(time.Minute), "usage_limit of claude")
			}},
		"a hold that is longer than may be waited": {policy: retry.Policy{MaxWait: 59 * time.Second}, class: verdict.RateLimit, until: time.Minute, text: "gate api is on hold until ",
			gate: func(s gate.State, now time.Time) gate.State { return s.Held(now, now.Add(time.Minute), "") }},
		"a hold that is longer than there is time": {policy: retry.Policy{TotalTimeout: 30 * time.Second}, class: verdict.RateLimit, until: time.Minute, text: "gate api is on hold until ",
			gate: func(s gate.State, now time.Time) gate.State { return s.Held(now, now.Add(time.Minute), "") }},
		"a breaker that opens too late": {class: verdict.BreakerOpen, until: time.Hour, text: "gate api is blocked until ",
			gate: func(s gate.State, now time.Time) gate.State { return s.Opened(now, now.Add(time.Hour), "outage") }},
		"a breaker, where the policy fails fast": {policy: retry.Policy{NoBreakerWait: true}, class: verdict.BreakerOpen, until: time.Minute, text: "Not waiting; retry later",
			gate: func(s gate.State, now time.Time) gate.State { return s.Opened(now, now.Add(time.Minute), "outage") }},
		"a breaker that waits for a person": {policy: retry.Policy{MaxWait: retry.None}, class: verdict.BreakerOpen, text: "gate api is blocked until it is reset (outage); retry later",
			gate: func(s gate.State, now time.Time) gate.State { return s.Opened(now, time.Time{}, "outage") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				r.Gate.Key, r.NoWait = "api", tt.noWait
				s := script(r, steps(0))
				change(t, r.Shared, "api", tt.gate)
				begin := time.Now()
				res, err := r.Run(t.Context(), tool)
				if len(s.Starts()) != 0 || res.Attempts != 0 || res.ChildCode != -1 || time.Since(begin) > 0 {
					t.Errorf("%d attempts, started %d times, ended with %d after %v", res.Attempts, len(s.Starts()), res.ChildCode, time.Since(begin))
				}
				if res.ExitCode != engine.CodeTryLater || res.Verdict.Class != tt.class || res.Verdict.Sent != verdict.SentNo || !errors.Is(err, retry.ErrMaxWait) {
					t.Errorf("exit code %d, %+v, %v", res.ExitCode, res.Verdict, err)
				}
				contains(t, res.Error, tt.text)
				if !strings.HasSuffix(res.Error, "retry later") {
					t.Errorf("%q", res.Error)
				}
				if open := begin.Add(tt.until); tt.until > 0 && !res.RetryAt.Equal(open) || tt.until == 0 && !res.RetryAt.IsZero() {
					t.Errorf("retry at %v", res.RetryAt)
				}
				if log := entries(t, r); len(log) != 1 || log[0].Attempt != 0 || log[0].Gate != "api" || log[0].Rule != "gate" {
					t.Errorf("on record: %+v", log)
				}
			})
		})
	}
}

// A caller may say it in its own words.
func TestAdmission_RefusalInWordsOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key, r.NoWait = "api", true
		r.Words = func(cause error) string {
			if refused, ok := errors.AsType[*belaytype.GateRefused](cause); ok {
				return "the gate " + refused.Key + " is closed; see belay gates"
			}
			return ""
		}
		script(r, steps(0))
		holdFor(t, r.Shared, "api", time.Minute, "")
		if res, _ := r.Run(t.Context(), tool); res.Error != "the gate api is closed; see belay gates" {
			t.Errorf("%q", res.Error)
		}
	})
}

func TestAdmission_CutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		cancel error
		code   int
		class  verdict.Class
		text   string
	}{
		"by a signal":            {cancel: &belaytype.Interrupt{Signal: int(syscall.SIGINT), Name: "SIGINT"}, code: 130, class: verdict.Interrupted, text: "tool was not started: interrupted by SIGINT"},
		"by its caller":          {cancel: context.Canceled, code: 143, class: verdict.Interrupted, text: "tool was not started: context canceled"},
		"by the end of its time": {policy: retry.Policy{TotalTimeout: 20 * time.Second}, code: engine.CodeTimeout, class: verdict.Timeout, text: "the total timeout (20 s) has passed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				r.Gate.Key, r.Gate.MaxParallel = "api", 1
				slot, _ := r.Shared.Take("api", 1, "another")
				defer slot.Free()
				s := script(r, steps(0))
				inv := start(t, r, tool)
				time.Sleep(20 * time.Second)
				if tt.cancel != nil {
					inv.Cancel(tt.cancel)
				}
				res, err := inv.Wait()
				if len(s.Starts()) != 0 || res.ExitCode != tt.code || res.Verdict.Class != tt.class || res.Duration != 20*time.Second {
					t.Errorf("exit code %d, %s after %v", res.ExitCode, res.Verdict.Class, res.Duration)
				}
				contains(t, res.Error, tt.text)
				if tt.cancel != nil && !errors.Is(err, tt.cancel) {
					t.Errorf("cause %v", errors.Unwrap(err))
				}
				if res.Waited != 20*time.Second || booked(t, r) != res.Waited {
					t.Errorf("waited %v, on record %v", res.Waited, booked(t, r))
				}
			})
		})
	}
}

func TestAdmission_CancelledBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		s := script(r, steps(0))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		res, err := r.Run(ctx, tool)
		if len(s.Starts()) != 0 || res.ExitCode != 143 || !errors.Is(err, context.Canceled) {
			t.Errorf("exit code %d, %v", res.ExitCode, err)
		}
	})
}

// A policy that fails fast at an open breaker still waits for a limit, and for a breaker that opens when it has begun: its own
// failures may have opened it.
func TestAdmission_FailsFastBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 1, NoBreakerWait: true})
		r.Gate.Key = "api"
		r.Observe = func(e belaytype.Event) {
			if _, ok := e.(belaytype.Waiting); ok {
				change(t, r.Shared, "api", func(s gate.State, now time.Time) gate.State { return s.Opened(now, now.Add(time.Minute), "outage") })
			}
		}
		s := script(r, steps(1), steps(0))
		holdFor(t, r.Shared, "api", time.Minute, "maintenance")
		begin := time.Now()
		res, err := r.Run(t.Context(), tool)
		if waited := time.Since(begin); err != nil || len(s.Starts()) != 2 || waited < 2*time.Minute {
			t.Errorf("%d starts in %v, %v: %s", len(s.Starts()), waited, err, res.Error)
		}
	})
}

// Several invocations of one runner share its slots, its breaker and its slow start, in one process.
func TestAdmission_Slots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key, r.Gate.MaxParallel = "api", 2
		w := observe(r)
		var now, most atomic.Int32
		script(r, steps(0, enginetest.Do(func() {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
		}), enginetest.Wait(10*time.Second), enginetest.Do(func() { now.Add(-1) })))
		begin := time.Now()
		var list []*engine.Invocation
		for range 6 {
			list = append(list, start(t, r, tool))
		}
		for _, inv := range list {
			if _, err := inv.Wait(); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); most.Load() != 2 || took < 30*time.Second || took > 33*time.Second {
			t.Errorf("%d at the same time, all in %v", most.Load(), took)
		}
		for _, at := range all[belaytype.AtGate](w) {
			equal(t, "refusal", engine.Describe(at.Refusal), "all slots taken: 2 of 2 in use")
		}
	})
}

// A call that is held has no use for a slot.
func TestAdmission_HoldTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key, r.Gate.MaxParallel = "api", 1
		script(r, steps(0))
		holdFor(t, r.Shared, "api", time.Minute, "")
		inv := start(t, r, tool)
		time.Sleep(time.Second)
		synctest.Wait()
		if holders := r.Shared.Holders("api"); len(holders) != 0 {
			t.Errorf("held by %v", holders)
		}
		inv.Wait()
	})
}

// After an outage one call tries, and the others wait for it; one that hangs does not keep them out for ever.
func TestAdmission_Probe(t *testing.T) {
	open := func(s gate.State, now time.Time) gate.State {
		s.Breaker = s.Breaker.Force(now, now.Add(time.Second), "outage")
		return s
	}
	t.Run("Answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{})
			r.Gate.Key = "api"
			r.Gate.Settings.Breaker.Successes = 1
			w := observe(r)
			s := script(r, steps(0, enginetest.Wait(20*time.Second), enginetest.Print("it works\n"), enginetest.Wait(time.Hour)))
			change(t, r.Shared, "api", open)
			for range 2 {
				inv := start(t, r, tool)
				defer inv.Wait()
			}
			time.Sleep(2 * time.Hour)
			equal(t, "starts", len(s.Starts()), 2)
			if gap := s.Gaps()[0]; gap < 20*time.Second || gap > 22*time.Second {
				t.Errorf("the second was started %v after the first", gap)
			}
			kinds := map[gate.Kind]bool{}
			for _, at := range all[belaytype.AtGate](w) {
				kinds[at.Refusal.Kind] = true
			}
			if !kinds[gate.KindBreaker] || !kinds[gate.KindProbe] {
				t.Errorf("refused by %v", kinds)
			}
		})
	})
	t.Run("Hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{})
			r.Gate.Key = "api"
			s := script(r, steps(0, enginetest.Wait(time.Hour)))
			change(t, r.Shared, "api", open)
			for range 2 {
				inv := start(t, r, tool)
				defer inv.Wait()
			}
			time.Sleep(2 * time.Hour)
			// Ten renewals every ten seconds, and the lease of thirty.
			if gap := s.Gaps()[0]; gap < 130*time.Second || gap > 132*time.Second {
				t.Errorf("the second was started %v after the first", gap)
			}
		})
	})
}

// After a hold, few start at a time.
func TestAdmission_SlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Gate.Key = "api"
		w := observe(r)
		s := script(r, steps(0, enginetest.Wait(5*time.Second), enginetest.Print("hello\n"), enginetest.Wait(5*time.Second)))
		holdFor(t, r.Shared, "api", 10*time.Second, "rate_limit of tool")
		var list []*engine.Invocation
		for range 3 {
			list = append(list, start(t, r, tool))
		}
		for _, inv := range list {
			inv.Wait()
		}
		gaps := s.Gaps()
		if gaps[0] < 5*time.Second || gaps[0] > 7*time.Second || gaps[1] > 2*time.Second {
			t.Errorf("started %v apart", gaps)
		}
		slow := 0
		for _, at := range all[belaytype.AtGate](w) {
			if at.Refusal.Kind == gate.KindSlowStart {
				slow++
				contains(t, engine.Describe(at.Refusal), "slow start after a hold")
			}
		}
		equal(t, "waited in the slow start", slow, 2)
	})
}

// What a store cannot do is said once, and stops nothing.
func TestAdmission_Trouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 3})
		r.Shared, r.Gate = brokenStore{}, belaytype.Gate{Key: "api", MaxParallel: 2}
		w := observe(r)
		s := script(r, steps(1), steps(0))
		if _, err := r.Run(t.Context(), tool); err != nil {
			t.Error(err)
		}
		trouble := all[belaytype.GateTrouble](w)
		if len(s.Starts()) != 2 || len(trouble) != 1 || trouble[0].Key != "api" || !errors.Is(trouble[0].Err, errBroken) {
			t.Errorf("%d starts, told %+v", len(s.Starts()), trouble)
		}
	})
}

func TestAdmission_OffTakesPartInNoGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Gate: "claude:host"})
		r.Gate.Off = true
		s := script(r, steps(0, enginetest.Line(enginetest.Event{Text: "done"})))
		holdFor(t, r.Shared, "claude:host", time.Hour, "")
		if _, err := r.Run(t.Context(), claude); err != nil || len(s.Starts()) != 1 {
			t.Error(err)
		}
	})
}

// A throttled attempt holds all of the same gate, and says for how long. There is one wait to speak of, not two.
func TestAdmission_ThrottleHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: time.Second, Jitter: retry.NoJitter})
		r.Gate.Key = "api"
		w := observe(r)
		const took = time.Second
		s := play(r, took, of(verdict.RateLimit), of(verdict.OK))
		begin := time.Now()
		res, err := r.Run(t.Context(), tool)
		must.OK(t, err)
		waiting := all[belaytype.Waiting](w)
		if len(waiting) != 1 || waiting[0].Wait != 5*time.Second || !waiting[0].Until.Equal(begin.Add(took+5*time.Second)) || waiting[0].Of != 0 {
			t.Errorf("told %+v", waiting)
		}
		gap := gaps(s, took)[0]
		if gap < 5*time.Second || gap > 6*time.Second || res.Waited != gap {
			t.Errorf("waited %v, the result says %v", gap, res.Waited)
		}
		addsUp(t, r, res)
		state, _ := r.Shared.Load("api")
		equal(t, "reason", state.Hold.Reason, "rate_limit of tool")
		if len(all[belaytype.AtGate](w)) != 0 {
			t.Error("two waits were told of")
		}
	})
}

func TestAdmission_HoldOfAThrottleIsEndedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: time.Second, Jitter: retry.NoJitter})
		r.Gate = belaytype.Gate{Key: "api", Settings: gate.Settings{Hold: time.Minute}}
		s := play(r, 0, of(verdict.RateLimit), of(verdict.OK))
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		change(t, r.Shared, "api", gate.State.Reset)
		res, _ := inv.Wait()
		if gap := s.Gaps()[0]; gap < 10*time.Second || gap > 11*time.Second {
			t.Errorf("waited %v", gap)
		}
		addsUp(t, r, res)
	})
}

func TestAdmission_HoldOfAThrottleIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: time.Second, Jitter: retry.NoJitter})
		r.Gate = belaytype.Gate{Key: "api", Settings: gate.Settings{Hold: time.Minute}}
		s := play(r, 0, of(verdict.RateLimit))
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		inv.Cancel(context.Canceled)
		res, _ := inv.Wait()
		if len(s.Starts()) != 1 || res.Waited != 10*time.Second || booked(t, r) != res.Waited || res.ExitCode != 143 {
			t.Errorf("exit code %d, waited %v, on record %v", res.ExitCode, res.Waited, booked(t, r))
		}
	})
}

// A hold that lasts longer than may be waited is not slept into.
func TestAdmission_HoldLongerThanMayBeWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: time.Second, Jitter: retry.NoJitter, MaxWait: 30 * time.Second})
		r.Gate = belaytype.Gate{Key: "api", Settings: gate.Settings{Hold: time.Minute}}
		play(r, 0, of(verdict.RateLimit))
		begin := time.Now()
		res, err := r.Run(t.Context(), tool)
		if time.Since(begin) > 0 || !errors.Is(err, retry.ErrMaxWait) || !res.RetryAt.Equal(begin.Add(time.Minute)) || res.Attempts != 1 {
			t.Errorf("after %v: %v, retry at %v", time.Since(begin), err, res.RetryAt)
		}
		contains(t, res.Error, "Not waiting until ", "the longest wait allowed is 30s")
	})
}

// A hold that is made longer while it is waited for is waited for at the gate, which says so.
func TestAdmission_HoldThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: time.Second, Jitter: retry.NoJitter})
		r.Gate.Key = "api"
		s := play(r, 0, of(verdict.RateLimit), of(verdict.OK))
		inv := start(t, r, tool)
		time.Sleep(3 * time.Second)
		holdFor(t, r.Shared, "api", time.Hour, "maintenance")
		res, err := inv.Wait()
		if len(s.Starts()) != 1 || !errors.Is(err, retry.ErrMaxWait) || res.ExitCode != engine.CodeTryLater {
			t.Errorf("exit code %d, %v", res.ExitCode, err)
		}
		contains(t, res.Error, "gate api is on hold until ")
		addsUp(t, r, res)
	})
}

// Calls of a service that keep failing are warned of before the breaker opens, once in an invocation.
func TestAdmission_GateFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: retry.None})
		r.Profile = &enginetest.Caller{Facts: agent.CallerInfo{Gate: "github:host"}}
		w := observe(r)
		script(r, steps(1, enginetest.Complain("network is down\n")))
		for i := range 5 {
			res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"gh", "api", "user"}})
			equal(t, "class", res.Verdict.Class, verdict.Network)
			warned := all[belaytype.GateFailing](w)
			if i < 3 && len(warned) > 0 {
				t.Fatalf("warned after %d failures: %+v", i+1, warned)
			}
			if i == 3 && (len(warned) != 1 || warned[0] != belaytype.GateFailing{Key: "github:host", Failures: 4, Of: 5}) {
				t.Errorf("warned: %+v", warned)
			}
		}
		if state, _ := r.Shared.Load("github:host"); state.Breaker.Phase != breaker.Open {
			t.Errorf("the breaker is %v", state.Breaker.Phase)
		}
		res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"gh", "api", "user"}})
		equal(t, "class", res.Verdict.Class, verdict.Network) // the sixth waits for the breaker, and fails again
	})
}

// Only what shows the service to be unhealthy counts with the breaker.
func TestAdmission_WhatCountsWithTheBreaker(t *testing.T) {
	for name, tt := range map[string]struct {
		policy  retry.Policy
		verdict verdict.Verdict
		counts  int
	}{
		"a failure of the service":      {verdict: of(verdict.ServerError), counts: 1},
		"what is wrong in itself":       {verdict: of(verdict.Auth)},
		"a throttle":                    {verdict: of(verdict.RateLimit)},
		"our own deadline":              {verdict: of(verdict.OK), policy: retry.Policy{Timeout: time.Second}},
		"our own deadline, if repeated": {verdict: of(verdict.OK), policy: retry.Policy{Timeout: time.Second, MaxRetries: 1, RetryTimeouts: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				r.Gate.Key = "api"
				play(r, 3*time.Second, tt.verdict)
				r.Run(t.Context(), tool)
				state, _ := r.Shared.Load("api")
				equal(t, "failures", state.Breaker.Failures, tt.counts)
			})
		})
	}
}

// A zero runner shares gates with all of its process, and writes nothing.
func TestAdmission_WithoutAState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := fmt.Sprint("test of ", t.Name())
		first, second := &engine.Runner{Admission: engine.Admission{Gate: belaytype.Gate{Key: key}}}, &engine.Runner{Admission: engine.Admission{Gate: belaytype.Gate{Key: key}, NoWait: true}}
		play(first, 0, hinted(verdict.RateLimit, time.Minute))
		first.Run(t.Context(), tool)
		s := play(second, 0, of(verdict.OK))
		if res, _ := second.Run(t.Context(), tool); res.Verdict.Class != verdict.RateLimit || len(s.Starts()) != 0 || res.Log != "" {
			t.Errorf("%+v", res)
		}
	})
}

// A hold that is ended by hand while the back-off before it runs is not waited for.
func TestAdmission_HoldIsEndedDuringTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, BaseDelay: 10 * time.Second, Jitter: retry.NoJitter})
		r.Gate = belaytype.Gate{Key: "api", Settings: gate.Settings{Hold: time.Minute}}
		s := play(r, 0, of(verdict.RateLimit), of(verdict.OK))
		inv := start(t, r, tool)
		time.Sleep(5 * time.Second)
		change(t, r.Shared, "api", gate.State.Reset)
		res, _ := inv.Wait()
		equal(t, "waited", s.Gaps()[0], 10*time.Second)
		addsUp(t, r, res)
	})
}
