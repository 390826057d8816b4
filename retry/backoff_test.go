package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

func TestPolicy_BackoffDefaults(t *testing.T) {
	for n, want := range seconds(1, 2, 4, 8, 16, 32, 60, 60) {
		equal(t, "delay", retry.Policy{}.Backoff(n), want)
	}
	equal(t, "retry before the first", retry.Policy{}.Backoff(-1), time.Second)
}

func TestPolicy_BackoffDoesNotOverflow(t *testing.T) {
	for _, p := range []retry.Policy{
		{},
		{MaxDelay: most},
		{BaseDelay: most, MaxDelay: most},
		{BaseDelay: 1, MaxDelay: most, Factor: math.MaxFloat64},
		{BaseDelay: 3 * time.Second, MaxDelay: most, Factor: 1.1},
		{BaseDelay: most, MaxDelay: 1},
	} {
		limit := p.MaxDelay
		if limit == 0 {
			limit = time.Minute
		}
		last := time.Duration(0)
		for _, n := range []int{0, 1, 2, 10, 30, 31, 32, 33, 62, 63, 64, 65, 127, 128, 1023, 1024, 1 << 20, 1 << 31, math.MaxInt - 1, math.MaxInt} {
			d := p.Backoff(n)
			if d <= 0 || d < last || d > limit {
				t.Errorf("%+v: delay %d is %v after %v", p, n, d, last)
			}
			last = d
		}
		equal(t, "delay in the end", last, limit)
	}
}

// What Validate refuses counts as not set: Do must not spin on a policy that was not validated.
func TestPolicy_BackoffOfNonsense(t *testing.T) {
	for _, p := range []retry.Policy{
		{BaseDelay: -time.Second},
		{MaxDelay: -time.Second},
		{Factor: -3},
		{Factor: 0.5},
		{Factor: math.NaN()},
		{Factor: math.Inf(1)},
	} {
		for n, want := range seconds(1, 2, 4) {
			equal(t, "delay", p.Backoff(n), want)
		}
	}
}

func TestPolicy_Validate(t *testing.T) {
	for _, c := range []struct {
		policy retry.Policy
		want   string
	}{
		{retry.Policy{}, ""},
		{retry.Policy{MaxRetries: retry.None, MaxWait: retry.None}, ""},
		{retry.Policy{Factor: 1e300, BaseDelay: time.Hour, MaxDelay: time.Second}, ""},
		{retry.Policy{MaxRetries: -2}, "max retries -2 is negative"},
		{retry.Policy{BaseDelay: -time.Second}, "base delay -1s is negative"},
		{retry.Policy{MaxDelay: -time.Second}, "max delay -1s is negative"},
		{retry.Policy{Factor: 0.5}, "factor 0.5 is not a number of at least 1"},
		{retry.Policy{Factor: -1}, "factor -1 is not a number of at least 1"},
		{retry.Policy{Factor: math.NaN()}, "factor NaN is not a number of at least 1"},
		{retry.Policy{Factor: math.Inf(1)}, "factor +Inf is not a number of at least 1"},
		{retry.Policy{Timeout: -time.Second}, "timeout -1s is negative"},
		{retry.Policy{TotalTimeout: -time.Second}, "total timeout -1s is negative"},
		{retry.Policy{RetryTimeouts: -1}, "number of timeouts to retry -1 is negative"},
		{retry.Policy{Jitter: retry.Proportional(1.5)}, `jitter "proportional:1.5": the fraction is not between 0 and 1`},
		{retry.Policy{Jitter: retry.Proportional(math.NaN())}, `jitter "proportional:NaN": the fraction is not between 0 and 1`},
		{retry.Policy{Jitter: retry.Additive(-1)}, `jitter "additive:-1": the fraction is not a number of at least 0`},
		{retry.Policy{Jitter: retry.Additive(math.Inf(1))}, `jitter "additive:+Inf": the fraction is not a number of at least 0`},
		{retry.Policy{Jitter: retry.Plus(-time.Second)}, `jitter "plus:-1s": not a duration of at least 0`},
	} {
		var got string
		if err := c.policy.Validate(); err != nil {
			got = err.Error()
		}
		equal(t, "says", got, c.want)
	}
}

func TestDo_NegativeMaxRetriesIsNone(t *testing.T) {
	_, err := retry.Do(t.Context(), retry.Policy{MaxRetries: -7, Classify: classify}, always(errLost).fn)
	equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, 1)
}

func TestPolicy_Patience(t *testing.T) {
	claude, _ := retry.Preset("claude")
	for _, tt := range []struct {
		policy retry.Policy
		want   time.Duration
	}{
		{claude, 30 * time.Second},
		{retry.Policy{MaxRetries: retry.None}, 0},
		{retry.Policy{MaxRetries: 1_000_000}, 5 * time.Minute},
		{retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxWait: 2 * time.Second}, 2 * time.Second},
		{retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxWait: 7 * time.Second}, 7 * time.Second},
		{retry.Policy{MaxRetries: 10, BaseDelay: time.Second, MaxDelay: 4 * time.Second, MaxWait: retry.None}, 35 * time.Second},
		{retry.Policy{MaxRetries: 10, BaseDelay: time.Second, Factor: 1, MaxWait: retry.None}, 10 * time.Second},
		// A billion retries took ten minutes to add up, and a few more days made a negative sum.
		{retry.Policy{MaxRetries: 1 << 30, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxWait: retry.None}, (1 << 30) * time.Millisecond},
		{retry.Policy{MaxRetries: math.MaxInt, MaxWait: retry.None}, math.MaxInt64},
		{retry.Policy{MaxRetries: 5, BaseDelay: math.MaxInt64, MaxDelay: math.MaxInt64, MaxWait: retry.None}, math.MaxInt64},
	} {
		if got := tt.policy.TotalDelay(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.policy, got, tt.want)
		}
	}
}
