package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

func TestDo_SuccessOnFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play()
		v, err := retry.Do(t.Context(), retry.Policy{}, s.fn)
		if v != 1 || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
		equalAll(t, "attempts at", s.at, seconds(0))
	})
}

func TestDo_SuccessAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, _ := retry.Preset("claude")
	p.Classify = classify
	if n := testing.AllocsPerRun(100, func() { _, _ = retry.Do(ctx, p, succeed) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDo_SuccessAfterThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(errLimit)
		v, err := retry.Do(t.Context(), retry.Policy{Classify: classify, Jitter: retry.NoJitter}, s.fn)
		if v != 2 || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
		equalAll(t, "attempts at", s.at, seconds(0, 1))
	})
}

// The claude preset of seed 000: five attempts, 2, 4, 8 and 16 s apart.
func TestDo_RetriesExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := retry.Preset("claude")
		p.Classify = classify
		p.CountThrottles = true
		p.Jitter = retry.NoJitter
		s := always(errLimit)
		v, err := retry.Do(t.Context(), p, s.fn)
		e := stopped(t, err, retry.ErrExhausted)
		equal(t, "value of the last attempt", v, 5)
		equal(t, "attempts", e.Attempts, 5)
		equal(t, "waited", e.Waited, 30*time.Second)
		equalAll(t, "gaps", s.gaps(), seconds(2, 4, 8, 16))
		if !errors.Is(err, errLimit) {
			t.Error("the last error is lost")
		}
	})
}

func TestDo_PermanentErrorIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(fmt.Errorf("login: %w", errKey))
		_, err := retry.Do(t.Context(), retry.Policy{Classify: classify}, s.fn)
		e := stopped(t, err, retry.ErrPermanent)
		equal(t, "attempts", e.Attempts, 1)
		equalAll(t, "attempts at", s.at, seconds(0))
		if !errors.Is(err, errKey) {
			t.Error("the last error is lost")
		}
	})
}

func TestDo_PermanentErrorAfterTransientOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(errLost, errKey)
		_, err := retry.Do(t.Context(), retry.Policy{Classify: classify}, s.fn)
		equal(t, "attempts", stopped(t, err, retry.ErrPermanent).Attempts, 2)
	})
}

func TestDo_NoneMeansNoRetry(t *testing.T) {
	for _, failure := range []error{errLost, errLimit} {
		t.Run(failure.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := always(failure)
				_, err := retry.Do(t.Context(), retry.Policy{MaxRetries: retry.None, Classify: classify}, s.fn)
				equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, 1)
			})
		})
	}
}

func TestDo_OnRetryHearsOfEachWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []retry.Retry
		p := retry.Policy{
			Classify: classify,
			Jitter:   retry.NoJitter,
			OnRetry:  func(r retry.Retry) { heard = append(heard, r) },
		}
		s := play(errLost, errLimit)
		if _, err := retry.Do(t.Context(), p, s.fn); err != nil {
			t.Fatal(err)
		}
		want := []retry.Retry{
			{Attempt: 1, Err: errLost, Advice: classify(errLost), Wait: time.Second, Until: s.start.Add(1 * time.Second)},
			{Attempt: 2, Err: errLimit, Advice: classify(errLimit), Wait: 2 * time.Second, Until: s.start.Add(3 * time.Second)},
		}
		equalAll(t, "retries", heard, want)
	})
}

func TestDo_CustomDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		linear := func(n int, err error) time.Duration {
			if !errors.Is(err, errLost) {
				t.Errorf("Delay got %v", err)
			}
			return time.Duration(n+1) * 2 * time.Second
		}
		s := always(errLost)
		_, err := retry.Do(t.Context(), retry.Policy{Classify: classify, Delay: linear, MaxDelay: time.Second}, s.fn)
		stopped(t, err, retry.ErrExhausted)
		equalAll(t, "gaps", s.gaps(), seconds(2, 4, 6))
	})
}

func TestDo_NegativeCustomDelayIsNoDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(errLost)
		delay := func(int, error) time.Duration { return -time.Second }
		_, err := retry.Do(t.Context(), retry.Policy{Classify: classify, Delay: delay}, s.fn)
		equal(t, "waited", stopped(t, err, retry.ErrExhausted).Waited, 0)
		equalAll(t, "attempts at", s.at, seconds(0, 0, 0, 0))
	})
}

// Seed 001's RetryManager: a circuit breaker is asked before each attempt, only a lost connection is repeated, and
// everything else is raised at once.
func TestDo_RetryManagerFlow(t *testing.T) {
	errOpen := errors.New("circuit breaker is open")
	for _, c := range []struct {
		name     string
		failures []error
		open     bool
		cause    error
		last     error
		attempts int
		recorded string
	}{
		{name: "Success", attempts: 1, recorded: "success"},
		{name: "ConnectionErrorThenSuccess", failures: []error{errLost, errLost}, attempts: 3, recorded: "success"},
		{name: "ConnectionErrorsExhausted", failures: []error{errLost, errLost, errLost, errLost}, cause: retry.ErrExhausted, last: errLost, attempts: 4, recorded: "failure"},
		{name: "SDKError", failures: []error{errKey}, cause: retry.ErrPermanent, last: errKey, attempts: 1, recorded: "failure"},
		{name: "OtherErrorAfterConnectionError", failures: []error{errLost, errors.ErrUnsupported}, cause: retry.ErrPermanent, last: errors.ErrUnsupported, attempts: 2, recorded: "failure"},
		{name: "BreakerOpen", open: true, cause: retry.ErrPermanent, last: errOpen, attempts: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := retry.Preset("sdk")
				p.Classify = classify
				s := play(c.failures...)
				_, err := retry.Do(t.Context(), p, func(ctx context.Context) (int, error) {
					if c.open {
						return 0, errOpen
					}
					return s.fn(ctx)
				})
				var recorded string
				switch {
				case err == nil:
					recorded = "success"
				case !errors.Is(err, errOpen):
					recorded = "failure"
				}
				equal(t, "recorded", recorded, c.recorded)
				equal(t, "attempts", len(s.at), c.attempts)
				if c.cause != nil {
					stopped(t, err, c.cause)
				}
				if !errors.Is(err, c.last) {
					t.Errorf("got %v, want %v in it", err, c.last)
				}
			})
		})
	}
}

func TestDo_PanicPasses(t *testing.T) {
	defer func() { equal(t, "recovered", recover(), any("boom")) }()
	_, _ = retry.Do(t.Context(), retry.Policy{Timeout: time.Hour}, func(context.Context) (int, error) { panic("boom") })
}
