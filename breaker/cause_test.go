package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

// A refusal names its breaker and carries the error that opened it, which it is not itself.
func TestOpenError_NameAndCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker.Breaker{Name: "billing", Rand: noSpread}
		last := fmt.Errorf("dial: %w", errDown)
		call(t, b, 4, errKey)
		call(t, b, 1, last)
		check := func(what string, cause error, text string) {
			t.Helper()
			e := refused(t, b)
			equal(t, what+": name", e.Name, "billing")
			equal(t, what+": cause", e.Cause, cause)
			equal(t, what+": text", e.Error(), text)
			equal(t, what+": is the failure", errors.Is(error(e), errDown), false)
			equal(t, what+": until", e.RefusedUntil(), e.Until)
		}
		check("open", last, `circuit breaker "billing" open until 2000-01-01T00:01:00Z: dial: connection refused`)

		time.Sleep(time.Minute)
		probe := allowed(t, b)
		check("half open", last, `circuit breaker "billing" half open and its probe under way until 2000-01-01T00:01:30Z: dial: connection refused`)
		probe.Failure(errKey)
		check("open again", errKey, `circuit breaker "billing" open until 2000-01-01T00:03:00Z: invalid API key`)

		b.ForceOpen(time.Hour, "upgrade")
		check("by hand", nil, `circuit breaker "billing" opened by hand until 2000-01-01T01:01:00Z: upgrade`)
		time.Sleep(time.Hour)
		probe = allowed(t, b)
		check("after that", nil, `circuit breaker "billing" half open and its probe under way until 2000-01-01T01:01:30Z: upgrade`)
		probe.Success()
	})
}

// Only what counts is the cause: not the result of a call from before, and not what a panic leaves.
func TestOpenError_CauseIsWhatOpenedIt(t *testing.T) {
	for name, tt := range map[string]struct {
		late func(*breaker.Call)
		want error
	}{
		"LateFailure": {func(c *breaker.Call) { c.Failure(errKey) }, errDown},
		"LateSuccess": {func(c *breaker.Call) { c.Success() }, errDown},
		"NoError":     {func(c *breaker.Call) { c.Failure(nil) }, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			b := exact()
			slow := allowed(t, b)
			call(t, b, 5, errDown)
			tt.late(slow)
			equal(t, "cause", refused(t, b).Cause, tt.want)
		})
	}
	t.Run("Panic", func(t *testing.T) {
		b := &breaker.Breaker{Settings: breaker.Settings{Failures: 1}}
		func() {
			defer func() { recover() }()
			breaker.Do(t.Context(), b, func(context.Context) (int, error) { panic("boom") })
		}()
		if e := refused(t, b); e.Cause == nil || e.Cause.Error() != e.Reason {
			t.Errorf("cause %v, reason %q", e.Cause, e.Reason)
		}
	})
	t.Run("ForgottenWithTheFailures", func(t *testing.T) {
		b := exact()
		call(t, b, 5, errDown)
		b.Reset()
		b.ForceOpen(0, "")
		equal(t, "cause", refused(t, b).Cause, nil)
	})
}
