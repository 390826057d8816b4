package breaker_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

func TestBreaker_FiveFailuresOpenTwoSuccessesClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		call(t, b, 4, errDown)
		call(t, b, 1, nil) // ends the row
		call(t, b, 4, errDown)
		equal(t, "phase", b.Phase(), breaker.Closed)
		call(t, b, 1, errDown)
		equal(t, "phase", b.Phase(), breaker.Open)

		e := refused(t, b)
		equal(t, "reason", e.Reason, "connection refused")
		equal(t, "open for", time.Until(e.Until), time.Minute)
		time.Sleep(time.Minute - time.Nanosecond)
		refused(t, b)
		time.Sleep(time.Nanosecond)
		equal(t, "phase", b.Phase(), breaker.HalfOpen)

		call(t, b, 1, nil)
		equal(t, "phase", b.Phase(), breaker.HalfOpen)
		call(t, b, 1, nil)
		equal(t, "phase", b.Phase(), breaker.Closed)
		equal(t, "healthy", b.State().Healthy(), true)
	})
}

// In a row is what was reported in a row: a call that began while all was well ends one too.
func TestBreaker_SuccessOfAnEarlierCallEndsTheRow(t *testing.T) {
	b := exact()
	_, _ = breaker.Do(t.Context(), b, func(context.Context) (int, error) {
		call(t, b, 4, errDown)
		return 0, nil
	})
	equal(t, "failures", b.State().Failures, 0)
	earlier := allowed(t, b)
	call(t, b, 4, errDown)
	earlier.Success()
	equal(t, "failures", b.State().Failures, 0)
}

func TestBreaker_OpenTimeDoublesWhileProbesFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		call(t, b, 5, errDown)
		for _, minutes := range []time.Duration{1, 2, 4, 8, 10, 10} {
			equal(t, "open for", time.Until(refused(t, b).Until), minutes*time.Minute)
			time.Sleep(minutes * time.Minute)
			call(t, b, 1, errDown)
		}
		time.Sleep(10 * time.Minute)
		call(t, b, 2, nil)
		call(t, b, 5, errDown)
		equal(t, "after it was closed", time.Until(refused(t, b).Until), time.Minute)
	})
}

// Clients that failed together do not come back together.
func TestBreaker_OpenTimesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		different := map[time.Duration]bool{}
		for range 200 {
			var b breaker.Breaker
			call(t, &b, 5, errDown)
			d := time.Until(refused(t, &b).Until)
			if d < time.Minute || d > 75*time.Second {
				t.Fatalf("open for %v, want 60s to 75s", d)
			}
			different[d] = true
		}
		if len(different) < 190 {
			t.Errorf("%d different times of 200", len(different))
		}
	})
}

func TestBreaker_Settings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker.Breaker{Settings: breaker.Settings{Failures: 1, Open: time.Second, Successes: 1, Lease: time.Minute}, Rand: noSpread}
		call(t, b, 1, errDown)
		equal(t, "open for", time.Until(refused(t, b).Until), time.Second)
		time.Sleep(time.Second)
		probe := allowed(t, b)
		equal(t, "lease", time.Until(refused(t, b).Until), time.Minute)
		probe.Success()
		equal(t, "phase", b.Phase(), breaker.Closed)
	})
}

func TestBreaker_Reset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		b.Reset()
		equal(t, "healthy as it was", b.State(), breaker.State{})

		before := allowed(t, b)
		call(t, b, 5, errDown)
		b.Reset()
		equal(t, "phase", b.Phase(), breaker.Closed)
		before.Failure(errDown)
		equal(t, "failures", b.State().Failures, 0)

		open(t, b)
		probe := allowed(t, b)
		b.Reset()
		probe.Failure(errDown)
		equal(t, "phase", b.Phase(), breaker.Closed)
	})
}

func TestBreaker_ForceOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		underWay := allowed(t, b)
		b.ForceOpen(24*time.Hour, "maintenance")
		underWay.Success()
		e := refused(t, b)
		equal(t, "refusal", *e, breaker.OpenError{Phase: breaker.Open, Until: time.Now().Add(24 * time.Hour), Forced: true, Reason: "maintenance"})

		time.Sleep(24 * time.Hour)
		equal(t, "phase", b.Phase(), breaker.HalfOpen)
		call(t, b, 1, errDown)
		equal(t, "open for", time.Until(refused(t, b).Until), time.Minute)

		b.ForceOpen(0, "")
		time.Sleep(1e4 * time.Hour)
		equal(t, "until", refused(t, b).Until, time.Time{})
		b.Reset()
		call(t, b, 1, nil)
	})
}

func TestBreaker_Allocations(t *testing.T) {
	ctx := context.Background()
	none := func(what string, f func()) {
		t.Helper()
		equal(t, what, testing.AllocsPerRun(100, f), 0)
	}
	var b breaker.Breaker
	none("success", func() { breaker.Do(ctx, &b, succeed) })
	none("success in two steps", func() {
		c, _ := b.Allow()
		defer c.Release()
		c.Success()
	})
	call(t, &b, 1, errDown)
	b.Reset()
	none("success after an outage", func() { breaker.Do(ctx, &b, succeed) })
	b.ForceOpen(time.Hour, "")
	none("refusal", func() { breaker.Do(ctx, &b, succeed) })
}

func TestOpenError(t *testing.T) {
	for want, e := range map[string]*breaker.OpenError{
		"circuit breaker open until 2026-11-15T12:00:00Z: connection refused": {Phase: breaker.Open, Until: t0, Reason: "connection refused"},
		"circuit breaker opened by hand until reset":                          {Phase: breaker.Open, Forced: true},
		"circuit breaker opened by hand until 2026-11-15T12:00:00Z: upgrade":  {Phase: breaker.Open, Forced: true, Until: t0, Reason: "upgrade"},
		"circuit breaker half open and its probe under way until 2026-11-15T12:00:00Z: connection refused": {
			Phase: breaker.HalfOpen, Until: t0, Reason: "connection refused"},
	} {
		equal(t, "text", e.Error(), want)
		equal(t, "wrapped", fmt.Errorf("call: %w", e).Error(), "call: "+want)
	}
}
