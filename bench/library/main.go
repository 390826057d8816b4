// Command library compares the success path of retry.Do with a hand-written loop and with the peer libraries, in one
// process: batches of each run in turn, in random order, and the medians of their CPU time are compared.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	retrygo "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/belay-run/belay/bench/cpu"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const (
	batch  = 2000
	rounds = 400
)

type candidate struct {
	name string
	call func()
	ns   []float64
}

//go:noinline
func work(context.Context) (int, error) { return 1, nil }

// floor is a minimal loop, written by hand.
//
//go:noinline
func floor(ctx context.Context, retries int, fn func(context.Context) (int, error)) (v int, err error) {
	for range retries + 1 {
		if v, err = fn(ctx); err == nil {
			return v, nil
		}
		time.Sleep(time.Second)
	}
	return v, err
}

func main() {
	ctx := context.Background()
	var policy retry.Policy
	fs := failsafe.With(retrypolicy.NewBuilder[int]().WithMaxRetries(3).WithBackoff(time.Second, time.Minute).Build())
	rg := retrygo.NewWithData[int](retrygo.Attempts(4), retrygo.Context(ctx))
	candidates := []*candidate{
		{name: "hand-written loop", call: func() { floor(ctx, 3, work) }},
		{name: "belay retry.Do", call: func() { retry.Do(ctx, policy, work) }},
		{name: "avast/retry-go v5", call: func() { rg.Do(func() (int, error) { return work(ctx) }) }},
		{name: "cenkalti/backoff v7", call: func() {
			backoff.Retry(ctx, func() (int, error) { return work(ctx) }, backoff.WithMaxTries(4))
		}},
		{name: "failsafe-go", call: func() { fs.Get(func() (int, error) { return work(ctx) }) }},
	}
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
	fmt.Printf("\nretry, success path: %d rounds of %d calls, interleaved; CPU\n\n", rounds, batch)
	fmt.Printf("%-22s %10s %8s %8s\n", "", "median", "ratio", "allocs")
	for _, c := range candidates {
		fmt.Printf("%-22s %8.1fns %7.2fx %8.0f\n", c.name, median(c.ns), median(c.ns)/median(candidates[0].ns),
			testing.AllocsPerRun(100, c.call))
	}
	classify()
}

// classify measures a verdict on 10 MiB of output.
func classify() {
	line := "2026-11-15T12:00:00Z worker 17: request 4711 took 12ms and was answered with rate 3/s\n"
	output := strings.Repeat(line, 10<<20/len(line))
	var list []verdict.Rule
	for i := range 24 {
		list = append(list, verdict.Rule{Name: fmt.Sprint("rule ", i), Class: verdict.RateLimit,
			Match: fmt.Sprintf(`(rate.limit|too many requests) %d`, i)})
	}
	rules, err := verdict.Compile(list...)
	if err != nil {
		panic(err)
	}
	var took []float64
	for range 30 {
		begin := cpu.Time()
		c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
		for at := 0; at < len(output); at += 64 << 10 {
			c.Write([]byte(output[at:min(at+64<<10, len(output))]))
		}
		rules.Judge(verdict.Outcome{ExitCode: 1, Stdout: c.Excerpt()}, time.Now())
		took = append(took, float64(cpu.Time()-begin))
	}
	fmt.Printf("\nclassifying 10 MiB of output, 24 rules: %.1f ms CPU (median of 30)\n", median(took)/1e6)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
