package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

func TestCountThrottles(t *testing.T) {
	for _, c := range []struct {
		name     string
		count    bool
		failures []error
		attempts int
		cause    error
	}{
		// Waits of 1, 2, 4, 8, 16, 32, 60, 60, 60 s are 243 s; another 60 s are more than 5 min.
		{"NotByDefault", false, []error{errLimit}, 10, retry.ErrMaxWait},
		{"Counted", true, []error{errLimit}, 4, retry.ErrExhausted},
		{"OthersCountBeside", false, []error{errLimit, errLost}, 8, retry.ErrExhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failures []error
				for range 50 {
					failures = append(failures, c.failures...)
				}
				p := retry.Policy{CountThrottles: c.count, Jitter: retry.NoJitter, Classify: classify}
				_, err := retry.Do(t.Context(), p, play(failures...).fn)
				equal(t, "attempts", stopped(t, err, c.cause).Attempts, c.attempts)
			})
		})
	}
}

// Nothing else would ever end it.
func TestCountThrottles_WithoutAWaitTheyCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{Delay: func(int, error) time.Duration { return 0 }, Classify: classify}
		s := always(errLimit)
		_, err := retry.Do(t.Context(), p, s.fn)
		equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, 4)
	})
}

// Five minutes of waiting hold a thousand attempts if each wait is short: a client of claude's with a delay of 0.1 s made
// 1,001 of them. Where neither a number nor a time was given, 20 are enough.
func TestThrottles_AtMostTwentyAttempts(t *testing.T) {
	quick := retry.Policy{BaseDelay: 100 * time.Millisecond, MaxDelay: 300 * time.Millisecond, Jitter: retry.NoJitter, Classify: classify}
	for _, c := range []struct {
		name     string
		change   func(*retry.Policy)
		failures []error
		attempts int
		cause    error
	}{
		{"Throttles", func(*retry.Policy) {}, []error{errLimit}, 20, retry.ErrExhausted},
		{"OthersBeside", func(p *retry.Policy) { p.MaxRetries = 15 }, []error{errLimit, errLost}, 20, retry.ErrExhausted},
		{"MoreRetriesThanThat", func(p *retry.Policy) { p.MaxRetries = 30 }, []error{errLimit}, 31, retry.ErrExhausted},
		{"MoreRetriesCounted", func(p *retry.Policy) { p.MaxRetries, p.CountThrottles = 30, true }, []error{errLimit}, 31, retry.ErrExhausted},
		// 0.1 + 0.2 + 0.3 · 32 s are 9.9 s.
		{"MaxWaitGiven", func(p *retry.Policy) { p.MaxWait = 10 * time.Second }, []error{errLimit}, 35, retry.ErrMaxWait},
		{"AnyWait", func(p *retry.Policy) { p.MaxWait, p.TotalTimeout = retry.None, 10*time.Second }, []error{errLimit}, 35, retry.ErrTotalTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := quick
				c.change(&p)
				var failures []error
				for range 50 {
					failures = append(failures, c.failures...)
				}
				_, err := retry.Do(t.Context(), p, play(failures...).fn)
				equal(t, "attempts", stopped(t, err, c.cause).Attempts, c.attempts)
			})
		})
	}
}

func TestPolicy_MaxAttempts(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		want   int
	}{
		{"Zero", retry.Policy{}, 20},
		{"None", retry.Policy{MaxRetries: retry.None}, 1},
		{"Counted", retry.Policy{MaxRetries: 4, CountThrottles: true}, 5},
		{"CountedWithinAWait", retry.Policy{MaxRetries: 4, CountThrottles: true, MaxWait: time.Hour}, 5},
		{"Many", retry.Policy{MaxRetries: 100}, 101},
		{"ByTheWait", retry.Policy{MaxRetries: 4, MaxWait: time.Hour}, 0},
		{"ByNothing", retry.Policy{MaxWait: retry.None}, 0},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, "attempts", c.policy.MaxAttempts(), c.want) })
	}
}

// What is written down somewhere with a number means that number. The others wait for a limit instead.
func TestPreset_AsWrittenCountsEveryRetry(t *testing.T) {
	counted := map[string]int{"gateway": 4, "sdk": 4, "transport": 4, "interactive": 2, "background": 6, "critical": 11, "aggressive": 6, "conservative": 3}
	for _, name := range retry.Presets() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := retry.Preset(name)
				p.Classify, p.Jitter = classify, retry.NoJitter
				_, err := retry.Do(t.Context(), p, always(errLimit).fn)
				if want, ok := counted[name]; ok {
					equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, want)
				} else {
					stopped(t, err, retry.ErrMaxWait)
				}
			})
		})
	}
}
