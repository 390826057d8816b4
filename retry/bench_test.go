package retry_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
)

// floorLoop is a loop as written by hand, and the cost to compare Do with.
//
//go:noinline
func floorLoop[T any](ctx context.Context, retries int, fn func(context.Context) (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := fn(ctx)
		if err == nil {
			return v, nil
		}
		if n == retries {
			return v, err
		}
		time.Sleep(time.Second << n)
	}
}

// checkedLoop is floorLoop with the one promise that Do adds to a success: no attempt after the context has ended.
//
//go:noinline
func checkedLoop[T any](ctx context.Context, retries int, fn func(context.Context) (T, error)) (T, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			var zero T
			return zero, err
		}
		v, err := fn(ctx)
		if err == nil {
			return v, nil
		}
		if n == retries {
			return v, err
		}
		time.Sleep(time.Second << n)
	}
}

//go:noinline
func succeed(context.Context) (int, error) { return 1, nil }

// BenchmarkDo_Success runs small batches of each in turn, so that a busy machine or a changing clock rate hits all
// alike, and compares the medians. The goal is a ratio of at most 2.
func BenchmarkDo_Success(b *testing.B) {
	const batch = 1000
	run := func(ctx context.Context) func(*testing.B) {
		return func(b *testing.B) {
			var p retry.Policy
			fn := succeed
			medians := interleave(b, batch,
				func() {
					for range batch {
						_, _ = floorLoop(ctx, 3, fn)
					}
				},
				func() {
					for range batch {
						_, _ = checkedLoop(ctx, 3, fn)
					}
				},
				func() {
					for range batch {
						_, _ = retry.Do(ctx, p, fn)
					}
				})
			b.ReportMetric(0, "ns/op") // of all three together, which says nothing
			b.ReportMetric(medians[0], "floor-ns")
			b.ReportMetric(medians[1], "checked-ns")
			b.ReportMetric(medians[2], "do-ns")
			b.ReportMetric(medians[2]/medians[0], "do/floor")
		}
	}
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.Run("Background", run(context.Background()))
	b.Run("Cancellable", run(cancellable))
}

// interleave runs functions that each make a batch of calls in turn, and returns their median costs of one call in
// nanoseconds.
func interleave(b *testing.B, batch int, fs ...func()) []float64 {
	costs := make([][]float64, len(fs))
	b.ReportAllocs()
	for n := 0; n < b.N; n += batch {
		for i, f := range fs {
			start := time.Now()
			f()
			costs[i] = append(costs[i], float64(time.Since(start))/float64(batch))
		}
	}
	medians := make([]float64, len(fs))
	for i, c := range costs {
		slices.Sort(c)
		medians[i] = c[len(c)/2]
	}
	return medians
}

// BenchmarkDo_Timeout is mostly the price of a context with a timer. Where the caller's deadline is nearer, Do saves
// it.
func BenchmarkDo_Timeout(b *testing.B) {
	p := retry.Policy{Timeout: time.Minute}
	b.Run("Floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			_, _ = succeed(ctx)
			cancel()
		}
	})
	b.Run("Do", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = retry.Do(context.Background(), p, succeed)
		}
	})
	b.Run("NearerDeadline", func(b *testing.B) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			_, _ = retry.Do(ctx, p, succeed)
		}
	})
}

// guardedLoop is checkedLoop with a breaker as written by hand: it counts failures in a row, and knows
// neither half open nor panics nor late results.
type guardedLoop struct {
	failures atomic.Int32
	until    atomic.Int64
}

//go:noinline
func (g *guardedLoop) do(ctx context.Context, retries int, fn func(context.Context) (int, error)) (int, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if g.failures.Load() >= 5 && time.Now().UnixNano() < g.until.Load() {
			return 0, breaker.ErrOpen
		}
		v, err := fn(ctx)
		if err == nil {
			if g.failures.Load() != 0 {
				g.failures.Store(0)
			}
			return v, nil
		}
		if n == retries {
			g.failures.Add(1)
			g.until.Store(time.Now().Add(time.Minute).UnixNano())
			return v, err
		}
		time.Sleep(time.Second << n)
	}
}

// BenchmarkThrough_Success is BenchmarkDo_Success with a breaker. The goal is the same.
func BenchmarkThrough_Success(b *testing.B) {
	const batch = 1000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var p retry.Policy
	var floor guardedLoop
	var br breaker.Breaker
	fn := succeed
	medians := interleave(b, batch,
		func() {
			for range batch {
				_, _ = floor.do(ctx, 3, fn)
			}
		},
		func() {
			for range batch {
				_, _ = retry.Through(ctx, &br, p, fn)
			}
		},
		func() {
			for range batch {
				_, _ = retry.Do(ctx, p, func(ctx context.Context) (int, error) { return breaker.Do(ctx, &br, fn) })
			}
		})
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(medians[0], "floor-ns")
	b.ReportMetric(medians[1], "through-ns")
	b.ReportMetric(medians[2], "nested-ns")
	b.ReportMetric(medians[1]/medians[0], "through/floor")
}
