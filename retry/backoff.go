package retry

import (
	"math"
	"time"
)

// Backoff returns the delay before retry n, where 0 is the first retry: min(BaseDelay · Factor^n, MaxDelay), before
// jitter. It saturates: no n and no Factor makes it negative or lets it start over. (In go-retry such an overflow
// became a tight loop in production, onflow/flow-go #2258.)
func (p Policy) Backoff(n int) time.Duration {
	base, limit, factor := p.BaseDelay, p.MaxDelay, p.Factor
	if base <= 0 {
		base = time.Second
	}
	if limit <= 0 {
		limit = time.Minute
	}
	if !validFactor(factor) {
		factor = defaultFactor
	}
	return min(saturate(float64(base)*math.Pow(factor, float64(max(n, 0)))), limit)
}

// TotalDelay returns how long all retries of the policy wait in all, hints and jitter aside, and no longer than MaxWait. It
// takes no longer for a billion retries than for a few: from the longest delay on, all are the same.
func (p Policy) TotalDelay() (sum time.Duration) {
	longest := p.Backoff(math.MaxInt)
	for n := range p.maxRetries() {
		d := p.Backoff(n)
		if d == longest {
			left := time.Duration(p.maxRetries() - n)
			if left > (p.maxWait()-sum)/d {
				return p.maxWait()
			}
			return sum + left*d
		}
		if d > p.maxWait()-sum {
			return p.maxWait()
		}
		sum += d
	}
	return sum
}

// saturate is time.Duration(x) for an x that may be too large for one, but is not NaN.
func saturate(x float64) time.Duration {
	if x >= math.MaxInt64 { // as a float64 that is 2^63, one more than fits
		return math.MaxInt64
	}
	return time.Duration(x)
}
