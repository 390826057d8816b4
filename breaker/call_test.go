package breaker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

func TestCall_OnlyTheFirstReportCounts(t *testing.T) {
	b := exact()
	for name, report := range map[string]func(*breaker.Call){
		"Success": func(c *breaker.Call) { c.Success() },
		"Failure": func(c *breaker.Call) { c.Failure(nil) },
		"Release": func(c *breaker.Call) { c.Release() },
	} {
		t.Run(name, func(t *testing.T) {
			b.Reset()
			call(t, b, 3, errDown)
			c := allowed(t, b)
			equal(t, "probe", c.Probe(), false)
			report(c)
			after := b.State()
			c.Failure(errDown)
			c.Success()
			c.Release()
			c.Report(t.Context(), errDown)
			equal(t, "state", b.State(), after)
		})
	}
}

func TestCall_Lease(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *breaker.Breaker, *breaker.Call){
		"ReleaseMakesRoom": func(t *testing.T, b *breaker.Breaker, probe *breaker.Call) {
			probe.Release()
			equal(t, "probe", allowed(t, b).Probe(), true)
		},
		"RenewKeepsOthersOut": func(t *testing.T, b *breaker.Breaker, probe *breaker.Call) {
			for range 10 {
				time.Sleep(29 * time.Second)
				refused(t, b)
				probe.Renew()
			}
			time.Sleep(30 * time.Second)
			allowed(t, b)
		},
		"TakenOver": func(t *testing.T, b *breaker.Breaker, probe *breaker.Call) {
			time.Sleep(30 * time.Second)
			next := allowed(t, b)
			taken := b.State()
			probe.Renew()
			probe.Release()
			equal(t, "state", b.State(), taken)
			next.Release()
			equal(t, "lease", b.State().Probe, breaker.Lease{})
		},
		"OfAPhaseThatIsOver": func(t *testing.T, b *breaker.Breaker, probe *breaker.Call) {
			b.Reset()
			after := b.State()
			probe.Renew()
			probe.Failure(errDown)
			equal(t, "state", b.State(), after)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := exact()
				open(t, b)
				probe := allowed(t, b)
				refused(t, b)
				test(t, b, probe)
			})
		})
	}
}

func TestCall_RenewOfAnOrdinaryCallDoesNothing(t *testing.T) {
	var b breaker.Breaker
	allowed(t, &b).Renew()
	equal(t, "state", b.State(), breaker.State{})
}

// Where an error is no failure of the service it neither counts nor resets, closed or half open.
func TestDo_Classification(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	transient := func(err error) bool { return errors.Is(err, errDown) }
	for name, tt := range map[string]struct {
		ctx    context.Context
		counts func(error) bool
		err    error
		want   string
	}{
		"Success":                   {t.Context(), nil, nil, "success"},
		"SuccessThoughCancelled":    {cancelled, nil, nil, "success"},
		"AnyError":                  {t.Context(), nil, errKey, "failure"},
		"CallersCancel":             {cancelled, nil, context.Canceled, "excluded"},
		"WhateverACancelMakesOfIt":  {cancelled, nil, errDown, "excluded"},
		"SomebodyElsesCancel":       {t.Context(), nil, context.Canceled, "failure"},
		"CallersDeadline":           {late, nil, context.DeadlineExceeded, "failure"},
		"RefusedFurtherIn":          {t.Context(), nil, &breaker.OpenError{}, "excluded"},
		"Counts/Failure":            {t.Context(), transient, errDown, "failure"},
		"Counts/Permanent":          {t.Context(), transient, errKey, "excluded"},
		"Counts/CancelIsNotAsked":   {cancelled, func(error) bool { return true }, errDown, "excluded"},
		"Counts/SuccessIsNotAsked":  {t.Context(), func(error) bool { return true }, nil, "success"},
		"Counts/RefusalsToo":        {t.Context(), func(error) bool { return true }, &breaker.OpenError{}, "failure"},
		"Counts/DeadlineOfTheCall":  {late, transient, context.DeadlineExceeded, "excluded"},
		"Counts/DeadlineAndFailure": {late, transient, errDown, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := exact()
				open(t, b)
				b.Counts = tt.counts
				do := func() {
					if _, err := breaker.Do(tt.ctx, b, func(context.Context) (int, error) { return 1, tt.err }); err != tt.err {
						t.Errorf("got %v, want %v", err, tt.err)
					}
				}
				do()
				s := b.State()
				switch tt.want {
				case "success":
					equal(t, "successes", s.Successes, 1)
				case "failure":
					equal(t, "opens", s.Opens, 2)
				default:
					equal(t, "state", s, breaker.State{Generation: 2, Phase: breaker.HalfOpen, Opens: 1, Reason: s.Reason, Since: time.Now()})
				}

				b.Reset()
				allowed(t, b).Failure(errDown)
				do()
				equal(t, "failures", b.State().Failures, map[string]int{"success": 0, "failure": 2, "excluded": 1}[tt.want])

				b.Reset()
				do() // the way through a breaker where all is well
				equal(t, "failures", b.State().Failures, map[string]int{"failure": 1}[tt.want])
			})
		})
	}
}

// erpc #1118: a breaker that ignored most outcomes, and forgot to give the probe back, stayed open.
func TestDo_ExcludedProbesDoNotLatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		b.Counts = func(err error) bool { return err != errKey }
		call(t, b, 100, errKey)
		call(t, b, 2, nil)
		equal(t, "phase", b.Phase(), breaker.Closed)
	})
}

// Closed, a panic is a failure like any other, and five of them open.
func TestDo_PanicWhileClosed(t *testing.T) {
	b := exact()
	for range 5 {
		func() {
			defer func() { equal[any](t, "panic", recover(), "boom") }()
			breaker.Do(t.Context(), b, func(context.Context) (int, error) { panic("boom") })
		}()
	}
	equal(t, "reason", refused(t, b).Reason, "the call panicked or exited its goroutine")
}

// A classifier that panics does not lose the probe.
func TestDo_CountsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		b.Counts = func(error) bool { panic("boom") }
		func() {
			defer func() { equal[any](t, "panic", recover(), "boom") }()
			breaker.Do(t.Context(), b, fail)
		}()
		equal(t, "phase", b.State().Phase, breaker.Open)
	})
}
