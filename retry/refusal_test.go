package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
)

// An open breaker inside Do used to read "permanent failure after 2 attempts", of which the second was none.
func TestDo_OpenBreaker(t *testing.T) {
	for name, tt := range map[string]struct {
		failures int // that open the breaker
		wrap     func(error) error
		attempts int
		text     string
	}{
		"OpensMeanwhile":    {failures: 2, attempts: 2, text: "stopped after 2 attempts and 3s of waiting: circuit breaker open until 2000-01-01T00:01:01Z: connection lost"},
		"WasOpen":           {failures: 0, attempts: 0, text: "not attempted: circuit breaker opened by hand until 2000-01-01T00:01:00Z: maintenance"},
		"FirstOneOpens":     {failures: 1, attempts: 1, text: "stopped after 1 attempt: circuit breaker open until 2000-01-01T00:01:00Z: connection lost"},
		"WrappedOnTheWayUp": {failures: 1, attempts: 1, wrap: func(err error) error { return fmt.Errorf("fetch: %w", err) }, text: "stopped after 1 attempt"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &breaker.Breaker{Settings: breaker.Settings{Failures: tt.failures}, Rand: constant(0)}
				if tt.failures == 0 {
					b.ForceOpen(time.Minute, "maintenance")
				}
				s := always(errLost)
				p := retry.Policy{Classify: classify, Jitter: retry.NoJitter, Delay: func(n int, _ error) time.Duration { return time.Duration(n) * time.Second }}
				if tt.failures == 2 {
					p.Delay = nil
				}
				_, err := retry.Do(t.Context(), p, func(ctx context.Context) (int, error) {
					v, err := breaker.Do(ctx, b, s.fn)
					if err != nil && tt.wrap != nil {
						err = tt.wrap(err)
					}
					return v, err
				})
				open, ok := errors.AsType[*breaker.OpenError](err)
				if !ok || !errors.Is(err, breaker.ErrOpen) {
					t.Fatalf("got %v, want an open breaker in it", err)
				}
				stop, _ := errors.AsType[*retry.Error](err)
				equal(t, "attempts", stop.Attempts, tt.attempts)
				equal(t, "attempts that were made", len(s.at), tt.attempts)
				equal(t, "not before", stop.NotBefore, open.Until)
				equal(t, "permanent", errors.Is(err, retry.ErrPermanent), false)
				equal(t, "what the last attempt said is there", errors.Is(err, errLost), tt.attempts > 0)
				if !strings.HasPrefix(err.Error(), tt.text) {
					t.Errorf("got %q, want %q", err, tt.text)
				}
			})
		})
	}
}
