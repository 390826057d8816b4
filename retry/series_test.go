package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

var (
	lost  = retry.Advice{Retry: true}
	limit = retry.Advice{Retry: true, Throttled: true}
	noon  = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
)

func TestSeries_Next(t *testing.T) {
	p := retry.Policy{Jitter: retry.NoJitter}
	s := p.Start(noon)
	for i, want := range seconds(1, 2, 4) {
		wait, err := s.Next(noon, errLost, lost)
		equal(t, "error", err, nil)
		equal(t, "wait", wait, want)
		equal(t, "attempts", s.Attempts(), i+1)
	}
	equal(t, "waited", s.Waited(), 7*time.Second)

	wait, err := s.Next(noon, errLost, lost)
	equal(t, "wait", wait, 0)
	equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, 4)
}

func TestSeries_DoesNotSeeLaterChangesOfThePolicy(t *testing.T) {
	p := retry.Policy{Jitter: retry.NoJitter}
	s := p.Start(noon)
	p.MaxRetries = retry.None
	if _, err := s.Next(noon, errLost, lost); err != nil {
		t.Error(err)
	}
}

func TestSeries_TimedOut(t *testing.T) {
	p := retry.Policy{RetryTimeouts: 1, MaxRetries: 9}
	s := p.Start(noon)
	if _, err := s.Next(noon, errLost, retry.Advice{TimedOut: true}); err != nil {
		t.Error(err)
	}
	if _, err := s.Next(noon, errLost, lost); err != nil {
		t.Error(err)
	}
	_, err := s.Next(noon, errLost, retry.Advice{TimedOut: true, Retry: true, Throttled: true})
	stopped(t, err, retry.ErrTimeout)
}

func TestSeries_Deadline(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name          string
		total, caller time.Duration
		left          time.Duration
		cause         error
	}{
		{"None", 0, 0, 5 * time.Minute, retry.ErrMaxWait},
		{"Total", time.Minute, 0, time.Minute, retry.ErrTotalTimeout},
		{"Caller", 0, time.Minute, time.Minute, context.DeadlineExceeded},
		{"TotalBeforeCaller", time.Minute, time.Hour, time.Minute, retry.ErrTotalTimeout},
		{"CallerBeforeTotal", time.Hour, time.Minute, time.Minute, context.DeadlineExceeded},
		{"MaxWaitBeforeBoth", time.Hour, time.Hour, 5 * time.Minute, retry.ErrMaxWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retry.Policy{TotalTimeout: c.total}.Start(now)
			ctx := t.Context()
			if c.caller != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, now.Add(c.caller))
				defer cancel()
			}
			s.Bound(ctx)
			d, ok := s.Deadline()
			equal(t, "has a deadline", ok, c.total+c.caller != 0)
			if ok {
				equal(t, "left at the deadline", s.Left(d), 0)
				equal(t, "left after it", s.Left(d.Add(time.Hour)), 0)
			}
			equal(t, "left", s.Left(now), c.left)
			stopped(t, s.Charge(now, c.left+1, errLimit), c.cause)
		})
	}
}

func TestSeries_Charge(t *testing.T) {
	p := retry.Policy{MaxWait: time.Minute}
	s := p.Start(noon)
	equal(t, "what fits", s.Charge(noon, 50*time.Second, errLimit), nil)
	equal(t, "left", s.Left(noon), 10*time.Second)

	e := stopped(t, s.Charge(noon, 11*time.Second, errLimit), retry.ErrMaxWait)
	equal(t, "error", e.Err, errLimit)
	equal(t, "attempts", e.Attempts, 0)
	equal(t, "not before", e.NotBefore, noon.Add(11*time.Second))
	equal(t, "waited", s.Waited(), 50*time.Second)

	equal(t, "what just fits", s.Charge(noon, 10*time.Second, errLimit), nil)
	equal(t, "left", s.Left(noon), 0)
}

// Inner retries and ours share one policy: three are three, inner or ours.
func TestSeries_InnerCountsLikeOurs(t *testing.T) {
	p := retry.Policy{Jitter: retry.NoJitter}
	s := p.Start(noon)
	inner := retry.Advice{Retry: true, After: 10 * time.Second}
	equal(t, "first", s.Inner(noon, errLost, inner), nil)
	equal(t, "second", s.Inner(noon, errLost, inner), nil)
	equal(t, "attempts", s.Attempts(), 0)
	equal(t, "waited", s.Waited(), 20*time.Second)

	wait, err := s.Next(noon, errLost, lost)
	equal(t, "third, ours", err, nil)
	equal(t, "wait", wait, time.Second)

	e := stopped(t, s.Inner(noon, errLost, inner), retry.ErrExhausted)
	equal(t, "attempts, the present one included", e.Attempts, 2)
	equal(t, "not before", e.NotBefore, noon.Add(10*time.Second))
}

func TestSeries_Inner(t *testing.T) {
	many := 50
	for _, c := range []struct {
		name   string
		policy retry.Policy
		advice retry.Advice
		n      int // inner retries until the end
		cause  error
	}{
		{"Permanent", retry.Policy{}, retry.Advice{}, 0, retry.ErrPermanent},
		{"Exhausted", retry.Policy{}, lost, 3, retry.ErrExhausted},
		{"ThrottlesCounted", retry.Policy{CountThrottles: true}, limit, 3, retry.ErrExhausted},
		// The child that makes them is bounded by itself, unlike a loop of ours.
		{"ThrottlesWithoutAWait", retry.Policy{}, limit, many, nil},
		{"ThrottlesWithAWait", retry.Policy{}, retry.Advice{Retry: true, Throttled: true, After: time.Minute}, 5, retry.ErrMaxWait},
		{"NoRetries", retry.Policy{MaxRetries: retry.None}, limit, 0, retry.ErrExhausted},
		{"TotalTimeout", retry.Policy{TotalTimeout: time.Second}, retry.Advice{Retry: true, After: time.Second}, 0, retry.ErrTotalTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.policy.Start(noon)
			for i := range many {
				err := s.Inner(noon, errLost, c.advice)
				if i < c.n {
					equal(t, "error", err, nil)
					continue
				}
				equal(t, "attempts", stopped(t, err, c.cause).Attempts, 1)
				break
			}
		})
	}
}

// A restart costs no retry and lengthens no delay, but it is one of the twenty.
func TestSeries_Restart(t *testing.T) {
	s := retry.Policy{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond, Jitter: retry.NoJitter}.Start(noon)
	equal(t, "first", s.Restart(), true)
	wait, err := s.Next(noon, errLost, lost)
	equal(t, "error", err, nil)
	equal(t, "wait", wait, time.Millisecond)
	equal(t, "retries", s.Retries(), 1)
	for range 17 {
		_, err = s.Next(noon, errLimit, limit)
		equal(t, "error", err, nil)
	}
	equal(t, "the twentieth", s.Restart(), false)
	_, err = s.Next(noon, errLimit, limit)
	stopped(t, err, retry.ErrExhausted)

	strict := retry.Policy{MaxRetries: 1, CountThrottles: true}.Start(noon)
	for range 30 {
		equal(t, "where retries are counted", strict.Restart(), true)
	}
	_, err = strict.Next(noon, errLimit, limit)
	equal(t, "error", err, nil)
}
