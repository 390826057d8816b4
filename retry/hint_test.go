package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

// after is a throttle with a hint in seconds, like a Retry-After.
func after(d time.Duration) func(error) retry.Advice {
	return func(error) retry.Advice { return retry.Advice{Retry: true, Throttled: true, After: d} }
}

func TestHint_IsAFloor(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		advice retry.Advice // NotBefore is filled in
		until  time.Duration
		want   time.Duration
	}{
		{name: "LongerThanBackoff", policy: retry.Policy{}, advice: retry.Advice{After: 20 * time.Second}, want: 20 * time.Second},
		{name: "NotCappedByMaxDelay", policy: retry.Policy{MaxDelay: time.Second}, advice: retry.Advice{After: 20 * time.Second}, want: 20 * time.Second},
		{name: "ShorterThanBackoff", policy: retry.Policy{Jitter: retry.NoJitter, BaseDelay: 30 * time.Second}, advice: retry.Advice{After: 20 * time.Second}, want: 30 * time.Second},
		{name: "LongerThanCustomDelay", policy: retry.Policy{Delay: func(int, error) time.Duration { return time.Second }}, advice: retry.Advice{After: 20 * time.Second}, want: 20 * time.Second},
		{name: "ShorterThanCustomDelay", policy: retry.Policy{Delay: func(int, error) time.Duration { return time.Minute }}, advice: retry.Advice{After: 20 * time.Second}, want: time.Minute},
		{name: "LaterOfTwo", advice: retry.Advice{After: 20 * time.Second}, until: 40 * time.Second, want: 40 * time.Second},
		{name: "EarlierOfTwo", advice: retry.Advice{After: 20 * time.Second}, until: 10 * time.Second, want: 20 * time.Second},
		{name: "Past", policy: retry.Policy{Jitter: retry.NoJitter}, advice: retry.Advice{After: -time.Hour}, until: -time.Hour, want: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.advice.Retry = true
				if c.until != 0 {
					c.advice.NotBefore = time.Now().Add(c.until)
				}
				c.policy.Classify = func(error) retry.Advice { return c.advice }
				c.policy.Rand = constant(0)
				s := play(errLimit)
				if _, err := retry.Do(t.Context(), c.policy, s.fn); err != nil {
					t.Fatal(err)
				}
				equalAll(t, "gaps", s.gaps(), []time.Duration{c.want})
			})
		})
	}
}

func TestHint_SpreadsUpward(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		hint   time.Duration
		most   time.Duration
	}{
		{"ByATenth", retry.Policy{}, 20 * time.Second, 22 * time.Second},
		{"ByTenSecondsAtMost", retry.Policy{}, 4 * time.Minute, 4*time.Minute + 10*time.Second},
		{"NotPastMaxWait", retry.Policy{MaxWait: 21 * time.Second}, 20 * time.Second, 21 * time.Second},
		{"NotPastTotalTimeout", retry.Policy{TotalTimeout: 21 * time.Second}, 20 * time.Second, 21*time.Second - 1},
		{"NotWhereItJustFits", retry.Policy{MaxWait: 20 * time.Second}, 20 * time.Second, 20 * time.Second},
		{"NotWithoutJitter", retry.Policy{Jitter: retry.NoJitter}, 20 * time.Second, 20 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.policy.Classify = after(c.hint)
				draws := 0
				c.policy.Rand = func() float64 {
					// The first draw is the backoff's, and the hint governs; the second is the spread's.
					if draws++; draws == 1 {
						return 0
					}
					return 1 - 1e-12
				}
				s := play(errLimit)
				if _, err := retry.Do(t.Context(), c.policy, s.fn); err != nil {
					t.Fatal(err)
				}
				if gap := s.gaps()[0]; gap < c.most-time.Millisecond || gap > c.most {
					t.Errorf("waited %v, want %v", gap, c.most)
				}
			})
		})
	}
}

// MaxWait is about the sum: three waits of 90 s fit 5 min, a fourth does not.
func TestHint_BeyondWhatIsLeftOfMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(errLimit)
		_, err := retry.Do(t.Context(), retry.Policy{Jitter: retry.NoJitter, Classify: after(90 * time.Second)}, s.fn)
		e := stopped(t, err, retry.ErrMaxWait)
		equalAll(t, "attempts at", s.at, seconds(0, 90, 180, 270))
		equal(t, "waited", e.Waited, 270*time.Second)
		equal(t, "not before", e.NotBefore.Sub(s.start), 360*time.Second)
	})
}

func TestDo_BackoffBeyondMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(errLost)
		_, err := retry.Do(t.Context(), retry.Policy{MaxWait: 5 * time.Second, Jitter: retry.NoJitter, Classify: classify}, s.fn)
		e := stopped(t, err, retry.ErrMaxWait)
		equalAll(t, "attempts at", s.at, seconds(0, 1, 3))
		equal(t, "ended after", time.Since(s.start), 3*time.Second)
		equal(t, "not before", e.NotBefore.Sub(s.start), 7*time.Second)
	})
}

func TestDo_NoBoundOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(errLimit)
		p := retry.Policy{MaxWait: retry.None, Jitter: retry.NoJitter, Classify: after(100 * 365 * 24 * time.Hour)}
		if _, err := retry.Do(t.Context(), p, s.fn); err != nil {
			t.Fatal(err)
		}
	})
}

// The hint of the last attempt is worth knowing whatever ended the call.
func TestError_KeepsTheHint(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		advice retry.Advice
		cause  error
	}{
		{"Exhausted", retry.Policy{MaxRetries: retry.None}, retry.Advice{Retry: true, After: time.Minute}, retry.ErrExhausted},
		{"Permanent", retry.Policy{}, retry.Advice{After: time.Minute}, retry.ErrPermanent},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.policy.Classify = func(error) retry.Advice { return c.advice }
				_, err := retry.Do(t.Context(), c.policy, always(errLimit).fn)
				equal(t, "not before", time.Until(stopped(t, err, c.cause).NotBefore), time.Minute)
			})
		})
	}
}
