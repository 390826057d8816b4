package retry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
)

// exact is a breaker whose open times are not spread.
func exact(failures int) *breaker.Breaker {
	return &breaker.Breaker{Name: "api", Settings: breaker.Settings{Failures: failures}, Rand: constant(0)}
}

var sdk = retry.Policy{Classify: classify, BaseDelay: 2 * time.Second, Jitter: retry.NoJitter}

// Seed 003's retryWithBackoff logs a call that has failed, once, after its last attempt.
func TestPolicy_OnGiveUp(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		errs   []error
		policy func(*retry.Policy)
		ctx    context.Context
		open   bool // the breaker is
	}{
		"Success":             {},
		"SuccessAfterRetries": {errs: []error{errLost, errLost}},
		"Exhausted":           {errs: []error{errLost, errLost, errLost, errLost}},
		"Permanent":           {errs: []error{errLost, errKey}},
		"WithATimeout":        {errs: []error{errKey}, policy: func(p *retry.Policy) { p.Timeout = time.Minute }},
		"WaitDoesNotFit":      {errs: []error{errLost}, policy: func(p *retry.Policy) { p.MaxWait = time.Millisecond }},
		"RefusedFurtherIn":    {errs: []error{&breaker.OpenError{}}},
		"NeverTried":          {ctx: ended},
		"Refused":             {open: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []error
				p, ctx, b := sdk, t.Context(), exact(1)
				p.OnGiveUp = func(err error) { told = append(told, err) }
				if tt.policy != nil {
					tt.policy(&p)
				}
				if tt.ctx != nil {
					ctx = tt.ctx
				}
				check := func(how string, err error) {
					t.Helper()
					if _, ok := err.(*retry.Error); err == nil && len(told) != 0 || err != nil && (!ok || len(told) != 1 || told[0] != err) {
						t.Errorf("%s: told of %v, returned %v", how, told, err)
					}
					told = nil
				}
				if !tt.open {
					_, err := retry.Do(ctx, p, play(tt.errs...).fn)
					check("Do", err)
				} else {
					call, _ := b.Allow()
					call.Failure(errLost)
				}
				_, err := retry.Through(ctx, b, p, play(tt.errs...).fn)
				check("Through", err)
				if wrong := (name == "Success" || name == "SuccessAfterRetries") != (err == nil); wrong {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// Seed 001's RetryManager with its CircuitBreaker: what a call leaves in a breaker that has seen one failure before. A
// permanent error is the one difference (docs/decisions.md).
func TestThrough_WhatCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		errs     []error
		policy   func(*retry.Policy)
		attempts int
		failures int
		cause    error
	}{
		"Success":                   {attempts: 1, failures: 0},
		"SuccessAfterRetries":       {errs: []error{errLost, errLost, errLost}, attempts: 4, failures: 0},
		"ExhaustedCountsOnce":       {errs: []error{errLost, errLost, errLost, errLost}, attempts: 4, failures: 2, cause: retry.ErrExhausted},
		"WithoutRetries":            {errs: []error{errLost}, policy: func(p *retry.Policy) { p.MaxRetries = retry.None }, attempts: 1, failures: 2, cause: retry.ErrExhausted},
		"WaitDoesNotFit":            {errs: []error{errLost, errLost}, policy: func(p *retry.Policy) { p.MaxWait = 3 * time.Second }, attempts: 2, failures: 2, cause: retry.ErrMaxWait},
		"Permanent":                 {errs: []error{errKey}, attempts: 1, failures: 1, cause: retry.ErrPermanent},
		"PermanentAfterFailures":    {errs: []error{errLost, errKey}, attempts: 2, failures: 1, cause: retry.ErrPermanent},
		"ThrottledThenSuccess":      {errs: []error{errLimit}, attempts: 2, failures: 0},
		"ThrottledUntilTheEnd":      {errs: []error{errLimit, errLimit}, policy: func(p *retry.Policy) { p.MaxWait = 3 * time.Second }, attempts: 2, failures: 1, cause: retry.ErrMaxWait},
		"NotCountedByTheBreaker":    {errs: []error{errLost, errLost, errLost, fmt.Errorf("%w: %w", errLost, breaker.ErrOpen)}, attempts: 4, failures: 1, cause: retry.ErrExhausted},
		"RefusedFurtherIn":          {errs: []error{&breaker.OpenError{}}, attempts: 0, failures: 1},
		"WithATimeoutThatIsNotMet":  {errs: []error{errLost}, policy: func(p *retry.Policy) { p.Timeout = time.Minute }, attempts: 2, failures: 0},
		"WithATimeoutExhausted":     {errs: []error{errLost, errLost, errLost, errLost}, policy: func(p *retry.Policy) { p.Timeout = time.Minute }, attempts: 4, failures: 2, cause: retry.ErrExhausted},
		"TotalTimeoutBeforeTheNext": {errs: []error{errLost, errLost}, policy: func(p *retry.Policy) { p.TotalTimeout = 3 * time.Second }, attempts: 2, failures: 2, cause: retry.ErrTotalTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, p := exact(5), sdk
				if tt.policy != nil {
					tt.policy(&p)
				}
				before, _ := b.Allow()
				before.Failure(errLost)
				s := play(tt.errs...)
				v, err := retry.Through(t.Context(), b, p, s.fn)
				equal(t, "value", v, len(s.at))
				equal(t, "failures", b.State().Failures, tt.failures)
				if tt.cause != nil {
					equal(t, "attempts", stopped(t, err, tt.cause).Attempts, tt.attempts)
				} else if tt.attempts > 0 && err != nil {
					t.Error(err)
				}
				if tt.attempts > 0 {
					equal(t, "attempts that were made", len(s.at), tt.attempts)
				}
			})
		})
	}
}

// Five calls that fail open the breaker, however many attempts they make; the sixth makes none.
func TestThrough_OpensAfterFiveCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact(0)
		for n := range 5 {
			equal(t, "phase", b.Phase(), breaker.Closed)
			s := always(errLost)
			_, err := retry.Through(t.Context(), b, sdk, s.fn)
			equal(t, fmt.Sprint("attempts of call ", n), stopped(t, err, retry.ErrExhausted).Attempts, 4)
		}
		s := play()
		_, err := retry.Through(t.Context(), b, sdk, s.fn)
		open, ok := errors.AsType[*breaker.OpenError](err)
		if !ok || !errors.Is(err, breaker.ErrOpen) {
			t.Fatalf("got %v", err)
		}
		equal(t, "name", open.Name, "api")
		equal(t, "cause", open.Cause, errLost)
		stop, _ := errors.AsType[*retry.Error](err)
		equal(t, "attempts", stop.Attempts, 0)
		equal(t, "attempts that were made", len(s.at), 0)
		equal(t, "not before", stop.NotBefore, open.Until)
		equal(t, "text", err.Error(), `not attempted: circuit breaker "api" open until 2000-01-01T00:02:10Z: connection lost`)
	})
}

// A breaker that others open while a call waits ends that call, where it can be known before the wait.
func TestThrough_OpenedMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		open     func(b *breaker.Breaker, s *script)
		attempts int
		waited   time.Duration
	}{
		"DuringTheAttempt": {func(b *breaker.Breaker, s *script) { b.ForceOpen(time.Hour, "maintenance") }, 1, 0},
		"UntilReset":       {func(b *breaker.Breaker, s *script) { b.ForceOpen(0, "maintenance") }, 1, 0},
		"DuringTheWait": {func(b *breaker.Breaker, s *script) {
			time.AfterFunc(time.Second, func() { b.ForceOpen(time.Hour, "maintenance") })
		}, 1, 2 * time.Second},
		"DuringTheLaterWait": {func(b *breaker.Breaker, s *script) {
			time.AfterFunc(3*time.Second, func() { b.ForceOpen(time.Hour, "maintenance") })
		}, 2, 6 * time.Second},
		"ShorterThanTheWait": {func(b *breaker.Breaker, s *script) { b.ForceOpen(time.Second, "maintenance") }, 2, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := exact(5), always(errLost)
				_, err := retry.Through(t.Context(), b, sdk, func(ctx context.Context) (int, error) {
					if len(s.at) == 0 {
						tt.open(b, s)
					}
					return s.fn(ctx)
				})
				stop, ok := errors.AsType[*retry.Error](err)
				if !ok || !errors.Is(err, breaker.ErrOpen) || !errors.Is(err, errLost) {
					t.Fatalf("got %v", err)
				}
				equal(t, "attempts", stop.Attempts, tt.attempts)
				equal(t, "attempts that were made", len(s.at), tt.attempts)
				equal(t, "waited", stop.Waited, tt.waited)
				equal(t, "time that has passed", time.Since(s.start), tt.waited)
			})
		})
	}
}

// A probe is judged by itself: it opens the breaker again at its first failure, and closes it after enough successes.
func TestThrough_Probe(t *testing.T) {
	halfOpen := func(t *testing.T) *breaker.Breaker {
		b := exact(1)
		_, err := retry.Through(t.Context(), b, retry.Policy{MaxRetries: retry.None, Classify: classify}, always(errLost).fn)
		stopped(t, err, retry.ErrExhausted)
		time.Sleep(time.Minute)
		equal(t, "phase", b.Phase(), breaker.HalfOpen)
		return b
	}
	for name, tt := range map[string]struct {
		errs  []error
		phase breaker.Phase
		made  int
	}{
		"Fails":     {[]error{errLost, errLost}, breaker.Open, 1},
		"Succeeds":  {nil, breaker.HalfOpen, 1},
		"Permanent": {[]error{errKey}, breaker.HalfOpen, 1},
		"Throttled": {[]error{errLimit}, breaker.HalfOpen, 2}, // the service is well, and the next attempt is a probe too
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := halfOpen(t), play(tt.errs...)
				_, err := retry.Through(t.Context(), b, sdk, s.fn)
				equal(t, "phase", b.Phase(), tt.phase)
				equal(t, "attempts that were made", len(s.at), tt.made)
				equal(t, "refused", errors.Is(err, breaker.ErrOpen), name == "Fails")
				equal(t, "lease", b.State().Probe, breaker.Lease{})
				if tt.phase == breaker.HalfOpen {
					for b.Phase() != breaker.Closed {
						if _, err := retry.Through(t.Context(), b, sdk, play().fn); err != nil {
							t.Fatal(err)
						}
					}
				}
			})
		})
	}
}

// The caller's cancel says nothing of the service; a deadline that passes while it hangs does.
func TestThrough_Ended(t *testing.T) {
	hang := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
	fail := func(context.Context) (int, error) { return 0, errLost }
	for name, tt := range map[string]struct {
		ctx      func(context.Context) (context.Context, context.CancelFunc)
		policy   retry.Policy
		fn       func(context.Context) (int, error)
		failures int
	}{
		"CancelInTheAttempt":    {after1s(context.Canceled), sdk, hang, 0},
		"CancelInTheWait":       {after1s(context.Canceled), sdk, fail, 0},
		"DeadlineInTheAttempt":  {after1s(context.DeadlineExceeded), sdk, hang, 1},
		"DeadlineBeforeTheNext": {after1s(context.DeadlineExceeded), sdk, fail, 1},
		"AttemptTimeout":        {forEver, retry.Policy{Timeout: time.Second, Classify: classify}, hang, 1},
		"TotalTimeout":          {forEver, retry.Policy{TotalTimeout: time.Second, Classify: classify}, hang, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				b := exact(5)
				_, err := retry.Through(ctx, b, tt.policy, tt.fn)
				if _, ok := errors.AsType[*retry.Error](err); !ok {
					t.Errorf("got %v", err)
				}
				equal(t, "failures", b.State().Failures, tt.failures)
			})
		})
	}
	t.Run("BeforeItBegins", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errKey)
		b := exact(5)
		b.ForceOpen(0, "")
		_, err := retry.Through(ctx, b, sdk, fail)
		stopped(t, err, errKey)
	})
}

// after1s ends a context after a second, by a cancel or by its deadline.
func after1s(how error) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		if how == context.DeadlineExceeded {
			return context.WithTimeout(ctx, time.Second)
		}
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}
}

func forEver(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }

// A panic, or the end of the goroutine, goes on to the caller and says nothing of the service. A probe is given back.
func TestThrough_Panic(t *testing.T) {
	for name, end := range map[string]func(){"Panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		for timeout, p := range map[string]retry.Policy{"": {}, "WithATimeout": {Timeout: time.Hour}} {
			for attempt := range 2 {
				for _, probe := range []bool{false, true} {
					t.Run(fmt.Sprint(name, timeout, attempt, probe), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							b := exact(5)
							if probe {
								b.ForceOpen(time.Minute, "")
								time.Sleep(time.Minute)
							}
							p.Classify = classify
							n, recovered := 0, any(nil)
							var call sync.WaitGroup
							call.Go(func() {
								defer func() { recovered = recover() }()
								retry.Through(t.Context(), b, p, func(context.Context) (int, error) {
									if n++; n <= attempt {
										return 0, errLimit
									}
									end()
									return 0, nil
								})
							})
							call.Wait()
							equal(t, "attempts", n, attempt+1)
							equal(t, "failures", b.State().Failures, 0)
							equal(t, "opens", b.State().Opens, 0)
							equal(t, "recovered", recovered != nil, name == "Panic")
							if _, err := retry.Through(t.Context(), b, p, succeed); err != nil {
								t.Errorf("the next call: %v", err)
							}
						})
					})
				}
			}
		}
	}
}

func TestThrough_SuccessAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, _ := retry.Preset("sdk")
	p.Classify = classify
	b := exact(5)
	if n := testing.AllocsPerRun(100, func() { _, _ = retry.Through(ctx, b, p, succeed) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Through takes any breaker, also one whose refusals say nothing of a time.
func TestThrough_AnyBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &twice{}
		_, err := retry.Through(t.Context(), b, sdk, always(errLost).fn)
		e := stopped(t, err, errKey)
		equal(t, "attempts", e.Attempts, 2)
		equal(t, "last", e.Err, errLost)
		equal(t, "text", err.Error(), "invalid API key after 2 attempts and 6s of waiting: connection lost")
	})
}

// twice is a breaker that lets two attempts through.
type twice struct{ n int }

func (b *twice) Admit() (int, bool, error) {
	if b.n++; b.n > 2 {
		return 0, false, errKey
	}
	return b.n, false, nil
}
func (b *twice) Succeeded(int)                 {}
func (b *twice) Failed(int, error, bool) error { return nil }
func (b *twice) Released(int)                  {}

// Many calls at once, under the race detector.
func TestThrough_ManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact(5)
		var calls sync.WaitGroup
		for n := range 40 {
			calls.Go(func() {
				s := play(errLost, errLost)
				if n%2 == 0 {
					s = always(errLost)
				}
				_, err := retry.Through(t.Context(), b, sdk, s.fn)
				if err != nil && !errors.Is(err, retry.ErrExhausted) && !errors.Is(err, breaker.ErrOpen) {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	})
}
