//go:build unix

package gate_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// cpu is the processor time that this process has used: wall time says little on a machine that is shared.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.OK(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports what one round costs.
func measure(b *testing.B, round func()) {
	b.ReportAllocs()
	round() // makes directory and lock file
	begun := cpu(b)
	for b.Loop() {
		round()
	}
	b.ReportMetric(float64((cpu(b)-begun).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// What a gate costs. The bars: a healthy check 15 µs, an update 350 µs.
func BenchmarkFiles(b *testing.B) {
	open := func(b *testing.B) *gate.Gate {
		return &gate.Gate{Store: &gate.Files{Dir: filepath.Join(b.TempDir(), "gates")}, Key: "api", Trouble: func(err error) { b.Fatal(err) }}
	}
	b.Run("HealthyCheck", func(b *testing.B) {
		g := open(b)
		measure(b, func() { g.Enter("a") })
	})
	b.Run("HealthyCall", func(b *testing.B) {
		g := open(b)
		measure(b, func() {
			pass, _ := g.Enter("a")
			pass.Succeeded()
		})
	})
	b.Run("Refusal", func(b *testing.B) {
		g := open(b)
		pass, _ := g.Enter("a")
		pass.Throttled(time.Hour, "rate_limit of curl")
		measure(b, func() {
			if _, refusal := g.Enter("b"); refusal == nil {
				b.Fatal("not refused")
			}
		})
	})
	b.Run("Update", func(b *testing.B) {
		g := open(b)
		n := 0
		measure(b, func() {
			n++
			g.Store.Update(g.Key, time.Now(), func(s gate.State) gate.State {
				s.Breaker.Failures = n
				return s
			})
		})
	})
	b.Run("Slot", func(b *testing.B) {
		slots := gate.Slots{Dir: b.TempDir()}
		measure(b, func() {
			slot, err := slots.Take("api", 3, "019a85c0-0000-7000-8000-000000000000")
			must.OK(b, err)
			slot.Free()
		})
	})
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("SlowStartOf%d", n), func(b *testing.B) {
			g := open(b)
			g.Store.Update(g.Key, time.Now(), func(s gate.State) gate.State {
				s.Ramp.Allowed, s.Ramp.Ends = n+1, time.Now().Add(time.Hour)
				for i := range n {
					s.Ramp.Starts = append(s.Ramp.Starts, gate.Start{Holder: fmt.Sprint(i), Expires: time.Now().Add(29 * time.Second)})
				}
				return s
			})
			measure(b, func() {
				if pass, refusal := g.Enter("a"); refusal == nil {
					pass.Released()
				}
			})
		})
	}
}
