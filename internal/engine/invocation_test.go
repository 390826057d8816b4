package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// play scripts a command whose attempts take so long and are judged by these verdicts, the last one for ever.
func play(r *engine.Runner, took time.Duration, verdicts ...verdict.Verdict) *enginetest.Script {
	s := &enginetest.Script{}
	for _, v := range verdicts {
		code := 1
		if v.Class == verdict.OK {
			code = 0
		}
		s.Attempts = append(s.Attempts, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(took)}, Code: code})
	}
	r.Starter = s
	r.Judge = func(own verdict.Verdict, _ verdict.Outcome, _ time.Time) verdict.Verdict {
		return verdicts[min(len(s.Starts()), len(verdicts))-1]
	}
	return s
}

// gaps are the times between the starts, less what an attempt took.
func gaps(s *enginetest.Script, took time.Duration) (list []time.Duration) {
	for _, gap := range s.Gaps() {
		list = append(list, gap-took)
	}
	return list
}

func of(c verdict.Class) verdict.Verdict { return verdict.Verdict{Class: c, Retryable: c.Retryable()} }

func hinted(c verdict.Class, after time.Duration) verdict.Verdict {
	v := of(c)
	v.Hint.After = after
	return v
}

func runner(t *testing.T, p retry.Policy) *engine.Runner {
	return &engine.Runner{Policy: p, State: &state.State{Dir: filepath.Join(t.TempDir(), "state")}, Admission: engine.Admission{Shared: &gate.Memory{}, Scopes: &gate.Memory{}}}
}

func entries(t *testing.T, r *engine.Runner) []journal.Entry {
	t.Helper()
	f, err := os.Open(r.State.LogPath())
	must.OK(t, err)
	defer f.Close()
	var list []journal.Entry
	for e := range journal.Read(f, nil) {
		list = append(list, e)
	}
	return list
}

// booked is what all lines of the log say that was waited.
func booked(t *testing.T, r *engine.Runner) (sum time.Duration) {
	t.Helper()
	for _, e := range entries(t, r) {
		sum += time.Duration((e.WaitTime + e.GateWait) * 1e9).Round(time.Microsecond)
	}
	return sum
}

// The scenarios of seed 000 that are about repeating, in fake time.
func TestInvocation_Repeats(t *testing.T) {
	exact := retry.Policy{MaxRetries: 4, BaseDelay: 2 * time.Second, MaxDelay: 120 * time.Second, Jitter: retry.NoJitter}
	timed := exact
	timed.Timeout = 2 * time.Second
	tests := map[string]struct {
		policy   retry.Policy
		verdicts []verdict.Verdict
		success  bool
		class    verdict.Class
		gaps     []time.Duration
		code     int
		status   []journal.Status
	}{
		"010 success at the first attempt": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.OK)}, success: true, class: verdict.OK,
			status: []journal.Status{journal.Success},
		},
		"020 a throttle, then success": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.RateLimit), of(verdict.OK)}, success: true, class: verdict.OK,
			gaps:   []time.Duration{2 * time.Second},
			status: []journal.Status{journal.Retry, journal.Success},
		},
		"030 throttled for ever, by count": {
			policy:   retry.Policy{MaxRetries: 4, CountThrottles: true, BaseDelay: 2 * time.Second, Jitter: retry.NoJitter},
			verdicts: []verdict.Verdict{of(verdict.RateLimit)}, class: verdict.RateLimit,
			gaps:   []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second},
			code:   1,
			status: []journal.Status{journal.Retry, journal.Retry, journal.Retry, journal.Retry, journal.Exhausted},
		},
		"040 bad credentials are not repeated": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.Auth)}, class: verdict.Auth, code: 1,
			status: []journal.Status{journal.Error},
		},
		"050 a request of the CLI's timed out": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.Timeout), of(verdict.OK)}, success: true, class: verdict.OK,
			gaps:   []time.Duration{2 * time.Second},
			status: []journal.Status{journal.Retry, journal.Success},
		},
		"a hint is a floor": {
			policy: exact, verdicts: []verdict.Verdict{hinted(verdict.RateLimit, 40*time.Second), of(verdict.OK)},
			success: true, class: verdict.OK, gaps: []time.Duration{40 * time.Second},
			status: []journal.Status{journal.Retry, journal.Success},
		},
		"a hint past the longest wait ends it at once": {
			policy: exact, verdicts: []verdict.Verdict{hinted(verdict.RateLimit, 6*time.Minute)},
			class: verdict.RateLimit, code: 1, status: []journal.Status{journal.Exhausted},
		},
		"a used-up plan is waited for if that fits": {
			policy: exact, verdicts: []verdict.Verdict{hinted(verdict.UsageLimit, 4*time.Minute), of(verdict.OK)},
			success: true, class: verdict.OK, gaps: []time.Duration{4 * time.Minute},
			status: []journal.Status{journal.Retry, journal.Success},
		},
		"a used-up plan that says no time is final": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.UsageLimit)}, class: verdict.UsageLimit, code: 1,
			status: []journal.Status{journal.Error},
		},
		"a stall is repeated once": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.Stalled)}, class: verdict.Stalled, code: engine.CodeTimeout,
			gaps:   []time.Duration{2 * time.Second},
			status: []journal.Status{journal.Retry, journal.Exhausted},
		},
		"malformed output is repeated once": {
			policy: exact, verdicts: []verdict.Verdict{of(verdict.BadOutput)}, class: verdict.BadOutput, code: 1,
			gaps:   []time.Duration{2 * time.Second},
			status: []journal.Status{journal.Retry, journal.Exhausted},
		},
		"the hard deadline is not repeated": {
			policy: timed, verdicts: []verdict.Verdict{of(verdict.OK)},
			class: verdict.Timeout, code: engine.CodeTimeout, status: []journal.Status{journal.Error},
		},
		"nothing is repeated unless asked": {
			verdicts: []verdict.Verdict{of(verdict.Network)}, class: verdict.Network, code: 1,
			status: []journal.Status{journal.Error},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				const took = 3 * time.Second // longer than a timeout
				lasts := took
				if tt.policy.Timeout > 0 {
					lasts = tt.policy.Timeout
				}
				script := play(r, took, tt.verdicts...)
				res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
				if res.Success != tt.success || res.Verdict.Class != tt.class || (err == nil) != tt.success {
					t.Errorf("got success %v, class %s, error %v", res.Success, res.Verdict.Class, err)
				}
				if res.ExitCode != tt.code || res.Attempts != len(tt.status) {
					t.Errorf("exit code %d after %d attempts, want %d after %d", res.ExitCode, res.Attempts, tt.code, len(tt.status))
				}
				got := gaps(script, took)
				if len(got) != len(tt.gaps) {
					t.Fatalf("waits %v, want %v", got, tt.gaps)
				}
				for i := range got {
					if got[i] != tt.gaps[i] {
						t.Errorf("waits %v, want %v", got, tt.gaps)
					}
				}
				var waited time.Duration
				for _, gap := range got {
					waited += gap
				}
				if res.Waited != waited || booked(t, r) != waited {
					t.Errorf("the result says %v of waiting, the log %v, and it was %v", res.Waited, booked(t, r), waited)
				}
				for i, e := range entries(t, r) {
					if e.Status != tt.status[i] || e.Attempt != i+1 || e.Invocation != res.ID || e.ResponseTime != lasts.Seconds() {
						t.Errorf("log line %d: %+v, want status %s", i, e, tt.status[i])
					}
				}
			})
		})
	}
}

// A command of its own exit code does not say "retry later", which goes with 75: TestSeed has that of agents.
func TestInvocation_Exhaustion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 1, Jitter: retry.NoJitter})
		play(r, 0, of(verdict.Overloaded))
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
		if !strings.HasSuffix(res.Error, ". Gave up after 2 attempts") || res.ExitCode == engine.CodeTryLater || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("error %q, cause %v", res.Error, errors.Unwrap(err))
		}
		if got := res.Output.String(); got != "" {
			t.Errorf("result %q after exhaustion, want none", got)
		}
		if len(res.Errors) != 2 || res.Errors[1] != res.Error || res.Waited != time.Second {
			t.Errorf("errors %q, waited %v", res.Errors, res.Waited)
		}
	})
}

func TestInvocation_TotalTimeout(t *testing.T) {
	t.Run("EndsARunningAttempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 5, TotalTimeout: 10 * time.Second})
			play(r, time.Hour, of(verdict.Network))
			begin := time.Now()
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
			if took := time.Since(begin); took != 10*time.Second || res.Attempts != 1 || !errors.Is(err, retry.ErrTotalTimeout) {
				t.Errorf("ended after %v and %d attempts: %v", took, res.Attempts, err)
			}
		})
	})
	t.Run("IsNotSleptInto", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 5, TotalTimeout: 10 * time.Second, Jitter: retry.NoJitter})
			play(r, time.Second, hinted(verdict.RateLimit, time.Minute))
			begin := time.Now()
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
			if took := time.Since(begin); took != time.Second || !errors.Is(err, retry.ErrTotalTimeout) {
				t.Errorf("ended after %v: %v", took, err)
			}
			if want := begin.Add(time.Second + time.Minute); !res.RetryAt.Equal(want) {
				t.Errorf("retry at %v, want %v", res.RetryAt, want)
			}
		})
	})
}

// On a busy machine the total timeout can pass before there is a process, or between two. It is the total timeout all the same,
// not an interruption by the user.
func TestInvocation_TotalTimeoutBetweenAttempts(t *testing.T) {
	check := func(t *testing.T, res *belaytype.Result, err error) {
		t.Helper()
		if res.ExitCode != engine.CodeTimeout || res.Verdict.Class != verdict.Timeout || !errors.Is(err, retry.ErrTotalTimeout) || !strings.Contains(res.Error, "total timeout") {
			t.Errorf("exit code %d, %s, %q, %v", res.ExitCode, res.Verdict.Class, res.Error, err)
		}
	}
	t.Run("BeforeTheFirst", func(t *testing.T) {
		res, err := runner(t, retry.Policy{TotalTimeout: 1}).Run(t.Context(), belaytype.Command{Args: []string{"sleep", "60"}})
		check(t, res, err)
		if res.Attempts != 0 {
			t.Errorf("%d attempts", res.Attempts)
		}
	})
	t.Run("BeforeTheNext", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 5, BaseDelay: 5 * time.Second, TotalTimeout: 10 * time.Second, Jitter: retry.NoJitter})
			play(r, time.Second, of(verdict.Network))
			r.Observe = func(e belaytype.Event) {
				if _, ok := e.(belaytype.Waiting); ok {
					time.Sleep(9 * time.Second) // the machine was too busy to run us
				}
			}
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
			check(t, res, err)
			if res.Attempts != 1 {
				t.Errorf("%d attempts", res.Attempts)
			}
		})
	})
}

func TestInvocation_IsInterruptedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 3, BaseDelay: time.Minute, Jitter: retry.NoJitter})
		play(r, 0, of(verdict.Network))
		inv, err := r.Start(t.Context(), belaytype.Command{Args: []string{"tool"}})
		must.OK(t, err)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		runs, err := r.State.Records().List()
		if err != nil || len(runs) != 1 || runs[0].State != supervise.StateWaiting || !runs[0].Until.After(time.Now()) {
			t.Errorf("records while waiting: %+v, %v", runs, err)
		}
		inv.Cancel(&belaytype.Interrupt{Signal: int(syscall.SIGTERM), Name: "SIGTERM"})
		res, _ := inv.Wait()
		if res.ExitCode != 143 || res.Verdict.Class != verdict.Interrupted || res.Duration != 20*time.Second {
			t.Errorf("exit code %d, class %s after %v", res.ExitCode, res.Verdict.Class, res.Duration)
		}
		if list := entries(t, r); res.Waited != 20*time.Second || booked(t, r) != res.Waited || list[0].WaitTime != 60 || list[1].GateWait != -40 {
			t.Errorf("waited %v, on record %v: %+v", res.Waited, booked(t, r), list)
		}
		if runs, _ := r.State.Records().List(); len(runs) != 0 {
			t.Errorf("records left: %+v", runs)
		}
	})
}

// What a failed attempt has complained of was told when it failed; it is not passed on again when the wait after it is cut
// short.
func TestInvocation_StderrOfADiscardedAttempt(t *testing.T) {
	for name, profile := range map[string]agent.Profile{"Plain": nil, "Agent": &enginetest.Agent{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: 3, BaseDelay: time.Minute, Jitter: retry.NoJitter})
				r.Profile, r.LogDir = profile, engine.NoLogDir
				r.Starter = &enginetest.Script{Attempts: []enginetest.Attempt{{Code: 1, Steps: []enginetest.Step{enginetest.Complain("connection reset\n"),
					enginetest.Line(enginetest.Event{Class: verdict.Network})}}}}
				var stderr strings.Builder
				inv, err := r.Start(t.Context(), belaytype.Command{Args: []string{"tool"}, Stderr: &stderr})
				must.OK(t, err)
				time.Sleep(20 * time.Second)
				inv.Cancel(&belaytype.Interrupt{Signal: int(syscall.SIGTERM), Name: "SIGTERM"})
				if res, _ := inv.Wait(); res.Attempts != 1 || stderr.String() != "" {
					t.Errorf("%d attempts, %q on stderr", res.Attempts, stderr.String())
				}
			})
		})
	}
}

func TestInvocation_CustomDelaySeesTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 2, Delay: func(n int, err error) time.Duration {
			var e *belaytype.Error
			if !errors.As(err, &e) || e.Verdict.Class != verdict.Network {
				t.Errorf("Delay was given %v", err)
			}
			return time.Duration(n+1) * time.Second // linear, as seed 001 shows
		}})
		script := play(r, 0, of(verdict.Network))
		r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
		got := gaps(script, 0)
		if len(got) != 2 || got[0] != time.Second || got[1] != 2*time.Second {
			t.Errorf("waits %v", got)
		}
	})
}

func TestInvocation_StateTroubleIsSaidOnceAndStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must.OK(t, os.WriteFile(file, nil, 0o600))
		said := 0
		r := &engine.Runner{State: &state.State{Dir: file}, Policy: retry.Policy{MaxRetries: 2}, Observe: func(e belaytype.Event) {
			if _, ok := e.(belaytype.StateTrouble); ok {
				said++
			}
		}}
		play(r, 0, of(verdict.Network), of(verdict.OK))
		if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}}); err != nil || said != 1 {
			t.Errorf("error %v, said %d times", err, said)
		}
	})
}

// Where neither a number nor a time was given, waits may be as short as they like: twenty attempts are enough.
func TestInvocation_NoMoreThanTwentyAttempts(t *testing.T) {
	quick := retry.Policy{MaxRetries: 4, BaseDelay: 100 * time.Millisecond, MaxDelay: 300 * time.Millisecond, Jitter: retry.NoJitter}
	waiting := quick
	waiting.MaxWait = 10 * time.Second
	counted := quick
	counted.CountThrottles = true
	for name, tt := range map[string]struct {
		policy   retry.Policy
		attempts int
		ends     string
	}{
		"Neither":    {quick, 20, "Gave up after 20 attempts"},
		"MaxWait":    {waiting, 35, "Not waiting until "},
		"MaxRetries": {counted, 5, "Gave up after 5 attempts"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				play(r, time.Second, of(verdict.RateLimit))
				res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}})
				if res.Attempts != tt.attempts || !strings.Contains(res.Error, tt.ends) {
					t.Errorf("%d attempts: %s", res.Attempts, res.Error)
				}
				if booked(t, r) != res.Waited {
					t.Errorf("waited %v, on record %v", res.Waited, booked(t, r))
				}
			})
		})
	}
}
