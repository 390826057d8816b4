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
