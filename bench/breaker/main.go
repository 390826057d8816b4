// Command breaker compares calls through breaker.Do with a hand-written breaker and with the peer libraries, in one
// process: batches of each run in turn, in random order, and the medians of their CPU time are compared.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sony/gobreaker/v2"

	"github.com/belay-run/belay/bench/cpu"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
)

const (
	batch  = 10000
	rounds = 200
)

type candidate struct {
	name string
	call func()
	ns   []float64
}

//go:noinline
func work(context.Context) (int, error) { return 1, nil }

var errDown = errors.New("down")

// floor is a minimal breaker, written by hand: it counts failures in a row, and knows neither half open nor panics nor
// late results.
type floor struct {
	failures atomic.Int32
	until    atomic.Int64
}

//go:noinline
func (f *floor) do(ctx context.Context, fn func(context.Context) (int, error)) (int, error) {
	if f.failures.Load() >= 5 && time.Now().UnixNano() < f.until.Load() {
		return 0, errDown
	}
	v, err := fn(ctx)
	switch {
	case err != nil:
		f.failures.Add(1)
		f.until.Store(time.Now().Add(time.Minute).UnixNano())
	case f.failures.Load() != 0:
		f.failures.Store(0)
	}
	return v, err
}

// retried is a minimal loop around it, written by hand: only the failure of the last attempt counts.
//
//go:noinline
func (f *floor) retried(ctx context.Context, retries int, fn func(context.Context) (int, error)) (v int, err error) {
	for range retries + 1 {
		if f.failures.Load() >= 5 && time.Now().UnixNano() < f.until.Load() {
			return 0, errDown
		}
		if v, err = fn(ctx); err == nil {
			if f.failures.Load() != 0 {
				f.failures.Store(0)
			}
			return v, nil
		}
		time.Sleep(time.Second)
	}
	f.failures.Add(1)
	f.until.Store(time.Now().Add(time.Minute).UnixNano())
	return v, err
}

// twoSteps is breaker.Do by hand.
func twoSteps(ctx context.Context, b *breaker.Breaker, fn func(context.Context) (int, error)) {
	call, err := b.Allow()
	if err != nil {
		return
	}
	defer call.Release()
	_, err = fn(ctx)
	call.Report(ctx, err)
}

func main() {
	ctx := context.Background()
	var byHand floor
	var b breaker.Breaker
	gb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
	gb2 := gobreaker.NewTwoStepCircuitBreaker[int](gobreaker.Settings{})
	policy := circuitbreaker.NewBuilder[int]().WithFailureThreshold(5).Build()
	fs := failsafe.With(policy)
	measure("success path", []*candidate{
		{name: "plain call", call: func() { work(ctx) }},
		{name: "hand-written", call: func() { byHand.do(ctx, work) }},
		{name: "belay breaker.Do", call: func() { breaker.Do(ctx, &b, work) }},
		{name: "belay Allow, Report", call: func() { twoSteps(ctx, &b, work) }},
		{name: "gobreaker", call: func() { gb.Execute(func() (int, error) { return work(ctx) }) }},
		{name: "gobreaker, two steps", call: func() {
			done, err := gb2.Allow()
			if err != nil {
				return
			}
			_, err = work(ctx)
			done(err)
		}},
		{name: "failsafe-go", call: func() { fs.Get(func() (int, error) { return work(ctx) }) }},
		{name: "failsafe-go, permit", call: func() {
			if policy.TryAcquirePermit() {
				if _, err := work(ctx); err != nil {
					policy.RecordError(err)
				} else {
					policy.RecordSuccess()
				}
			}
		}},
	})

	var retries retry.Policy
	both := failsafe.With[int](retrypolicy.NewBuilder[int]().WithMaxRetries(3).Build(), policy)
	measure("with retries, success path", []*candidate{
		{name: "hand-written", call: func() { byHand.retried(ctx, 3, work) }},
		{name: "belay retry.Through", call: func() { retry.Through(ctx, &b, retries, work) }},
		{name: "failsafe-go", call: func() { both.Get(func() (int, error) { return work(ctx) }) }},
	})

	b.ForceOpen(time.Hour, "bench")
	byHand.failures.Store(5)
	byHand.until.Store(time.Now().Add(time.Hour).UnixNano())
	gb = gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Timeout: time.Hour})
	for range 6 {
		gb.Execute(func() (int, error) { return 0, errDown })
	}
	policy = circuitbreaker.NewBuilder[int]().WithDelay(time.Hour).Build()
	policy.Open()
	fs = failsafe.With(policy)
	measure("refused while open", []*candidate{
		{name: "hand-written", call: func() { byHand.do(ctx, work) }},
		{name: "belay breaker.Do", call: func() { breaker.Do(ctx, &b, work) }},
		{name: "gobreaker", call: func() { gb.Execute(func() (int, error) { return work(ctx) }) }},
		{name: "failsafe-go", call: func() { fs.Get(func() (int, error) { return work(ctx) }) }},
	})
}

// measure prints medians, as ratios to the hand-written breaker.
func measure(what string, candidates []*candidate) {
	for range rounds {
		for _, i := range rand.Perm(len(candidates)) {
			c := candidates[i]
			begin := cpu.Time()
			for range batch {
				c.call()
			}
			c.ns = append(c.ns, float64(cpu.Time()-begin)/batch)
		}
	}
	var base float64
	for _, c := range candidates {
		if c.name == "hand-written" {
			base = median(c.ns)
		}
	}
	fmt.Printf("\nbreaker, %s: %d rounds of %d calls, interleaved; CPU\n\n", what, rounds, batch)
	fmt.Printf("%-22s %10s %8s %8s\n", "", "median", "ratio", "allocs")
	for _, c := range candidates {
		fmt.Printf("%-22s %8.1fns %7.2fx %8.0f\n", c.name, median(c.ns), median(c.ns)/base, testing.AllocsPerRun(100, c.call))
	}
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
