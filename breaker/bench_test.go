package breaker_test

import (
	"context"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
)

// What a call costs that the breaker lets through, or does not. bench/breaker compares it with other libraries.
func BenchmarkDo(b *testing.B) {
	ctx := context.Background()
	var br breaker.Breaker
	b.Run("Success", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			breaker.Do(ctx, &br, succeed)
		}
	})
	b.Run("SuccessParallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				breaker.Do(ctx, &br, succeed)
			}
		})
	})
	b.Run("TwoSteps", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, _ := br.Allow()
			succeed(ctx)
			c.Success()
		}
	})
	b.Run("Refused", func(b *testing.B) {
		br.ForceOpen(time.Hour, "")
		b.ReportAllocs()
		for b.Loop() {
			breaker.Do(ctx, &br, succeed)
		}
	})
}
