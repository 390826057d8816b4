package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

var _ retry.Breaker[breaker.Attempt] = (*breaker.Breaker)(nil)

// admitted gets an attempt that has to be let through.
func admitted(t *testing.T, b *breaker.Breaker, probe bool) breaker.Attempt {
	t.Helper()
	a, isProbe, err := b.Admit()
	must.OK(t, err)
	equal(t, "probe", isProbe, probe)
	return a
}

func TestAttempt_CallsCountNotAttempts(t *testing.T) {
	b := exact()
	for range 4 {
		for range 3 {
			must.OK(t, b.Failed(admitted(t, b, false), errDown, false))
		}
		b.Failed(admitted(t, b, false), errDown, true)
	}
	equal(t, "failures", b.State().Failures, 4)
	b.Released(admitted(t, b, false))
	equal(t, "failures", b.State().Failures, 4)
	b.Succeeded(admitted(t, b, false))
	equal(t, "failures", b.State().Failures, 0)
}

func TestAttempt_Probe(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *breaker.Breaker, breaker.Attempt){
		"OneFailureIsEnough": func(t *testing.T, b *breaker.Breaker, a breaker.Attempt) {
			err := b.Failed(a, errDown, false)
			equal[error](t, "refusal", err, refused(t, b))
			equal(t, "opens", b.State().Opens, 2)
		},
		"SuccessesClose": func(t *testing.T, b *breaker.Breaker, a breaker.Attempt) {
			b.Succeeded(a)
			equal(t, "successes", b.State().Successes, 1)
			b.Succeeded(admitted(t, b, true))
			equal(t, "phase", b.Phase(), breaker.Closed)
		},
		"ReleaseMakesRoom": func(t *testing.T, b *breaker.Breaker, a breaker.Attempt) {
			b.Released(a)
			b.Succeeded(admitted(t, b, true))
		},
		"WhatDoesNotCountMakesRoom": func(t *testing.T, b *breaker.Breaker, a breaker.Attempt) {
			b.Counts = func(err error) bool { return err != errKey }
			if err := b.Failed(a, errKey, true); err != nil {
				t.Errorf("half open, and yet %v", err)
			}
			admitted(t, b, true)
		},
		"KeepsOthersOut": func(t *testing.T, b *breaker.Breaker, a breaker.Attempt) {
			_, _, err := b.Admit()
			equal[error](t, "refusal", err, refused(t, b))
			time.Sleep(30 * time.Second)
			b.Released(a)
			next := admitted(t, b, true)
			b.Released(a) // it is not theirs any more
			refused(t, b)
			b.Succeeded(next)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := exact()
				open(t, b)
				test(t, b, admitted(t, b, true))
			})
		})
	}
}

// An attempt of a phase that is over changes nothing.
func TestAttempt_Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		slow := admitted(t, b, false)
		open(t, b)
		probe := admitted(t, b, true)
		before := b.State()
		b.Succeeded(slow)
		b.Failed(slow, errDown, true)
		b.Released(slow)
		equal(t, "state", b.State(), before)
		b.Succeeded(probe)
	})
}
