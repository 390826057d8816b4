package retry

import "time"

// Advice is what a failure means for the next attempt. The zero value says that there should be none.
type Advice struct {
	// Retry says that another attempt may succeed.
	Retry bool

	// After and NotBefore are hints of the other side: no attempt sooner than After from now, none before
	// NotBefore. The later of the two counts; what is zero or past says nothing.
	After     time.Duration
	NotBefore time.Time

	// Throttled says that the other side is well and asks for fewer calls: see Policy.CountThrottles.
	Throttled bool

	// TimedOut says that the attempt ran into Policy.Timeout. Then Policy.RetryTimeouts decides instead of Retry.
	// Do sets it by itself; a Classify function need not.
	TimedOut bool
}

// hint returns how long from now the hints ask to wait, and until when; zeros if they do not.
func (a Advice) hint(now time.Time) (time.Duration, time.Time) {
	until := now.Add(a.After)
	if a.NotBefore.After(until) {
		until = a.NotBefore
	}
	if d := until.Sub(now); d > 0 {
		return d, until
	}
	return 0, time.Time{}
}
