package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

// hang is an attempt that goes on until its context ends.
func hang(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestDo_TimeoutIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := retry.Do(t.Context(), retry.Policy{Timeout: time.Minute, Classify: classify}, hang)
		e := stopped(t, err, retry.ErrTimeout)
		equal(t, "attempts", e.Attempts, 1)
		equal(t, "ended after", time.Since(start), time.Minute)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the last error is lost")
		}
	})
}

func TestDo_RetryTimeouts(t *testing.T) {
	for _, c := range []struct {
		name       string
		retries, n int
		attempts   int
		cause      error
	}{
		{"One", 3, 1, 2, retry.ErrTimeout},
		{"Two", 3, 2, 3, retry.ErrTimeout},
		{"WithinMaxRetries", 1, 5, 2, retry.ErrExhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := retry.Policy{MaxRetries: c.retries, Timeout: time.Minute, RetryTimeouts: c.n, Classify: classify}
				_, err := retry.Do(t.Context(), p, hang)
				equal(t, "attempts", stopped(t, err, c.cause).Attempts, c.attempts)
			})
		})
	}
}

func TestDo_TimeoutRetriedThenSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		p := retry.Policy{Timeout: time.Minute, RetryTimeouts: 1}
		v, err := retry.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if n++; n == 1 {
				return hang(ctx)
			}
			return n, nil
		})
		if v != 2 || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
	})
}

// Each attempt has the whole of Timeout, and a failure within it is not a timeout.
func TestDo_TimeoutIsPerAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := retry.Policy{Timeout: time.Minute, Classify: classify, Jitter: retry.NoJitter}
		_, err := retry.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			_ = retry.Sleep(ctx, 50*time.Second)
			return 0, errLost
		})
		equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, 4)
		equal(t, "ended after", time.Since(start), 4*50*time.Second+7*time.Second)
	})
}

func TestDo_TimeoutOfAnAttemptThatIgnoresIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := retry.Do(t.Context(), retry.Policy{Timeout: time.Minute, Classify: classify}, func(context.Context) (int, error) {
			time.Sleep(time.Hour)
			return 0, errLost
		})
		stopped(t, err, retry.ErrTimeout)
		equal(t, "ended after", time.Since(start), time.Hour)
	})
}

func TestDo_CallersDeadlineIsNoTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{time.Minute, time.Hour} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := retry.Do(ctx, retry.Policy{Timeout: timeout, RetryTimeouts: 9}, func(attempt context.Context) (int, error) {
					if attempt != ctx {
						t.Error("a context was made that cannot matter")
					}
					return hang(attempt)
				})
				stopped(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// The timeout of an outer Do ends an inner one; the inner one must not take it for its own.
func TestDo_TimeoutOfAnOuterDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := 0
		_, err := retry.Do(t.Context(), retry.Policy{Timeout: time.Minute}, func(ctx context.Context) (int, error) {
			return retry.Do(ctx, retry.Policy{Timeout: 40 * time.Second, RetryTimeouts: 9, Jitter: retry.NoJitter}, func(ctx context.Context) (int, error) {
				inner++
				return hang(ctx)
			})
		})
		stopped(t, err, retry.ErrTimeout)
		equal(t, "inner attempts", inner, 2)
	})
}

func TestDo_TotalTimeout(t *testing.T) {
	p := retry.Policy{TotalTimeout: time.Minute, Classify: classify, BaseDelay: 10 * time.Second, Jitter: retry.NoJitter}
	lose := func(after time.Duration) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			_ = retry.Sleep(ctx, after)
			return 0, errLost
		}
	}
	for _, c := range []struct {
		name     string
		fn       func(context.Context) (int, error)
		attempts int
		waited   time.Duration
		ended    time.Duration
	}{
		{"EndsAnAttempt", hang, 1, 0, time.Minute},
		{"EndsALaterAttempt", lose(30 * time.Second), 2, 10 * time.Second, time.Minute},
		{"EndsBeforeAWaitThatDoesNotFit", lose(0), 3, 30 * time.Second, 30 * time.Second},
		{"EndsBeforeAWaitThatEndsWithIt", lose(50 * time.Second), 1, 0, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := retry.Do(t.Context(), p, c.fn)
				e := stopped(t, err, retry.ErrTotalTimeout)
				equal(t, "attempts", e.Attempts, c.attempts)
				equal(t, "waited", e.Waited, c.waited)
				equal(t, "ended after", time.Since(start), c.ended)
			})
		})
	}
}

func TestDo_CancelGoesBeforeTotalTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errBored) })
		_, err := retry.Do(ctx, retry.Policy{TotalTimeout: time.Minute}, hang)
		stopped(t, err, errBored)
	})
}
