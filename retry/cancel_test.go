package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

var errBored = errors.New("the user is bored")

func TestDo_CancelledBeforeFirstAttempt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errBored)
	s := play()
	_, err := retry.Do(ctx, retry.Policy{}, s.fn)
	e := stopped(t, err, errBored)
	equal(t, "attempts", e.Attempts, 0)
	equal(t, "calls", len(s.at), 0)
	equal(t, "text", err.Error(), "the user is bored before the first attempt")
}

func TestDo_CancelledDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(errBored) })
		p := retry.Policy{BaseDelay: time.Minute, Jitter: retry.NoJitter, Classify: classify}
		s := always(errLost)
		_, err := retry.Do(ctx, p, s.fn)
		e := stopped(t, err, errBored)
		equal(t, "ended after", time.Since(s.start), 10*time.Second)
		equal(t, "waited", e.Waited, 10*time.Second)
		equal(t, "attempts", e.Attempts, 1)
		if !errors.Is(err, errLost) {
			t.Error("the last error is lost")
		}
	})
}

func TestDo_CancelledDuringAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		_, err := retry.Do(ctx, retry.Policy{Classify: classify}, func(context.Context) (int, error) {
			cancel(errBored)
			return 0, errLost // retryable, and yet
		})
		equal(t, "attempts", stopped(t, err, errBored).Attempts, 1)
		equal(t, "ended after", time.Since(start), 0)
	})
}

func TestDo_CancelledByOnRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := retry.Policy{Classify: classify, OnRetry: func(retry.Retry) { cancel() }}
		s := always(errLost)
		_, err := retry.Do(ctx, p, s.fn)
		stopped(t, err, context.Canceled)
		equalAll(t, "attempts at", s.at, seconds(0))
	})
}

func TestDo_SuccessCountsEvenIfCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	v, err := retry.Do(ctx, retry.Policy{}, func(context.Context) (int, error) {
		cancel()
		return 7, nil
	})
	if v != 7 || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
}

// A caller's deadline is a total timeout by another name: a wait that passes it is pointless.
func TestDo_CallersDeadlineEndsBeforeTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		p := retry.Policy{BaseDelay: 2 * time.Second, Jitter: retry.NoJitter, Classify: classify, TotalTimeout: time.Hour}
		s := always(errLost)
		_, err := retry.Do(ctx, p, s.fn)
		e := stopped(t, err, context.DeadlineExceeded)
		equalAll(t, "attempts at", s.at, seconds(0, 2))
		equal(t, "ended after", time.Since(s.start), 2*time.Second)
		equal(t, "not before", e.NotBefore.Sub(s.start), 6*time.Second)
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		for _, d := range []time.Duration{-time.Second, 0, time.Hour} {
			start := time.Now()
			if err := retry.Sleep(ctx, d); err != nil {
				t.Error(err)
			}
			equal(t, "slept", time.Since(start), max(d, 0))
		}

		start := time.Now()
		time.AfterFunc(time.Minute, func() { cancel(errBored) })
		equal(t, "interrupted", retry.Sleep(ctx, time.Hour), errBored)
		equal(t, "slept", time.Since(start), time.Minute)
		equal(t, "ended before", retry.Sleep(ctx, 0), errBored)
	})
}
