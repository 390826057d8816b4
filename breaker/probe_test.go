package breaker_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

// Probes 1, 2, 3 and 10 of the field report are the edges where the breakers of the field stick, stampede or count
// late results. The tests here carry their numbers; probe 9 is about processes and the gate's.

// Probe 1: in failsafe-go, and by their source in Polly and resilience4j, the stale success closed the breaker while
// the probe was still running.
func TestProbe1_LateResultOfAClosedBreaker(t *testing.T) {
	for name, result := range map[string]error{"Success": nil, "Failure": errDown, "Excluded": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := exact()
				slow := make(chan error)
				var calls sync.WaitGroup
				calls.Go(func() {
					breaker.Do(t.Context(), b, func(context.Context) (int, error) { return 0, <-slow })
				})
				synctest.Wait()
				open(t, b)
				probe := allowed(t, b)
				equal(t, "probe", probe.Probe(), true)
				before := b.State()

				slow <- result
				calls.Wait()
				equal(t, "state", b.State(), before)

				probe.Success()
				call(t, b, 1, nil)
				equal(t, "phase", b.Phase(), breaker.Closed)
			})
		})
	}
}

// Probe 2: failsafe-go was still open a day later, its permit lost.
func TestProbe2_ProbePanicsOrExits(t *testing.T) {
	for name, end := range map[string]func(){
		"Panic":  func() { panic("boom") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := exact()
				open(t, b)
				var recovered any
				var probe sync.WaitGroup
				probe.Go(func() {
					defer func() { recovered = recover() }()
					breaker.Do(t.Context(), b, func(context.Context) (int, error) { end(); return 0, nil })
					t.Error("Do returned")
				})
				probe.Wait()
				if name == "Panic" {
					equal(t, "panic", recovered, "boom")
				}

				e := refused(t, b)
				equal(t, "phase", e.Phase, breaker.Open)
				equal(t, "reason", e.Reason, "the call panicked or exited its goroutine")
				equal(t, "opened for", time.Until(e.Until), 2*time.Minute)
				time.Sleep(2 * time.Minute)
				call(t, b, 2, nil)
				equal(t, "phase", b.Phase(), breaker.Closed)
			})
		})
	}
}

// Probe 3: failsafe-go and gobreaker were stuck a day later, Polly would be.
func TestProbe3_ProbeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		forEver := make(chan struct{})
		go breaker.Do(t.Context(), b, func(context.Context) (int, error) { <-forEver; return 0, errDown })
		synctest.Wait()

		e := refused(t, b)
		equal(t, "phase", e.Phase, breaker.HalfOpen)
		equal(t, "lease", time.Until(e.Until), 30*time.Second)
		time.Sleep(30 * time.Second)
		call(t, b, 2, nil)
		equal(t, "phase", b.Phase(), breaker.Closed)

		before := b.State()
		close(forEver)
		synctest.Wait()
		equal(t, "state after the hung probe failed", b.State(), before)
	})
}

// A service whose every call takes longer than the lease must still be found healthy, although each probe is overtaken
// before it is answered.
func TestProbe3_EveryProbeOutlastsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		start := time.Now()
		var clients sync.WaitGroup
		for range 4 { // they come back as soon as they may
			clients.Go(func() {
				for b.Phase() != breaker.Closed {
					breaker.Do(t.Context(), b, func(context.Context) (int, error) {
						time.Sleep(2 * time.Minute)
						return 0, nil
					})
					time.Sleep(time.Second)
				}
			})
		}
		clients.Wait()
		if took := b.State().Since.Sub(start); took > 3*time.Minute {
			t.Errorf("closed after %v", took)
		}
	})
}

// Probe 10: eapache's breaker admitted 50 of 50.
func TestProbe10_HalfOpenAdmitsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		answer := make(chan struct{})
		var admitted, refusals atomic.Int32
		for range 50 {
			go func() {
				_, err := breaker.Do(t.Context(), b, func(context.Context) (int, error) {
					admitted.Add(1)
					<-answer
					return 0, nil
				})
				if err != nil {
					refusals.Add(1)
				}
			}()
		}
		synctest.Wait()
		equal(t, "admitted", admitted.Load(), 1)
		equal(t, "refused", refusals.Load(), 49)
		close(answer)
		synctest.Wait()
		equal(t, "successes", b.State().Successes, 1)
	})
}
