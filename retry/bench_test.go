package retry_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

// floorLoop is the loop that somebody would write by hand, and the cost to compare Do with.
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
